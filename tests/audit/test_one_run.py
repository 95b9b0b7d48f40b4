"""The audit from one fit: its bound against the exact worst case, its mistakes counted, its catches shown."""

from dataclasses import replace

import numpy as np
import pytest
from audit.one_run_fits import largest_tail, run_with
from scipy.stats import binom

from skdp import DPLinearSVC, DPLogisticRegression
from skdp.audit import Canaries, OneRun, audit_one_run, likeliest, linear_canaries, released_by
from skdp.audit._one_run import claim, gaussian_profile
from skdp.solvers import GD, SGD

CLAIMS = [(0.5, 0.0), (1.0, 0.05), (2.0, 0.01), (0.1, 0.2)]
SIZES = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
EXACT = [(m, r, c) for m, r in SIZES for c in range(1, r + 1)]


@pytest.mark.parametrize("epsilon, delta", CLAIMS)
def test_bound_is_the_worst_case_over_all_mechanisms_and_guessers(epsilon, delta):
    for m, r, c in EXACT:
        truth = largest_tail(c, r, m, [(epsilon, delta)])
        bound = likeliest(c, r, m, [epsilon], [delta])
        assert truth - 1e-8 <= bound <= truth + 1e-3 * delta + 1e-7, (m, r, c)


def test_a_delta_for_each_guess_instead_of_each_canary_is_found_out():
    # The surest guess of three may stand wherever the failure of probability delta has struck.
    assert likeliest(1, 1, 1, [0.1], [0.2]) + 0.1 < largest_tail(1, 1, 3, [(0.1, 0.2)])


def test_bound_for_a_profile_is_never_below_the_worst_case():
    profile = [(0.0, 0.2), (0.5, 0.12), (1.5, 0.02)]
    for m, r, c in EXACT:
        bound = likeliest(c, r, m, *zip(*profile))
        assert largest_tail(c, r, m, profile) <= bound + 1e-8, (m, r, c)
    # Each point alone says less.
    alone = [likeliest(20, 20, 20, [e], [d]) for e, d in profile]
    assert likeliest(20, 20, 20, *zip(*profile)) < 0.7 * min(alone)


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("guesses", [100, 20, 5])
def test_gaussian_tails_lie_below_the_bound(mu, guesses):
    rng, m, runs = np.random.default_rng(0), 100, 4000
    signs = rng.choice([-1.0, 1.0], (runs, m))
    seen = 0.5 * mu * signs + rng.normal(size=(runs, m))
    surest = np.argsort(-np.abs(seen), axis=1)[:, :guesses]
    right = (np.take_along_axis(signs * seen, surest, 1) > 0).sum(axis=1)
    epsilons = np.linspace(0.0, mu * mu / 2 + 5 * mu, 40)
    for correct in range(int(np.median(right)), guesses + 1):
        happened = (right >= correct).sum()
        bound = likeliest(correct, guesses, m, epsilons, gaussian_profile(epsilons, mu))
        # At most as often as the bound says, but for one chance in ten million.
        assert happened <= binom.isf(1e-7, runs, min(bound, 1.0)), correct


def response(epsilon, seed):
    """Randomised response of each label: exactly epsilon-private under replacement, and the worst case for guesses."""
    rng = np.random.default_rng(seed)

    def run(data):
        X, y = data
        true = rng.random(len(y)) < 1.0 / (1.0 + np.exp(-epsilon))
        return X.T @ np.where(true, 2.0 * y - 1.0, 1.0 - 2.0 * y)

    return run


def refuted(claim, epsilon, runs=400, **given):
    """Share of runs of randomised response at epsilon that refute the claim."""
    found = [
        audit_one_run(response(epsilon, 10**6 + k), linear_canaries(100, seed=k), 0.0, 0.9, **given)
        for k in range(runs)
    ]
    return np.mean([one.refutes(claim) for one in found])


def test_true_claims_are_refuted_as_rarely_as_stated_and_false_ones_often():
    wrongly = refuted(1.0, 1.0, guesses=100)
    # No more than one in ten, and not idly: the bound is exact here, so nearly that many.
    assert 0.02 < wrongly <= binom.isf(1e-6, 400, 0.1) / 400
    assert refuted(1.0, 1.0, runs=150) <= binom.isf(1e-6, 150, 0.1) / 150
    assert refuted(1.0, 2.0, runs=50, guesses=100) > 0.9


def wrong_by_chance(kind, epsilon, confidence, guesses):
    """Exact probability that a true claim is refuted: of coins that randomised response has turned.

    Which ones are the surest then says nothing, so each further guess is right by a coin of its own.
    """
    m, chance, alive, seen = guesses[0], 1.0 / (1.0 + np.exp(-epsilon)), np.ones(1), 0
    rest = tuple((r, 0) for r in guesses)
    for k in reversed(range(len(guesses))):
        more = guesses[k] - seen
        alive = np.convolve(alive, binom.pmf(np.arange(more + 1), more, chance))
        for right in range(len(alive)):
            tallies = (*rest[:k], (guesses[k], right), *rest[k + 1 :])
            found = kind(0.0, 0.0, confidence, "replace_one", m, tallies, "any")
            if found._refuted(*claim(epsilon, 0.0, "any")):
                alive[right] = 0.0
        seen = guesses[k]
    return 1.0 - alive.sum()


