"""Each parameter refuses what it cannot be: in one sentence, with value and remedy, before data is looked at."""

import inspect
import math
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from estimators.malformed import CELLS, CELLS_SHOWN, NUMBER
from estimators.of_rows import of_rows

from skdp import DPGaussianNB, DPLinearSVC, DPLogisticRegression
from skdp._messages import as_text
from skdp.fitting import estimator
from skdp.fitting._parameters import RULES, refuse_wrong
from skdp.losses import LOSSES, Multinomial
from skdp.neural_network import DPMLPClassifier
from skdp.privacy import Ledger
from skdp.solvers import GD, SGD

ESTIMATORS = [Estimator for _, Estimator in of_rows("classifier")]
HUGE = 10**400
NO_NUMBERS = ["x", True, False, np.True_, 1j, [1.0], (1.0,), {}, np.array([1.0]), object()]
NO_NUMBERS += [math.nan, np.float64("nan"), HUGE, -HUGE, Fraction(HUGE), b"1", 10**5000]
NO_WORDS = [3, 0.5, True, b"gd", ["gd"], ("gd",), {"gd"}, {}, np.array(["gd", "sgd"]), object(), ""]

# Name of a parameter, values that it refuses. Each parameter must have its line.
WRONG = {
    "epsilon": [*NO_NUMBERS, None, 0, 0.0, -1, -0.0, -math.inf, 1e16, np.float32(-1)],
    "delta": [*NO_NUMBERS, None, -0.1, 1, 1.0, math.inf, -math.inf, 5e-324, 2],
    "solver": [*NO_WORDS, None, "magic", GD, "GD", "auto "],
    "penalty": [*NO_WORDS[:3], [], {}, object(), b"l2", "l7", "", "box", np.array(["l2"])]
    + [np.full((4, 2), NUMBER)],
    "C": [*NO_NUMBERS, None, 0, -1, -math.inf, 1e-320, 1e101, -0.5],
    "l1_ratio": [*NO_NUMBERS, -0.1, 1.1, math.inf],
    "data_norm": [*NO_NUMBERS, 0.0, -2.0, math.inf, 1e-31, 1e31, "auto"],
    "coef_init": [
        "x",
        b"1",
        True,
        {},
        {1.0},
        [math.nan],
        math.inf,
        ["a"],
        [[1], [2, 3]],
        object(),
        1j,
    ],
    "intercept_init": ["x", b"1", True, {}, {1.0}, [math.nan], math.inf, ["a"], object(), 1j],
    "warm_start": ["no", "yes", "", 0, 1, None, [], b"no"],
    "fit_intercept": ["no", "yes", "", 0, 1, 0.0, None, [], [True], np.array([True]), b"no"],
    "classes": ["ab", "", 5, 1.5, {0, 1}, {0: 1}, [], [1], [1, 1], [None, 1], [0, "a"]]
    + [["a", None], [b"a", b"b"], [b"a", "b"], [0, math.nan], [0, math.inf], [0, 1j], [[0, 1]]]
    + [[[0], [1]], [[0], [1, 2]], [0, HUGE], [object(), object()], np.array(5), np.array([[0, 1]])]
    + [pd.to_datetime(["2001-01-01", "2002-02-02"]), range(1), iter([0, 1]), pd.DataFrame([[0, 1]])]
    + [np.array([0, None]), [Fraction(1, 2), 1], object(), True],
    "class_weight": [
        "even",
        "",
        1.0,
        [1, 2],
        np.ones(2),
        {0: -1.0},
        {0: math.nan},
        {0: 0, 1: 0.0},
        {7: 1.0},
    ]
    + [{0: "heavy"}, {0: math.inf}, {0: None}, {0: True}, object()],
    "calibrate": [
        *(word for word in NO_WORDS if word is not True),
        None,
        0,
        1,
        "AUTO",
        "isotonic",
        0.5,
    ],
    "multi_class": [*NO_WORDS, None, "crammer_singer"],
    "max_rows_per_group": [*NO_NUMBERS, 0, -1, 0.5, 2.0, math.inf, 2**53 + 1],
    "max_sample_weight": [*NO_NUMBERS, 0, -1.0, math.inf, 1e-31, 1e31],
    "neighbors": [*NO_WORDS, None, "next_door", "replace-one", "REPLACE_ONE"],
    "n_public": [*NO_NUMBERS, 0, -5, 0.5, math.inf, 2**53 + 2],
    "accountant": [*NO_WORDS, None, "abacus", "PLD"],
    "ledger": [1, 0, "here", Ledger, {}, [], object(), 1.0, np.zeros(2), True],
    "random_state": [-1, -HUGE, 0.5, 1.0, "lucky", [1], np.array([1]), object(), True, b"1"]
    + [np.random.default_rng(0), math.nan, np.float64(3)],
    "verbose": ["x", -1, 1.5, None, [], math.nan, np.array([1]), "1"],
    "priors": [True, "half", 0.5, [0.5], [0.5, 0.6], [-0.5, 1.5], [[0.5, 0.5]], [math.nan, 1.0], {}]
    + [[0.2, 0.3, 0.5], object(), [0.5, "b"], [0.5, math.inf], b"ab"],
    "var_smoothing": [*NO_NUMBERS, None, -1e-9, math.inf, 1e31],
    "bounds": [1, "ab", (0,), (0, 1, 2), (1, 0), (0, 0), (0, math.inf), (math.nan, 1), (0, 1e31)]
    + [
        ([0, 1], [1, 1]),
        ([0, 1], [1, 2, 3]),
        ([[0]], [[1]]),
        ([], []),
        {0: 1},
        object(),
        ("a", "b"),
    ],
    "hidden_layer_sizes": [
        *NO_NUMBERS,
        None,
        0,
        -1,
        2.5,
        (),
        [],
        (3, 0),
        (2.0,),
        ("3",),
        10**7,
        {3},
    ],
    "activation": [*NO_WORDS, None, "softmax", "RELU"],
    "alpha": [*NO_NUMBERS, None, -1.0, 1e-320, 1e101, math.inf],
    "batch_size": [*NO_NUMBERS, 0, -1, 0.5, 2.0, math.inf, "auto", 2**53 + 1],
    "max_iter": [*NO_NUMBERS, 0, -1, 0.5, 2.0, math.inf, 10**7],
    "learning_rate_init": [*NO_NUMBERS, 0, -1.0, math.inf, 1e-31, 1e31],
    "loss": [*NO_WORDS, None, "huber", "multinomial", "HINGE", Multinomial(3), Multinomial],
    "h": [*NO_NUMBERS, None, 0, -0.5, math.inf, 1e-31, 1e31],
}
RIGHT = {
    "epsilon": [1, 1e15, math.inf, 1e-8, Fraction(1, 3), np.float32(0.5), np.int64(2)],
    "delta": [0, 0.0, 1e-300, 0.5, Fraction(1, 10**6), np.float64(1e-9)],
    "solver": ["auto", "gd", SGD(steps=3)],
    "penalty": ["auto", "l1", "l2", "none", None, "scad"],
    "C": [1e-100, 1e100, math.inf, 1, np.int32(3), Fraction(1, 7)],
    "l1_ratio": [None, 0, 1, 0.5],
    "data_norm": [1e-30, 1e30, 1, np.float32(2.0)],
    "coef_init": [None, [1.0, 2.0], np.ones((1, 2)), (1, 2), np.float32([1, 2])],
    "intercept_init": [None, 0.5, [1], np.ones(1)],
    "warm_start": [True, False, np.True_],
    "fit_intercept": [True, False, np.True_],
    "classes": [[0, 1], (1, 0), ["b", "a"], [False, True], np.array([3.5, 1]), pd.Index(["a", "b"])]
    + [np.array(["a", "b"], dtype=object), pd.Series([0, 1], dtype="category"), range(2), None]
    + [[0, 1, 2], ["a", "b", "c"]],
    "class_weight": [
        None,
        "balanced",
        {},
        {1: 0},
        {0: 1e-30, 1: 1e30},
        {np.int64(1): Fraction(1, 3)},
    ],
    "calibrate": ["auto", True, False, np.True_],
    "multi_class": ["multinomial", "ovr", "auto"],
    "max_rows_per_group": [None, 1, 2**40, np.int8(5)],
    "max_sample_weight": [None, 1, 1e-30, 1e30, Fraction(1, 3), np.float32(2.0)],
    "neighbors": ["replace_one", "add_remove", np.str_("add_remove")],
    "n_public": [None, 1, 1e6, 2**53],
    "accountant": ["auto", "pld", "gdp", "rdp"],
    "ledger": [None, Ledger(2.0, 1e-5)],
    "random_state": [None, 0, HUGE, np.int64(7), np.random.RandomState(0), np.random],
    "verbose": [0, 1, 2, True, False, np.int8(1)],
    "priors": [None, [0.5, 0.5], (0, 1), np.array([0.3, 0.7])],
    "var_smoothing": [0, 1e-9, 1, 1e30, Fraction(1, 3)],
    "bounds": [None, (0, 1), [-1e30, 1e30], (0, [1, 2]), (np.zeros(4), np.ones(4))],
    "hidden_layer_sizes": [1, (3, 4), [5], np.int8(7), (np.int64(2),)],
    "activation": ["relu", "tanh", "logistic", "identity"],
    "alpha": [0, 0.0, 1e-100, 1e100, Fraction(1, 3)],
    "batch_size": [None, 1, 2**53, np.int8(5)],
    "max_iter": [None, 1, 10**6, np.int8(5)],
    "learning_rate_init": [None, 1e-30, 1e30, 1, Fraction(1, 3)],
    "loss": [name for name, kind in LOSSES.items() if kind.kind == "binary"],
    "h": [0.5, 1, 1e-30, 1e30],
}


