"""A receipt knows its model: every leaf of what a fit has left is bound, and nothing else can be attached."""

import copy
import io
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from estimators.changed_models import BESIDE, NO_PART, X, Y, changes, declared, fit, fitted
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import skdp
from skdp import DPLogisticRegression, DPRidge
from skdp._fingerprint import fingerprint, strangers
from skdp.neural_network import DPMLPClassifier
from skdp.privacy import Receipt
from skdp.privacy.ledger import in_scope
from skdp.utils import all_estimators

MODELS = dict(fitted())
WITH_RECEIPT = {name: model for name, model in MODELS.items() if hasattr(model, "privacy_")}


def known(model):
    """What a receipt would name, also for what has none because it reads no record."""
    return fingerprint(model), strangers(model)


def test_every_public_estimator_is_here():
    assert {name for name, _ in all_estimators()} <= set(MODELS)


LARGE = 200_003  # entries: as many as a network has


def unseen(digest, value):
    """Entries of a large array whose change gives the same digests."""
    places = [*np.random.default_rng(0).integers(0, LARGE, 30), 0, 1, LARGE // 2, LARGE - 1]
    own, missed = digest(SimpleNamespace(coef_=value)), []
    for place in places:
        other = value.copy()
        other.reshape(-1)[place] += 1
        missed += [place] if digest(SimpleNamespace(coef_=other)) == own else []
    return missed


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.complex128])
def test_every_entry_of_a_large_array_is_known(dtype):
    assert not unseen(fingerprint, np.arange(LARGE).astype(dtype))


def test_a_hash_of_some_entries_is_found():
    some = lambda model: model.coef_[::16].tobytes()  # noqa: E731
    assert len(unseen(some, np.arange(LARGE))) > 20


@pytest.mark.parametrize("name", WITH_RECEIPT)
def test_its_own_receipt_verifies(name):
    model = MODELS[name]
    assert model.privacy_.complaints(model) == []


@pytest.mark.parametrize("name", MODELS)
def test_every_change_of_one_leaf_is_found(name):
    model, missed, count = MODELS[name], [], 0
    own = known(model)
    for where, other in changes(model):
        count += 1
        if name in WITH_RECEIPT:
            missed += [where] if model.privacy_.verify(other) else []
        else:
            missed += [where] if known(other) == own else []
    assert count >= 10 and not missed, missed


@pytest.mark.parametrize("name", MODELS)
def test_private_state_is_declared(name):
    """What begins with an underscore is a field that a fit sets, or one of those that speak of the fit alone."""
    model = MODELS[name]
    private = {n for n in vars(model) if n.startswith("_")} - BESIDE
    assert private <= set(fingerprint(model)), (
        "declare it with field(init=False), or receipts do not bind it"
    )


@pytest.mark.parametrize("name", MODELS)
def test_what_speaks_of_the_fit_alone_does_not_count(name):
    model = copy.copy(MODELS[name])
    own = known(model)
    for given in NO_PART & set(model.get_params(deep=False)):
        setattr(model, given, {"verbose": 2}.get(given))
    model._paid_by, model._behind = ("0" * 32, "f" * 64), "DPStandardScaler"
    with skdp.budget(1.0, 1e-6):
        model._sent = in_scope().sent()
    assert known(model) == own


