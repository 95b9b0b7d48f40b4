"""Errors: one sentence with the value and the remedy, before any budget is spent, and never a private value."""

import re
import warnings

import numpy as np
import pytest
from estimators.of_rows import of_rows
from scipy import sparse

from skdp import BudgetExceeded, DPLinearSVC, DPLogisticRegression, NotSupported, PrivacyWarning
from skdp.penalties import L1Ball
from skdp.privacy import Ledger
from skdp.solvers import SGD

ESTIMATORS = [Estimator for _, Estimator in of_rows("classifier")]
X = np.array([[0.5, 0.25], [-0.5, 0.125], [0.25, -0.75], [0.1, 0.3]])
Y = np.array([1, 0, 1, 0])
SECRET = 8675.309  # no message may hold it


def _declared(Estimator=DPLogisticRegression, **given):
    return Estimator(
        **{"epsilon": 1.0, "delta": 1e-5, "data_norm": 1.0, "classes": [0, 1], **given}
    )


# Parameters: name, value, what the message must hold.
WRONG_PARAMETERS = [
    ("epsilon", 0.0, "epsilon"),
    ("epsilon", -1.0, "-1"),
    ("epsilon", np.nan, "nan"),
    ("epsilon", True, "True"),
    ("epsilon", "much", "much"),
    ("epsilon", None, "None"),
    ("delta", -0.1, "-0.1"),
    ("delta", 1.0, "delta"),
    ("delta", np.nan, "nan"),
    ("delta", "small", "small"),
    ("data_norm", 0.0, "data_norm=0.0"),
    ("data_norm", -2.0, "-2"),
    ("data_norm", np.inf, "inf"),
    ("data_norm", np.nan, "nan"),
    ("data_norm", "auto!", "auto!"),
    ("C", 0.0, "C=0.0"),
    ("C", -1.0, "-1"),
    ("C", np.nan, "nan"),
    ("neighbors", "next_door", "next_door"),
    ("penalty", "l7", "l7"),
    ("solver", "magic", "magic"),
    ("solver", 3, "3"),
    ("accountant", "abacus", "abacus"),
    ("classes", [1], "two classes"),
    ("ledger", "here", "ledger"),
    ("random_state", -1, "-1"),
    ("random_state", "lucky", "lucky"),
    ("n_public", -5, "n_public"),
]


@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("name, value, said", WRONG_PARAMETERS)
def test_wrong_parameter(Estimator, name, value, said):
    if name not in Estimator().get_params():
        pytest.skip("not a parameter of this one")
    relation = {"neighbors": "add_remove"} if name == "n_public" else {}
    ledger = Ledger(1.0, 1e-5, neighbors=relation.get("neighbors", "replace_one"))
    model = _declared(Estimator, **{**relation, "ledger": ledger, name: value})
    message = _refusal(model, X, Y)
    assert said in message
    _one_sentence(message)
    assert ledger.spent == 0.0


WRONG_SOLVERS = [
    (SGD(sampling="bernoulli"), "replace_one", "bernoulli"),
    (SGD(schedule="magic"), "replace_one", "magic"),
    (SGD(sampling="without_replacement"), "add_remove", "poisson"),
    (SGD(batch_size=2), "add_remove", "batch_size=2"),
    (SGD(rate=1.5), "replace_one", "1.5"),
    (SGD(clip=-1.0), "replace_one", "clip"),
]


@pytest.mark.parametrize("solver, neighbors, said", WRONG_SOLVERS)
def test_wrong_solver_parameter(solver, neighbors, said):
    ledger = Ledger(1.0, 1e-5, neighbors=neighbors)
    message = _refusal(_declared(solver=solver, neighbors=neighbors, ledger=ledger), X, Y)
    assert said in message
    _one_sentence(message)
    assert ledger.spent == 0.0


def _with(value):
    rows = X.copy()
    rows[2, 1] = value
    return rows