class Untouched:
    """Data that must not be looked at."""

    def _touched(self, *args, **given):
        raise AssertionError("the data was looked at")

    __len__ = __array__ = __iter__ = __getitem__ = __getattr__ = _touched


def model(Estimator=DPLogisticRegression, **given):
    declared = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 1.0, "classes": [0, 1]}
    return Estimator(**{**declared, **given})


def parameters(Estimator):
    return list(inspect.signature(Estimator).parameters)


def complaint(Estimator, name, value):
    """What is wrong with how a wrong value is refused, or None."""
    wrong = model(Estimator, **{name: value})
    for method in (lambda: wrong.fit(Untouched(), Untouched()), lambda: wrong.quote(100, 2)):
        try:
            method()
        except (ValueError, TypeError) as error:
            said = str(error)
            if name not in said or not said.endswith(".") or len(said) > 500:
                return f"does not name the parameter: {said}"
            if re.search(r"[.!?]\s|\n", said.replace("...", "")):
                return f"is more than a sentence: {said}"
            if CELLS_SHOWN.search(said):
                return f"shows a cell: {said}"
            if error.__context__ is not None or error.__cause__ is not None:
                return "drags another exception along"
        except BaseException as error:
            return f"{type(error).__name__}: {error}"
        else:
            return "was taken"
    return None


