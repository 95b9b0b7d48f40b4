"""The page ``docs/papers.md``: a line for each figure, ordering and item of the documents, of the committed files.

No figure on it is written by hand: what a file does not hold is told as not measured.
"""

from collections import Counter
from pathlib import Path

import numpy as np
from _quick import DOCS

from ._figure import count, read
from ._registry import FIGURES
from ._table_3 import beside_printed

__all__ = ["page", "verdict_of", "write_page"]

ITEMS = Path(__file__).with_name("items.txt")
VERDICTS = ("whole", "part", "refuted", "missing")
HEAD = """# The source papers, made again

C is Chen (2020, dissertation), CL Chen and Lee (2020: its figures are C 4.1 to 4.4), LK Lee and Kifer (2018, of which
slides are at hand), Z Zhang et al. (2017), W the lecture of Wang (2022), which has no figure.

```sh
SKDP_DATA=/path/to/data python -m benchmarks.papers run "C 3.1"   # or all; --quick on generated data
python -m benchmarks.papers page                                  # this page, of benchmarks/results/papers/
```

A run that was stopped goes on where it was. Every fit is in `benchmarks/results/papers/`, with its seed, relation,
delta and versions, beside a plot of all panels.

* **At the document's settings and noise**: its batches, steps, penalties, ladders and lambda, and noise by Renyi
  lemmas or by its own formula. What that noise costs by a tight accountant stands behind, as a part of the epsilon that
  the document would claim. Adaptive methods are priced by a filter of this library, so theirs is 1.
* **At equal exact prices**: this library's defaults, each method calibrated to the same epsilon.
* Counts are cells (data set, loss, lambda, epsilon) in which the first method is above the best of the others on
  average, and in brackets where it is above or below by two standard errors of paired splits; then the mean
  difference. Of an objective lower is better, and a positive difference is in favour of the first. Most figures have
  one to three runs of a cell so far: errors of two runs are rough, and of one there are none.
* *Whole*: run, and what is claimed holds in three quarters of the cells or more, at both prices. *Part*: it holds at
  one of both, or in part of the cells. *Refuted*: it holds in a quarter or less, at both; that a document's own figure
  is wrong does not follow. *Missing*: not measured.

"""
DATA = """
IPUMS-US, MQ2007, Fashion-MNIST, CIFAR-10 and CreditCard have no public download that a test could rely on: the command
reads a file where somebody put one (`benchmarks/papers/_data.py` says where), and leaves them out otherwise. No figure
here is of them. `--quick` runs every figure on generated tables of the same shape.
"""


def verdict_of(counts):
    """Return the verdict of a claim by its counts at the document's settings and at equal prices."""
    shares = [found.won / found.cells for found in counts if found.cells]
    if not shares:
        return "missing"
    if min(shares) >= 0.75:
        return "whole"
    return "refuted" if max(shares) <= 0.25 else "part"


def judged(figure, rows):
    """Return each claim of a figure with its counts and its verdict."""
    for claim in figure.claims:
        counts = [count(claim, rows, setting) for setting in ("document", "ours")]
        yield claim, counts, verdict_of(counts)


def shares(rows):
    """Return what printed noise costs over what is claimed, by method."""
    found = {}
    for row in rows:
        if row.get("setting") == "document" and "true_epsilon" in row and row["epsilon"]:
            found.setdefault(row["method"], []).append(row["true_epsilon"] / row["epsilon"])
    told = ", ".join(f"{name} {np.median(parts):.2g}" for name, parts in found.items())
    return f"; true epsilon over the claimed one: {told}" if told else ""


def extent(rows):
    """Return at which epsilons, and how often, a figure was measured."""
    found = sorted({row["epsilon"] for row in rows if 0.0 < row["epsilon"] < float("inf")})
    number = len({row["repetition"] for row in rows})
    runs = f"{number} run{'s' if number > 1 else ''}"
    if len(found) > 6:  # prices of steps, not asked for
        return f"measured with {runs}"
    return f"measured at epsilon {', '.join(f'{epsilon:g}' for epsilon in found)} with {runs}"


