"""What all figures share: cells that are measured once, a file of all runs, a plot, and claims that are counted.

A figure is a list of cells. A cell names one fit: data, method, setting, epsilon, repetition. Its row holds the cell,
its scores, and under which promise they were measured. Rows are kept in ``results/papers/<figure>.csv``: a run that was
stopped goes on where it was, and what is measured again is first taken out by ``--again``.
"""

import csv
import math
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import product

import numpy as np
from _quick import RESULTS, few, is_missing
from joblib import Parallel, delayed

__all__ = ["Claim", "Counts", "Figure", "Sizes", "count", "draw_lines", "means", "read", "run"]

FOLDER = RESULTS / "papers"
EVERY = 15.0  # seconds between two writings
VERSIONS = ", ".join(f"{name} {version(name)}" for name in ("skdp", "numpy", "scikit-learn"))


@dataclass(frozen=True)
class Sizes:
    """What is run of a figure; None stands for all that it has.

    Parameters
    ----------
    data, epsilons, methods, settings : tuple or None
        Values of the columns.
    repetitions : int or None
        How often each cell is run.
    """

    data: tuple | None = None
    epsilons: tuple | None = None
    methods: tuple | None = None
    settings: tuple | None = None
    repetitions: int | None = None

    def keeps(self, cell):
        """Tell whether a cell is among what is run."""
        pairs = (
            ("data", "data"),
            ("epsilons", "epsilon"),
            ("methods", "method"),
            ("settings", "setting"),
        )
        wanted = ((getattr(self, name), column) for name, column in pairs)
        return all(
            chosen is None or column not in cell or cell[column] in chosen
            for chosen, column in wanted
        )


@dataclass(frozen=True)
class Claim:
    """An ordering that a document claims: one method above others.

    Parameters
    ----------
    text : str
        What is claimed.
    first : str
        The method that is above.
    others : tuple of str
        The methods that it is above all of.
    reason : str
        Why it holds or does not: a theorem, a clip, a price.
    score : str
        The column; of ``"objective"`` less is better.
    least, most : float
        Smallest and largest epsilon that the claim is about.
    without : tuple of str
        Data that it leaves out.
    """

    text: str
    first: str
    others: tuple
    reason: str
    score: str = "accuracy"
    least: float = 0.0
    most: float = math.inf
    without: tuple = ()


@dataclass(frozen=True)
class Figure:
    """A figure or table of a document.

    Parameters
    ----------
    name : str
        As the page calls it.
    title : str
        What it shows.
    document, ours : str
        Settings as printed, and those of this library, where they differ.
    claims : tuple of Claim
        Its orderings.
    reason : str
        What of it is missing, and why.
    repetitions : int
        How often each cell is run.
    axes : dict
        Columns that name a cell, with their values.
    told, verdict : str
        What is claimed where nothing is above anything, and whether it holds in the committed rows.
    rows_of : str
        The figure whose rows it shows too, if it has none of its own.
    same : str
        The figure that runs some of the same cells: they are measured once.
    """

    name: str
    title: str
    document: str = ""
    ours: str = ""
    claims: tuple = ()
    reason: str = ""
    repetitions: int = 5
    axes: dict = field(default_factory=dict)
    told: str = ""
    verdict: str = "whole"
    rows_of: str = ""
    same: str = ""

    @property
    def path(self):
        """Return the file of its rows."""
        return FOLDER / f"{slug(self.rows_of or self.name)}.csv"

    @property
    def picture(self):
        """Return the file of its plot."""
        return FOLDER / f"{slug(self.name)}.png"

    def cells(self):
        """Return the cells of one repetition: the product of the axes."""
        return [dict(zip(self.axes, values)) for values in product(*self.axes.values())]

    def measure(self, cell):
        """Return the scores of one cell, with ``neighbors`` and ``delta``."""
        raise NotImplementedError

    def draw(self, rows, path):
        """Draw its panels."""
        raise NotImplementedError

    def summary(self, rows):
        """Return what the page says of a figure that claims no ordering."""
        raise NotImplementedError


def slug(name):
    """Return the name of a figure's files."""
    return name.lower().replace(" ", "_").replace(".", "_")


def read(figure):
    """Return the rows of a figure, numbers as numbers."""
    return _read(figure.path)


def _read(path):
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _value(word) for name, word in row.items()} for row in csv.DictReader(file)]


def _value(word):
    try:
        return float(word)
    except ValueError:
        return word


def write(figure, rows):
    """Write all rows of a figure, in the order of its cells."""
    FOLDER.mkdir(exist_ok=True)
    with figure.path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows({k: _told(v) for k, v in row.items()} for row in rows)


def _told(value):
    return f"{value:.6g}" if isinstance(value, float) else value


def run(figure, sizes=Sizes(), jobs=1, again=False):
    """Measure what is not measured yet, and keep it; return all rows."""
    kept = [] if again else read(figure)
    count = few(sizes.repetitions or figure.repetitions, 1)
    wanted = [cell for cell in figure.cells() if sizes.keeps(cell)]
    asked = [cell | {"repetition": number} for number in range(count) for cell in wanted]
    if figure.same:
        wanted = {_key(figure, cell) for cell in asked} - {_key(figure, row) for row in kept}
        others = _read(FOLDER / f"{slug(figure.same)}.csv")
        kept += [row for row in others if _key(figure, row) in wanted]
    known = {_key(figure, row) for row in kept}
    cells = [cell for cell in asked if _key(figure, cell) not in known]
    print(f"{figure.name}: {len(cells)} of {len(asked)} cells to run", flush=True)
    start = last = time.perf_counter()
    given = {"return_as": "generator_unordered"} if jobs > 1 else {"return_as": "generator"}
    done = Parallel(n_jobs=jobs, **given)(delayed(measured)(figure, cell) for cell in cells)
    for number, row in enumerate(done, 1):
        kept.append(row)
        now = time.perf_counter()
        if now - last > EVERY:
            last, left = now, (now - start) / number * (len(cells) - number)
            write(figure, kept)
            print(f"{figure.name}: {number} of {len(cells)}, {left:.0f} s left", flush=True)
    if kept:
        write(figure, kept)
        if not is_missing("matplotlib"):
            figure.draw(read(figure), figure.picture)
    return kept


