"""Private models of raw tables: equal to the pipeline that they stand for, one script, choices by public numbers."""

import copy
import io
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from laws.answers_held import attributes_are_answers, neighbours_stay
from laws.promises import acts
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import skdp
from skdp import DPTableClassifier, DPTableRegressor
from skdp.exceptions import BudgetExceeded, NotSupported, PrivacyWarning
from skdp.neural_network import DPMLPClassifier
from skdp.preprocessing import DPSplineFeatures
from skdp.privacy import Ledger
from skdp.privacy._gaussian import gaussian_mu
from skdp.tabular import _table_estimator as room
from skdp.tabular._choice import choose_model

DECLARED = {
    "age": [17, 90],
    "gain": [0, 1e5, "symlog"],
    "sex": ["f", "m"],
    "zone": {"categories": [1, 2, 3]},
}
PROMISE = {"epsilon": 2.0, "delta": 1e-6, "random_state": 0}


def people(n=4000, seed=0):
    """A table with text, gaps and a column that nobody declared, labels and numbers."""
    rng = np.random.default_rng(seed)
    age, sex, zone = rng.uniform(17, 90, n), rng.integers(0, 2, n), rng.integers(1, 5, n)
    gain = np.where(rng.random(n) < 0.8, 0.0, rng.lognormal(6, 2, n))
    score = np.sin(age / 12) + 0.8 * (2 * sex - 1) * (age > 50) + 0.3 * np.log1p(gain) / 10
    frame = pd.DataFrame(
        {
            "note": "x",
            "zone": zone,
            "age": np.where(rng.random(n) < 0.05, np.nan, age),
            "sex": np.where(rng.random(n) < 0.05, "?", np.array(["f", " m"])[sex]),
            "gain": gain.astype(str),
        }
    )
    return frame, np.where(rng.logistic(size=n) < 2 * score, "yes", "no"), score


FRAME, LABELS, SCORES = people()


def classifier(**given):
    return DPTableClassifier(DECLARED, **{**PROMISE, "classes": ["no", "yes"], **given})


def regressor(**given):
    return DPTableRegressor(DECLARED, **{**PROMISE, "y_bounds": (-2.0, 3.0), **given})


def as_pipeline(model):
    """The pipeline that a user would write for it."""
    known = model.model_.get_params(deep=False)
    shared = {k: v for k, v in model.get_params(deep=False).items() if k in known}
    last = type(model.model_)(**{**known, **shared, "data_norm": 1.0})
    return skdp.make_pipeline(clone(model.encoder_), last)


@pytest.mark.parametrize("kind", ["line", "curves", "random_features", "network", "auto"])
@pytest.mark.parametrize("make, y", [(classifier, LABELS), (regressor, SCORES)])
def test_a_fit_is_that_of_the_pipeline_to_the_last_bit(make, y, kind):
    model = make(model=kind).fit(FRAME, y)
    pipeline = as_pipeline(model).fit(FRAME, y)
    assert_array_equal(model.predict(FRAME), pipeline.predict(FRAME))
    assert model.privacy_.script == pipeline[-1].privacy_.script
    assert model.privacy_.epsilon == pipeline[-1].privacy_.epsilon <= 2.0
    assert set(pipeline[-1].privacy_.declared) <= set(model.privacy_.declared)
    assert model.score(FRAME, y) == pipeline.score(FRAME, y)
    if hasattr(model, "predict_proba"):
        for name in ("predict_proba", "predict_log_proba", "decision_function"):
            assert_array_equal(getattr(model, name)(FRAME), getattr(pipeline, name)(FRAME))


@pytest.mark.parametrize("kind", ["line", "curves", "random_features", "network", "auto"])
@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("make, y", [(classifier, LABELS), (regressor, SCORES)])
def test_a_quote_has_the_script_of_the_fit(make, y, kind, relation):
    given = {"n_public": 4000} if relation == "add_remove" else {}
    model = make(model=kind, neighbors=relation, **given)
    quotes = [model.quote(4000, *columns) for columns in ((), (5,))]
    assert not [name for name in vars(model) if name.endswith("_")], "a quote fits nothing"
    fitted = model.fit(FRAME, y)
    for quote in quotes:
        assert quote.script == fitted.privacy_.script
        assert quote.declared["model"] == fitted.privacy_.declared["model"]
    assert fitted.privacy_.verify(fitted)
    assert fitted.privacy_.declared["model"].startswith(fitted.chosen_)


