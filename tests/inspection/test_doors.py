"""A pipeline that is not private as a whole says so at four doors: warning, receipt, `skdp.check` and its diagram."""

import json
import pickle
import re
from itertools import product

import numpy as np
import pytest
from inspection.test_check import naive
from joblib import parallel_config
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import skdp
from skdp import PrivacyWarning
from skdp.exceptions import NotSupported
from skdp.fitting._provenance import merge_around
from skdp.inspection import checks
from skdp.model_selection import DPGridSearchCV
from skdp.preprocessing import BoundsScaler, DPBounds, RowNormClipper
from skdp.privacy import Receipt
from skdp.privacy._receipts._plain import sealed
from skdp.privacy._receipts._words import UNTOLD

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=400), RNG.integers(0, 3, 400)])
Y = (X[:, 0] > 0).astype(int)
BOTH = ("StandardScaler", "OneHotEncoder")
LEARNS = pytest.mark.filterwarnings("ignore:NOT PRIVATE as a whole")


def last(**given):
    """A private estimator."""
    return skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1], **given)


def told_naive():
    """What users write, by our function."""
    return skdp.make_pipeline(naive()[0], last())


def captions(model):
    """What scikit-learn's diagram says below the names."""
    return re.findall(r'class="caption">([^<]*)', model._repr_html_())


def test_it_warns_when_it_is_made_and_when_it_fits():
    with pytest.warns(PrivacyWarning, match=r"NOT PRIVATE .* StandardScaler .*, OneHotEncoder"):
        model = told_naive()
    with pytest.warns(
        PrivacyWarning, match=r"NOT PRIVATE .* StandardScaler .*, OneHotEncoder"
    ) as seen:
        model.fit(X, Y)
    assert seen[0].filename == __file__


@LEARNS
def test_the_receipt_says_it_first():
    receipt = told_naive().fit(X, Y)[-1].privacy_
    assert receipt.around == BOTH
    for first in (str(receipt).splitlines()[0], receipt.statement().splitlines()[0]):
        assert first.startswith("NOT PRIVATE as a whole") and all(name in first for name in BOTH)
    assert receipt.lines()[0] == (
        "covers",
        "this step only; around it StandardScaler, OneHotEncoder, which have no receipt and may reveal anything",
    )
    assert "NOT PRIVATE as a whole" in receipt._repr_html_()
    assert Receipt.from_dict(receipt.to_dict()) == receipt and receipt.verify()


@pytest.mark.parametrize("model", [last(), naive()], ids=["alone", "in theirs"])
def test_where_nobody_tells_the_receipt_says_that(model):
    fitted = model.fit(X, Y)
    receipt = (fitted[-1] if hasattr(fitted, "steps") else fitted).privacy_
    assert receipt.around is None
    for text in (str(receipt), receipt.statement(), receipt._repr_html_()):
        assert UNTOLD in text
    read = Receipt.from_dict(json.loads(json.dumps(receipt.to_dict())))
    assert read == receipt and read.around is None


def test_nothing_is_said_where_all_steps_pay_or_read_nothing():
    receipt = skdp.make_pipeline(BoundsScaler((-9, 9)), last()).fit(X, Y)[-1].privacy_
    assert receipt.around == ()
    for text in (str(receipt), receipt.statement(), receipt._repr_html_()):
        assert UNTOLD not in text
    assert Receipt.from_dict(receipt.to_dict()).around == ()


@pytest.mark.parametrize("kept", [[], ["PCA"], None])
def test_receipts_from_before_there_was_a_word_are_read_as_they_were_written(kept):
    """An empty list once said that nothing was seen; it, the digest and the text stay what they were."""
    receipt = last().fit(X / 9, Y).privacy_
    data = {n: v for n, v in receipt.to_dict().items() if n not in ("schema", "digest", "around")}
    old = sealed(data if kept is None else {**data, "around": kept})
    read = Receipt.from_dict(json.loads(json.dumps(old)))
    assert read.around == (kept if kept is None else tuple(kept)) and read.verify()
    assert kept is None or read.to_dict()["digest"] == old["digest"]


def _in_a_search(pipeline):
    name = pipeline.steps[-1][0]
    return GridSearchCV(pipeline, {f"{name}__C": [1.0]}, cv=2)