def line_of(figure):
    """Return the line of a figure, and its verdict."""
    rows = read(figure)
    command = f'`run "{figure.name}"`'
    if not rows:
        cells = (
            figure.name,
            figure.title,
            command,
            "",
            "",
            "",
            "",
            "missing",
            "not measured yet; " + figure.reason,
        )
        return f"| {' | '.join(cells)} |", "missing"  # fmt: skip
    minutes = f"{sum(row['seconds'] for row in rows) / 60:.1f}"
    if figure.claims:
        claim, (printed, ours), verdict = next(judged(figure, rows))
        shown = claim.text, f"{printed}{shares(rows)}", str(ours)
    else:
        shown, verdict = (figure.told, figure.summary(rows), ""), figure.verdict
    missing = f"{extent(rows)}; {figure.reason}"
    cells = figure.name, figure.title, command, minutes, *shown, verdict, missing
    return f"| {' | '.join(cells)} |", verdict


def tell(counts):
    """Return counts by verdict as words."""
    found = Counter(counts)
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS if found[verdict])


def figures():
    """Return the table of figures."""
    lines, verdicts = zip(*(line_of(figure) for figure in FIGURES.values()))
    head = (
        *("figure", "what", "command", "minutes", "first claim"),
        *("at the document's settings and noise", "at equal exact prices"),
        *("verdict", "what is missing or differs"),
    )
    return table(head, lines) + f"\nOf {len(lines)} figures and tables: {tell(verdicts)}.\n"


def orderings():
    """Return the table of claims."""
    lines, verdicts = [], []
    for figure in FIGURES.values():
        rows = read(figure)
        for claim, (printed, ours), verdict in judged(figure, rows):
            reason = claim.reason if rows else "not measured yet"
            cells = figure.name, claim.text, str(printed), str(ours), verdict, reason
            lines.append(f"| {' | '.join(cells)} |")
            verdicts.append(verdict)
    head = (
        *("figure", "claim", "at the document's settings", "at equal exact prices"),
        *("verdict", "what makes the difference"),
    )
    return table(head, lines) + f"\nOf {len(lines)} claims: {tell(verdicts)}.\n"


def printed():
    """Return the numbers of Zhang et al. beside ours."""
    head = (
        *("data", "mu", "epsilon", "OutPert-GD printed", "same noise here", "printed / here"),
        *("its true epsilon", "SGD printed", "SGD here", "its true epsilon"),
        *("seconds of OutPert-GD printed", "here"),
    )
    return table(head, beside_printed(read(FIGURES["Z Table 3"])))


def settings():
    """Return the table of settings."""
    groups = {}
    for figure in FIGURES.values():
        groups.setdefault((figure.document, figure.ours), []).append(figure.name)
    lines = [
        f"| {', '.join(names)} | {document} | {ours} |"
        for (document, ours), names in groups.items()
    ]
    return table(("figures", "the document's settings", "ours"), lines)


def items():
    """Return the table of all items of the documents."""
    rows = [
        line.split("|")
        for line in ITEMS.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    verdicts = {figure.name: line_of(figure)[1] for figure in FIGURES.values()}
    for row in rows:
        row[3] = verdicts[row[3][1:]] if row[3].startswith("=") else row[3]
    lines = [f"| {number} | {' | '.join(row)} |" for number, row in enumerate(rows, 1)]
    head = "", "where", "item", "here", "verdict", "reason, or what is missing"
    return table(head, lines) + f"\nOf {len(rows)} items: {tell(row[3] for row in rows)}.\n"


def table(head, lines):
    """Return a table as Markdown."""
    return "\n".join((f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *lines)) + "\n"


def page():
    """Return the page."""
    parts = (
        HEAD,
        "## Figures and tables\n\n",
        figures(),
        DATA,
        "\nPages of their own: [Table 3 of Zhang et al. with more solvers](table3.md), the [16 printed epsilons of the "
        "ranking chapter](papers_priced.md), [ranking](ranking.md), [networks](networks.md).\n",
        "\n## Orderings\n\n",
        orderings(),
        "\n## Table 3 of Zhang et al.\n\n"
        "At the printed noise, of rows whose printed scaling is not known: with mu that multiplies a column by one "
        "number. Seconds are of another machine.\n\n",
        printed(),
        "\n## Settings\n\n",
        settings(),
        "\n## All items of the documents\n\n",
        items(),
    )
    return "".join(parts)


def write_page():
    """Write the page."""
    (DOCS / "papers.md").write_text(page(), encoding="utf-8")
