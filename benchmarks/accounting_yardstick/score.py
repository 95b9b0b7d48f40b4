"""Hold accountants against proved enclosures: who is below the truth, how far above it, and at what cost.

    OMP_NUM_THREADS=1 python benchmarks/accounting_yardstick/score.py --tools skdp dp_accounting --processes 2

Without a file of questions it reads those of results/. Answers are kept in a file (``--answers``), with
which a run that was stopped goes on.

An accountant is one function from a question to an epsilon; it raises `Outside` where the library has no theorem for
the question. Those that are not installed are named as such. An epsilon below the enclosure's lower end is *unsafe*: it
is smaller than what the release costs. *Slack* is how far an epsilon lies above the enclosure's upper end, relative;
where it lies inside the enclosure, it is 0. Only `skdp` imports this package, so other libraries may run in
environments of their own. Time is the processor's, without imports.
"""

import argparse
import csv
import importlib
import json
import lzma
import math
import statistics
import time
import warnings
from pathlib import Path

from generate import PACKED, kept, script_of, written

ROUNDING = 1e-9  # relative: what an epsilon may be below the enclosure for its last digits
GRID = 1e-4  # of dp-accounting's loss distributions, its default
ERROR = 0.01  # of prv_accountant's epsilon, as in its examples
RESULTS = Path(__file__).parents[1] / "results"


class Outside(Exception):
    """A question that a library has no theorem for."""


def skdp(asked):
    """This package."""
    from skdp.privacy import epsilon

    return epsilon(script_of(asked["script"]), asked["delta"], asked["neighbors"])


def _dp_event(run, replacing):
    """An event of dp-accounting; Gaussian multipliers there are over one record's contribution."""
    import dp_accounting as dpa

    if run["family"] == "Gaussian":
        return dpa.GaussianDpEvent(float(run["multiplier"]) * (2 if replacing else 1))
    if run["family"] == "Laplace" and not replacing:
        return dpa.LaplaceDpEvent(float(run["multiplier"]))
    if run["family"] == "PoissonGaussian":
        noise = dpa.GaussianDpEvent(float(run["multiplier"]))
        return dpa.PoissonSampledDpEvent(run["rate"], noise)
    raise Outside(run["family"])


def dp_accounting(asked):
    """Google's loss distributions by events, on their default grid."""
    import dp_accounting as dpa
    from dp_accounting.pld import PLDAccountant

    replacing = asked["neighbors"] == "replace_one"
    relation = dpa.NeighboringRelation
    relation = relation.REPLACE_ONE if replacing else relation.ADD_OR_REMOVE_ONE
    account = PLDAccountant(relation, value_discretization_interval=GRID)
    for run in asked["script"]:
        account.compose(_dp_event(run, replacing), run["count"])
    return account.get_epsilon(asked["delta"])


def dp_accounting_rdp(asked):
    """Google's Renyi accountant, under add/remove."""
    from dp_accounting.rdp import RdpAccountant

    if asked["neighbors"] != "add_remove":
        raise Outside(asked["neighbors"])
    account = RdpAccountant()
    for run in asked["script"]:
        account.compose(_dp_event(run, False), run["count"])
    return account.get_epsilon(asked["delta"])


def prv_accountant(asked):
    """Microsoft's loss distributions: the proved upper end of three."""
    from prv_accountant import (
        GaussianMechanism,
        LaplaceMechanism,
        PoissonSubsampledGaussianMechanism,
        PRVAccountant,
    )

    make = {
        "Gaussian": lambda run: GaussianMechanism(run["multiplier"]),
        "Laplace": lambda run: LaplaceMechanism(mu=1 / run["multiplier"]),
        "PoissonGaussian": lambda run: PoissonSubsampledGaussianMechanism(
            run["rate"], run["multiplier"]
        ),
    }
    _only(asked, make)
    steps, counts = asked["script"], [run["count"] for run in asked["script"]]
    account = PRVAccountant(
        prvs=[make[run["family"]](run) for run in steps],
        max_self_compositions=counts,
        eps_error=ERROR,
        delta_error=asked["delta"] * 1e-3,
    )
    return account.compute_epsilon(asked["delta"], counts)[2]


def opacus(asked):
    """Opacus' default accountant."""
    from opacus.accountants import PRVAccountant

    _only(asked, ("Gaussian", "PoissonGaussian"))
    account = PRVAccountant()
    for run in asked["script"]:
        account.history.append((run["multiplier"], run.get("rate", 1.0), run["count"]))
    return account.get_epsilon(asked["delta"])


def autodp(asked):
    """Renyi accountant of autodp."""
    from autodp import rdp_acct, rdp_bank

    _only(asked, ("Gaussian", "PoissonGaussian"))
    account = rdp_acct.anaRDPacct()
    for run in asked["script"]:
        noise = {"sigma": run["multiplier"]}
        curve = lambda order, noise=noise: rdp_bank.RDP_gaussian(noise, order)  # noqa: E731
        if "rate" in run:
            account.compose_poisson_subsampled_mechanisms(curve, run["rate"], coeff=run["count"])
        else:
            account.compose_mechanism(curve, coeff=run["count"])
    return account.get_eps(asked["delta"])