WAYS = {
    "cloned": clone,
    "read back": lambda pipeline: pickle.loads(pickle.dumps(pipeline)),
    "step replaced": lambda pipeline: clone(pipeline).set_params(**{pipeline.steps[-1][0]: last()}),
    "in a pipeline": lambda pipeline: skdp.make_pipeline(BoundsScaler((-9, 9)), pipeline),
}


@LEARNS
@pytest.mark.parametrize("way", WAYS)
def test_the_word_goes_wherever_the_pipeline_goes(way):
    for model, around in (
        (told_naive(), BOTH),
        (skdp.make_pipeline(BoundsScaler((-9, 9)), last()), ()),
    ):
        found = WAYS[way](model).fit(X, Y)[-1]
        found = found[-1] if isinstance(found, Pipeline) else found
        assert found.privacy_.around == around


CHANGES = {
    "set": lambda model: model.set_params(boundsscaler=StandardScaler()),
    "put": lambda model: model.steps.__setitem__(0, ("boundsscaler", StandardScaler())),
    "inside": lambda model: model.set_params(pipeline__boundsscaler=StandardScaler()),
}


def told_before_and_after(change):
    """What the receipts of one pipeline say was around, before and after one of its steps is another one."""
    front = BoundsScaler((-9, 9))
    front = skdp.make_pipeline(front, RowNormClipper(1.0)) if change == "inside" else front
    model = skdp.make_pipeline(front, last())
    before = model.fit(X, Y)[-1].privacy_.around
    CHANGES[change](model)
    return before, model.fit(X, Y)[-1].privacy_.around


@LEARNS
@pytest.mark.parametrize("change", CHANGES)
def test_steps_that_change_between_two_fits_are_named_by_the_second(change):
    """What a pipeline was at its first fit says nothing of what it is at the next."""
    assert told_before_and_after(change) == ((), ("StandardScaler",))


@LEARNS
def test_a_check_that_is_kept_is_found(monkeypatch):
    sound, kept = checks.check, {}
    monkeypatch.setattr(
        checks, "check", lambda model: kept.setdefault(id(model), (model, sound(model)))[1]
    )
    assert told_before_and_after("set") == ((), ())


@LEARNS
def test_steps_inside_of_steps_are_named_and_what_fits_copies_is_told():
    front = ColumnTransformer(
        [("a", Pipeline([("b", StandardScaler())]), [0]), ("c", OneHotEncoder(), [1])]
    )
    many = skdp.make_pipeline(front.set_params(sparse_threshold=0), OneVsRestClassifier(last()))
    found = many.fit(X, X[:, 1])
    assert all(one.privacy_.around == BOTH for one in found[-1].estimators_)


class Foreign(FunctionTransformer):
    """A step of which nothing is known."""


# What may stand in front at one level: the step, and whether it has no receipt.
FRONTS = {
    "learns": (StandardScaler, True),
    "unknown": (Foreign, True),
    "declared": (lambda: BoundsScaler((-9, 9)), False),
    "pays": (lambda: DPBounds(epsilon=1.0), False),
}


def nested(fronts):
    """Pipelines of ours inside of each other, the outermost first, and the names of steps without a receipt."""
    model = last(solver="gd")
    for front in reversed(fronts):
        model = skdp.make_pipeline(FRONTS[front][0](), model)
    return model, {type(FRONTS[f][0]()).__name__ for f in fronts if FRONTS[f][1]}


def innermost(model):
    while isinstance(model, Pipeline):
        model = model[-1]
    return model


@LEARNS
@pytest.mark.parametrize("fronts", list(product(FRONTS, repeat=2)), ids="-".join)
def test_a_pipeline_inside_of_another_hides_none_of_its_steps(fronts):
    model, without = nested(fronts)
    found = innermost(model.fit(X, Y))
    assert set(found.privacy_.around) == without
    assert ("_behind" in vars(found)) == ("pays" in fronts)
    assert ("NOT PRIVATE as a whole" in str(found.privacy_)) == bool(without)


@LEARNS
@pytest.mark.parametrize("fronts", [("pays", "declared"), ("declared", "pays")], ids="-".join)
def test_no_warm_start_behind_a_step_that_pays_at_any_level(fronts):
    model, _ = nested(fronts)
    innermost(model).set_params(warm_start=True)
    with pytest.raises(NotSupported, match="warm_start=True behind DPBounds"):
        model.fit(X, Y)


