"""The arithmetic of units of several rows: forty digits, laws, and what it costs over one row."""

import math
from dataclasses import replace
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

from skdp.privacy import _objective as branch_module
from skdp.privacy import accountants
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy._objective import (
    AveragedBranches,
    Branches,
    least_tangent,
    log_jacobian,
    objective_delta,
    objective_rdp,
    pure_objective_epsilon,
)
from skdp.privacy.events import ObjectivePerturbation, PureObjectivePerturbation

RELATIONS = ["add_remove", "replace_one"]
RULES = ["logistic", "one_signed", "two_signed", "two_signed_anywhere", "multinomial"]
mp.mp.dps = 40


def psi(tau, e, m):
    """exp(-tau) E (X - a)_+ in forty digits."""
    a = e + tau + 1 - mp.e**tau
    if m == 0:
        return mp.e**-tau * max(-a, mp.mpf(0))
    z = (a - m * m / 2) / m
    return mp.e**-tau * m * (mp.npdf(z) - z * mp.erfc(z / mp.sqrt(2)) / 2)


def least(branches, epsilon):
    """Smallest sum over branches (count, shift, offset), by golden sections over tau."""

    def total(tau):
        return sum(n * psi(tau, mp.mpf(epsilon) - o, mp.mpf(m)) for n, m, o in branches)

    low, high, golden = mp.mpf(0), mp.mpf(30), (mp.sqrt(5) - 1) / 2
    for _ in range(90):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if total(left) < total(right) else (left, high)
    return min(total((low + high) / 2), total(mp.mpf(0)))


def priced(branches, epsilon):
    counts, shifts, offsets = np.array(branches, float).T
    return float(least_tangent(np.asarray(float(epsilon)), counts, shifts[None, :], offsets))


@pytest.mark.parametrize("seed", range(25))
def test_the_best_tangent_in_forty_digits(seed):
    rng = np.random.default_rng(seed)
    branches = [
        (
            float(rng.integers(1, 4)),
            float(10 ** rng.uniform(-3, 0.7)) * (rng.random() < 0.8),
            float(rng.uniform(0, 0.4)),
        )
        for _ in range(rng.integers(1, 5))
    ]
    largest = max(m for _, m, _ in branches) + 1e-3
    epsilon = float(rng.uniform(-1, 25) * largest)
    truth = least(branches, epsilon)
    if truth > 1e-290:
        found = priced(branches, epsilon)
        assert truth * (1 - mp.mpf(10) ** -15) <= found
        assert found <= truth * (1 + mp.mpf(10) ** (-11 if truth < 0.9 else -3))


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_table_of_the_page_in_forty_digits(neighbors):
    r, beta, epsilon, k, columns = 0.3, 0.04, 1.1, 10, 4
    event = ObjectivePerturbation(r, beta, rows=k, width=columns, classes=3)
    jac = columns * math.log1p(beta / columns)
    classes = 2 * columns * math.log1p(2 * beta / 3 / columns)
    a = 4 * beta
    table = {
        "one_signed": {
            "add_remove": [(1, r, jac), (1, 0, jac)],
            "replace_one": [(1, 2 * r, jac), (2, r, jac), (1, 0, jac)],
        },
        "multinomial": {
            "add_remove": [(2, r, classes), (1, 0, classes)],
            "replace_one": [(4, 2 * r, classes), (4, r, classes), (1, 0, classes)],
        },
        "two_signed": {
            "add_remove": [(2, r, jac)],
            "replace_one": [(2, 2 * r, jac), (2, 2 * r * math.sin(math.pi / 256), jac)],
        },
        "two_signed_anywhere": {
            "add_remove": [(2, r, jac)],
            "replace_one": [(2, 2 * r, jac), (2, math.sqrt(2) * r, jac)],
        },
    }
    for rule, rows in table.items():
        found = objective_delta(replace(event, rule=rule), epsilon, neighbors)
        assert found == pytest.approx(float(least(rows[neighbors], epsilon)), rel=1e-11)
    joint = {
        "add_remove": [(1, r, 0), (1, 0, a)],
        "replace_one": [(1, 2 * r, 0), (1, r, 0), (1, r, a), (1, 0, a)],
    }[neighbors]
    found = objective_delta(replace(event, rule="logistic"), epsilon, neighbors)
    both = least(joint, epsilon), least(table["one_signed"][neighbors], epsilon)
    assert found == pytest.approx(float(min(both)), rel=1e-11)


