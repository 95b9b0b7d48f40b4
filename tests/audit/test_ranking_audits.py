"""Attacks on rankers, by lists and by persons, with lines and networks: none refutes a claim, and twins are caught."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from audit.solver_audits import DELTA, EPSILON, HalfTheNoise
from laws.vaults import RELATIONS

from skdp.audit import audit
from skdp.entry import Given
from skdp.fitting import prepare
from skdp.fitting.stages import Known
from skdp.mechanisms import ListTargets, Noise, Oracle, Records
from skdp.ranking import DPRanker
from skdp.solvers import GD, SGD

# Two opposite documents, of which the one or the other is better, beside lists with nothing to say.
GOOD, BAD = np.array([1, 0]), np.array([0, 1])
PAIR, SILENT = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros((2, 2))
STEP = {"clip": 0.1, "step_size": 0.01}
ONE = GD(steps=1, momentum=0.0, **STEP)
SOME = SGD(steps=2, rate=0.9, averaging=False, **STEP)
NET = {"hidden_layer_sizes": (2,), "activation": "identity"}
CASES = {
    "labels": {"privacy_unit": "list_labels", "loss": "bayesrank", "solver": ONE},
    "labels, network": {"privacy_unit": "list_labels", "loss": "bayesrank", "solver": SOME, **NET},
    "lists": {"privacy_unit": "list", "solver": ONE},
    "batches": {"privacy_unit": "list", "solver": SOME},
    "network": {"privacy_unit": "list", "solver": SOME, **NET},
    "persons": {"privacy_unit": "user", "max_lists_per_user": 3, "solver": ONE},
    "persons, network": {"privacy_unit": "user", "max_lists_per_user": 3, "solver": SOME, **NET},
}
ASKED = [
    (name, relation)
    for name, given in CASES.items()
    for relation in RELATIONS
    if relation == "replace_one" or given["privacy_unit"] != "list_labels"
]
CAUGHT = [case for case in ASKED if "batches" not in case and "persons, network" not in case]


def worlds(unit, relation):
    """Two tables that differ in one list, or in a person with one list here and five there."""
    lists = 5 if unit == "user" else 1
    first = [(SILENT, GOOD, 0), (SILENT, GOOD, 1), (PAIR, GOOD, 2)]
    other = [*first[:2], *([(PAIR, BAD, 2)] * lists if relation == "replace_one" else [])]
    for part in (first, other):
        X, y = (np.concatenate([one[i] for one in part]) for i in (0, 1))
        qid = np.repeat(np.arange(len(part)), 2)
        who = {"groups": np.array([one[2] for one in part])[qid]} if unit == "user" else {}
        yield X, y, qid, who


def vaults(name, relation):
    """The plan of a ranker and the vaults of both tables; and a fit's own way to the first of them."""
    given = CASES.get(name, {"privacy_unit": "list_labels", "solver": name})
    model = DPRanker(
        epsilon=EPSILON, delta=DELTA, data_norm=1.0, neighbors=relation, n_public=3, **given
    )
    found = []
    for X, y, qid, who in worlds(given["privacy_unit"], relation):
        model._check_parameters()
        table, facts = Given(X, y, qid=qid, **who).close(model, model._reader())
        plan = model._complete(model._plan(facts.n, 2, {}), facts)
        found.append((plan, table.vault(plan.view(Known()))))
    return found[0][0], [records for _, records in found]


def evidence(name, relation, runs, noise=Noise, twin=None):
    """What an attack finds; every run has a seed of its own."""
    plan, pair = vaults(name, relation)
    if twin is not None:
        pair = [twin(records) for records in pair]
    priced, seeds = prepare(plan), count()

    def run(records):
        account = type(priced.account)(plan.spec, priced.account.script, plan.accountant)
        oracle = Oracle(records, account, noise(next(seeds)))
        return plan.solver.solve(oracle, plan.task, priced.budget)

    return audit(run, tuple(pair), DELTA, runs)


@pytest.mark.parametrize(("name", "relation"), ASKED)
def test_no_attack_refutes_the_claim(name, relation):
    found = evidence(name, relation, 120)
    assert not found.refutes(EPSILON), f"claimed {EPSILON}, found {found}"


@pytest.mark.parametrize(("name", "relation"), CAUGHT)
def test_half_of_the_noise_is_caught(name, relation):
    assert evidence(name, relation, 1000, noise=HalfTheNoise).refutes(EPSILON)


def whole_weights(records):
    """A person's lists count in full each, as if he were five."""
    units = replace(records.units, weights=np.ones_like(records.units.weights))
    return Records(records.rows, records.y, records.public, units=units)


def test_lists_of_a_person_that_are_added_are_caught():
    assert evidence("persons", "replace_one", 1000, twin=whole_weights).refutes(EPSILON)


@pytest.mark.parametrize(("noise", "caught"), [(Noise, False), (HalfTheNoise, True)])
def test_the_one_answer_of_the_one_shot_solver_under_attack(noise, caught):
    """Minimising after every answer would take long: the answer itself is attacked, at the noise that is paid for."""
    plan, pair = vaults("one-shot", "replace_one")
    question, seeds = ListTargets(multiplier=prepare(plan).budget.noise), count()
    found = audit(
        lambda vault: question.answer(vault, noise(next(seeds))), tuple(pair), DELTA, 1500
    )
    assert found.refutes(EPSILON) is caught


def test_a_ranker_is_audited_as_it_is_fitted():
    """What is attacked above is what a fit does: same plan, same answers."""
    ((X, y, qid, who), _) = worlds("user", "replace_one")
    model = DPRanker(
        epsilon=EPSILON, delta=DELTA, data_norm=1.0, random_state=5, **CASES["persons"]
    )
    fit = model.fit(X, y, qid=qid, **who)
    plan, (records, _) = vaults("persons", "replace_one")
    priced = prepare(plan)
    account = type(priced.account)(plan.spec, priced.account.script, plan.accountant)
    w = plan.solver.solve(Oracle(records, account, Noise(5)), plan.task, priced.budget)
    assert fit.privacy_.script == priced.account.script
    np.testing.assert_allclose(fit.coef_, w)