def _only(asked, families):
    """Refuse other relations and families."""
    strange = {run["family"] for run in asked["script"]} - set(families)
    if strange or asked["neighbors"] != "add_remove":
        raise Outside(strange or asked["neighbors"])


TOOLS = {
    tool.__name__: tool
    for tool in (skdp, dp_accounting, dp_accounting_rdp, prv_accountant, opacus, autodp)
}
MODULES = {"dp_accounting_rdp": "dp_accounting"}


def installed(name):
    """Whether a library can be imported."""
    try:
        importlib.import_module(MODULES.get(name, name))
    except ImportError:
        return False
    return True


def answers(name, asked):
    """Epsilon, or why there is none, and the seconds that it took."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = float(TOOLS[name](asked))
        except Outside:
            return "outside", 0.0
        except Exception as error:
            return type(error).__name__, time.process_time() - start
    return found, time.process_time() - start


def slack(found, asked):
    """How far an epsilon is above the enclosure, relative; negative if it is below: unsafe."""
    if found < asked["low"] * (1 - ROUNDING):
        return found / asked["low"] - 1
    return max(found / asked["high"] - 1, 0.0)


def row(name, kind, asked, told):
    """Figures of one accountant on one kind of questions."""
    known = [(q, t) for q, t in zip(asked, told) if not isinstance(t[0], str)]
    failed = sum(isinstance(t[0], str) and t[0] != "outside" for t in told)
    finite = [slack(t[0], q) for q, t in known if math.isfinite(t[0])]
    above = [s for s in finite if s >= 0]
    shown = {
        "tool": name,
        "kind": kind,
        "asked": len(asked),
        "answered": len(finite),
        "failed": failed + len(known) - len(finite),
        "unsafe": len(finite) - len(above),
        "deepest": f"{min(finite, default=0.0):.1e}" if len(finite) > len(above) else "",
        "median slack": f"{statistics.median(above):.1e}" if above else "",
        "worst slack": f"{max(above):.1e}" if above else "",
        "seconds": f"{sum(t for _, (_, t) in known):.1f}",
    }
    return shown


def told(work):
    """One answer as a line: which question, who, epsilon or why there is none, and the seconds."""
    name, question = work
    found, seconds = answers(name, question)
    return [question["id"], name, str(found), seconds]


def asked_of(path):
    """Questions of a file, compressed or not."""
    data = path.read_bytes()
    text = lzma.decompress(data) if path.suffix == ".xz" else data
    return [json.loads(line) for line in text.decode("utf-8").splitlines()]


def collected(asked, names, path, processes):
    """All answers, those that a file has and those that are still to be given: tool -> id -> answer."""
    known = {(number, name) for number, name, *_ in map(json.loads, kept(path))}
    todo = [(name, q) for q in asked for name in names if (q["id"], name) not in known]
    written(path, told, todo, processes)
    found = {name: {} for name in names}
    for number, name, epsilon, seconds in map(json.loads, kept(path)):
        if name in found:
            found[name][number] = (as_number(epsilon), seconds)
    return found


def as_number(text):
    """A number, or the word that stands for it."""
    try:
        return float(text)
    except ValueError:
        return text


def scored(asked, found):
    """All figures: each accountant on all questions, and on each kind."""
    rows = []
    for name, known in found.items():
        for kind in ["all", *sorted({question["kind"] for question in asked})]:
            some = [q for q in asked if kind in ("all", q["kind"])]
            part = row(name, kind, some, [known[q["id"]] for q in some])
            if kind == "all" or part["answered"] or part["failed"]:
                rows.append(part)
    return rows


def tighter(asked, found, least=1e-5):
    """How many answers of each other tool are valid and smaller than ours by more than so much, and by how much."""
    rows = []
    for name in [name for name in found if name != "skdp"]:
        gains = []
        for q in asked:
            ours, theirs = found["skdp"][q["id"]][0], found[name][q["id"]][0]
            if not isinstance(theirs, str) and theirs >= q["low"] * (1 - ROUNDING):
                gains.append(1 - theirs / ours)
        more = [gain for gain in gains if gain > least]
        rows.append((name, len(gains), len(more), max(more, default=0.0)))
    return rows


def main():
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=PACKED)
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--out", type=Path, default=RESULTS / "accounting_yardstick.csv")
    parser.add_argument("--answers", type=Path, default=Path("answers.jsonl"))
    parser.add_argument("--first", type=int, default=10**6, help="so many questions alone")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    asked = asked_of(given.file)[: given.first]
    here = [name for name in given.tools if installed(name)]
    for name in given.tools:
        if name not in here:
            print(f"{name}: not installed")
    found = collected(asked, here, given.answers, given.processes)
    rows = scored(asked, found)
    print(" | ".join(rows[0]))
    for shown in rows:
        print(" | ".join(str(value) for value in shown.values()))
    for name, valid, more, most in tighter(asked, found) if "skdp" in found else []:
        print(
            f"{name}: {more} of {valid} valid answers are smaller by more than 1e-5, at most {most:.1e}"
        )
    with given.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