# Laws.


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_one_row_never_meets_a_tangent(rule, neighbors, monkeypatch):
    """Its price is that of one record, as it was."""
    monkeypatch.setattr(branch_module, "least_tangent", None)
    event = ObjectivePerturbation(0.2, 0.05, rule, 3, 0.01, rows=1, width=7, equal_weights=True)
    before = {
        ("logistic", "add_remove"): 1.8165291986517235e-08,
        ("logistic", "replace_one"): 0.0013056324090398124,
        ("one_signed", "add_remove"): 6.357698291988133e-08,
        ("one_signed", "replace_one"): 0.0018446335061776905,
        ("two_signed", "add_remove"): 1.2715396583976266e-07,
        ("two_signed", "replace_one"): 0.0036890127044237014,
        ("two_signed_anywhere", "add_remove"): 1.2715396583976266e-07,
        ("two_signed_anywhere", "replace_one"): 0.0037800113950954466,
        ("multinomial", "add_remove"): 1.931822431382599e-07,
        ("multinomial", "replace_one"): 0.008290559028904724,
    }[rule, neighbors]
    assert objective_delta(event, 1.0, neighbors) == pytest.approx(before, rel=1e-12)
    with pytest.raises(TypeError):
        objective_delta(replace(event, rows=2), 1.0, neighbors)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_price_is_monotone_in_everything(rule, neighbors):
    eps = np.array([-1, 0, 1e-3, 0.05, 0.5, 1, 3, 10, 100.0])
    event = ObjectivePerturbation(0.2, 0.05, rule, 3, 0.01, rows=3)

    def profile(extra=0.0, **changed):
        return objective_delta(replace(event, **changed), eps, neighbors, extra)

    base = profile()
    assert np.isfinite(base).all() and (np.diff(base) <= 0).all() and base[0] <= 1
    slack = 1 + 1e-12
    larger = (dict(shift=0.21), dict(jacobian=0.06), dict(output=0.1), dict(extra=0.1))
    for worse in (profile(**change) for change in larger):
        assert (worse * slack >= base).all() and (worse > base).any()
    grown = [profile(rows=k) for k in (1, 2, 3, 10, 1000)]
    assert all((b * slack >= a).all() for a, b in pairwise(grown))
    assert (profile(width=1) <= profile(width=2) * slack).all()
    assert (profile(rows=1000, width=2) == profile(rows=2)).all()
    assert (profile(equal_weights=True) <= base).all()


