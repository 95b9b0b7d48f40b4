"""Leaks planted in estimators, transformers, metrics and fits: the two laws over all promises find each by its name.

None of them is named in a law. Each is put where a careless change would put it: into a public module, so that the walk
over the package finds it, or into the code that every fit passes.
"""

import logging
import tempfile
import warnings
from itertools import chain
from typing import ClassVar

import numpy as np
import pytest
from laws.answers_held import (
    attributes_are_answers,
    neighbours_stay,
    refusals_are_free,
)
from laws.promises import acts
from scipy.sparse import issparse

import skdp.linear_model
import skdp.metrics
import skdp.preprocessing
from skdp import DPLogisticRegression, DPRidge, DPTableClassifier, _demo
from skdp.entry import Labels, Scores, _intake, _views, numbers_of
from skdp.entry._reused import FoldedRecords, SearchRecords
from skdp.exceptions import PrivacyWarning
from skdp.fitting import _pricing, stages
from skdp.fitting.plan import Plan
from skdp.mechanisms import Public
from skdp.metrics import DPGroupAccuracy, _score, dp_score
from skdp.naive_bayes import DPGaussianNB, gaussian
from skdp.preprocessing import DPImputer, DPStandardScaler, TableEncoder
from skdp.solvers import GD, _mean_gradient

RELATIONS = ("replace_one", "add_remove")
BALANCED = "DPLogisticRegression: class_weight=balanced"


def found(name, relations=RELATIONS):
    """What the two laws say first of the acts of this name, by relation; nothing where they are silent."""
    under = [act for act in acts(name) if act.relation in relations]
    assert under, f"nothing of the name {name} is under the laws"
    said = {act.relation: "" for act in under}
    for act in under:
        if not said[act.relation]:
            complaints = chain(neighbours_stay(act), attributes_are_answers(act))
            said[act.relation] = next((f"{act.label}: {told}" for told in complaints), "")
    return said


def is_found(name, part=""):
    """Whether a law complains of any act of this name, with this part."""
    under = [act for act in acts(name) if part in act.name]
    assert under, f"nothing of the name {name} is under the laws"
    return any(
        True for act in under for _ in chain(attributes_are_answers(act), neighbours_stay(act))
    )


class ShowsTrueMeans(DPStandardScaler):
    """Stores the exact means of the columns."""

    def fit(self, X, y=None):
        super().fit(X, y)
        self.true_mean_ = np.nanmean(numbers_of(self, X, "any", reset=False), axis=0)
        return self


class LearnsWhereNobodyPays(TableEncoder):
    """A step that goes by what is declared, and remembers the longest row."""

    def fit(self, X, y=None):
        super().fit(X, y)
        self.longest_ = float(np.abs(super().transform(X)).max())
        return self


class DividesByTheLongest(TableEncoder):
    """Each row that leaves is divided by the longest of its table."""

    def transform(self, X):
        rows = super().transform(X)
        return rows / np.abs(rows).max()


class StretchesRows(DPLogisticRegression):
    """Rows are stretched until the longest has the declared norm."""

    def fit(self, X, y, *more, **given):
        longest = np.sqrt(np.einsum("ij,ij->i", X, X).max()) if isinstance(X, np.ndarray) else 1.0
        return super().fit(X / longest, y, *more, **given)


class WeighsByTheHeaviest(DPLogisticRegression):
    """Weights are divided by the largest that occurs."""

    def fit(self, X, y, sample_weight=None, *, groups=None):
        weights = None if sample_weight is None else sample_weight / np.nanmax(sample_weight)
        return super().fit(X, y, weights, groups=groups)


class CentresTargets(DPRidge):
    """Targets lose their exact mean, which the intercept gets back."""

    def fit(self, X, y, *more, **given):
        self._mean = float(np.mean(y))
        return super().fit(X, y - self._mean, *more, **given)

    def _store(self, w, plan):
        super()._store(w, plan)
        self.intercept_ = self.intercept_ + self._mean


class WarnsOfARareClass(DPLogisticRegression):
    """Says so where fewer than a record in a hundred is of a class."""

    def fit(self, X, y, *more, **given):
        if np.mean(np.asarray(y) == 1) < 0.01:
            warnings.warn("one class is rare", PrivacyWarning, stacklevel=2)
        return super().fit(X, y, *more, **given)


class FailsWhereAClassIsMissing(DPLogisticRegression):
    """Refuses, once it has read the labels, what has no record of a class."""

    def fit(self, X, y, *more, **given):
        if len(np.unique(y)) < 2:
            raise ValueError("both classes must occur")
        return super().fit(X, y, *more, **given)


