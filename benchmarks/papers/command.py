"""The command: list figures, run them, write the page."""

import argparse

from ._figure import Sizes, run
from ._registry import FIGURES
from .page import write_page

__all__ = ["main"]


def parser():
    """Return the parser of the command line; ``--quick`` was read by `_quick` before."""
    top = argparse.ArgumentParser(prog="benchmarks.papers", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name all figures and tables")
    commands.add_parser("page", help="write docs/papers.md of what has been measured")
    one = commands.add_parser("run", help="measure what is not measured yet of one figure, or all")
    one.add_argument("figures", nargs="+", help="names as 'list' has them, or all")
    one.add_argument("--jobs", type=int, default=1)
    one.add_argument("--again", action="store_true", help="measure anew what is kept")
    one.add_argument("--repetitions", type=int)
    one.add_argument("--data", nargs="+")
    one.add_argument("--methods", nargs="+")
    one.add_argument("--settings", nargs="+")
    one.add_argument("--epsilons", nargs="+", type=float)
    return top


def main(arguments=None):
    """Do what is asked."""
    asked = parser().parse_args(arguments)
    if asked.command == "list":
        for figure in FIGURES.values():
            print(f"{figure.name:12} {figure.title}")
        return
    if asked.command == "run":
        names = list(FIGURES) if asked.figures == ["all"] else asked.figures
        for name in names:
            if name not in FIGURES:
                raise SystemExit(f"{name!r} is no figure; known are {', '.join(FIGURES)}, and all.")
        kept = ("data", "methods", "settings", "epsilons")
        given = {n: tuple(getattr(asked, n)) for n in kept if getattr(asked, n) is not None}
        if "epsilons" in given:
            given["epsilons"] += (0.0,)  # of baselines
        if "methods" in given or "settings" in given:
            given = {n: (*v, *{"settings": ("baseline",)}.get(n, ())) for n, v in given.items()}
        sizes = Sizes(repetitions=asked.repetitions, **given)
        for name in names:
            run(FIGURES[name], sizes, asked.jobs, asked.again)
    write_page()