def test_the_best_model_of_a_search_in_a_budget_is_that_of_its_receipt():
    with skdp.budget(9.0, 1e-3):
        search = GridSearchCV(declared(DPLogisticRegression), {"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert search.best_estimator_.privacy_.complaints(search.best_estimator_) == []


ATTACHED = (X.tolist(), X, "a text of a record", (X,), ("a", "b"), object(), {"row": 1}, b"bytes")


class Other(Receipt):
    """Holds what a receipt does not."""


@pytest.mark.parametrize("value", ATTACHED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("place", sorted(BESIDE | NO_PART))
def test_no_data_hide_under_a_name_that_is_not_hashed(place, value):
    model = copy.copy(MODELS["DPLogisticRegression"])
    receipt = model.privacy_
    vars(model)[place] = value
    assert not receipt.verify(model)


@pytest.mark.parametrize("place", sorted(BESIDE | NO_PART))
def test_no_data_hide_so_in_what_a_model_holds(place):
    model = copy.deepcopy(MODELS["DPMLPClassifier"])
    search = copy.deepcopy(MODELS["DPGridSearchCV"])
    assert search.privacy_.verify(search)
    vars(search.best_estimator_)[place] = X
    assert not search.privacy_.verify(search)
    model.module_ = SimpleNamespace(**{place: None})
    before = fingerprint(model)
    vars(model.module_)[place] = X
    assert fingerprint(model) != before


def test_no_data_hide_in_a_receipt_of_another_kind_or_of_another_fit():
    model = copy.copy(MODELS["DPLogisticRegression"])
    receipt = model.privacy_
    model.privacy_ = receipt.stating(tuning="on public data")
    assert receipt.verify(model)
    model.privacy_ = replace(receipt, notes=("a text of a record",))
    assert not receipt.verify(model) and "privacy_" in receipt.complaints(model)[-1]
    model.privacy_ = Other(
        **{name: getattr(receipt, name) for name in receipt.__dataclass_fields__}
    )
    assert not receipt.verify(model)


def by_joblib(model):
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, by_joblib])
def test_a_copy_is_the_same_model(name, copied):
    model = MODELS[name]
    assert known(copied(model)) == known(model)
    if name in WITH_RECEIPT:
        assert copied(model).privacy_.verify(copied(model))


def test_another_process_with_another_hash_seed_says_the_same(tmp_path):
    (tmp_path / "models").write_bytes(pickle.dumps(MODELS))
    told = (
        "import pickle, sys; from skdp._fingerprint import fingerprint\n"
        "models = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print({name: fingerprint(model) for name, model in models.items()})"
    )
    given = [sys.executable, "-W", "ignore", "-c", told, str(tmp_path / "models")]
    path = os.pathsep.join(filter(None, sys.path))
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        found = subprocess.run(given, capture_output=True, text=True, env=env, check=True).stdout
        assert found.strip() == str({name: fingerprint(model) for name, model in MODELS.items()})


def test_two_fits_have_two_models_and_a_clone_has_none():
    first, second = (fit(declared(DPLogisticRegression)) for _ in range(2))
    assert first.privacy_.complaints(second) != []
    assert "coef_ is missing" in first.privacy_.complaints(clone(first))[0]
    again = fit(clone(first))
    assert again.privacy_.verify(again) and not first.privacy_.verify(again)


def test_complaints_name_what_is_new_missing_and_changed():
    model = fit(declared(DPLogisticRegression))
    model.classes_, model.X_train_ = model.classes_[::-1], X
    del model.coef_std_
    (told,) = model.privacy_.complaints(model)
    assert all(
        part in told for part in ("classes_ is changed", "coef_std_ is missing", "X_train_ is new")
    )


def test_settings_of_scikit_learn_are_no_strangers():
    model = fit(declared(DPLogisticRegression))
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True)
    assert model.privacy_.verify(model)
    scaler = MODELS["DPStandardScaler"]
    shown = copy.deepcopy(scaler).set_output(transform="pandas")
    assert scaler.privacy_.verify(shown)


def test_a_seed_is_never_hashed():
    """Whoever tries all seeds would find it in the receipt, and the noise with it."""
    for seed in (0, 1):
        model = copy.copy(MODELS["DPRidge"]).set_params(random_state=seed)
        assert fingerprint(model) == fingerprint(MODELS["DPRidge"])
    search = copy.copy(MODELS["DPGridSearchCV"])
    search.estimator = clone(search.estimator).set_params(random_state=7)
    assert fingerprint(search) == fingerprint(MODELS["DPGridSearchCV"])


def test_layout_byte_order_and_sparsity_do_not_count():
    model = fit(declared(DPMLPClassifier))
    model.coefs_ = [np.asfortranarray(a).astype(">f8") for a in model.coefs_]
    assert model.privacy_.verify(model)
    sparse = fit(declared(DPLogisticRegression))
    assert sparse.privacy_.verify(sparse.sparsify())


def test_maps_of_files_are_the_arrays_that_they_are(tmp_path):
    model = fit(declared(DPRidge))
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert isinstance(mapped.coef_, np.memmap) and model.privacy_.verify(mapped)


def test_a_search_and_its_best_model_share_one_receipt():
    search = copy.deepcopy(MODELS["DPGridSearchCV of steps"])
    receipt, best = search.privacy_, search.best_estimator_
    for part in (search, best[0], best[-1]):
        assert receipt.verify(part) and part.privacy_ is receipt
    assert not receipt.verify(fit(declared(DPLogisticRegression)))
    best[0].mean_ = best[0].mean_ + 1.0
    assert not receipt.verify(search) and not receipt.verify(best[0]) and receipt.verify(best[-1])


def a_function():
    """That stands for any."""


class Held:
    """That holds itself, and a slot."""

    __slots__ = ("__dict__", "slot")

    def __init__(self, value):
        self.slot, self.me = value, self


