"""Faces of metrics with their answers held: whatever leaves, and every field of every question, is equal on neighbours.

Fields that no price follows (the larger class, a range, what counts are put on) could be read off the records by a face
that holds them. So the answers are frozen while the records change; and maps of targets are held to single records.
"""

import inspect
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import skdp
import skdp.metrics
import skdp.model_selection
from skdp import DPLogisticRegression, DPRidge
from skdp.entry import CutNumbers, FoldedRecords, Held, Outcomes, Scores, Terms
from skdp.fitting import program
from skdp.fitting import release as seam
from skdp.metrics import _score, dp_score
from skdp.metrics._score import SCORINGS
from skdp.model_selection import DPGridSearchCV, KeyFold, dp_cross_val_score

N = 301
RNG = np.random.default_rng(0)
X = RNG.uniform(-0.5, 0.5, (N, 2))
NUMBERS = X[:, 0] + 0.1 * RNG.normal(size=N)
LABELS = (NUMBERS > 0).astype(int)
GROUPS = np.where(RNG.random(N) < 0.3, "a", "b")
RELATIONS = ("replace_one", "add_remove")
NEED_N = ("roc_auc", "r2")
SIZES = ((100.0, 10.0), (20.0, 40.0), (-3.0, 0.1))  # middle and spread of the answers that are held
CLASSIFIER = DPLogisticRegression(data_norm=1.0, classes=[0, 1]).fit(X, LABELS)
with skdp.budget(1.0, 1e-6):
    REGRESSOR = DPRidge(data_norm=1.0, y_bounds=(-1.0, 1.0)).fit(X, NUMBERS)


def _of_scoring(name):
    def face(X, labels, numbers, groups, **given):
        model, y = (REGRESSOR, numbers) if name == "r2" else (CLASSIFIER, labels)
        return dp_score(model, X, y, scoring=name, **given)

    return face


def _confusion(X, labels, numbers, groups, **given):
    found = skdp.metrics.DPConfusionMatrix.from_estimator(CLASSIFIER, X, labels, **given)
    figures = found.accuracy(), found.recall(1), found.precision(0), found.balanced_accuracy()
    return found.matrix.tolist(), found.privacy, figures


def _calibration(X, labels, numbers, groups, **given):
    return skdp.metrics.dp_calibration_curve(CLASSIFIER, X, labels, **given)


def _groups(X, labels, numbers, groups, **given):
    make = skdp.metrics.DPGroupAccuracy.from_estimator
    found = make(CLASSIFIER, X, labels, groups, names=["a", "b"], **given)
    return found.sizes, found.accuracy("a"), found.gap("a", "b")


def _folds(scoring):
    def face(X, labels, numbers, groups, *, neighbors, epsilon):
        last = {"neighbors": neighbors, "n_public": 300, "solver": "gd", "epsilon": 4.0}
        model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], **last)
        cv = 2 if neighbors == "replace_one" else KeyFold(2)
        keys = None if neighbors == "replace_one" else np.round(1e6 * X[:, 1]).astype(int)
        given = {"scoring": scoring, "epsilon": epsilon, "cv": cv, "groups": keys}
        return dp_cross_val_score(model, X, labels, **given)

    return face


FACES = {
    **{f"dp_score {name}": _of_scoring(name) for name in (*SCORINGS, "r2")},
    "DPConfusionMatrix": _confusion,
    "dp_calibration_curve": _calibration,
    "DPGroupAccuracy": _groups,
    **{f"dp_cross_val_score {name}": _folds(name) for name in SCORINGS},
}
CASES = [
    (name, relation)
    for name in FACES
    for relation in RELATIONS
    if relation == "replace_one" or name.split()[-1] not in NEED_N
]


def test_every_public_metric_is_replayed():
    named = {name.split()[0] for name in FACES}
    metrics = set(skdp.metrics.__all__) - {"Estimate"}
    scores = {name for name in skdp.model_selection.__all__ if "score" in name}
    assert metrics | scores == named