def test_declarations_by_place_and_of_all_columns_have_the_same_quotes():
    X = np.random.default_rng(0).uniform(-1, 1, (3000, 4))
    y = (X[:, 0] > 0).astype(int)
    for declared in ({3: [-1, 1], 0: [-1, 1]}, (-1, 1)):
        model = DPTableClassifier(declared, classes=[0, 1], **PROMISE)
        assert model.quote(3000, 4).script == model.fit(X, y).privacy_.script
    assert DPTableClassifier({3: [-1, 1]}, classes=[0, 1]).quote(3000).epsilon <= 1.0


def test_bounds_of_all_columns_do_not_say_how_many_there_are():
    with pytest.raises(ValueError, match="n_features=None must be a whole number"):
        DPTableClassifier((-1, 1), classes=[0, 1]).quote(3000)


def wanted(task, strength, added):
    """The rule, written once more by hand."""
    if task == "regression":
        return (
            "random_features" if strength >= 3e3 else "line" if strength < 50 * added else "curves"
        )
    return "network" if strength >= 1e5 else "random_features" if strength >= 2e4 else "curves"


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    "strength", [10.0, 999.0, 1001.0, 2999.0, 3001.0, 19999.0, 20001.0, 1e5, 3e6]
)
def test_the_public_rule(task, strength):
    found = choose_model(task, "auto", strength, 60, 20)
    assert found.model == wanted(task, strength, 20)
    per = {"classification": 50, "regression": 30}[task]
    count = 2 * int(min(strength / per, 999 - 60) / 2)
    assert found.random_features == (count if found.model in ("random_features", "network") else 0)
    assert f"{strength:.0f}" in found.why
    for word in ("line", "curves", "random_features", "network"):
        named = choose_model(task, word, strength, 60, 20)
        assert named.model == word and named.why == "as asked for"
        assert (named.random_features > 0) == (
            word == "random_features" or (word == "network" and strength >= 1e5)
        )


def test_the_choice_goes_by_public_numbers_alone():
    """By the number of persons, not of rows, which is private; by a declared count where n is private."""
    strength = 200 * gaussian_mu(2.0, 1e-6)
    owners = np.arange(4000) // 20
    few = regressor(max_rows_per_group=2).fit(FRAME, SCORES, groups=owners)
    assert few.privacy_.declared["model"].startswith(f"line, n * mu = {strength:.0f}, ")
    assert few.privacy_.unit == "person" and few.privacy_.rows == 2
    more = regressor(max_rows_per_group=2).fit(
        FRAME[:2000], SCORES[:2000], groups=np.arange(2000) // 10
    )
    assert more.privacy_.declared["model"] == few.privacy_.declared["model"]
    private = {"neighbors": "add_remove"}
    assert "not public" in regressor(**private).quote(None).declared["model"]
    assert "not public" in classifier(**private).quote(None).declared["model"]
    known = regressor(**private, n_public=4000).quote(None).declared["model"]
    assert known == regressor().quote(4000).declared["model"]
    # Without noise it is records that are few.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (
            classifier(epsilon=math.inf)
            .quote(4000)
            .declared["model"]
            .startswith("curves, n * mu = 8000")
        )
        assert (
            DPTableClassifier((-1, 1), epsilon=2.0, delta=0.0)
            .quote(500, 3)
            .declared["model"]
            .startswith("curves")
        )


