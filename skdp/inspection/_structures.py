"""Rules for scikit-learn's meta-estimators: what they do with records, and if each fit can be seen afterwards.

A meta-estimator is listed where a proof says what it does. It fits what is inside to rows that come of the records one
by one, by public maps and paid answers, so that neighbours stay neighbours and costs add up; or it spoils that. The
proofs are in docs/budgets.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.base import is_classifier

from ._rules import (
    ASSUMES,
    LEARNS,
    NOTHING,
    PUBLIC,
    UNKNOWN,
    Setting,
    Verdict,
    find_code,
    is_ours,
    kind_of,
    may_be_sparse,
)

__all__ = ["SPOILS", "STRUCTURES", "Structure", "judge_structure", "parts_of"]

_MANY = "fits what is inside several times, and each fit charges the budget: share a ledger"
_LOST = f"{_MANY}, for skdp.total cannot count fits that are thrown away"
_LABELS = "takes the set of labels from y, so a rare label shows"


def _always(step: Any) -> bool:
    return True


@dataclass(frozen=True)
class Structure:
    """A meta-estimator.

    Parameters
    ----------
    judge : callable
        Verdict of a step in a setting, or None where it only hands records on.
    keeps : callable
        Whether the fitted step holds each fit that it made.
    in_place : bool
        Whether it fits the steps that it was given, and not copies of them.
    """

    judge: Callable[[Any, Setting], Verdict | None]
    keeps: Callable[[Any], bool] = _always
    in_place: bool = False


def _hand_on(step: Any, setting: Setting) -> None:
    return None


def _judge_pipeline(step: Any, setting: Setting) -> Verdict | None:
    if step.memory is None:
        return None
    return (
        UNKNOWN,
        "memory keeps rows on disk, and whether a fit is read from there shows that records are equal",
    )


def _judge_columns(step: Any, setting: Setting) -> Verdict | None:
    """Judge how columns are chosen and put together."""
    for _, _, columns in step.transformers:
        if callable(columns) and not _picks_by_name(columns):
            return (
                UNKNOWN,
                "columns picked by type or by a function, which one cell may change: name them",
            )
    parts = [part for part in _leaves(step) if may_be_sparse(part)]
    if parts and step.sparse_threshold > 0:
        return (
            LEARNS,
            "counts the zeros of all records to choose between dense and sparse rows: sparse_threshold=0",
        )
    return None


def _judge_many(step: Any, setting: Setting) -> Verdict:
    return PUBLIC, _MANY


def _judge_selection(step: Any, setting: Setting) -> Verdict:
    return PUBLIC, "keeps columns by what its private model released"


def _judge_elimination(step: Any, setting: Setting) -> Verdict:
    return PUBLIC, _LOST


def _judge_by_label(step: Any, setting: Setting) -> Verdict:
    return ASSUMES, _LABELS


def _judge_pairs(step: Any, setting: Setting) -> Verdict:
    """Judge one-vs-one: a record is in the fits of its own label's pairs, and in no other."""
    if setting.relations == {"add_remove"}:
        return ASSUMES, _LABELS
    return (
        LEARNS,
        "picks rows by private labels, so the number of rows of each fit shows a count of labels: "
        "OneVsRestClassifier, or neighbors='add_remove'",
    )


def _judge_targets(step: Any, setting: Setting) -> Verdict:
    """Judge a regressor of transformed targets."""
    given = (step.transformer, step.func, step.inverse_func)
    if step.check_inverse and given != (None, None, None):
        return LEARNS, "warns by the targets of a wrong inverse: check_inverse=False"
    return PUBLIC, "maps each target by itself"


def _judge_stack(step: Any, setting: Setting) -> Verdict:
    """Judge a stack: its last fit sees predictions by models of the other folds."""
    by_label = kind_of(step) == "StackingClassifier"
    if step.cv != "prefit" and (why := _judge_folds(step.cv, by_label, setting)) is not None:
        return why
    if by_label:
        return ASSUMES, _LABELS
    return PUBLIC, _MANY if step.cv == "prefit" else _LOST


def _judge_chain(step: Any, setting: Setting) -> Verdict:
    """Judge a chain: each fit sees the earlier targets, or predictions of them by models of the other folds."""
    if step.cv is None:
        return PUBLIC, _MANY
    by_label = is_classifier(_estimator_of(step))
    if (why := _judge_folds(step.cv, by_label, setting)) is not None:
        return why
    return (ASSUMES, _LABELS) if by_label else (PUBLIC, _LOST)


def _judge_folds(cv: Any, by_label: bool, setting: Setting) -> Verdict | None:
    """Judge folds: None where a neighbour never changes the fold of another record."""
    if setting.relations == {"replace_one"}:
        if (cv is None or isinstance(cv, int)) and not by_label:
            return None  # scikit-learn's KFold
        if kind_of(cv) == "KFold" or (is_ours(cv) and cv.relation == "replace_one"):
            return None
    if hasattr(cv, "split") and kind_of(cv) is None and not is_ours(cv):
        return UNKNOWN, "cv is code that is not of scikit-learn: read it"
    if cv is not None and not isinstance(cv, int) and not hasattr(cv, "split"):
        return UNKNOWN, "cv lists folds, which must not depend on records"
    return (
        LEARNS,
        "one record moves others between its folds: skdp.model_selection.PositionFold, under replace_one",
    )


