"""Maps that round a row by its place are public where every record keeps its place, and nowhere else."""

import warnings
from inspect import signature

import numpy as np
import pytest
from laws.map_laws import check_rows_are_mapped_alone
from sklearn.base import TransformerMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators

import skdp
import skdp.utils
from skdp.inspection._rules import READS_NOTHING, ROUNDS_BY_PLACE, kind_of
from skdp.model_selection import DPGridSearchCV
from skdp.model_selection._candidates import _TAKE_ALL
from skdp.preprocessing import DPBounds

GIVEN = {
    "n_components": 8,
    "gamma": 0.5,
    "random_state": 0,
    "strategy": "constant",
    "with_mean": False,
    "with_std": False,
    "features": "all",
    "use_idf": False,
    "extrapolation": "constant",
    "keep_empty_features": True,
}
OF_OTHER_CELLS = ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer", "PatchExtractor")
DECLARED = {"OneHotEncoder", "OrdinalEncoder"}


def public_map(kind, d):
    """An instance that reads no record, of a class that is on the list."""
    step = kind()
    for name, value in GIVEN.items():
        if name in step.get_params():
            step.set_params(**{name: value})
    if kind.__name__ == "SplineTransformer":
        step.set_params(knots=np.linspace(-30.0, 30.0, 5)[:, None].repeat(d, axis=1))
    if kind.__name__ in DECLARED:
        step.set_params(categories=[list(range(-40, 41))] * d)
    if kind.__name__ == "SimpleImputer":
        step.set_params(fill_value=0.0)
    return step


def kinds():
    """Every class on the list of public maps that takes a table of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dict(all_estimators())
    return [found[name] for name in READS_NOTHING if name in found and name not in OF_OTHER_CELLS]


def moved(kind, d):
    """Whether a row more moves a bit of another: in one layout, as a table of a fit keeps its own."""
    rng = np.random.default_rng(d)
    rows = np.abs(rng.normal(size=(4, d))) / 9.0
    if kind.__name__ in DECLARED:
        rows = np.rint(30.0 * rows)
    step = public_map(kind, d)
    assert READS_NOTHING[kind_of(step)](step), "give it what makes it public"
    if kind.__name__ == "FeatureHasher":
        return False  # of dictionaries, one after the other
    step.fit(rows)
    try:
        check_rows_are_mapped_alone(step.transform, rows[0], rows[1:], layouts=("C",), far=1.0)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_each_public_map_is_where_it_was_measured_to_be(kind):
    assert issubclass(kind, TransformerMixin)
    found = any(moved(kind, d) for d in (9, 16, 33))
    assert found == (kind.__name__ in ROUNDS_BY_PLACE)


@pytest.mark.parametrize("name", sorted(ROUNDS_BY_PLACE))
def test_they_are_public_under_replace_one_alone(name):
    step = public_map(dict(all_estimators())[name], 3)
    for relation, private in (("replace_one", True), ("add_remove", False)):
        model = skdp.DPLogisticRegression(neighbors=relation, data_norm=1.0, classes=[0, 1])
        found = skdp.check(make_pipeline(step, model))
        assert found.private is private
        assert ("rounds a row by where it stands" in str(found)) is not private


def counting_persons():
    """Every estimator that protects persons of several rows."""
    known = (kind for _, kind in skdp.utils.all_estimators())
    return [kind() for kind in known if "max_rows_per_group" in signature(kind).parameters]


@pytest.mark.parametrize("model", counting_persons(), ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", sorted(ROUNDS_BY_PLACE))
def test_they_are_not_public_where_a_person_may_be_replaced_by_one_of_more_rows(name, model):
    """The rows of all others move up, under replace-one too."""
    step, told = public_map(dict(all_estimators())[name], 3), "rounds a row by where it stands"
    alone, person = (clone(model).set_params(max_rows_per_group=most) for most in (None, 2))
    assert told not in str(skdp.check(make_pipeline(step, alone)))
    found = skdp.check(make_pipeline(step, person))
    assert not found.private and told in str(found)


@pytest.mark.parametrize("name", sorted(ROUNDS_BY_PLACE & _TAKE_ALL))
def test_a_search_refuses_them_under_add_remove(name):
    step = public_map(dict(all_estimators())[name], 3)
    given = {"neighbors": "add_remove", "n_public": 300}
    last = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1], **given)
    for model in (make_pipeline(step, last), make_pipeline(DPBounds(**given), step, last)):
        search = DPGridSearchCV(model, {"dplogisticregression__C": [0.1, 1.0]}, epsilon=4.0)
        X = np.random.default_rng(0).normal(size=(300, 3))
        with pytest.raises(skdp.NotSupported, match=name):
            search.fit(X, (X[:, 0] > 0).astype(int))