class NotShared(OneRun):
    """Holds each tally against the whole of what the confidence leaves."""

    def _refuted(self, epsilons, deltas):
        alone = [replace(self, tallies=(one,)) for one in self.tallies]
        return any(OneRun._refuted(one, epsilons, deltas) for one in alone)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_several_numbers_of_guesses_share_the_confidence(epsilon, confidence):
    guesses, allowed = (200, 100, 25, 6), 1.0 - confidence
    assert 0.2 * allowed < wrong_by_chance(OneRun, epsilon, confidence, guesses) <= allowed
    assert wrong_by_chance(NotShared, epsilon, confidence, guesses) > 1.2 * allowed
    one = wrong_by_chance(OneRun, epsilon, confidence, guesses[:1])
    assert one == wrong_by_chance(NotShared, epsilon, confidence, guesses[:1]) <= allowed


class Peeking(Canaries):
    """A judge that looks at the coins when it chooses whom to guess."""

    def scores(self, coefficients):
        seen = super().scores(coefficients)
        return np.where((seen > 0) == self.coins, 2.0 * seen, 0.1 * seen)


def test_guesses_that_look_at_the_coins_are_found_out():
    wrong = 0
    for k in range(30):
        fair = linear_canaries(100, seed=k)
        peeking = Peeking(fair.data, fair.rows, fair.coins, fair.neighbors)
        wrong += audit_one_run(response(1.0, 10**6 + k), peeking, 0.0, 0.9, guesses=20).refutes(1.0)
    assert wrong > 15


FEW = {"clip": 0.1, "step_size": 0.01}
FITS = {
    "gd": (DPLogisticRegression, GD(steps=1, momentum=0.0, **FEW), None, 1000),
    "sgd": (DPLogisticRegression, SGD(steps=2, rate=0.9, averaging=False, **FEW), None, 1000),
    "output-perturbation": (DPLinearSVC, "output-perturbation", "l2", 300),
    "objective-perturbation": (DPLinearSVC, "objective-perturbation", "l2", 300),
}


def _model(name, epsilon, relation):
    kind, solver, penalty, m = FITS[name]
    n_public = m // 2 if relation == "add_remove" else None
    declared = {"data_norm": 1.0, "classes": [0, 1], "neighbors": relation, "n_public": n_public}
    given = {"solver": solver, "fit_intercept": False, "penalty": penalty}
    return kind(epsilon=epsilon, delta=1e-5, **declared, **given), linear_canaries(
        m, neighbors=relation, seed=3
    )


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", FITS)
def test_honest_fits_stand_and_sabotaged_ones_fall(name, relation):
    model, canaries = _model(name, 1.0, relation)
    honest = audit_one_run(run_with(model, 1.0), canaries, 1e-5, 0.999)
    receipt = model.quote(*canaries.data[0].shape)
    assert not honest.refutes(1.0) and not honest.refutes_receipt(receipt)
    silent = audit_one_run(run_with(model, 0.0), canaries, 1e-5, 0.999)
    assert silent.refutes(1.0) and silent.refutes_receipt(receipt)
    if FITS[name][3] == 1000:
        quarter = audit_one_run(run_with(model, 0.25), canaries, 1e-5, 0.999)
        assert quarter.refutes_receipt(receipt)


def test_what_one_run_can_reach_at_most():
    # All of m guesses right: epsilon is refuted where (1 + exp(-epsilon))^-m is below 1 - confidence.
    canaries = linear_canaries(500, seed=0)
    found = audit_one_run(lambda data: 2.0 * data[1] - 1.0, canaries, 0.0, 0.95, guesses=500)
    assert found.tallies == ((500, 500),)
    assert found.epsilon == pytest.approx(-np.log(np.expm1(-np.log(0.05) / 500)), abs=2e-3)
    wider = audit_one_run(lambda data: 2.0 * data[1] - 1.0, canaries, 1e-5, 0.95, curve="gaussian")
    assert found.epsilon + 1.0 < wider.epsilon < 16.0


def test_an_estimator_beside_other_records_as_a_user_would():
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 0.5, (400, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    given = {"beside": (X, y), "classes": ("no", "yes"), "seed": 1}
    for directions in ("own", "random"):
        canaries = linear_canaries(300, directions=directions, **given)
        table, labels = canaries.data
        assert table.shape == (700, 303 if directions == "own" else 3) and len(labels) == 700
        assert np.linalg.norm(canaries.rows, axis=1) == pytest.approx(1.0)
        model = DPLogisticRegression(
            epsilon=1.0, delta=1e-5, data_norm=1.0, classes=["no", "yes"], solver=GD(steps=2)
        )
        assert not audit_one_run(released_by(model), canaries, 1e-5, 0.999).refutes(1.0)


def test_turning_a_coin_gives_a_neighbour():
    labels = linear_canaries(50, data_norm=3.0, seed=0)
    assert len(labels.data[0]) == 50 and np.array_equal(labels.data[1] == 1, labels.coins)
    there = linear_canaries(50, data_norm=3.0, neighbors="add_remove", seed=0)
    assert np.array_equal(there.data[0], there.rows[there.coins]) and (there.data[1] == 1).all()


@pytest.mark.parametrize(
    "given", [{"delta": 1.0}, {"confidence": 1.0}, {"guesses": 9}, {"curve": "laplace"}]
)
def test_wrong_arguments_are_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        audit_one_run(response(1.0, 0), linear_canaries(8, seed=0), **{"delta": 0.1, **given})


@pytest.mark.parametrize("given", [{"neighbors": "next"}, {"directions": "random"}])
def test_wrong_canaries_are_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        linear_canaries(8, **given)


def test_a_receipt_of_the_other_relation_is_refused():
    found = audit_one_run(response(1.0, 0), linear_canaries(8, seed=0), 0.1)
    model, _ = _model("gd", 1.0, "add_remove")
    with pytest.raises(ValueError, match="add_remove"):
        found.refutes_receipt(model.quote(10, 3))
