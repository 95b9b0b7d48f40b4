"""One small cell of every driver, on generated data: ``python benchmarks/<driver>.py --quick``.

A driver takes its folders (`RESULTS`, `DOCS`) and its sizes (`few`) from here. With ``--quick`` these are temporary and
small, and ``SKDP_DATA`` names a folder of stand-ins: files of the layout that `skdp.datasets` reads, with columns
drawn from their public declarations. Nothing is read from other folders or the network, and nothing is kept.
Processes that a driver starts inherit all this.
"""

import atexit
import gzip
import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

__all__ = ["DOCS", "QUICK", "RESULTS", "few", "is_missing"]

VARIABLE = "SKDP_BENCHMARKS_QUICK"
QUICK = "--quick" in sys.argv or VARIABLE in os.environ
ROWS = 600  # of a stand-in


def few(whole, small):
    """Return the size, setting or list of the experiment, or with ``--quick`` the small one."""
    return small if QUICK else whole


def is_missing(*packages):
    """Tell whether an optional package is missing, and print the first that is."""
    for package in packages:
        if find_spec(package) is None:
            print(f"{package} is not installed: what needs it is left out", flush=True)
            return True
    return False


def start():
    """Return the temporary folder; the first process of a run makes it, fills it and removes it at its end."""
    if VARIABLE in os.environ:
        return Path(os.environ[VARIABLE])
    folder = Path(tempfile.mkdtemp(prefix="skdp_quick_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ |= {VARIABLE: str(folder), "SKDP_DATA": str(folder / "data")}
    for name in ("results", "docs"):
        (folder / name).mkdir()
    write_stand_ins(folder / "data")
    print("quick: generated stand-ins in the place of all data, nothing is kept", flush=True)
    return folder


def write_stand_ins(folder):
    """Write all data sets as generated stand-ins."""
    import numpy as np

    rng = np.random.default_rng(0)
    for name in (
        *(
            "adult",
            "bank",
            "bike_sharing",
            "cifar10",
            "creditcard",
            "fmnist",
            "ipums_br",
            "ipums_us",
        ),
        *("kddcup99", "mnist", "mq2007", "mq2008", "wine_quality"),
    ):
        (folder / name).mkdir(parents=True)
    _write_tables(folder, rng)
    _write_matrices(folder, rng)
    for part in range(1, 6):
        for name in ("mq2007", "mq2008"):
            _write_lists(folder / name / f"S{part}.txt.gz", rng, part)


def _write_tables(folder, rng):
    """Tables with a header."""
    from skdp.datasets import _census, _uci

    def columns(bounds, categories):
        found = {name: _numbers(rng, *ends) for name, ends in bounds.items()}
        words = {name: rng.choice(values.split(), ROWS) for name, values in categories.items()}
        return found | words

    part = rng.choice(["train", "test"], ROWS, p=[0.67, 0.33])
    adult = columns(_census.ADULT_BOUNDS, _census.ADULT_CATEGORIES)
    adult |= {"income": _labels(rng, adult["age"], "<=50K", ">50K"), "split": part}
    _write_csv(folder / "adult/adult.csv.gz", {name: adult[name] for name in _census.HEADER})
    bank = columns(_uci.BANK_BOUNDS, _uci.BANK_CATEGORIES)
    _write_csv(folder / "bank/bank.csv.gz", bank | {"y": _labels(rng, bank["age"], "no", "yes")})
    attacks = columns(_uci.KDD_BOUNDS, _uci.KDD_CATEGORIES)
    attacks["label"] = _labels(rng, attacks["count"], "normal", "neptune")
    _write_csv(
        folder / "kddcup99/kddcup99_10_percent.csv.gz", {k: attacks[k] for k in _uci.KDD_HEADER}
    )
    bike = {name: _numbers(rng, *ends) for name, ends in _uci.BIKE_BOUNDS.items()}
    bike |= {name: rng.integers(a, b + 1, ROWS) for name, (a, b) in _uci.BIKE_CATEGORIES.items()}
    bike["cnt"] = rng.integers(1, 1000, ROWS)
    _write_csv(folder / "bike_sharing/hour.csv.gz", bike)
    wine = {name: _numbers(rng, *ends) for name, ends in _uci.WINE_BOUNDS.items()}
    wine |= {"quality": rng.integers(3, 10, ROWS), "color": rng.choice(["red", "white"], ROWS)}
    _write_csv(folder / "wine_quality/wine_quality.csv.gz", wine)


def _write_matrices(folder, rng):
    """Arrays with the widths of the published ones."""
    import numpy as np

    for name, width in (
        *(("bank/bank_dpagd", 32), ("ipums_br/ipums_br_dpagd", 52)),
        *(("ipums_us/ipums_us_dpagd", 57), ("creditcard/creditcard", 23)),
    ):
        X = rng.integers(0, 2, (ROWS, width)).astype(float)
        y = (X[:, 0] + X[:, 1] + rng.normal(size=ROWS) > 1.0).astype(int)
        np.savez(folder / f"{name}.npz", X=X, y=y)
    for name, shape in (("mnist", (28, 28)), ("fmnist", (28, 28)), ("cifar10", (3, 32, 32))):
        images = {}
        for part, n in (("train", ROWS), ("test", ROWS // 6)):
            y = np.arange(n) % 10
            pixels = rng.integers(0, 64, (n, *shape))
            pixels[np.arange(n), ..., y, :] += 128  # a bright line for each class
            images |= {f"X_{part}": pixels.astype(np.uint8), f"y_{part}": y.astype(np.uint8)}
        np.savez(folder / f"{name}/{name}.npz", **images)


def _write_lists(path, rng, part):
    """Lists of eight documents with 46 features, as in LETOR 4.0."""
    lines = []
    for query in range(12):
        for _ in range(8):
            x = rng.random(46)
            told = " ".join(f"{j + 1}:{value:.6f}" for j, value in enumerate(x))
            lines.append(f"{int(3 * x[0])} qid:{100 * part + query} {told}")
    _write_gz(path, lines)


def _numbers(rng, low, high):
    return (low + (high - low) * rng.random(ROWS)).round(4)


def _labels(rng, column, no, yes):
    """Words of two classes that a column tells something of."""
    import numpy as np

    rank = column.argsort().argsort() / len(column)
    return np.where(rank + 0.3 * rng.normal(size=len(column)) > 0.6, yes, no)


def _write_csv(path, columns):
    rows = (",".join(map(str, row)) for row in zip(*columns.values()))
    _write_gz(path, [",".join(columns), *rows])


def _write_gz(path, lines):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


if QUICK:
    sys.argv = [argument for argument in sys.argv if argument != "--quick"]
    HOME = start()
    RESULTS, DOCS = HOME / "results", HOME / "docs"
else:
    RESULTS, DOCS = Path(__file__).parent / "results", Path(__file__).parents[1] / "docs"