WRONG_DATA = {
    "nan": (_with(np.nan), Y, "NaN"),
    "infinite": (_with(np.inf), Y, "inf"),
    "too large": (np.full((4, 2), 1.7e308), Y, "too large"),
    "empty": (X[:0], Y[:0], "0 sample"),
    "no features": (X[:, :0], Y, "0 feature"),
    "one dimension": (X[:, 0], Y, "1D array"),
    "lengths": (X, Y[:3], "[4, 3]"),
    "sparse with nan": (sparse.lil_matrix(_with(np.nan)), Y, "NaN"),
    "sparse and infinite": (sparse.csr_array(_with(np.inf)), Y, "inf"),
    "sparse and complex": (sparse.csr_array(X + 1j), Y, "omplex"),
    "sparse in one dimension": (sparse.coo_array(X[:, 0]), Y, "1D array"),
    "sparse and empty": (sparse.csr_array(X[:0]), Y[:0], "0 sample"),
    "sparse labels": (X, sparse.csr_array(Y[:, None]), "ense"),
    "nan label": (X, np.array([1.0, np.nan, 1.0, 0.0]), "NaN"),
    "undeclared label": (X, np.array([1, 0, 1, 7]), "declare"),
    "continuous target": (X, np.array([0.1, 0.7, 0.3, SECRET]), "ontinuous"),
    "two columns of labels": (X, np.column_stack([Y, Y]), "y"),
    "text in X": (np.array([["a", "b"]] * 4, dtype=object), Y, "X"),
}


@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("case", WRONG_DATA)
def test_wrong_data(Estimator, case):
    rows, labels, said = WRONG_DATA[case]
    ledger = Ledger(1.0, 1e-5)
    message = _refusal(_declared(Estimator, ledger=ledger), rows, labels)
    assert said in message
    assert ledger.spent == 0.0


def test_one_class_where_none_are_declared():
    with pytest.warns(UserWarning, match="declare classes="):
        assert "1 class" in _refusal(_declared(classes=None), X, np.ones(4, int))


def test_more_classes_than_a_solver_has_a_proof_for():
    ledger = Ledger(1.0, 1e-5)
    given = {"solver": "frank-wolfe", "penalty": L1Ball(1.0), "fit_intercept": False}
    error = _raised(_declared(classes=[0, 1, 2], ledger=ledger, **given), X, Y)
    assert isinstance(error, NotSupported) and "multi_class='ovr'" in str(error)
    assert ledger.spent == 0.0


def test_one_class_present_of_two_declared_is_no_error():
    model = _declared(random_state=0).fit(X, np.zeros(4, int))
    assert model.classes_.tolist() == [0, 1]


# ------------------------------------------------------------------------------ nothing private


SECRETS = {
    "label": (X, np.array([1, 0, 1, SECRET])),
    "text label": (X, np.array(["no", "yes", "no", "patient zero"])),
    "text in X": (np.array([[0.1, 0.2]] * 3 + [[0.1, "patient zero"]], dtype=object), Y),
    "infinite among": (np.array([[SECRET, 0.2]] * 3 + [[np.inf, SECRET]]), Y),
    "nan among": (np.array([[SECRET, 0.2]] * 3 + [[np.nan, SECRET]]), Y),
    "nan label": (X, np.array([SECRET, 1.0, np.nan, 0.0])),
    "too large": (np.array([[8.675309e307, 1.7e308]] * 4), Y),
}