def test_weights_classes_and_several_targets_reach_the_fit():
    weights = np.random.default_rng(1).uniform(0.0, 2.0, 4000)
    model = classifier(max_sample_weight=2.0, class_weight="balanced").fit(FRAME, LABELS, weights)
    pipeline = as_pipeline(model).fit(FRAME, LABELS, dplogisticregression__sample_weight=weights)
    assert_array_equal(model.decision_function(FRAME), pipeline.decision_function(FRAME))
    assert len(model.model_.class_weight_) == 2
    three = np.digitize(SCORES, [-0.5, 0.5])
    several = classifier(classes=[0, 1, 2], epsilon=8.0).fit(FRAME, three)
    assert several.predict_proba(FRAME).shape == (4000, 3) and several.score(FRAME, three) > 0.6
    both = np.column_stack([SCORES, -SCORES])
    two = regressor(y_bounds=[(-2.0, 3.0), (-3.0, 2.0)], epsilon=8.0).fit(FRAME, both)
    assert two.predict(FRAME).shape == (4000, 2) and two.score(FRAME, both) > 0.5
    assert regressor(y_bounds=None).fit(FRAME, SCORES).model_.y_bounds_.shape == (1, 2)


def test_a_ledger_pays_once_before_a_record_is_asked_and_a_failed_fit_leaves_no_mark():
    ledger = Ledger(2.2, 1e-5)
    model = classifier(ledger=ledger, random_state=None)
    model.fit(FRAME, LABELS)
    assert len(ledger) == 1 and ledger.spent <= 2.0 + 1e-6
    before = pickle.dumps(model.model_), model.privacy_
    with pytest.raises(BudgetExceeded):
        model.set_params(epsilon=1.9).fit(FRAME, LABELS)
    assert (pickle.dumps(model.model_), model.privacy_) == before and len(ledger) == 1
    with skdp.budget(2.0, 1e-5) as shared:
        classifier(random_state=None).fit(FRAME, LABELS)
    assert 0 < shared.spent <= 2.0 + 1e-6
    assert model.model_.ledger is None and model.model_.random_state is None


def test_changed_models_are_not_those_of_the_receipt():
    model = classifier().fit(FRAME, LABELS)
    for change in (
        lambda m: m.model_.coef_.__setitem__((0, 0), 7.0),
        lambda m: setattr(m.encoder_, "size_", 9),
        lambda m: setattr(m, "chosen_", "line"),
        lambda m: m._told.update(model="network"),
    ):
        other = copy.deepcopy(model)
        assert other.privacy_.verify(other)
        change(other)
        assert not other.privacy_.verify(other)


def test_frames_of_any_order_and_wrong_columns():
    model = classifier().fit(FRAME, LABELS)
    assert model.n_features_in_ == 5 and model.feature_names_in_.tolist() == [*FRAME]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAME[FRAME.columns[::-1]])
    with pytest.raises(ValueError, match=r"'age', which|'age' is declared, but X"):
        classifier().fit(FRAME.drop(columns="age"), LABELS)
    other = classifier().fit(FRAME[["age", "sex", "zone", "gain"]], LABELS)
    assert_array_equal(other.predict(FRAME[["age", "sex", "zone", "gain"]]), model.predict(FRAME))
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(FRAME), model.predict(FRAME))
    file = pd.read_csv(io.StringIO(FRAME.to_csv(index=False)), dtype=str)
    assert_array_equal(model.predict(file), model.predict(FRAME))