def complaints(Estimator=DPLogisticRegression, names=None):
    """All complaints about an estimator's parameters."""
    tried = [(name, value) for name in names or parameters(Estimator) for value in WRONG[name]]
    found = [(name, as_text(value), complaint(Estimator, name, value)) for name, value in tried]
    return [(name, value, fault) for name, value, fault in found if fault is not None]


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_every_parameter_refuses_what_it_cannot_be(Estimator):
    assert complaints(Estimator) == []


@pytest.mark.filterwarnings("ignore:.*(is only used when|has no effect)")
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_every_parameter_takes_what_it_can_be(Estimator):
    for name in parameters(Estimator):
        for value in RIGHT[name]:
            if name != "solver" or value != "gd" or Estimator is not DPMLPClassifier:
                model(Estimator, **{name: value})._check_parameters()


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_every_parameter_has_a_rule(Estimator):
    checked = {*Estimator()._rules(), "classes"}
    assert set(parameters(Estimator)) <= checked & set(WRONG) & set(RIGHT)


@pytest.mark.parametrize("name", sorted({*WRONG} - {"classes"}))
def test_a_rule_that_is_left_out_is_missed(name, monkeypatch):
    rules = {key: rule for key, rule in RULES.items() if key != name}
    monkeypatch.setattr(estimator, "RULES", rules)
    if name == "random_state":
        monkeypatch.setattr(estimator, "SEEDS", (lambda value: True, ""))
    faces = DPLinearSVC, DPLogisticRegression, DPMLPClassifier, DPGaussianNB
    face = next(face for face in faces if name in parameters(face))
    monkeypatch.setattr(face.__dataclass_fields__[name], "metadata", {})
    assert complaints(face, [name])


