"""The log of all replays, as a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from ..exceptions import NotSupported
from ..fitting import prepare
from ..solvers import SOLVERS
from ._neighbours import adversarial_pairs
from ._replay import Run, fitted, replay
from ._subjects import asked, estimators, questions

__all__ = ["first_that_fits", "page", "replays"]

# Subject, relation, pairs, calls, the largest movement over its claim, findings.
Line = tuple[str, str, int, int, float, tuple[str, ...]]

RELATIONS = ("replace_one", "add_remove")
MANY, N, D = 600, 24, 8  # records asked by questions and by solvers, and features
HEAD = """# Replay with frozen answers: the log

Written by `python -m skdp.audit replay > docs/replay_log.md`; [audit.md](audit.md) says what is replayed and what is
compared. Each line is over all adversarial pairs of neighbours ({pairs}):
three layouts, two precisions and pairs of tables with different layouts; {d} features; {many} records for questions,
{n} for solvers. *Calls* of the noise that were compared, the largest *moved/claimed*, all roundings included in the
claim, and *findings*: branches that differ, statistics that move too far, anything else that comes out and differs.
"refused" is one sentence before the data is touched. Questions of lists have lists of one document here,
which add nothing; lists are replayed through `DPRanker` in tests/ranking/test_ranker.py.
"""


def replays(only: Callable[[str, str], bool] | None = None) -> Iterator[Line]:
    """Run all of them.

    Parameters
    ----------
    only : callable or None
        Takes (subject, relation) and says whether to run it.

    Yields
    ------
    tuple (subject, relation, pairs, calls, moved, findings)
        `pairs` is 0 where the subject is refused under the relation.
    """
    for relation in RELATIONS:
        for subject, n, run in _runs(relation):
            if only is None or only(subject, relation):
                yield (subject, relation, *_over_pairs(run, relation, n))


def _runs(relation: str) -> Iterator[tuple[str, int, Run | None]]:
    for name, question in questions(MANY, D + 1).items():
        yield name, MANY, asked(question, relation, MANY)
    for name in sorted(SOLVERS):
        yield f"solver {name}", N, first_that_fits(name, relation)


def first_that_fits(name: str, relation: str) -> Run | None:
    """A run of the first task that the solver takes; None if it takes none under the relation.

    Parameters
    ----------
    name, relation : str
        Of the solver, and of the neighbours.

    Returns
    -------
    run : callable or None
        For `replay`.
    """
    for estimator in estimators(name, relation):
        try:
            prepare(estimator._plan(N, D, {})).quote()
        except NotSupported:
            continue
        return fitted(estimator)
    return None


def _over_pairs(run: Run | None, relation: str, n: int) -> tuple[int, int, float, tuple[str, ...]]:
    pairs, calls, moved, findings = 0, 0, 0.0, []
    if run is None:
        return 0, 0, math.nan, ()
    for seed, pair in enumerate(adversarial_pairs(relation, n, D)):
        found = replay(run, pair, seed)
        if not pairs and not found.calls and str(found.refused).startswith("NotSupported"):
            return 0, 0, math.nan, ()
        pairs, calls = pairs + 1, calls + found.calls
        moved = max(moved, found.moved)
        findings += [f"{pair.name}: {what}" for what in found.findings]
    return pairs, calls, moved, tuple(findings)


def page(lines: Iterable[Line]) -> str:
    """The log as Markdown.

    Parameters
    ----------
    lines : iterable of tuple
        See `replays`.

    Returns
    -------
    str
        The page.
    """
    count = {r: sum(1 for _ in adversarial_pairs(r, N, D)) for r in RELATIONS}
    pairs = ", ".join(f"{count[r]} under `{r}`" for r in RELATIONS)
    text = [HEAD.format(pairs=pairs, many=MANY, n=N, d=D)]
    text += [
        "| subject | relation | calls | moved/claimed | findings |",
        "| --- | --- | --- | --- | --- |",
    ]
    told = []
    for subject, relation, ran, calls, moved, findings in lines:
        result = f"{calls} | {_ratio(moved)} | {len(findings)}" if ran else "refused | | "
        text.append(f"| {subject} | {relation} | {result} |")
        told += [f"* {subject}, {relation}, {what}" for what in findings]
    return (
        "\n".join([*text, "", *(["## Findings", "", *told] if told else ["No findings."])]) + "\n"
    )


def _ratio(moved: float) -> str:
    """Close to 1, how far below."""
    return f"{moved:.4f}" if moved <= 0.9999 or moved > 1.0 else f"1 - {1.0 - moved:.1e}"