@pytest.mark.parametrize(
    "wrong, why",
    [
        ({"model": "forest"}, "model='forest' is not known; use one of 'auto', 'line'"),
        ({"unknown": "drop"}, "unknown='drop' is not known"),
        ({"missing": 2}, "missing=2 must be a place"),
        ({"interactions": [("age", "Sex")]}, "did you mean 'sex'"),
        ({"epsilon": 0}, "epsilon=0 must be"),
        ({"classes": [1]}, "classes"),
        ({"n_public": -1}, "n_public=-1 must"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_before_a_table_is_looked_at(wrong, why):
    with pytest.raises(ValueError, match=why.replace("[", r"\[")):
        classifier(**wrong).fit(FRAME, LABELS)
    if "interactions" not in wrong:
        with pytest.raises(ValueError, match=why):
            classifier(**wrong).quote(1000)
    with pytest.raises(ValueError, match="DPTableClassifier needs a declaration"):
        DPTableClassifier(classes=[0, 1]).fit(FRAME, LABELS)


def test_shape_functions_add_up_to_the_score():
    """On rows of shown values the curves are the whole score, up to a constant."""
    model = classifier(model="curves").fit(FRAME, LABELS)
    shown = model.shape_functions(11)
    assert [*shown] == [*DECLARED] and len(shown["age"][0]) == 11
    assert_allclose(shown["age"][0][[0, 5, 10]], [17, 53.5, 90])
    assert shown["sex"][0].tolist() == ["f", "m"] and shown["zone"][0].tolist() == [1, 2, 3]
    rows = pd.DataFrame({"note": "", "zone": 2, "age": shown["age"][0], "sex": "f", "gain": 50.0})
    found = model.decision_function(rows[[*FRAME]])
    assert_allclose(found - found.mean(), shown["age"][1], atol=1e-9)
    assert abs(shown["age"][1].mean()) < 1e-12
    both = regressor(model="random_features").fit(FRAME, SCORES).shape_functions()
    assert both["age"][1].shape == (101,)
    several = classifier(classes=["a", "no", "yes"], model="curves").fit(FRAME, LABELS)
    assert several.shape_functions(5)["sex"][1].shape == (2, 3)
    with pytest.raises(NotSupported, match="is no sum of curves"):
        classifier(model="network").fit(FRAME, LABELS).shape_functions()
    with pytest.raises(ValueError, match="points=1 must"):
        model.shape_functions(1)


def test_searches_pipelines_and_checks_know_it():
    assert skdp.check(classifier(random_state=None)).private
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        found = cross_val_score(classifier(), FRAME, LABELS, cv=3)
        assert (found > 0.6).all()
        search = GridSearchCV(classifier(), {"model": ["line", "curves"]}, cv=2).fit(FRAME, LABELS)
    assert search.best_params_ == {"model": "curves"}
    inside = skdp.make_pipeline(classifier(random_state=None)).fit(FRAME, LABELS)
    assert inside[-1].privacy_.around == ()


def test_the_network_stands_behind_the_curves_where_records_are_many():
    quote = DPTableClassifier((-1, 1), epsilon=2.0, classes=[0, 1]).quote(400_000, 3)
    assert quote.declared["model"].startswith("network") and quote.declared["random_features"] > 500
    model = classifier(model="network").fit(FRAME, LABELS)
    assert type(model.model_) is DPMLPClassifier and len(model.model_.coefs_[0]) == len(
        model.encoder_.get_feature_names_out()
    )
    assert (
        DPTableRegressor((-1, 1), epsilon=2.0)
        .quote(400_000, 3)
        .declared["model"]
        .startswith("random")
    )


def remembers(self, X, y=None, fit=DPSplineFeatures.fit):
    """A fit of the encoder that reads a record."""
    fit(self, X, y)
    self.last_ = str(X.iloc[-1, 0])
    return self


def shrinks(self, X, transform=DPSplineFeatures.transform):
    """Rows divided by how long all of them are together."""
    rows = transform(self, X)
    return rows / np.linalg.norm(rows.sum(axis=0))


def test_planted_leaks_are_found(monkeypatch):
    (act, *_) = acts("DPTableClassifier: declared")
    assert not [*attributes_are_answers(act)] and not [*neighbours_stay(act)]
    with monkeypatch.context() as planted:
        planted.setattr(DPSplineFeatures, "fit", remembers)
        assert [*attributes_are_answers(act)]
    with monkeypatch.context() as planted:
        planted.setattr(DPSplineFeatures, "transform", shrinks)
        assert [*neighbours_stay(act)]


class Other(DPSplineFeatures):
    """Maps rows alike, for all that anybody knows."""


def test_no_subclass_of_an_encoder_comes_between_a_table_and_its_reader(monkeypatch):
    monkeypatch.setattr(room, "DPSplineFeatures", Other)
    with pytest.raises(TypeError, match="Other is no registered encoder"):
        classifier().fit(FRAME, LABELS)


def test_the_encoder_is_told_of_persons_not_of_rows():
    told = []
    owners = np.arange(4000) // 8
    model = classifier(max_rows_per_group=2)
    for n in (3993, 4000):  # of 500 persons both
        model.fit(FRAME[:n], LABELS[:n], groups=owners[:n])
        told.append((model.encoder_.size_, model.privacy_.declared["model"]))
    assert told[0] == told[1] and model.privacy_.declared["n"] == 500
