"""The command ``python -m skdp``: accuracy and AUC by epsilon, beside what no privacy gives."""

import argparse
import sys
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from . import DPLogisticRegression, datasets
from .datasets import Table
from .datasets._fetch import data_home
from .exceptions import PrivacyWarning
from .fitting.data import Array
from .inspection._drawing import COLOURS, axes
from .privacy._arithmetic import round_up

__all__ = ["main"]

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
PUBLIC: dict[str, Callable[..., Table]] = {
    "adult": datasets.load_adult,
    "bank": datasets.load_bank,
    "kddcup99": datasets.load_kddcup99,
}

_SCORES_NOTE = (
    "Accuracy and AUC, of every row, are computed on held-out records WITHOUT noise, and the row "
    "'no privacy' comes from a model without it: they are not private, they are for the eyes of "
    "whoever may see the data. --no-scores prints only what is paid for."
)
_SUM_NOTE = (
    "Each draw is one fit: to publish several of these models costs the sum of their epsilons "
    "(and of their deltas)."
)

Row = namedtuple(
    "Row", "name draws"
)  # of a model: a line of accuracy, AUC and seconds for each fit


def main(argv: list[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : list of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        Exit status: 0, or 2 when the arguments or the file are refused.
    """
    parser = _parser()
    arguments = parser.parse_args(argv)
    _check(parser, arguments)
    try:
        table = _table(arguments)
        if arguments.no_scores:
            _release(table, arguments)
        else:
            _compare(table, arguments)
    except (ValueError, OSError, ImportError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m skdp",
        description="Fit DPLogisticRegression at several epsilons and tell what privacy costs.",
    )
    add = parser.add_argument
    add("--data", choices=["census", *PUBLIC], help="generated census (default) or a public table")
    add("--draws", type=int, default=5, help="fits for each epsilon, with noise of their own")
    add("--plot", metavar="FILE", help="draw accuracy and AUC by epsilon into a .png, .svg or .pdf")
    add("--download", action="store_true", help="fetch the public table where it is missing")
    add("--csv", metavar="FILE", help="your own table, with a header")
    add("--target", metavar="COL", help="the column of FILE to predict")
    add("--bounds", metavar="FILE", help="JSON or csv: column to [low, high] or to its categories")
    add("--drop-unlabelled", action="store_true", help="leave out rows whose target is no class")
    add("--epsilon", type=float, nargs="+", help="budgets, one fit each (default: 0.1 to 4)")
    add("--delta", type=float, default=1e-6)
    add("--neighbors", choices=["replace_one", "add_remove"], default="replace_one")
    add("--solver", default="auto")
    add("--seed", type=int, help="fix the noise (not private against whoever knows it)")
    add("--n-samples", type=int, default=40_000, help="rows of the generated census")
    add("--no-scores", action="store_true", help="one epsilon, all rows; print the model alone")
    return parser


def _check(parser: ArgumentParser, arguments: Namespace) -> None:
    if arguments.csv and arguments.data:
        parser.error("--csv and --data exclude each other: name one table.")
    if arguments.csv and not (arguments.target and arguments.bounds):
        parser.error("--csv needs --target and --bounds: what is public must be declared.")
    if not arguments.csv and (arguments.target or arguments.bounds):
        parser.error("--target and --bounds describe a --csv file: name it.")
    if arguments.drop_unlabelled and not (arguments.csv and arguments.neighbors == "add_remove"):
        parser.error(
            "--drop-unlabelled makes the number of rows of a --csv private: add --neighbors add_remove."
        )
    if arguments.draws < 1:
        parser.error(f"--draws must be at least 1; got {arguments.draws}.")
    if arguments.plot and arguments.no_scores:
        parser.error("--plot draws scores, and --no-scores makes none: leave one out.")
    if arguments.no_scores and len(arguments.epsilon or ()) != 1:
        parser.error("--no-scores publishes one model: give it one --epsilon.")


def _table(arguments: Namespace) -> Table:
    if arguments.csv:
        table = datasets.load_csv(
            arguments.csv,
            target=arguments.target,
            bounds=arguments.bounds,
            drop_unlabelled=arguments.drop_unlabelled,
        )
        print(f"The declaration was read as follows:\n{table.reading()}", file=sys.stderr)
        return table
    if arguments.data in PUBLIC:
        try:
            return PUBLIC[arguments.data](download=arguments.download)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"--data {arguments.data} is not in {data_home()}: add --download to fetch it, or set SKDP_DATA to the "
                "folder that has it."
            ) from None
    return datasets.make_census(arguments.n_samples, random_state=0)


def _compare(table: Table, arguments: Namespace) -> None:
    """Score every model on a fifth of the rows, held out."""
    rows = train_test_split(
        table.encode(), table.target, test_size=0.2, random_state=arguments.seed or 0
    )
    ax = axes(None) if arguments.plot else None  # or a word on what is missing, before the fits
    models: dict[str, list[Any]] = {"majority": [DummyClassifier(strategy="prior")]}
    for epsilon in arguments.epsilon or EPSILONS:
        draws = range(arguments.draws)
        models[round_up(epsilon)] = [_private(table, epsilon, arguments, draw) for draw in draws]
    models["no privacy"] = [LogisticRegression(max_iter=1000)]
    scores = []
    for number, (name, draws_of) in enumerate(models.items(), start=1):
        _say(f"[{number}/{len(models)}] {_label(name)} ...")
        with warnings.catch_warnings():
            # The notes below say that the costs of all fits add up.
            warnings.filterwarnings("ignore", "This is the second fit", PrivacyWarning)
            scores.append(Row(name, np.array([_score(model, *rows) for model in draws_of])))
    print(_report(scores))
    _notes(table, len(rows[0]), arguments)
    if ax:
        _plot(ax, scores, table.name, arguments.plot)


def _release(table: Table, arguments: Namespace) -> None:
    """Fit one model on all rows; print its receipt and its coefficients, both paid for."""
    model = _private(table, arguments.epsilon[0], arguments)
    _say(f"[1/1] epsilon={round_up(arguments.epsilon[0])} ...")
    model.fit(table.encode(), table.target)
    print(model.privacy_)
    print("\ncolumn,coefficient")
    for name, value in zip(table.encoded_names, np.ravel(model.coef_)):
        print(f"{name},{value:.6g}")
    print(f"(intercept),{np.ravel(model.intercept_)[0]:.6g}")


def _private(
    table: Table, epsilon: float, arguments: Namespace, draw: int = 0
) -> DPLogisticRegression:
    return DPLogisticRegression(
        epsilon=epsilon,
        delta=arguments.delta,
        solver=arguments.solver,
        data_norm=1.0,
        classes=list(range(len(table.target_names or ()))),
        neighbors=arguments.neighbors,
        random_state=None if arguments.seed is None else arguments.seed + draw,
    )


def _score(
    model: Any, X: Array, X_held_out: Array, y: Array, y_held_out: Array
) -> tuple[float, float, float]:
    """Accuracy, AUC and seconds of a fit."""
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    probabilities = model.predict_proba(X_held_out)
    accuracy = float(np.mean(model.predict(X_held_out) == y_held_out))
    return accuracy, _auc(y_held_out, probabilities), seconds


def _auc(y: Array, probabilities: Array) -> float:
    """Area under the curve; NaN where the held-out rows show one class."""
    if probabilities.shape[1] != 2 or len(np.unique(y)) != 2:
        return np.nan
    return roc_auc_score(y, probabilities[:, 1])


def _report(scores: list[Row]) -> str:
    lines = [f"{'epsilon':>12}  {'accuracy':>16}  {'AUC':>16}  seconds"]
    for name, draws in scores:
        accuracy, auc = (_spread(draws[:, k]) for k in (0, 1))
        lines.append(f"{name:>12}  {accuracy:>16}  {auc:>16}  {draws[:, 2].mean():7.2f}")
    return "\n".join(lines)


def _spread(values: Array) -> str:
    """Mean and standard deviation, or the value alone."""
    return f"{values[0]:.4f}" if len(values) == 1 else f"{values.mean():.4f} +- {values.std():.4f}"


def _plot(ax: Any, scores: list[Row], title: str, path: str) -> None:
    """Accuracy and AUC over epsilon, between the majority and no privacy."""
    epsilons = [float(name) for name, _ in scores[1:-1]]
    for k, name in enumerate(("accuracy", "AUC")):
        draws = [row.draws[:, k] for row in scores]
        means, spread = [d.mean() for d in draws[1:-1]], [d.std() for d in draws[1:-1]]
        ax.errorbar(epsilons, means, spread, fmt="o-", color=COLOURS[k], label=name)
        ax.axhline(draws[0][0], color=COLOURS[k], linestyle=":")
        ax.axhline(draws[-1][0], color=COLOURS[k], linestyle="--")
    ax.set(
        xscale="log", xlabel="epsilon", title=f"{title}: dotted, the majority; dashed, no privacy"
    )
    ax.legend()
    ax.figure.savefig(path, dpi=150)
    _say(f"Drawn into {path}.")


def _notes(table: Table, n: int, arguments: Namespace) -> None:
    # Under add/remove the number of a user's records is itself private.
    private_n = arguments.csv and arguments.neighbors == "add_remove"
    size = "" if private_n else f"{n:,} training rows, "
    print(
        f"\n{table.name}: {size}{len(table.columns)} columns ({len(table.encoded_names)} encoded), "
        f"solver={arguments.solver}, delta={round_up(arguments.delta)}, {arguments.neighbors} neighbours."
    )
    if table.assumed:
        names = ", ".join(sorted(table.assumed))
        print(f"Treated as public, though no documentation gives them: the ranges of {names}.")
    if arguments.csv:
        print(_SCORES_NOTE)
    print(_SUM_NOTE)
    if arguments.seed is not None:
        print("The noise was seeded: nothing here is private against whoever knows the seed.")


def _label(name: str) -> str:
    return name if name in ("majority", "no privacy") else f"epsilon={name}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
