"""Ways to use an estimator, each tried alone: other parameters, arguments of `fit`, and forms of tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from laws.records import COLUMNS, FEW, LIST, PERSON, N, Table, table
from scipy.sparse import csr_array
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to use an estimator, tried alone beside what is declared.

    Parameters
    ----------
    name : str
        Of the variant.
    parameters : dict
        Of the estimator; one that does not know them all has no such variant.
    arguments : callable or None
        From a table to further arguments of `fit`.
    rows_of, targets_of : callable or None
        From the rows, or the targets, that it would be given to those that it is given, record by record.
    size : int
        Records of the tables that it is run on.
    of : callable
        Whether an instance has the variant.
    paid : bool
        Whether a ledger pays, whose lines leave too.
    rows : int
        The most rows of a record.
    cut : callable or None
        From a table to the part of it that is given.
    """

    name: str
    parameters: dict[str, Any]
    arguments: Callable[[Table], dict[str, Any]] | None = None
    rows_of: Callable[[Any], Any] | None = None
    targets_of: Callable[[Table], Any] | None = None
    size: int = N
    of: Callable[[Any], bool] = lambda model: True
    paid: bool = False
    rows: int = 1
    cut: Callable[[Table], Table] | None = None


def with_holes(rows: Any) -> Any:
    """The same rows where some cells are missing: which ones follows from the row alone."""
    if isinstance(rows, pd.DataFrame):
        return rows.assign(word=rows["word"].where(rows["word"] == "low"))
    holes = rows.copy()
    holes[rows[:, 1] > 1.0, 2] = np.nan
    return holes


def takes_holes(model: Any) -> bool:
    return bool(get_tags(model).input_tags.allow_nan)


def _takes_classes(model: Any) -> bool:
    return is_classifier(model) and get_tags(model).classifier_tags.multi_class


def _takes_targets(model: Any) -> bool:
    return is_regressor(model) and get_tags(model).target_tags.multi_output


def thirds(given: Table) -> np.ndarray:
    return np.digitize(given.number, [-0.4, 0.9])


def _words(given: Table) -> np.ndarray:
    return np.where(given.label > 0, "yes", "no")


def unlike_lists(given: Table) -> Table:
    """The same lists, cut to between two documents and all: how many follows from the list alone."""
    return _cut(given, given.document_list, 2)


def unlike_persons(given: Table) -> Table:
    """The same persons, cut to between one row and all: how many follows from the person alone."""
    return _cut(given, given.person, 1)


def _cut(given: Table, keys: np.ndarray, least: int) -> Table:
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    kept = least + np.bincount(of, weights=given.X[:, 3] > 0.0).astype(int)
    return given.take(np.flatnonzero(np.arange(len(given)) - first[of] < kept[of]))


def both_classes(given: Table) -> Table:
    """The same records before two that are always the same, one of each class: which classes there are is public."""
    last = table(98, 2)
    return Table(
        *(np.concatenate([one, two]) for one, two in zip(vars(given).values(), vars(last).values()))
    )


def _of_private_size(model: Any) -> bool:
    return bool(model.neighbors == "add_remove")


def _two_targets(given: Table) -> np.ndarray:
    return np.column_stack([given.number, -given.number / 3.0])


NARROW = {f"x{j}": (-0.01, 0.01) for j in range(COLUMNS)} | {"word": ["high", "mid"]}