def neighbours(relation):
    """Records and a neighbour of theirs, which differ in one record; and how."""
    for at, change in (
        (0, "turned"),
        (int(np.flatnonzero(LABELS == 0)[0]), "far"),
        (N - 1, "turned"),
    ):
        rows, labels, numbers, groups = X.copy(), LABELS.copy(), NUMBERS.copy(), GROUPS.copy()
        if relation == "add_remove":
            kept = np.arange(N) != at
            yield f"without {at}", (rows[kept], labels[kept], numbers[kept], groups[kept])
            continue
        rows[at] = 1e300 if change == "far" else -rows[at]
        labels[at], numbers[at] = 1 - labels[at], -1e9
        groups[at] = "a" if groups[at] == "b" else "b"
        yield f"{at} {change}", (rows, labels, numbers, groups)


def replayed(monkeypatch, face, records, relation, size):
    """What leaves a face, the questions that it asks, and the maps of targets, with answers that are held."""
    asked, maps, rng = [], [], np.random.default_rng(7)

    class Frozen(program.Oracle):
        def ask(self, question):
            shape = np.shape(super().ask(question))  # pays as ever
            fields = sorted((name, repr(value)) for name, value in vars(question).items())
            asked.append((type(question).__name__, fields))
            return size[0] + size[1] * rng.normal(size=shape)

    vault = Outcomes.vault

    def noting(self, view):
        maps.extend([] if view is None else [view])
        return vault(self, view)

    with monkeypatch.context() as patched, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        patched.setattr(program, "Oracle", Frozen)
        patched.setattr(Outcomes, "vault", noting)
        try:
            left = repr(face(*records, neighbors=relation, epsilon=4.0))
        except Exception as error:
            left = repr(error)
    return left, asked, list(map(repr, maps)), [str(w.message) for w in told], maps


def check_is_post_processing(monkeypatch, face, relation):
    """Raise where the same answers give something else of a neighbour."""
    for size in SIZES:
        one = replayed(monkeypatch, face, (X, LABELS, NUMBERS, GROUPS), relation, size)
        assert one[1], f"nothing was asked: {one[0]}"
        for how, records in neighbours(relation):
            other = replayed(monkeypatch, face, records, relation, size)
            for what, a, b in zip(("result", "questions", "maps", "warnings"), one, other):
                assert a == b, f"{what} differ on neighbours ({how}) while answers are held"
        targets = np.random.default_rng(1).random((50, 2))
        for of in one[-1]:
            singly = np.concatenate([of(targets[i : i + 1]) for i in range(len(targets))])
            assert singly.tobytes() == of(targets).tobytes(), f"{of} is no map of single records"


@pytest.mark.parametrize("name, relation", CASES)
def test_a_face_is_post_processing_of_its_answers(monkeypatch, name, relation):
    check_is_post_processing(monkeypatch, FACES[name], relation)


SEEN = [1.0]  # what planted faces keep of the records
OUTCOMES = {kind: kind.of for kind in (Scores, CutNumbers)}
RANKS, TERMS, CALL = _score._ranks, _score._terms, Terms.__call__


def _note_the_larger_class(self, held):
    SEEN[:] = [float(np.bincount(held.codes).max())]
    return OUTCOMES[type(self)](self, held)


def _ranks_by_the_larger_class(scale, largest):
    return RANKS(scale, SEEN[0])


def _note_the_mean_error(self, held):
    rows, both = OUTCOMES[type(self)](self, held)
    SEEN[:] = [float(np.square(both[:, 0] - both[:, 1]).mean())]
    return rows, both


def _terms_by_the_mean_error(error, target):
    found = TERMS(error, target)
    return Terms(found.left, found.middle, 20.0 * SEEN[0])


def _terms_of_all_records(self, seen):
    reach = 20.0 * float(np.square(seen[:, 0] - seen[:, 1]).mean())
    return CALL(Terms(self.left, self.middle, reach), seen)


def _exact_count(self):
    return len(self.codes)


