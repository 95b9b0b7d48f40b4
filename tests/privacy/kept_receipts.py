"""Receipts that are kept as they were once written, of each schema: whoever filed one can read it for ever.

``python tests/privacy/kept_receipts.py --write`` adds what the present schema lacks: a fit of each sort below and a
release of each event. What is there is never written again.
"""

import json
import math
import sys
import warnings
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "kept_receipts"
rng = np.random.default_rng(11)
X = rng.uniform(-0.5, 0.5, (80, 2))
Y = (X[:, 0] > 0).astype(int)
SORTS = (
    "script",
    "batches",
    "filter",
    "pure",
    "several classes",
    "several targets",
    "network",
    "persons",
    "warm start",
    "ledger",
    "private count",
    "transformer",
    "search",
    "quote",
    "quote of a filter",
    "score",
    "seeded",
    "no privacy",
    "stated by a person",
)


def kept(schema):
    """{name: {"receipt": as written, "model": its numbers, where they are kept}} of a schema."""
    path = FOLDER / f"schema_{schema}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def numbers_of(entry):
    """Arrays of the model that an entry keeps."""
    return {
        name: np.frombuffer(bytes.fromhex(told), dtype=dtype).reshape(shape)
        for name, (dtype, shape, told) in entry["model"].items()
    }


def _logistic(**given):
    from skdp import DPLogisticRegression

    return DPLogisticRegression(data_norm=1.0, classes=[0, 1], **given)


def _searched():
    from skdp.model_selection import DPGridSearchCV

    return DPGridSearchCV(_logistic(), {"C": [0.1, 1.0]}, epsilon=2.0).fit(X, Y)


def _scored():
    from skdp.metrics import dp_score

    return dp_score(_logistic(solver="gd").fit(X, Y), X, Y, epsilon=1.0).privacy


def _warm():
    model = _logistic(solver="gd", warm_start=True).fit(X, Y)
    return model.fit(X, Y)


def made(sort):
    """A fitted model, or a receipt, of that sort."""
    from skdp import DPLinearRegression, DPRidge
    from skdp.neural_network import DPMLPClassifier
    from skdp.preprocessing import DPStandardScaler
    from skdp.privacy import Ledger

    several = np.column_stack([Y, X[:, 1]])
    how = {
        "script": lambda: _logistic(solver="gd").fit(X, Y),
        "batches": lambda: _logistic(solver="sgd").fit(X, Y),
        "filter": lambda: _logistic(solver="blgd").fit(X, Y),
        "pure": lambda: _logistic(delta=0.0).fit(X, Y),
        "several classes": lambda: (
            _logistic().set_params(classes=[0, 1, 2]).fit(X, Y + (X[:, 1] > 0))
        ),
        "several targets": lambda: DPRidge(data_norm=1.0, y_bounds=[(0.0, 1.0), (-1.0, 1.0)]).fit(
            X, several
        ),
        "network": lambda: DPMLPClassifier(
            data_norm=1.0, classes=[0, 1], hidden_layer_sizes=(3,), max_iter=2
        ).fit(X, Y),
        "persons": lambda: _logistic(max_rows_per_group=2).fit(X, Y, groups=np.arange(80) // 2),
        "warm start": _warm,
        "ledger": lambda: _logistic(ledger=Ledger(3.0, 1e-5)).fit(X, Y),
        "private count": lambda: _logistic(neighbors="add_remove").fit(X, Y),
        "transformer": lambda: DPStandardScaler().fit(X),
        "search": _searched,
        "quote": lambda: _logistic().quote(80, 2),
        "quote of a filter": lambda: _logistic(solver="blgd").quote(80, 2),
        "score": _scored,
        "seeded": lambda: _logistic(random_state=1).fit(X, Y),
        "no privacy": lambda: _logistic(epsilon=math.inf).fit(X, Y),
        "stated by a person": lambda: (
            DPLinearRegression(data_norm=1.0, y_bounds=(0.0, 1.0))
            .fit(X, Y)
            .privacy_.stating(tuning="none", releases="none", unit="visit")
        ),
    }
    return how[sort]()


def _entry(found):
    """A receipt, beside the numbers of its model that can be written as json."""
    receipt = getattr(found, "privacy_", found)
    arrays = {
        name: value
        for name, value in vars(found).items()
        if isinstance(value, np.ndarray) and name.endswith("_") and name in receipt.model
    }
    numbers = {
        name: [a.dtype.str, list(a.shape), a.tobytes().hex()]
        for name, a in arrays.items()
        if a.dtype.kind in "if"
    }
    return {"receipt": receipt.to_dict(), "model": numbers}


def _of_event(event):
    from skdp.exceptions import NotSupported
    from skdp.privacy import Receipt, choose, epsilon

    for neighbors in ("replace_one", "add_remove", "label"):
        script = ((event, 1),)
        try:
            price = epsilon(script, 1e-6, neighbors)
        except (NotSupported, ValueError):
            continue
        by = choose(script, neighbors, 1e-6)
        return Receipt(price, 1e-6, neighbors, by, script, "A release", proofs=("sums",))
    raise AssertionError(f"{event} has no price")


def missing():
    """Names that the present schema's file lacks."""
    from privacy.event_samples import SAMPLES

    from skdp.privacy._receipts._plain import SCHEMA

    names = {sort: None for sort in SORTS}
    names |= {f"event {type(event).__name__}": event for event in SAMPLES}
    return {name: event for name, event in names.items() if name not in kept(SCHEMA)}


def write():
    """Add to the present schema's file what it lacks."""
    from skdp.privacy._receipts._plain import SCHEMA

    found = kept(SCHEMA)
    for name, event in missing().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = _entry(made(name) if event is None else _of_event(event))
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(found, indent=1, allow_nan=False)
    (FOLDER / f"schema_{SCHEMA}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__" and "--write" in sys.argv:
    write()