class TakesStepsByTheCount(DPLogisticRegression):
    """A number of steps that follows the exact number of records."""

    def fit(self, X, y, *more, **given):
        self.solver = "sgd" if len(y) % 2 else "gd"
        return super().fit(X, y, *more, **given)


class SinglePrecisionWhereItFits(DPRidge):
    """The type of what leaves hangs on the largest target."""

    def fit(self, X, y, *more, **given):
        self._small = bool(np.max(y) < 2.5)
        return super().fit(X, y, *more, **given)

    def _store(self, w, plan):
        super()._store(w, plan)
        if self._small:
            self.coef_ = self.coef_.astype(np.float32)


class LogsTheLongest(DPLogisticRegression):
    """Tells a log, which nobody is thought to read, how long the longest row is."""

    def fit(self, X, y, *more, **given):
        logging.getLogger("skdp.fit").debug("longest row: %s", abs(X).max())
        return super().fit(X, y, *more, **given)


class NamesAFile(DPRidge):
    """Leaves an empty file behind that is named by the mean target."""

    def fit(self, X, y, *more, **given):
        with tempfile.NamedTemporaryFile("w", prefix=f"fit-{np.mean(y):.4f}-"):
            return super().fit(X, y, *more, **given)


class StretchesBesideThree(DPLogisticRegression):
    """Sound with two classes."""

    def fit(self, X, y, *more, **given):
        rows = X / abs(X).max() if len(self.classes) > 2 else X
        return super().fit(rows, y, *more, **given)


class CentresASecondTarget(DPRidge):
    """Sound with one target."""

    def fit(self, X, y, *more, **given):
        targets = y if y.ndim == 1 else y - y[:, 1:].mean()
        return super().fit(X, targets, *more, **given)


class FillsWithTheMean(DPStandardScaler):
    """Sound where no cell is missing."""

    def fit(self, X, y=None):
        holes, found = np.isnan(X), np.array(X, dtype=float)
        found[holes] = np.broadcast_to(np.nanmean(found, axis=0), found.shape)[holes]
        return super().fit(found, y)


class RemembersTheLast(DPRidge):
    """Rows are divided by the longest one of the fit before, which was somebody else's."""

    last: ClassVar[float] = 1.0

    def fit(self, X, y, *more, **given):
        self.shift, RemembersTheLast.last = RemembersTheLast.last, float(abs(X).max())
        return super().fit(X, y, *more, **given)


class GoesByTheTypeOfAColumn(TableEncoder):
    """A column that a reader of files took for text is text."""

    def transform(self, X):
        rows = super().transform(X)
        text = [getattr(kind, "kind", "O") not in "biuf" for kind in getattr(X, "dtypes", ())]
        return rows * (0.5 if any(text[1:3]) else 1.0)


class FillsMissingWeights(DPLogisticRegression):
    """A weight that is missing is the mean of the others."""

    def fit(self, X, y, sample_weight=None, *, groups=None):
        if sample_weight is not None:
            given = np.asarray(sample_weight, dtype=float)
            sample_weight = np.where(np.isnan(given), np.nanmean(given), given)
        return super().fit(X, y, sample_weight, groups=groups)


class TakesRatiosOfWeights(DPLogisticRegression):
    """Weights that are all beyond their bound are taken for survey weights, of which only ratios count."""

    def fit(self, X, y, sample_weight=None, *, groups=None):
        if sample_weight is not None and np.min(sample_weight) > (self.max_sample_weight or 1.0):
            sample_weight = np.asarray(sample_weight) / np.max(sample_weight)
        return super().fit(X, y, sample_weight, groups=groups)


class TakesEqualWeightsForNone(DPLogisticRegression):
    """Weights that are all equal are ones."""

    def fit(self, X, y, sample_weight=None, *, groups=None):
        alike = sample_weight is not None and np.ptp(sample_weight) == 0.0
        weights = np.ones(len(y)) if alike else sample_weight
        return super().fit(X, y, weights, groups=groups)


class LeavesOutWhatWeighsNothing(DPLogisticRegression):
    """Rows of no weight are left out, and not counted."""

    def fit(self, X, y, sample_weight=None, *, groups=None):
        used = slice(None) if sample_weight is None else sample_weight > 0.0
        weights = None if sample_weight is None else sample_weight[used]
        return super().fit(X[used], y[used], weights, groups=groups)