def _key(figure, row):
    return tuple(str(_value(str(row[name]))) for name in (*figure.axes, "repetition"))


def measured(figure, cell):
    """Return the row of one cell."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = figure.measure(cell)
    return cell | scores | {"seconds": time.process_time() - start, "versions": VERSIONS}


@dataclass(frozen=True)
class Counts:
    """In how many cells a claim holds, and by how much.

    Parameters
    ----------
    won, cells : int
        Cells where the mean difference to the best rival is positive, of all.
    clearly, lost : int
        Cells where it is above, and below, zero by two standard errors.
    mean, error : float
        Mean difference over all cells, and its standard error by repetitions.
    """

    won: int
    cells: int
    clearly: int
    lost: int
    mean: float
    error: float

    def __str__(self):
        if not self.cells:
            return "one method at this price" if self.mean == 0.0 else "not run"
        told = f"{self.won} of {self.cells}"
        if not math.isfinite(self.error):
            return f"{told}, {self.mean:+.4f} by one run each"
        clear = f"({self.clearly} clearly, {self.lost} clearly not)"
        return f"{told} {clear}, {self.mean:+.4f} +- {self.error:.4f}"


def count(claim, rows, setting, columns=("data", "loss", "lambda")):
    """Count the cells where a claim holds: pairs of the same split and epsilon, against the best rival on average."""
    scores = defaultdict(dict)
    for row in rows:
        if row.get("setting") != setting or not claim.least <= row["epsilon"] <= claim.most:
            continue
        if row.get("data") in claim.without or not math.isfinite(row["epsilon"]):
            continue
        place = tuple(row[name] for name in columns if name in row), row["epsilon"]
        scores[place].setdefault(row["method"], {})[row["repetition"]] = row[claim.score]
    sign = -1.0 if claim.score == "objective" else 1.0
    gaps = []
    for found in scores.values():
        if claim.first not in found or any(name not in found for name in claim.others):
            continue
        own = found[claim.first]
        best = max(claim.others, key=lambda name: sign * np.mean(list(found[name].values())))
        shared = sorted(own.keys() & found[best].keys())
        gaps.append(sign * np.array([own[r] - found[best][r] for r in shared]))
    if not any(gap.any() for gap in gaps):  # none, or the same fits under two names
        return Counts(0, 0, 0, 0, 0.0 if gaps else math.nan, math.nan)
    means = np.array([gap.mean() for gap in gaps])
    errors = np.array([_error(gap) for gap in gaps])
    return Counts(
        int((means > 0).sum()),
        len(gaps),
        int((means > 2 * errors).sum()),
        int((means < -2 * errors).sum()),
        float(means.mean()),
        float(np.sqrt(np.square(errors).sum()) / len(errors)),
    )


def _error(gap):
    return gap.std(ddof=1) / math.sqrt(len(gap)) if len(gap) > 1 else math.inf


def means(rows, score, across, **given):
    """Return the mean of a score by the value of a column, of the rows with the given ones."""
    found = defaultdict(list)
    for row in rows:
        if all(row[name] == value for name, value in given.items()):
            found[row[across]].append(row[score])
    return {value: float(np.mean(scores)) for value, scores in found.items()}


def draw_lines(panels, path, lines, across, label, log=True):
    """Draw panels of lines: means over repetitions, with standard errors.

    Parameters
    ----------
    panels : list of list of (str, list of dict, str)
        Rows of panels: title, rows of the figure, score.
    path : Path
        The picture.
    lines, across : callable or str
        What names a line of a row, and the column that runs across.
    label : str
        Of the axis that runs across.
    log : bool
        Whether that axis is logarithmic.
    """
    import matplotlib.pyplot as plt

    wide, high = max(map(len, panels)), len(panels)
    figure, axes = plt.subplots(high, wide, figsize=(5 * wide, 4 * high), squeeze=False)
    for line_of_axes, line_of_panels in zip(axes, panels):
        for axis, (title, rows, score) in zip(line_of_axes, line_of_panels):
            groups = defaultdict(lambda: defaultdict(list))
            for row in rows:
                groups[lines(row)][row[across]].append(row[score])
            for number, (name, points) in enumerate(sorted(groups.items())):
                at = sorted(points)
                mean = [np.mean(points[x]) for x in at]
                error = [np.std(points[x]) / math.sqrt(max(len(points[x]) - 1, 1)) for x in at]
                style = dict(marker=".", linestyle=("-", "--", ":")[number // 10 % 3])
                axis.errorbar(at, mean, error, label=name, **style)
            axis.set(title=title, xlabel=label, ylabel=score, xscale="log" if log else "linear")
        handles, names = line_of_axes[0].get_legend_handles_labels()
        if handles:
            line_of_axes[0].legend(handles, names, fontsize=6)
    figure.tight_layout()
    figure.savefig(path, dpi=70)
    plt.close(figure)