def test_classes_that_nobody_checks_are_missed(monkeypatch):
    monkeypatch.setattr(DPLogisticRegression, "_declared", lambda self: np.unique(self.classes))
    assert complaints(DPLogisticRegression, ["classes"])


COUNTS = [0, -5, -1, 2.5, 10.0, "a", None, True, math.nan, math.inf, HUGE, [3], 2**53 + 1]


@pytest.mark.parametrize("count", COUNTS, ids=as_text)
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_a_quote_is_of_whole_numbers(count, neighbors):
    private = neighbors == "add_remove" and count is None  # a private count need not be named
    for name, sizes in {"n": (count, 3), "n_features": (100, count)}.items():
        if private and name == "n":
            assert model(neighbors=neighbors, solver="gd").quote(*sizes).epsilon <= 1.0
            continue
        with pytest.raises(ValueError, match=rf"^{name}=.* must be a whole number.*\.$"):
            model(neighbors=neighbors).quote(*sizes)


def test_numbers_of_numpy_will_do_for_a_quote():
    assert model(solver="gd").quote(np.int64(100), np.uint8(2)).declared["n"] == 100


@pytest.mark.parametrize("name", parameters(DPLinearSVC))
def test_data_that_took_a_wrong_turn_is_not_shown(name):
    cells = [NUMBER, [NUMBER] * 4, np.full((4, 2), NUMBER), pd.DataFrame([[NUMBER, "Alice-4711"]])]
    for value in [
        *cells[1:],
        *(CELLS[kind] for kind in ("dict", "set", "list", "array", "patient")),
    ]:
        try:
            refuse_wrong({name: value}) if name in RULES else model(**{name: value}).quote(9, 2)
        except (ValueError, TypeError) as error:
            assert not CELLS_SHOWN.search(str(error)), str(error)
        else:
            free = "classes", "class_weight", "coef_init", "intercept_init"
            assert name in free, "labels and public coefficients may be anything"


@pytest.mark.parametrize(
    "value, told",
    [
        (HUGE, "1e+400 or so"),
        (-(10**5000), "-1e+5000 or so"),
        (np.float32(0.5), "0.5"),
        ("no", "'no'"),
        ("long" * 50, repr("long" * 15 + "...")),
        (None, "None"),
        ([1, 2], "<list>"),
        (1j, "<complex>"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_value_is_shown_short(value, told):
    assert as_text(value) == told


def test_a_name_without_a_ratio_is_refused_before_the_data():
    with pytest.raises(ValueError, match="l1_ratio"):
        model(penalty="elasticnet").fit(Untouched(), Untouched())


def test_a_ledger_of_another_relation_is_refused_before_the_data():
    with pytest.raises(ValueError, match="use one relation"):
        model(neighbors="add_remove", ledger=Ledger(1.0, 1e-5)).fit(Untouched(), Untouched())