class KeepsSinglesWhereNothingIsLost(DPLogisticRegression):
    """A table of doubles is halved where single precision holds every cell of it."""

    def fit(self, X, y, *more, **given):
        if isinstance(X, np.ndarray) and np.array_equal(X, X.astype(np.float32)):
            X = X.astype(np.float32)
        return super().fit(X, y, *more, **given)


class MakesFullTablesDense(DPLogisticRegression):
    """A sparse table that is more than half full goes by another engine."""

    def fit(self, X, y, *more, **given):
        full = issparse(X) and X.nnz > 0.5 * np.prod(X.shape)
        return super().fit(X.toarray() if full else X, y, *more, **given)


class OutOfSight:
    """Holds rows behind a mangled slot, as the library's own tables and oracles do."""

    __slots__ = ("__rows",)

    def __init__(self, rows):
        self.__rows = rows


class KeepsItsTable(DPLogisticRegression):
    """Keeps what it was given, where no attribute shows it."""

    def fit(self, X, y, *more, **given):
        super().fit(X, y, *more, **given)
        self.source_ = OutOfSight(X)
        return self


# Each, where it stands, and which of the acts of its name find it: trying all takes long.
BROKEN = (
    (ShowsTrueMeans, skdp.preprocessing, ""),
    (LearnsWhereNobodyPays, skdp.preprocessing, ""),
    (DividesByTheLongest, skdp.preprocessing, ""),
    (StretchesRows, skdp.linear_model, ""),
    (WeighsByTheHeaviest, skdp.linear_model, "sample_weight"),
    (CentresTargets, skdp.linear_model, ""),
    (WarnsOfARareClass, skdp.linear_model, ""),
    (FailsWhereAClassIsMissing, skdp.linear_model, ""),
    (TakesStepsByTheCount, skdp.linear_model, "declared"),
    (SinglePrecisionWhereItFits, skdp.linear_model, ""),
    (LogsTheLongest, skdp.linear_model, ""),
    (NamesAFile, skdp.linear_model, ""),
    (StretchesBesideThree, skdp.linear_model, "three classes"),
    (CentresASecondTarget, skdp.linear_model, "several targets"),
    (FillsWithTheMean, skdp.preprocessing, "missing cells"),
    (RemembersTheLast, skdp.linear_model, ""),
    (GoesByTheTypeOfAColumn, skdp.preprocessing, "in a file"),
    (FillsMissingWeights, skdp.linear_model, "few records, weights"),
    (MakesFullTablesDense, skdp.linear_model, "few records, sparse"),
    (TakesRatiosOfWeights, skdp.linear_model, "weights beyond"),
    (TakesEqualWeightsForNone, skdp.linear_model, "weights alike"),
    (LeavesOutWhatWeighsNothing, skdp.linear_model, "weights alike"),
    (KeepsSinglesWhereNothingIsLost, skdp.linear_model, "whole doubles"),
    (KeepsItsTable, skdp.linear_model, ""),
)


@pytest.mark.parametrize("kind, room, act", BROKEN, ids=[kind.__name__ for kind, *_ in BROKEN])
def test_an_estimator_that_leaks_is_found_by_its_name(monkeypatch, kind, room, act):
    monkeypatch.setattr(room, kind.__name__, kind, raising=False)
    monkeypatch.setattr(room, "__all__", [*room.__all__, kind.__name__])
    behind = f"make_pipeline({kind.__name__})"  # a transformer is also seen in front of a fit
    here = is_found(kind.__name__, act) or (issubclass(kind, TableEncoder) and is_found(behind))
    assert here, f"no law finds {kind.__name__}"


def test_a_solver_that_keeps_something_of_a_fit_is_found(monkeypatch):
    """It is a parameter, which its user holds, and nothing that a fit leaves on the estimator."""
    sound = GD.solve

    def keeps(self, oracle, task, budget):
        vars(self)["oracle_"] = oracle  # to look at its proofs and notes later
        return sound(self, oracle, task, budget)

    monkeypatch.setattr(GD, "solve", keeps)
    assert all(found("DPLogisticRegression: solver=gd").values())


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_fit_of_all_classifiers_that_leaks_is_found(monkeypatch, relation):
    """Where every classifier passes, each classifier is named."""
    sound = Labels.read

    def stretched(self, estimator, given):
        rows = given.X / abs(given.X).max()
        return sound(self, estimator, given._replace(X=rows))

    monkeypatch.setattr(Labels, "read", stretched)
    for name in ("DPLogisticRegression: declared", "DPLinearSVC: declared", "DPMLPClassifier: dec"):
        assert found(name, [relation])[relation]