VARIANTS = (
    Variant("declared", {}),
    Variant("data_norm=None", {"data_norm": None}),
    Variant("y_bounds=None", {"y_bounds": None}),
    Variant("data_norm=None, y_bounds=None", {"data_norm": None, "y_bounds": None}),
    Variant("data_norm=None, bounds=None", {"data_norm": None, "bounds": None}),
    Variant("class_weight=balanced", {"class_weight": "balanced"}),
    Variant(
        "class_weight=balanced, data_norm=None", {"class_weight": "balanced", "data_norm": None}
    ),
    Variant("calibrate=True", {"calibrate": True}),
    Variant("calibrate=True, data_norm=None", {"calibrate": True, "data_norm": None}),
    Variant(
        "calibrate=True, class_weight=balanced", {"calibrate": True, "class_weight": "balanced"}
    ),
    Variant(
        "calibrate=True, persons",
        {"calibrate": True, "max_rows_per_group": 2},
        lambda t: {"groups": t.person},
        rows=PERSON,
    ),
    Variant(
        "calibrate=True, three classes",
        {"calibrate": True, "classes": [0, 1, 2]},
        targets_of=thirds,
        of=_takes_classes,
    ),
    Variant("class_weight=dict", {"class_weight": {0: 1.0, 1: 3.0}}),
    Variant("sample_weight", {"max_sample_weight": 1.0}, lambda t: {"sample_weight": t.weight}),
    # The number of rows is private, whatever the relation.
    Variant(
        "persons",
        {"max_rows_per_group": 2},
        lambda t: {"groups": t.person},
        rows=PERSON,
        cut=unlike_persons,
    ),
    # Where all others weigh alike, one is of no weight at all.
    Variant(
        "weights alike but for what is far",
        {"max_sample_weight": 1.0},
        lambda t: {"sample_weight": np.where(t.X[:, 0] < -20.0, 0.0, 0.5)},
        size=FEW,
    ),
    # No bound is declared, and each is beyond the one that then holds.
    Variant(
        "weights beyond",
        {"max_sample_weight": None},
        lambda t: {"sample_weight": 100.0 * t.weight},
    ),
    Variant(
        "persons, weights",
        {"max_rows_per_group": 2, "max_sample_weight": 1.0},
        lambda t: {"groups": t.person, "sample_weight": t.weight},
        rows=PERSON,
    ),
    Variant(
        "persons, data_norm=None",
        {"max_rows_per_group": 2, "data_norm": None},
        lambda t: {"groups": t.person},
        rows=PERSON,
    ),
    Variant(
        "persons, class_weight=balanced",
        {"max_rows_per_group": 2, "class_weight": "balanced"},
        lambda t: {"groups": t.person},
        rows=PERSON,
    ),
    Variant("n unknown", {"n_public": None}, of=_of_private_size),
    # What is declared is narrower than nearly all that comes.
    Variant("rows beyond", {"data_norm": 0.01}),
    Variant("targets beyond", {"y_bounds": (-0.1, 0.1)}),
    Variant("cells beyond", {"bounds": (-0.01, 0.01)}),
    Variant("declared cells beyond", {"declaration": NARROW}),
    Variant("unlike lists", {"privacy_unit": "list"}, rows=LIST, cut=unlike_lists),
    Variant("labels as words", {"classes": ["no", "yes"]}, targets_of=_words, of=is_classifier),
    # The set of labels is public then; nothing else of them is, as the order in which they come.
    Variant("classes taken from y", {"classes": None}, of=is_classifier, cut=both_classes),
    Variant("a series", {}, targets_of=lambda t: pd.Series(t.label), of=is_classifier),
    Variant("a column", {}, targets_of=lambda t: t.number[:, None], of=is_regressor),
    Variant("warm_start", {"warm_start": True}),
    Variant("a number of runs that is secret", {"strategy": "geometric"}),
    Variant("positive", {"positive": True}),
    Variant("no intercept", {"fit_intercept": False}),
    Variant("told", {"verbose": 1}),
    Variant("paid by a ledger", {}, of=lambda model: hasattr(model, "ledger"), paid=True),
    Variant("few records", {}, size=LIST),
    Variant("three classes", {"classes": [0, 1, 2]}, targets_of=thirds, of=_takes_classes),
    Variant(
        "three classes, nothing declared",
        {"classes": [0, 1, 2], "data_norm": None, "class_weight": "balanced"},
        targets_of=thirds,
        of=_takes_classes,
    ),
    Variant("several targets", {}, targets_of=_two_targets, of=_takes_targets),
    Variant(
        "several targets, nothing declared",
        {"y_bounds": None, "data_norm": None},
        targets_of=_two_targets,
        of=_takes_targets,
    ),
    Variant("missing cells", {}, rows_of=with_holes, of=takes_holes),
    # Of few records one decides what most of them are.
    Variant("few records, missing cells", {}, rows_of=with_holes, of=takes_holes, size=LIST),
    Variant(
        "few records, weights",
        {"max_sample_weight": 1.0},
        lambda t: {"sample_weight": np.where(t.X[:, 1] > 0.0, np.nan, t.weight)},
        size=LIST,
    ),
)


def half_full(rows: np.ndarray) -> Any:
    """The rows as a sparse table, a little less than half full; what is far is full."""
    far = rows[:, 0] < -20.0
    return csr_array(np.where((np.arange(COLUMNS) < COLUMNS // 2) | far[:, None], rows, 0.0))


def several_types(rows: np.ndarray) -> pd.DataFrame:
    """The rows as a frame of doubles, singles, whole numbers and flags."""
    frame = pd.DataFrame(rows, columns=[f"x{j}" for j in range(COLUMNS)])
    types = {"x1": "float32", "x2": "int64", "x3": "bool"}
    whole = np.clip(np.floor(rows[:, 2]), -(2.0**60), 2.0**60)
    return frame.assign(x2=whole, x3=rows[:, 3] > 0.0).astype(types)


def whole_numbers(rows: np.ndarray) -> np.ndarray:
    """The rows as integers, as far as these reach."""
    return np.floor(4.0 * np.clip(rows, -(2.0**58), 2.0**58)).astype(np.int64)


def whole_but_far(rows: np.ndarray) -> np.ndarray:
    """The rows as doubles that single precision holds exactly; what is far needs all digits."""
    far = rows[:, 0] < -20.0
    return np.where(far[:, None], rows / 3.0, np.floor(4.0 * np.clip(rows, -1e9, 1e9)))


FORMS = (
    Variant("float32", {}, rows_of=lambda X: X.astype(np.float32)),
    Variant("by columns", {}, rows_of=np.asfortranarray),
    Variant("sparse", {}, rows_of=csr_array),
    Variant("whole numbers", {}, rows_of=whole_numbers),
    Variant("a frame of several types", {}, rows_of=several_types),
    Variant("sparse, data_norm=None", {"data_norm": None}, rows_of=csr_array),
    Variant("few records, sparse", {}, rows_of=half_full, size=LIST),
    Variant("whole doubles but for what is far", {}, rows_of=whole_but_far),
)
