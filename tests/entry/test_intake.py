"""What a user passes to a fit is opened by registered readers alone, and only public facts of it come out."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from laws.vaults import RELATIONS
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from skdp import DPLogisticRegression
from skdp.entry import READERS, Facts, Given, Grades, Labels, Numbers, Rows, Unlabelled
from skdp.mechanisms import Public

RNG = np.random.default_rng(0)
N = 12
X, Y = RNG.normal(size=(N, 3)), RNG.normal(size=N)
LABELS = np.resize(["b", "a", "c"], N)
QID, WHO = np.repeat([4, 9, 1, 7], 3), np.repeat([0, 1], 6)


def model(relation="replace_one", **given):
    """What a reader asks of an estimator."""
    return SimpleNamespace(neighbors=relation, **{"max_rows_per_group": None, **given})


def opened(reader, *passed, relation="replace_one", estimator=None, public=None, **given):
    """Facts, and targets and weights of the vault, row by row."""
    asked = model(relation) if estimator is None else estimator
    table, facts = Given(*passed, **given).close(asked, reader)
    facts_of_vault = {"n": None, "n_features": 3, "intercept": 0.0, "neighbors": "add_remove"}
    vault = table.vault(Rows(Public(**{**facts_of_vault, **(public or {})}), 10.0))
    weights = None if vault.units is None else np.ravel(vault.units.weights)
    return facts, vault.y, weights


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_number_of_records_comes_out_only_where_it_is_public(relation):
    for reader, y, more in (
        (Labels(["a", "b", "c"]), LABELS, {}),
        (Numbers(np.array([-1.0, 1.0])), Y, {}),
        (Grades("list", 1.0), np.zeros(N), {"qid": QID}),
        (Unlabelled(), None, {}),
    ):
        _, facts = Given(X, y, **more).close(model(relation), reader)
        count = 4 if isinstance(reader, Grades) else N
        assert facts.n == (count if relation == "replace_one" else None)
        assert facts.n_features == 3


def test_every_reader_is_tried():
    assert {Grades, Labels, Numbers, Unlabelled} == READERS


def test_labels_are_codes_of_their_classes():
    wide = {"target_bound": 2.0}
    facts, codes, weights = opened(Labels(["c", "a", "b"]), X, LABELS, public=wide)
    assert_array_equal(facts.classes, ["a", "b", "c"])
    assert_array_equal(codes, np.resize([1.0, 0.0, 2.0], N))
    assert weights is None
    _, signs, _ = opened(Labels([0, 1]), X, (Y > 0).astype(int))
    assert_array_equal(signs, np.where(Y > 0, 1.0, -1.0))


def test_classes_that_are_not_declared_are_taken_from_labels_with_a_warning():
    with pytest.warns(UserWarning, match="classes=None takes the set of labels"):
        facts, _, _ = opened(Labels(), X, LABELS, public={"target_bound": 2.0})
    assert_array_equal(facts.classes, ["a", "b", "c"])
    with pytest.raises(ValueError, match="continuous; declare classes"):
        opened(Labels(), X, Y)
    with (
        pytest.warns(UserWarning, match="classes=None"),
        pytest.raises(ValueError, match="needs two classes or more, got 1 class"),
    ):
        opened(Labels(), X, np.zeros(N))
    with (
        pytest.warns(UserWarning, match="classes=None"),
        pytest.raises(ValueError, match="classes holds labels, which are the same label"),
    ):
        opened(Labels(), X, np.resize(["1", "01"], N))


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ([0], "needs two classes or more, got 1 class"),
        (["x", 1], r"classes=\['x', 1\] must be a list of numbers, or of strings"),
        (np.zeros((2, 2)), "classes=<ndarray> must be a list"),
        (["a", None], r"classes=\['a', None\] must be a list"),
        (["1", "01"], "classes holds '01' and '1', which are the same label"),
        (["a", "NA"], "classes holds 'NA', which is read as a missing cell"),
        ([[1], [2, 3]], "must be a list of numbers, or of strings"),
    ],
)
def test_classes_that_no_label_could_be_told_by_are_refused_before_a_table_is_looked_at(
    classes, said
):
    with pytest.raises(ValueError, match=said):
        Given("no table", LABELS).close(model(), Labels(classes))


@pytest.mark.parametrize(
    ("classes", "y", "said"),
    [
        ([0, 1], np.resize([0, 2], N), r"not among classes=\[0, 1\]"),
        ([0, 1, 2, 3], np.resize([0, 4], N), "not among the 4 classes"),
        (["a", "b"], np.resize([0, 1], N), r"codes of labels: declare classes=\[0, 1\]\)"),
        (["a", "b", "c"], np.resize([0, 1], N), r"declare classes=list\(range\(3\)\)\)"),
    ],
)
def test_labels_that_are_not_declared_are_refused(classes, y, said):
    with pytest.raises(ValueError, match=said):
        opened(Labels(classes), X, y)


def test_weights_are_shares_of_the_heaviest_that_was_declared():
    given, heavy = RNG.uniform(0.0, 4.0, N), {"b": 3.0}
    wide = {"target_bound": 2.0, "weighted": True}
    reader = Labels(["a", "b", "c"], heavy, 3.0, bound=2.0)
    _, codes, weights = opened(reader, X, LABELS, sample_weight=given, public=wide)
    expected = np.minimum(given, 2.0) / 2.0 * np.where(codes == 1.0, 1.0, 1.0 / 3.0)
    assert_allclose(weights, expected)
    reader = Labels(["a", "b", "c"], heavy, 3.0)
    assert_allclose(opened(reader, X, LABELS, public=wide)[2], np.where(codes == 1.0, 1, 1 / 3))
    every = Labels(["a", "b", "c"], weighted=True)
    assert_array_equal(opened(every, X, LABELS, public=wide)[2], np.ones(N))
    facts, _, _ = opened(every, X, LABELS, sample_weight=given, public=wide)
    assert facts.weighted and not opened(every, X, LABELS, public=wide)[0].weighted


@pytest.mark.parametrize(
    ("of_label", "said"),
    [({"d": 1.0}, "a label that is not among the classes"), ({"a": 0, "b": 0, "c": 0}, "every")],
)
def test_weights_of_unknown_classes_or_none_are_refused(of_label, said):
    with pytest.raises(ValueError, match=said):
        opened(Labels(["a", "b", "c"], of_label), X, LABELS)


def test_numbers_lie_between_declared_bounds():
    _, found, _ = opened(Numbers(np.array([-1.0, 3.0])), X, Y)
    assert_allclose(found, (np.clip(Y, -1.0, 3.0) - 1.0) / 2.0)
    _, found, _ = opened(Numbers(np.array([-1.0, 4.0]), centred=False), X, Y)
    assert_allclose(found, np.clip(Y, -1.0, 4.0) / 4.0)
    _, found, _ = opened(Numbers(), X, Y / 10.0)
    assert_array_equal(found, Y / 10.0)


def test_several_targets_are_columns_with_bounds_each():
    two = np.column_stack([Y, -Y])
    facts = Given(X, two).close(model(), Numbers(several=True))[1]
    assert (facts.targets, facts.column) == (2, True)
    facts = Given(X, two[:, :1]).close(model(), Numbers(several=True))[1]
    assert (facts.targets, facts.column) == (1, True)
    bounds = np.array([[-1.0, 1.0], [0.0, 1.0]])
    table, _ = Given(X, two).close(model(), Numbers(bounds, several=True))
    public = Public(None, 3, 0.0, "add_remove")
    first, second = table.vault(Rows(public, 10.0, several=True))
    assert_allclose(first.y, np.clip(Y, -1.0, 1.0))
    assert_allclose(second.y, np.clip(-Y, 0.0, 1.0) * 2.0 - 1.0)
    for wrong in (Y, np.column_stack([Y, Y, Y])):
        with pytest.raises(ValueError, match="y_bounds holds bounds of 2 targets"):
            Given(X, wrong).close(model(), Numbers(bounds, several=True))
    with pytest.raises(ValueError, match="predicts one number, but y has 2 columns"):
        Given(X, two).close(model(), Numbers())
    with pytest.raises(ValueError, match="y is sparse"):
        Given(X, csr_array(two)).close(model(), Numbers(several=True))
    with pytest.raises(ValueError, match="y is ragged"):
        Given(X, Ragged()).close(model(), Numbers(several=True))


class Ragged:
    """Says that it is a table, and is none."""

    shape, ndim = (N, 2), 2

    def __array__(self, dtype=None, copy=None):
        raise ValueError("setting an array element with a sequence: 'Alice'")


def test_lists_are_numbered_and_belong_to_persons():
    grades = np.resize([0, 1], N)
    assert Given(X, grades, qid=QID).close(model(), Grades("list", 1.0))[1].n == 4
    sizes = Given(X, grades, sizes=[3, 3, 6])
    assert sizes.close(model(), Grades("list", 1.0))[1].n == 3
    reader = Grades("user", 1.0)
    for ids in (WHO, [0, 0, 1, 1]):  # of documents, or of lists
        assert Given(X, grades, groups=ids, qid=QID).close(model(), reader)[1].n == 2
    shown = Given(X, grades, qid=QID).close(model(), Grades("list_labels", 1.0))[1]
    assert shown.n == 4 and len(shown.documents) == 4 and len(shown.documents.rows) == N


@pytest.mark.parametrize(
    ("protects", "passed", "said"),
    [
        ("user", {"qid": QID}, "needs groups="),
        ("list", {"qid": QID, "groups": WHO}, "takes no groups="),
        ("list", {}, "pass qid=, the id of each document's query, or group="),
        ("list", {"qid": QID, "sizes": [6, 6]}, "one of them"),
        ("list", {"qid": np.resize([0, 1], N)}, "must stand together"),
        ("list", {"qid": QID[:5]}, "qid must be a 1D array"),
        ("list", {"qid": [None, *"abcdefghijk"]}, "qid holds missing values"),
        ("list", {"sizes": [6.0, 6.0]}, "group must be a 1D array of whole numbers"),
        ("list", {"sizes": [6, 5]}, "whose sum is the number of documents"),
        ("user", {"qid": QID, "groups": WHO[:5]}, "groups must be a 1D array of one id"),
        ("user", {"qid": QID, "groups": np.resize([0, 1], N)}, "one list to several persons"),
    ],
)
def test_wrong_lists_are_refused(protects, passed, said):
    with pytest.raises(ValueError, match=said):
        Given(X, np.zeros(N), **passed).close(model(), Grades(protects, 1.0))


@pytest.mark.parametrize("wrong", [np.full(N, 0.5), np.full(N, -1), np.full(N, 32)])
def test_what_is_no_grade_is_refused(wrong):
    with pytest.raises(ValueError, match="y holds values that are not grades"):
        Given(X, wrong, qid=QID).close(model(), Grades("list", 1.0))


def test_cells_of_a_transformer_are_read_as_it_says():
    wild = pd.DataFrame({"a": [1.0, np.inf, None], "b": ["2", "word", "True"]})

    def read(cells):
        table, facts = Given(wild).close(model(), Unlabelled(cells))
        assert facts.n_features == 2
        return table._Table__parts.rows  # a table shows none

    assert_array_equal(read("any"), [[1.0, 2.0], [np.inf, np.nan], [np.nan, 1.0]])
    assert_array_equal(read("finite"), [[1.0, 2.0], [np.nan, np.nan], [np.nan, 1.0]])
    with pytest.raises(ValueError, match="X holds text that is not a number"):
        read("numbers")


def test_names_and_number_of_columns_are_told_and_those_of_an_earlier_fit_forgotten():
    asked = DPLogisticRegression()
    Given(pd.DataFrame(X, columns=list("abc")), LABELS).close(asked, Labels(["a", "b", "c"]))
    assert_array_equal(asked.feature_names_in_, list("abc"))
    Given(X[:, :2], LABELS).close(asked, Labels(["a", "b", "c"]))
    assert asked.n_features_in_ == 2 and not hasattr(asked, "feature_names_in_")


class Meddles(DPLogisticRegression):
    """Would be called with a user's table where scikit-learn looks at its columns."""

    def __sklearn_tags__(self):
        raise AssertionError("an estimator's method was called while its user's data were open")


def test_no_method_of_an_estimator_is_called_while_data_are_open():
    _, facts = Given(X, LABELS).close(Meddles(), Labels(["a", "b", "c"]))
    assert isinstance(facts, Facts)


@dataclass(frozen=True, eq=False)
class ByTheLargest(Numbers):
    """Divides all targets by the largest."""

    def read(self, estimator, given):
        """Map one record by another."""
        return super().read(estimator, given._replace(y=given.y / abs(given.y).max()))


def test_a_reader_of_no_registered_type_is_refused():
    with pytest.raises(TypeError, match="ByTheLargest is no registered reader"):
        Given(X, Y).close(model(), ByTheLargest())


def test_what_was_passed_cannot_be_read():
    given = Given(X, Y, sample_weight=Y)
    assert not hasattr(given, "__dict__") and "0." not in repr(given)
    assert [name for name in dir(given) if not name.startswith("_")] == ["close", "mapped"]