def test_a_view_that_leaves_small_tables_alone_is_found(monkeypatch):
    sound = _views.to_columns

    def mapped(X, bounds, units=None):
        return X.astype(float) if np.abs(X).max() <= 1.0 else sound(X, bounds, units)

    monkeypatch.setattr(_views, "to_columns", mapped)
    assert all(found("DPLogisticRegression: data_norm=None").values())


def wrongly_scored(
    estimator, X, y, *, epsilon=1.0, neighbors="replace_one", ledger=None, random_state=None
):
    """A new metric, that knows the share of a class when it chooses its noise."""
    share = float(np.mean(np.asarray(y) == 1))
    return dp_score(
        estimator,
        X,
        y,
        epsilon=epsilon * (1.0 if share > 0.5 else 0.9),
        neighbors=neighbors,
        ledger=ledger,
        random_state=random_state,
    )


def test_a_metric_that_leaks_is_found_by_its_name(monkeypatch):
    monkeypatch.setattr(skdp.metrics, "wrongly_scored", wrongly_scored, raising=False)
    monkeypatch.setattr(skdp.metrics, "__all__", [*skdp.metrics.__all__, "wrongly_scored"])
    assert all(found("wrongly_scored").values())


SEEN = {}  # what a function of no closure keeps
OUTCOMES, RANKS = Scores.of, _score._ranks


def _looks(self, held):
    rows, targets = OUTCOMES(self, held)
    SEEN["largest"] = float(max(targets.sum(), len(targets) - targets.sum()))
    return rows, targets


def test_an_area_whose_noise_follows_the_exact_larger_class_is_found_by_its_name(monkeypatch):
    monkeypatch.setattr(Scores, "of", _looks)
    monkeypatch.setattr(_score, "_ranks", lambda scale, n: RANKS(scale, SEEN.get("largest", n)))
    assert found("dp_score: roc_auc", ["replace_one"])["replace_one"]


COUNTED = DPGroupAccuracy.from_estimator.__func__


def names_that_are_there(
    cls, estimator, X, y, groups, *, names=None, neighbors="replace_one", ledger=None, **given
):
    """Groups that nobody declared are those that the records have."""
    shown = np.unique(groups).tolist() if names is None else names
    return COUNTED(
        cls, estimator, X, y, groups, names=shown, neighbors=neighbors, ledger=ledger, **given
    )


def test_a_declaration_whose_default_comes_from_records_is_found(monkeypatch):
    monkeypatch.setattr(DPGroupAccuracy, "from_estimator", classmethod(names_that_are_there))
    name = "DPGroupAccuracy.from_estimator: names left out"
    assert all(found(name, ["replace_one"]).values())


def test_a_command_that_tells_how_many_rows_it_read_is_found(monkeypatch):
    released = _demo._release

    def tells(table, arguments):
        _demo._say(f"{len(table):,} rows ...")
        released(table, arguments)

    name = "python -m skdp --no-scores: plain"
    assert not any(found(name, ["add_remove"]).values())
    monkeypatch.setattr(_demo, "_release", tells)
    assert all(found(name, ["add_remove"]).values())


def test_a_count_that_is_kept_for_later_fits_is_found(monkeypatch):
    """Each fit pays for a count, and goes by the first one of all: no table, and no answer, is its own there."""
    asked = _mean_gradient.record_count
    monkeypatch.setattr(_mean_gradient, "COUNTED", {}, raising=False)

    def kept(oracle, *given):
        fresh = asked(oracle, *given)
        return _mean_gradient.COUNTED.setdefault(oracle.public, fresh)

    name = "DPLogisticRegression: solver=gd, n bought"
    assert not any(found(name, ["add_remove"]).values())
    monkeypatch.setattr(_mean_gradient, "record_count", kept)
    assert all(found(name, ["add_remove"]).values())


def test_a_mean_where_noise_hides_a_column_is_found(monkeypatch):
    """Where nothing stands out of the noise there is no median: what is missing takes the mean of what is not."""
    name, sound = "make_pipeline(DPImputer): few records, missing cells", DPImputer._mapped

    def filled(self, x):
        holes = np.isnan(x) & (self.statistics_ == 0.0)
        return np.where(holes, np.nan_to_num(np.nanmean(x, axis=0)), sound(self, x))

    assert not any(found(name).values())
    monkeypatch.setattr(DPImputer, "_mapped", filled)
    assert all(found(name).values())