PLANTED = {
    "noise of an area by the exact larger class": (
        "dp_score roc_auc",
        "replace_one",
        [
            (Scores, "of", _note_the_larger_class),
            (_score, "_ranks", _ranks_by_the_larger_class),
        ],
    ),
    "third range of R2 by the exact mean error": (
        "dp_score r2",
        "replace_one",
        [(CutNumbers, "of", _note_the_mean_error), (_score, "_terms", _terms_by_the_mean_error)],
    ),
    "third range of R2 by what it sees of all records": (
        "dp_score r2",
        "replace_one",
        [(Terms, "__call__", _terms_of_all_records)],
    ),
    "confusion matrix put on the exact n": (
        "DPConfusionMatrix",
        "add_remove",
        [(Held, "public_count", _exact_count)],
    ),
    "groups put on the exact n": (
        "DPGroupAccuracy",
        "add_remove",
        [(Held, "public_count", _exact_count)],
    ),
    "calibration put on the exact n": (
        "dp_calibration_curve",
        "add_remove",
        [(Held, "public_count", _exact_count)],
    ),
    "largest log-loss by the exact n": (
        "dp_score log_loss",
        "add_remove",
        [(Held, "public_count", _exact_count)],
    ),
    "folds put on the exact n": (
        "dp_cross_val_score accuracy",
        "add_remove",
        [(FoldedRecords, "public_count", _exact_count)],
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_face_that_looks_at_records_is_found(monkeypatch, planted):
    name, relation, changes = PLANTED[planted]
    check_is_post_processing(monkeypatch, FACES[name], relation)
    for where, what, instead in changes:
        monkeypatch.setattr(where, what, instead)
    with pytest.raises(AssertionError, match=r"differ on neighbours|map of single records"):
        check_is_post_processing(monkeypatch, FACES[name], relation)


def test_a_query_that_holds_records_is_refused_before_it_is_paid(monkeypatch):
    held = Held.of(CLASSIFIER, X, LABELS, "replace_one")

    def ask(self, put, scale):
        return len(held.codes)

    def by_default(self, put, scale, known=held):
        return known

    for planted in (ask, by_default):
        monkeypatch.setattr(_score._Area, "ask", planted)
        with pytest.raises(TypeError, match="close over nothing"), skdp.budget(1.0, 1e-6) as ledger:
            dp_score(CLASSIFIER, X, LABELS, scoring="roc_auc")
        assert ledger.spent == 0.0
    monkeypatch.undo()
    with pytest.raises(TypeError, match="numbers or texts"):
        seam.refuse_unless_public(_score._Area(held, 0.95), "ask")


@dataclass(frozen=True)
class ByTheLargest(Scores):
    """Divides scores by the largest."""

    def of(self, held):
        """Map one record by another."""
        rows, targets = super().of(held)
        return rows / rows.max(), targets


class OfAllRecords(Terms):
    """A map of targets that is registered by its base alone."""


def test_outcomes_and_maps_of_no_registered_type_are_refused_before_they_are_paid(monkeypatch):
    monkeypatch.setattr(_score._Area, "outcome", ByTheLargest())
    refused = pytest.raises(TypeError, match="ByTheLargest is no registered outcome")
    with refused, skdp.budget(1.0, 1e-6) as ledger:
        dp_score(CLASSIFIER, X, LABELS, scoring="roc_auc")
    assert ledger.spent == 0.0
    monkeypatch.setattr(_score, "_terms", lambda error, target: OfAllRecords(1.0, 0.5, 1.0))
    with pytest.raises(TypeError, match="OfAllRecords is no registered map of targets"):
        dp_score(REGRESSOR, X, NUMBERS, scoring="r2")


def test_a_search_is_asked_by_queries_of_public_numbers_too(monkeypatch):
    known = []
    checked = seam.refuse_unless_public
    monkeypatch.setattr(
        seam, "refuse_unless_public", lambda q, *m: known.append(q) or checked(q, *m)
    )
    for strategy in ("pilot", "geometric"):
        model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
        search = DPGridSearchCV(model, {"C": [0.1, 1.0]}, epsilon=8.0, delta=1e-5)
        if "strategy" in inspect.signature(DPGridSearchCV).parameters:
            search.set_params(strategy=strategy)
        search.fit(X, LABELS)
    assert {type(query).__name__ for query in known} == {"Choice", "LossOfRun"}