def _picks_by_name(columns: Any) -> bool:
    """Tell whether columns are picked by a pattern of their names alone."""
    types = (getattr(columns, "dtype_include", 0), getattr(columns, "dtype_exclude", 0))
    return kind_of(columns) == "make_column_selector" and types == (None, None)


STRUCTURES: dict[str, Structure] = {
    "ClassifierChain": Structure(_judge_chain, lambda step: step.cv is None),
    "ColumnTransformer": Structure(_judge_columns),
    "FeatureUnion": Structure(_hand_on, in_place=True),
    "FixedThresholdClassifier": Structure(_hand_on),
    "FrozenEstimator": Structure(_hand_on, in_place=True),
    "MultiOutputClassifier": Structure(_judge_many),
    "MultiOutputRegressor": Structure(_judge_many),
    "OneVsOneClassifier": Structure(_judge_pairs),
    "OneVsRestClassifier": Structure(_judge_by_label),
    "OutputCodeClassifier": Structure(_judge_by_label),
    "Pipeline": Structure(_judge_pipeline, in_place=True),
    "RFE": Structure(_judge_elimination, lambda step: False),
    "RegressorChain": Structure(_judge_chain, lambda step: step.cv is None),
    "SelectFromModel": Structure(_judge_selection),
    "StackingClassifier": Structure(_judge_stack, lambda step: step.cv == "prefit"),
    "StackingRegressor": Structure(_judge_stack, lambda step: step.cv == "prefit"),
    "TransformedTargetRegressor": Structure(_judge_targets),
    "VotingClassifier": Structure(_judge_by_label),
    "VotingRegressor": Structure(_judge_many),
}
_SCORES = "chooses by scores in the clear: skdp.model_selection.DPGridSearchCV"
_SEEDS = "takes a record into a fit several times, and seeds the noise"
# These add something that they learn in the clear.
SPOILS = {
    "AdaBoostClassifier": "weighs records by its errors on them, and seeds the noise",
    "AdaBoostRegressor": "weighs records by its errors on them, and seeds the noise",
    "BaggingClassifier": _SEEDS,
    "BaggingRegressor": _SEEDS,
    "CalibratedClassifierCV": "calibrates on labels in the clear",
    "GridSearchCV": _SCORES,
    "HalvingGridSearchCV": _SCORES,
    "HalvingRandomSearchCV": _SCORES,
    "RANSACRegressor": "keeps rows by their errors in the clear",
    "RFECV": _SCORES,
    "RandomizedSearchCV": _SCORES,
    "SelfTrainingClassifier": "labels records by its own guesses",
    "SequentialFeatureSelector": _SCORES,
    "TunedThresholdClassifierCV": _SCORES,
}


def judge_structure(step: Any, setting: Setting) -> Verdict | None:
    """Judge a meta-estimator of `STRUCTURES` or `SPOILS` itself, whatever is inside.

    Parameters
    ----------
    step : estimator
        Of scikit-learn.
    setting : Setting
        The neighbouring relations.
    """
    kind = kind_of(step) or ""
    if kind in SPOILS:
        return LEARNS, SPOILS[kind]
    if (name := find_code(step)) is not None:
        return UNKNOWN, f"{name} may look at all records at once: read it"
    return STRUCTURES[kind].judge(step, setting)


def parts_of(step: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and steps that a step is made of, with those that scikit-learn puts where none is given.

    Parameters
    ----------
    step : object
        Any.
    """
    if not hasattr(step, "get_params") or isinstance(step, type):
        return
    for name, value in step.get_params(deep=False).items():
        if hasattr(value, "fit"):
            yield name, value
        elif isinstance(value, list):
            yield from ((str(entry[0]), entry[1]) for entry in value if _is_named(entry))
    kind = kind_of(step)
    if kind in ("StackingClassifier", "StackingRegressor") and step.final_estimator is None:
        from sklearn.linear_model import LogisticRegression, RidgeCV

        default = LogisticRegression() if kind == "StackingClassifier" else RidgeCV()
        yield "final_estimator", default
    if kind == "TransformedTargetRegressor" and step.regressor is None:
        from sklearn.linear_model import LinearRegression

        yield "regressor", LinearRegression()


def _is_named(entry: Any) -> bool:
    """Tell whether an entry of a list is a step with its name, and not a pair of bounds."""
    return isinstance(entry, tuple) and len(entry) > 1 and isinstance(entry[0], str)


def _leaves(step: Any) -> Iterator[Any]:
    """Yield the steps at the end of each branch."""
    for _, part in parts_of(step):
        if not isinstance(part, str) and part not in NOTHING:
            inside = list(parts_of(part))
            yield from _leaves(part) if inside else (part,)


def _estimator_of(step: Any) -> Any:
    """Return the estimator that a chain repeats, by this version's name for the parameter."""
    params = step.get_params(deep=False)
    given = (params.get(name) for name in ("estimator", "base_estimator"))
    return next(value for value in given if hasattr(value, "fit"))
