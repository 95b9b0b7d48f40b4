"""Whatever its settings, a search charges its ledger for the script of its receipt, once and before its first fit."""

import numpy as np
import pytest

import skdp
from skdp import DPLogisticRegression
from skdp.model_selection import DPGridSearchCV, DPRandomizedSearchCV
from skdp.model_selection._candidates import paying
from skdp.preprocessing import DPBounds
from skdp.privacy import Ledger

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (400, 2))
Y = (X[:, 0] > 0).astype(int)
RELATIONS = ("replace_one", "add_remove")
STRATEGIES = ("auto", "geometric", "pilot")
SHORT = {"mean_runs": 2, "max_runs": 3, "epsilon": 2.0}


def model(relation, **given):
    given = {"data_norm": 1.0, **given}
    return DPLogisticRegression(classes=[0, 1], solver="gd", neighbors=relation, **given)


def searches(relation):
    """One setting, which leaves nothing to choose, a few, and equal ones; of one estimator, and of two that pay."""
    for strategy in STRATEGIES:  # of which each pays in its own way
        given = {**SHORT, "strategy": strategy}
        for values in ([1.0], [0.1, 1.0], [1.0, 1.0]):
            yield DPGridSearchCV(model(relation), {"C": values}, **given)
        yield DPGridSearchCV(model(relation), {}, **given)
        yield DPRandomizedSearchCV(model(relation), {"C": [0.1, 1.0]}, n_iter=1, **given)
    scale = DPBounds(epsilon=0.2, neighbors=relation)
    two = skdp.make_pipeline(scale, model(relation, data_norm=None, epsilon=1.8))
    yield DPGridSearchCV(two, {"dplogisticregression__C": [1.0]}, **SHORT)


def complaints(search, relation):
    """What is wrong with what a search has charged."""
    for paid_by in ("its own", "a budget in scope"):
        own = paid_by == "its own"
        ledger = Ledger(9.0, 1e-5, relation)
        scope = skdp.budget(9.0, 1e-5, neighbors=relation)
        with scope as around:
            found = search.set_params(ledger=ledger if own else None).fit(X, Y)
        payer, other = (ledger, around) if own else (around, ledger)
        receipt = found.privacy_
        if payer.scripts != (receipt.script,) or len(other) != 0:
            yield f"{paid_by} ledger holds another script than the receipt"
        if (receipt.ledger or {}).get("spent_after") != payer.spent:
            yield f"the receipt does not say where {paid_by} ledger stands"
        if receipt.declared.get("settings") is None or receipt.tuning == "not known":
            yield "the receipt does not say that it is of a search"
        if any(step.privacy_ is not receipt for _, step in paying(found.best_estimator_)):
            yield "a step has a receipt of its own, which leaves out the search"


@pytest.mark.parametrize(
    ("relation", "search"),
    [(relation, search) for relation in RELATIONS for search in searches(relation)],
)
def test_a_search_charges_what_its_receipt_says(relation, search):
    assert list(complaints(search, relation)) == []


class NothingToChoose(DPGridSearchCV):
    """Fits the only setting there is, and returns."""

    def fit(self, X, y):
        (setting,) = self._settings()
        self.best_estimator_ = self._candidates([setting], False).bare(0).fit(X, y)
        self.best_params_, self.privacy_ = setting, self.best_estimator_.privacy_
        return self


class ChargesAHalf(DPGridSearchCV):
    """Tells its ledger of the model that it returns, and not of the search."""

    def _store(self, strategy, best, receipt):
        own = [step.privacy_ for _, step in paying(best.model)]
        super()._store(strategy, best, receipt)
        for (_, step), told in zip(paying(best.model), own, strict=True):
            step.privacy_ = told


@pytest.mark.parametrize("kind", [NothingToChoose, ChargesAHalf])
def test_a_search_that_forgets_to_pay_is_found(kind):
    assert list(complaints(kind(model("replace_one"), {"C": [1.0]}, **SHORT), "replace_one"))