@LEARNS
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(
    "backend, around", [("loky", None), ("threading", None), ("sequential", BOTH)]
)
def test_in_other_processes_and_threads_there_is_no_word(backend, around):
    pipeline = skdp.make_pipeline(*naive().steps[:-1][0][1:], OneVsRestClassifier(last(), n_jobs=2))
    with parallel_config(backend=backend):
        found = pipeline.fit(X, X[:, 1])
    assert {one.privacy_.around for one in found[-1].estimators_} == {around}


@LEARNS
def test_a_whole_pipeline_in_another_process_has_its_word():
    search = GridSearchCV(
        told_naive(), {"dplogisticregression__C": [1.0, 2.0]}, cv=2, n_jobs=2
    ).fit(X, Y)
    assert set(BOTH) <= set(search.best_estimator_[-1].privacy_.around)


def test_a_private_search_is_told_too():
    search = DPGridSearchCV(last(solver="gd"), {"C": [0.1, 1.0]}, epsilon=4.0)
    assert search.fit(X / 9, Y).privacy_.around is None
    told = skdp.make_pipeline(BoundsScaler((-9, 9)), search).fit(X, Y)[-1]
    assert told.privacy_.around == () and told.best_estimator_.privacy_.around == ()


def test_the_word_ends_with_the_fit_also_with_one_that_fails():
    model = skdp.make_pipeline(BoundsScaler((-9, 9)), last())
    with pytest.raises(ValueError, match="inconsistent lengths"):
        model.fit(X, Y[:5])
    assert last().fit(X / 9, Y).privacy_.around is None


def test_it_is_scikit_learns_pipeline():
    ours = skdp.make_pipeline(BoundsScaler((-9, 9)), last())
    theirs = make_pipeline(BoundsScaler((-9, 9)), last())
    assert isinstance(ours, Pipeline) and repr(ours) == repr(theirs)
    assert ours.get_params().keys() == theirs.get_params().keys()
    assert hasattr(ours, "fit_transform") == hasattr(theirs, "fit_transform") is False
    only = skdp.make_pipeline(BoundsScaler((-9, 9)))
    np.testing.assert_array_equal(only.fit_transform(X), only[0].fit_transform(X))
    assert type(ours[:1]) is type(ours) and not hasattr(only, "fit_predict")
    with pytest.warns(PrivacyWarning, match="learns from the data"):
        assert skdp.make_pipeline(StandardScaler(), last()).fit(X, Y).predict(X).shape == Y.shape


needs_callbacks = pytest.mark.skipif(
    not hasattr(skdp.DPRidge, "set_callbacks"), reason="scikit-learn tells of searches since 1.9"
)


@needs_callbacks
def test_a_search_around_is_named_where_scikit_learn_tells_of_it():
    search = _in_a_search(skdp.make_pipeline(BoundsScaler((-9, 9)), last())).fit(X, Y)
    assert search.best_estimator_[-1].privacy_.around == ("GridSearchCV",)
    bare = GridSearchCV(last(), {"C": [1.0]}, cv=2).fit(X / 9, Y).best_estimator_
    assert bare.privacy_.around == ("GridSearchCV",)


@LEARNS
def test_the_diagram_says_it_after_the_fit():
    model = told_naive()
    assert captions(model) == ["epsilon = 1"]
    (caption,) = captions(model.fit(X, Y))
    assert "NOT PRIVATE as a whole: StandardScaler, OneHotEncoder" in caption


@pytest.mark.parametrize(
    "before", [(), (BoundsScaler((-9, 9)),), (DPBounds(epsilon=0.1),)], ids=len
)
def test_a_sound_pipeline_is_not_accused(before):
    model = skdp.make_pipeline(*before, last()).fit(X / 9, Y)
    assert skdp.check(model).private and model[-1].privacy_.around == ()
    assert not any("NOT PRIVATE" in caption for caption in captions(model))
    assert model[-1].privacy_.lines()[0][0] == "guarantee"


def test_scaling_by_hand_is_seen_by_nobody():
    """What is done outside of a pipeline cannot be seen: the receipt does not cover it."""
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    assert last().fit(rows, Y).privacy_.around is None
    assert skdp.make_pipeline(last()).fit(rows, Y)[-1].privacy_.around == ()


@pytest.mark.parametrize(
    "earlier, later, whole",
    [
        ((), (), ()),
        (None, (), None),
        ((), None, None),
        (("A",), None, ("A",)),
        (("A",), ("B", "A"), ("A", "B")),
    ],
)
def test_of_two_fits_what_is_not_known_of_one_is_not_known(earlier, later, whole):
    assert merge_around(earlier, later) == whole