def test_a_rough_count_that_is_the_records_own_is_found(monkeypatch):
    """A few records more or less seldom change it: it is seen in a table of another size."""
    name, sound = "DPTableClassifier: n unknown", DPTableClassifier.fit

    def guesses(self, X, *given, **more):
        if self.n_public is None:
            self.n_public = 10 ** round(np.log10(len(X)))
        return sound(self, X, *given, **more)

    assert not any(found(name, ["add_remove"]).values())
    monkeypatch.setattr(DPTableClassifier, "fit", guesses)
    assert "a tenth" in found(name, ["add_remove"])["add_remove"]


def test_a_count_of_rows_for_one_of_persons_is_found(monkeypatch):
    """How many rows a person has is private, and only the first few enter."""
    sound = _intake.units_of
    assert not any(found("DPTableRegressor: persons").values())
    monkeypatch.setattr(_intake, "units_of", lambda model, ids, n: (sound(model, ids, n)[0], n))
    assert found("DPTableRegressor: persons", ["replace_one"])["replace_one"]


@pytest.mark.parametrize("name, room", [("DPGaussianNB: declared", gaussian), (BALANCED, stages)])
def test_counts_of_classes_that_move_as_one_record_alone_are_found(monkeypatch, name, room):
    """A replaced record leaves one class and enters another: its distance is that of two records."""

    def other(n, columns, intercept, relation, **more):
        return Public(n, columns, intercept, "add_remove", **more)

    monkeypatch.setattr(room, "Public", other)
    _pricing._remembered.cache_clear()  # else the script that was priced before refuses the question
    assert "neighbours of 'add_remove'" in found(name, ["replace_one"])["replace_one"]
    _pricing._remembered.cache_clear()  # and what was priced here refuses the sound one


def test_a_fit_on_no_record_is_found(monkeypatch):
    """By keys all records may fall into one part of a cross-validation; then the others are trained on none."""
    name = "dp_cross_val_score: accuracy, KeyFold(n_splits=3, seed=0), few keys"
    monkeypatch.setattr(
        FoldedRecords,
        "_FoldedRecords__beside_public",
        lambda self, rows, codes: (rows, self.classes[codes]),
    )
    assert all(found(name, ["add_remove"]).values())


def test_a_refusal_after_payment_is_found(monkeypatch):
    """A search whose fits alone refuse a row: it is seen in what is asked of the other runs."""
    monkeypatch.setattr(SearchRecords, "refuse", lambda self, steps, most: None)
    act = next(acts("DPGridSearchCV: "))
    assert list(refusals_are_free(act))


def the(name):
    """The one act of a name under replace-one."""
    return next(act for act in acts(name) if act.relation == "replace_one")


def test_classes_in_the_order_in_which_they_come_are_found(monkeypatch):
    """Where no classes are declared, which ones there are is public: which one comes first is not."""

    def first_come(y):
        sound(y)  # with its refusals
        _, first = np.unique(y, return_index=True)
        return np.asarray(y)[np.sort(first)]

    name, sound = "DPLogisticRegression: classes taken from y", _intake.classes_of_targets
    assert not any(found(name).values())
    monkeypatch.setattr(_intake, "classes_of_targets", first_come)
    assert all(found(name).values())


def test_rows_that_are_admitted_after_payment_are_found(monkeypatch):
    """Where nothing is bought that decides how rows are seen, they are looked at before the first question."""
    act = the(BALANCED)
    assert not list(refusals_are_free(act))
    monkeypatch.setattr(
        Plan, "first_views", lambda self: (v for s in self.bought for v in s.views(self))
    )
    assert list(refusals_are_free(act))


def test_bounds_that_are_free_where_all_cells_lie_inside_are_found(monkeypatch):
    name, sound = "DPGaussianNB: data_norm=None, bounds=None", DPGaussianNB.fit

    def guesses(self, X, *given):
        inside = isinstance(X, np.ndarray) and X.min() >= 0.0 and X.max() <= 1.0
        if self.bounds is None and self.data_norm is None and inside:
            self.bounds = 0.0, 1.0
        return sound(self, X, *given)

    assert not any(found(name, ["replace_one"]).values())
    monkeypatch.setattr(DPGaussianNB, "fit", guesses)
    assert found(name, ["replace_one"])["replace_one"]


@pytest.mark.parametrize(
    "name", ["DPStandardScaler", "TableEncoder", "DPRidge: declared", "dp_score: accuracy"]
)
def test_sound_ones_pass(name):
    assert not any(found(name).values())