# One of each kind of value, with others that only look like it. Digests of the version are kept: they hold for ever.
KINDS = {
    "none": (None, [0, "None", False]),
    "bool": (True, [1, "True", np.True_]),
    "int": (2**70, [2.0**70, str(2**70)]),
    "float": (0.1, [np.float64(0.1), np.float32(0.1), Fraction(1, 10)]),
    "zero": (0.0, [-0.0, 0]),
    "text": ("a\ud800é", ["aé", b"a"]),
    "bytes": (b"ab", ["ab", [97, 98]]),
    "list": ([1, [2, 3]], [(1, [2, 3]), [[1, 2], 3], [1, 2, 3], np.array([1, 2])]),
    "dict": ({"a": 1, 2: "b"}, [{"a": 2, 1: "b"}, [("a", 1), (2, "b")]]),
    "set": ({1, 2}, [[1, 2], {1, 2, 3}]),
    "array": (np.arange(6.0).reshape(2, 3), [np.arange(6.0), np.arange(6).reshape(2, 3)]),
    "object": (np.array(["a", 1, None], dtype=object), [np.array(["a", "1", None], dtype=object)]),
    "text array": (
        np.array(["a", "bc"]),
        [np.array(["a", "bc"], dtype="U9"), np.array(["ab", "c"])],
    ),
    "records": (np.zeros(2, [("a", "f8")]), [np.zeros(2, [("b", "f8")]), np.zeros(2)]),
    "dates": (np.array(["2020"], "M8[D]"), [np.array(["2020"], "M8[s]")]),
    "complex": (1j, [1.0, np.array([1j])]),
    "masked": (np.ma.array([1.0]), [np.array([1.0])]),
    "range": (range(3), [[0, 1, 2], range(4)]),
    "function": (a_function, [test_every_public_estimator_is_here]),
    "partial": (partial(int, base=2), [partial(int, base=3), partial(float)]),
    "class": (DPRidge, [DPLogisticRegression]),
    "cycle": (Held(1), [Held(2)]),
    "sparse": (csr_matrix(np.eye(2)), [csr_matrix(np.ones((2, 2)))]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_look_alike_are_told_apart(kind):
    value, others = KINDS[kind]
    own = fingerprint(SimpleNamespace(value=value))
    assert own == fingerprint(SimpleNamespace(value=copy.deepcopy(value)))
    for other in others:
        assert fingerprint(SimpleNamespace(value=other)) != own


LONG = 3001  # entries, of which numpy and others write out but a few
ENTRIES = {
    "text": lambda i: f"column {i}",
    "long text": lambda i: "x" * 400 + str(i) + "y" * 400,
    "close numbers": lambda i: 1.0 + i * 2.0**-52,
    "large numbers": lambda i: 2**80 + i,
    "pairs": lambda i: (i, "of"),
}
LONG_KINDS = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "dict": lambda entries: dict.fromkeys(entries, 1),
    "dict of them": lambda entries: dict(enumerate(entries)),
    "object array": lambda entries: _objects(entries),
    "square array": lambda entries: _objects(entries[:3000]).reshape(50, 60),
    "array": lambda entries: np.array(entries),
    "records": lambda entries: np.array([(e,) for e in entries], dtype=[("a", object)]),
}


def _objects(entries):
    found = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("kind", LONG_KINDS)
def test_one_entry_of_many_is_told_wherever_it_stands(kind, entry):
    """Of every container, and of entries that no short text tells apart."""
    entries = [ENTRIES[entry](i) for i in range(LONG)]
    own = fingerprint(SimpleNamespace(value=LONG_KINDS[kind](entries)))
    for place in (0, 1, LONG // 2, 2998):
        other = [*entries[:place], ENTRIES[entry](LONG), *entries[place + 1 :]]
        assert fingerprint(SimpleNamespace(value=LONG_KINDS[kind](other))) != own, place


def test_the_order_of_a_dict_does_not_count():
    one, other = ({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert fingerprint(SimpleNamespace(v=one)) == fingerprint(SimpleNamespace(v=other))


def test_a_torch_module_is_bound_by_weights_buffers_and_settings():
    torch = pytest.importorskip("torch")
    from skdp.neural_network import DPTorchClassifier

    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    model = fit(declared(DPTorchClassifier, module=net), X, Y)
    assert model.privacy_.verify(pickle.loads(pickle.dumps(model)))

    def moved(m):
        with torch.no_grad():
            m.module_[0].bias[1] += 1e-9

    def of_other_activation(m):
        m.module_[1] = torch.nn.ReLU()

    def with_buffer(m):
        m.module_.register_buffer("X", torch.as_tensor(X))

    def single(m):
        m.module_.float()

    def scaled(m):
        m._seen = (m._seen[0], 2.0)

    for change in (moved, of_other_activation, with_buffer, single, scaled):
        twin = copy.deepcopy(model)
        change(twin)
        assert not model.privacy_.verify(twin), change.__name__