@pytest.mark.parametrize("rule", RULES)
def test_an_array_is_priced_as_its_numbers_are(rule):
    event = ObjectivePerturbation(0.2, 0.05, rule, 3, rows=5)
    eps = np.linspace(-0.5, 4, 12).reshape(3, 4)
    together = objective_delta(event, eps, "replace_one")
    alone = [[objective_delta(event, e, "replace_one") for e in row] for row in eps]
    assert together == pytest.approx(np.array(alone), rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_renyi_branches_are_those_of_one_row(rule, neighbors):
    orders = np.array([1.01, 2.0, 16.0, 300.0])
    one = ObjectivePerturbation(0.2, 0.05, rule, 3, 0.01)
    assert (
        objective_rdp(replace(one, rows=9, width=1), orders, neighbors)
        == objective_rdp(one, orders, neighbors)
    ).all()


@pytest.mark.parametrize("rank", [1, 2, 7])
def test_no_unit_exceeds_the_jacobian_and_equal_orthogonal_rows_attain_it(rank):
    rng = np.random.default_rng(rank)
    event = ObjectivePerturbation(0.1, 3.0, rows=7, width=rank)
    claimed = log_jacobian(event)
    for _ in range(200):
        rows = rng.standard_normal((7, rank))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        hessian = (rows.T * (3.0 * rng.dirichlet(np.full(7, 0.5)))) @ rows
        assert np.linalg.slogdet(np.eye(rank) + hessian)[1] <= claimed * (1 + 1e-12)
    even = np.eye(rank) * (1 + 3.0 / rank)
    assert np.linalg.slogdet(even)[1] == pytest.approx(claimed)


def test_no_unit_exceeds_the_jacobian_of_several_classes():
    rng, worst = np.random.default_rng(5), 0.0
    event = ObjectivePerturbation(0.1, 2.0, "multinomial", 3, rows=4, width=2)
    for trial in range(400):
        rows = rng.standard_normal((4, 2))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        chance = rng.dirichlet(np.full(3, 0.5 if trial % 2 else 50.0), 4)
        hessian = sum(
            np.kron(np.outer(x, x), np.diag(p) - np.outer(p, p)) * 4.0 / 4
            for x, p in zip(rows, chance)
        )
        worst = max(worst, np.linalg.slogdet(np.eye(6) + hessian)[1])
    assert 0.95 * log_jacobian(event) < worst <= log_jacobian(event)


@pytest.mark.parametrize("rank", [1, 3, 10])
@pytest.mark.parametrize("r, a", [(0.3, 0.2), (0.3, 2.0), (1.0, 50.0), (0.01, 0.02)])
def test_pure_logistic_epsilon_is_the_largest_over_slopes(rank, r, a):
    event = PureObjectivePerturbation(r, a / 4, "logistic", rows=rank)
    t = np.linspace(0, 1, 200_001)
    largest = (rank * np.log1p(a * t * (1 - t) / rank) + r * t).max()
    found = pure_objective_epsilon(event, "add_remove")
    assert largest <= found * (1 + 1e-15) and found == pytest.approx(largest, rel=1e-8)
    assert a > r or found == r


def test_rounds_of_units_cover_pairs_of_another_angle_in_each_round():
    """Two angles in two rounds can cost more than either of them twice."""
    angles = AveragedBranches(
        np.array([2.0, 2.0]), np.array([[2, 0], [math.sqrt(2), math.sqrt(2)]]), np.zeros(2)
    )
    same = Branches(angles.counts, angles.shifts, angles.offsets).repeated(2)
    mixed = [(4, math.sqrt(m * m + 2), 0.0) for m in (2, 2, 0, 0)]
    epsilon = np.asarray(1.5)
    either = max(
        priced([(n, m, 0.0) for n, m in zip(same.counts, row)], 1.5) for row in same.shifts
    )
    assert either < priced(mixed, 1.5) <= angles.repeated(2).delta(epsilon, 0.0)


def test_rounds_add_up_and_gaussians_stand_in_the_square_roots():
    event = ObjectivePerturbation(0.3, 0.0, rows=20)
    twice = objective_delta(event.repeated(2), 1.0, "add_remove", 0.4)
    ways = [(1, math.sqrt(2 * 0.09 + 0.16), 0), (2, 0.5, 0), (1, 0.4, 0)]
    assert twice == pytest.approx(float(least(ways, 1.0)), rel=1e-11)


def test_accountants_price_units():
    one = ObjectivePerturbation(0.1, 0.01, "one_signed")
    person = replace(one, rows=25)
    script = ((person, 1),)
    for neighbors in RELATIONS:
        price = accountants.epsilon(script, 1e-6, neighbors)
        assert price > accountants.epsilon(((one, 1),), 1e-6, neighbors)
        assert objective_delta(person, price, neighbors) <= 1e-6
        assert accountants.epsilon(((person, 3),), 1e-6, neighbors) > price


def test_without_noise_nothing_is_promised_and_without_a_gradient_nothing_is_paid():
    none = ObjectivePerturbation(math.inf, 0.1, "one_signed", rows=4, equal_weights=True)
    free = ObjectivePerturbation(0.0, 0.0, "two_signed", rows=4)
    for neighbors in RELATIONS:
        assert objective_delta(none, 5.0, neighbors) == 1.0
        assert objective_delta(none.repeated(2), 5.0, neighbors) == 1.0
        assert objective_delta(free, 0.0, neighbors) == pytest.approx(0.0, abs=1e-140)
        unbound = ObjectivePerturbation(0.1, math.inf, "one_signed", rows=4)
        assert objective_delta(unbound, 5.0, neighbors) == 1.0


def test_labels_alone_cost_one_gaussian_whatever_the_rows():
    event = ObjectivePerturbation(0.25, math.inf, "label_dp", rows=30)
    assert objective_delta(event, 1.0, "label") == pytest.approx(gaussian_delta(1, 0.25))


@pytest.mark.parametrize(
    "field, value",
    [("rows", 0), ("rows", 2.0), ("rows", True), ("rows", None), ("width", 0), ("width", 1.5)],
)
def test_impossible_units_are_refused(field, value):
    with pytest.raises(
        ValueError, match=f"{field}={value!r}; it must be a whole number, 1 or more"
    ):
        ObjectivePerturbation(0.1, 0.1, **{field: value})
