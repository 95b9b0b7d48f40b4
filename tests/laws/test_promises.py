"""Laws over everything public that promises privacy: neighbours stay neighbours, and attributes are answers.

What is refused of one record is refused before anything is paid for: later, a refusal would be a free answer. And coins
that prices count as secret (who is in a batch, in which order, how many runs a search made) leave with nothing.
"""

import numpy as np
import pytest
from laws.answers_held import (
    attributes_are_answers,
    coins_stay_secret,
    neighbours_stay,
    refusals_are_free,
    watched,
)
from laws.paid import all_is_paid
from laws.promises import Act, acts, promising_functions, released
from laws.records import RELATIONS, table

from skdp.utils import all_estimators

ACTS = {act.label: act for act in acts()}
FIRST = {act.name.partition(": ")[0]: act.name for act in reversed(list(ACTS.values()))}
NAMES = list(dict.fromkeys(act.name for act in ACTS.values()))
TURN = {name: RELATIONS[place % len(RELATIONS)] for place, name in enumerate(NAMES)}


FUNCTIONS = tuple(promising_functions())


def has_its_own_coins(label):
    """Whether an act is the first of its name, or one of a solver as it is, of a search, or of a step alone."""
    name, _, what = ACTS[label].name.partition(": ")
    own = (what.startswith("solver=") and ", " not in what) or "Search" in name or not what
    return own or label.startswith(FIRST[name])


def comes_in_turn(label):
    """Whether an act always runs: what is tried of all estimators alike is tried of each under one relation in turn."""
    act = ACTS[label]
    other = next(relation for relation in RELATIONS if relation != act.relation)
    alone = Act(act.name, other, act.run).label not in ACTS
    return alone or has_its_own_coins(label) or TURN[act.name] == act.relation


EACH = [
    pytest.param(label, marks=() if comes_in_turn(label) else pytest.mark.slow) for label in ACTS
]
# Coins go by no relation, and acts of other values are many fits each.
TOSSED = [
    pytest.param(
        label,
        marks=()
        if has_its_own_coins(label)
        and ACTS[label].relation == "replace_one"
        and ": other " not in label
        else pytest.mark.slow,
    )
    for label in ACTS
]
# Sums of prices go by how an act is put together: by its steps, stages and folds, not by values.
COUNTED = [
    pytest.param(
        label,
        marks=()
        if has_its_own_coins(label) or ACTS[label].name.startswith(FUNCTIONS)
        else pytest.mark.slow,
    )
    for label in ACTS
]


@pytest.mark.parametrize("label", EACH)
def test_neighbours_stay_neighbours(label):
    assert list(neighbours_stay(ACTS[label])) == []


@pytest.mark.parametrize("label", EACH)
def test_what_leaves_is_a_function_of_answers(label):
    assert list(attributes_are_answers(ACTS[label])) == []


@pytest.mark.parametrize("label", EACH)
def test_a_refusal_comes_before_any_question(label):
    assert list(refusals_are_free(ACTS[label])) == []


@pytest.mark.parametrize("label", TOSSED)
def test_coins_stay_secret(label):
    assert list(coins_stay_secret(ACTS[label])) == []


@pytest.mark.parametrize("label", COUNTED)
def test_all_that_is_asked_of_a_record_is_paid_and_told(label):
    assert list(all_is_paid(ACTS[label])) == []


def test_every_promise_is_run_and_not_refused():
    """A law that is met with refusals alone says nothing: one act at least keeps each promise, in each relation."""
    ran = {relation: set() for relation in RELATIONS}
    for act in ACTS.values():
        name = act.name.split(":")[0]
        if name not in ran[act.relation] and watched(act, table(0, act.size)).left["error"] is None:
            ran[act.relation].add(name)
    promised = {name for name, _ in all_estimators()} | set(promising_functions())
    assert promised - ran["replace_one"] == set()
    pays = {name for name, kind in all_estimators() if hasattr(kind, "quote")}
    assert (pays | set(promising_functions())) - ran["add_remove"] == set()


@pytest.mark.parametrize("label", [label for label in ACTS if label.startswith("python -m")])
def test_every_command_is_run_and_not_refused(label):
    seen = watched(ACTS[label], table(0, ACTS[label].size))
    assert seen.result == 0 and seen.questions


def test_a_private_number_of_records_is_bought_somewhere():
    """Acts that all declare a rough count would never ask for one."""
    act = ACTS["DPLogisticRegression: solver=gd, n bought | add_remove"]
    assert "Count" in [name for name, *_ in watched(act, table(0, act.size)).questions]


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_is_bought_lies_inside_its_ends(relation):
    """Else a replay does not see what decides it: a norm at its end is the same whatever the records."""
    left = _fit_of("DPLogisticRegression: data_norm=None", relation)
    assert 0.0 < left["data_norm_"] < 0.99 * np.sqrt(len(left["bounds_"]))
    assert (left["bounds_"][:, 0] < left["bounds_"][:, 1]).all()
    weights = _fit_of("DPLogisticRegression: class_weight=balanced", relation)["class_weight_"]
    assert len(set(np.asarray(weights).tolist())) > 1
    low, high = _fit_of("DPRidge: data_norm=None, y_bounds=None", relation)["y_bounds_"][0]
    assert -16.0 < low < high < 16.0


def _fit_of(name, relation):
    return watched(ACTS[Act(name, relation, released).label], table(0)).result