@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("case", SECRETS)
def test_no_message_and_no_warning_shows_a_private_value(Estimator, case):
    rows, labels = SECRETS[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = _raised(_declared(Estimator), rows, labels)
    told = [str(error), *(str(w.message) for w in caught)]
    chained = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    while chained is not None:
        told.append(str(chained))
        chained = chained.__cause__ or chained.__context__
    for text in told:
        assert not re.search(r"8675|8\.675|patient|zero", text), text


@pytest.mark.parametrize("solver", ["auto", "gd", "white-objective"])
@pytest.mark.parametrize("seed", range(3))
def test_no_warning_depends_on_the_data(seed, solver):
    # Rows beyond the bound, one label only, more labels than half of the rows: admitted without a word.
    rng = np.random.default_rng(seed)
    for rows, labels in [
        (rng.normal(size=(4, 2)) * 1e6, Y),
        (X, np.zeros(4, int)),
        (X[:2], Y[:2]),
        (np.zeros((4, 2)), Y),
        (np.full((4, 2), 1e-310), Y),
        (np.full((4, 2), 3e38, dtype=np.float32), Y),
    ]:
        model = _declared(random_state=seed, solver=solver)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            fitted = model.fit(rows, labels)
        assert np.isfinite(fitted.coef_).all()
        with warnings.catch_warnings(record=True) as usual:
            warnings.simplefilter("always")
            model.fit(X[: len(labels)], Y[: len(labels)])
        # That noise drowns a model of four records is known from their number.
        assert [str(one.message) for one in heard] == [str(one.message) for one in usual]
        assert all("Noise drowns" in str(one.message) for one in heard)


# -------------------------------------------------------------------------- what a failure leaves


@pytest.mark.filterwarnings("ignore:random_state=0 with a ledger:skdp.PrivacyWarning")
@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("case", [*WRONG_DATA, "parameter", "budget"])
def test_a_refit_that_fails_keeps_the_old_state(Estimator, case):
    ledger = Ledger(1.2, 1e-5)
    model = _declared(Estimator, ledger=ledger, random_state=0).fit(X, Y)
    before = dict(vars(model))
    shown = model.decision_function(X)
    rows, labels, _ = WRONG_DATA.get(case, (X[:, :1], Y, ""))
    if case == "parameter":
        model.set_params(data_norm=-1.0)
        before["data_norm"] = -1.0
    spent = ledger.spent
    _raised(model, rows, labels)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert np.array_equal(model.decision_function(X), shown) and ledger.spent == spent


@pytest.mark.filterwarnings("ignore:random_state=0 with a ledger:skdp.PrivacyWarning")
def test_a_failure_within_a_paid_run_keeps_the_state_and_the_payment(monkeypatch):
    ledger = Ledger(3.0, 1e-5)
    model = _declared(ledger=ledger, random_state=0).fit(X, Y)
    before, spent = dict(vars(model)), ledger.spent
    monkeypatch.setattr("skdp.fitting.run.Run._told", _breaks)
    with pytest.raises(RuntimeError, match="half way"):
        model.fit(X, Y)
    assert vars(model) == before and ledger.spent > spent, "a failed fit has paid"


def _breaks(*args):
    raise RuntimeError("half way")


def test_a_ledger_that_cannot_pay_refuses_before_a_record_is_touched():
    ledger = Ledger(1.0, 1e-5)
    _declared(ledger=ledger).fit(X, Y)
    spent = ledger.spent
    message = _refusal(_declared(ledger=ledger), X, Y)
    assert isinstance(_raised(_declared(ledger=ledger), X, Y), BudgetExceeded)
    assert "spent" in message.lower() and "left" in message and ledger.spent == spent


def test_another_relation_than_the_ledgers_is_refused():
    error = _raised(_declared(neighbors="add_remove", ledger=Ledger(1.0, 1e-5)), X, Y)
    assert "use one relation" in str(error)


def test_gaussian_noise_at_delta_0_is_refused():
    message = _refusal(_declared(delta=0.0, solver="gd"), X, Y)
    assert "delta" in message
    _one_sentence(message)


def test_what_a_solver_lacks_is_said_in_one_sentence():
    error = _raised(_declared(DPLinearSVC, loss="hinge", solver="objective-perturbation"), X, Y)
    assert isinstance(error, NotSupported)
    assert "smooth" in str(error) and "hinge" in str(error).lower()


# ---------------------------------------------------------------------------------------- tools


def _raised(model, rows, labels):
    try:
        model.fit(rows, labels)
    except (ValueError, TypeError, RuntimeError) as error:
        return error
    raise AssertionError("nothing was refused")


def _refusal(model, rows, labels):
    return str(_raised(model, rows, labels))


def _one_sentence(message):
    assert message and "\n" not in message.strip()
    assert len(re.findall(r"[.!?](?:\s|$)", message.rstrip("."))) == 0, "one sentence"


@pytest.mark.parametrize("bound", [1e-40, 1e40])
def test_a_bound_beyond_what_rounding_allows_is_refused(bound):
    with pytest.raises(ValueError, match=r"between 1e-30 and 1e30"):
        DPLogisticRegression(data_norm=bound).quote(100, 2)


def test_a_seed_beside_a_ledger_warns_that_noise_is_shared():
    ledger = Ledger(2.0, 1e-6)
    model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd", ledger=ledger)
    X, y = np.zeros((20, 2)), np.arange(20) % 2
    with pytest.warns(PrivacyWarning, match="share their noise"):
        model.set_params(random_state=0).fit(X, y)
