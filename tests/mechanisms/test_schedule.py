"""Sensitivities of hidden descents: pins, brute force runs, and the papers' wrong ones."""

from fractions import Fraction

import numpy as np
import pytest

from skdp.mechanisms._schedule import Schedule, distances, minimiser_distance, reached

CURVATURE = 0.25


@pytest.mark.parametrize("epochs, pin", [(1, 0.014815), (10, 0.107361), (100, 0.199909)])
def test_gradient_descent_pins(epochs, pin):
    schedule = Schedule.constant(7.407407, epochs, (1000,))
    assert distances(schedule, 1.0, CURVATURE, 0.01) == pytest.approx(pin, abs=5e-7)


def test_gradient_descent_limit_is_the_distance_of_minimisers():
    schedule = Schedule.constant(7.407407, 5000, (1000,))
    limit = minimiser_distance(1.0, 0.01 * 1000, 0.0, 2.0)
    assert distances(schedule, 1.0, CURVATURE, 0.01)[0] == pytest.approx(limit, rel=1e-9)
    assert limit == pytest.approx(0.2)


def test_convex_gradient_descent_is_linear_in_the_steps():
    """2 L T eta / n for eta <= 2/beta: 1.000 where the paper's recursion says 1.122."""
    assert distances(Schedule.constant(0.5, 10, (10,)), 1.0, 4.0, 0.0)[0] == pytest.approx(1.0)


def test_psgd_pins():
    sizes = (50,) * 20
    convex = distances(Schedule.constant(0.5, 10, sizes), 1.0, 0.25, 0.0)
    assert convex == pytest.approx(np.full(20, 0.2))
    strong = distances(Schedule.inverse(0.26, 0.01, 10, sizes), 1.0, 0.25, 0.01)
    assert strong.max() == pytest.approx(0.195806, abs=5e-7)
    assert strong.min() == pytest.approx(0.183941, abs=5e-7)


def test_unequal_batches_are_priced_by_their_own_size():
    """n = 1000, b = 300: the closed form 2L/(mu n) = .2 forgets the last batch of 100."""
    schedule = Schedule.inverse(0.26, 0.01, 10, (300, 300, 300, 100))
    assert distances(schedule, 1.0, 0.25, 0.01).max() == pytest.approx(0.394, abs=5e-3)


def test_rsgd_ar_pin():
    sizes = tuple(len(part) for part in np.array_split(np.arange(48842), 12))
    near = Schedule.harmonic(1.0, 20, (4000,) * 12, 10)
    found = distances(near, 1.0, 0.25, 1e-3)
    assert found.min() == pytest.approx(0.00190834637, rel=1e-8)
    assert found.mean() == pytest.approx(0.0020339097, rel=1e-8)
    assert found.max() == pytest.approx(0.00215925872, rel=1e-8)
    assert distances(Schedule.harmonic(1.0, 20, sizes, 10), 1.0, 0.25, 1e-3).max() < found.max()


def test_a_restart_that_the_accountant_forgets_is_too_small():
    """The optimiser restarts its step (eta0/h); pricing eta0/s instead under-noises 1.56-fold."""
    restarted = Schedule.harmonic(7.9, 20, (4000,) * 12, 10)
    forgotten = Schedule(
        np.repeat(7.9 / np.arange(1, 21)[:, None], 12, axis=1), restarted.sizes, restarted.period
    )
    ratio = (
        distances(restarted, 1.0, 0.25, 1e-3).max() / distances(forgotten, 1.0, 0.25, 1e-3).max()
    )
    assert ratio == pytest.approx(1.56, abs=0.02)


def _run(schedule, X, y, convexity):
    """The descent itself, on ridge-logistic regression, with the same averaging."""
    starts = np.concatenate([[0], np.cumsum(schedule.sizes)])
    w, window = np.zeros(X.shape[1]), []
    for steps, averaged in schedule.passes():
        for j, eta in enumerate(steps):
            part = slice(starts[j], starts[j + 1])
            slopes = -y[part] / (1 + np.exp(y[part] * (X[part] @ w)))
            w = w - eta * (X[part].T @ slopes / schedule.sizes[j] + convexity * w)
            window.append(w)
        if averaged:
            w, window = np.mean(window, axis=0), []
    return w


SCHEDULES = {
    "constant": Schedule.constant(2.0, 8, (5, 5, 5)),
    "harmonic, unequal": Schedule.harmonic(6.0, 8, (7, 5, 3), None),
    "averaged": Schedule.harmonic(6.0, 8, (7, 5, 3), 4),
    "inverse": Schedule.inverse(0.35, 0.1, 8, (5, 5, 5)),
    "too long a step": Schedule.constant(9.0, 4, (5, 5, 5)),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("convexity", [0.0, 0.1])
def test_neighbouring_runs_stay_within_the_bound(name, convexity):
    schedule, rng = SCHEDULES[name], np.random.default_rng(1)
    bound = distances(schedule, 1.0, CURVATURE, convexity)
    for _ in range(60):
        X = rng.standard_normal((15, 2))
        X /= np.linalg.norm(X, axis=1)[:, None]
        y = rng.choice([-1.0, 1.0], 15)
        at = rng.integers(15)
        other = X.copy()
        other[at] = -X[at] * np.sign(rng.standard_normal())
        moved = _run(schedule, X, y, convexity) - _run(schedule, other, y, convexity)
        batch = np.searchsorted(np.cumsum(schedule.sizes), at, side="right")
        assert np.linalg.norm(moved) <= bound[batch]


def test_bound_is_attained_where_slopes_are_saturated():
    """One record alone far from zero loss: the runs part by nearly 2 L T eta / n."""
    schedule = Schedule.constant(0.01, 20, (1,))
    X, y = np.array([[1.0, 0.0]]), np.array([1.0])
    shift = 1e-9  # slopes are 1/2 at zero, so half of the bound for the logistic loss

    moved = _run(schedule, X + shift, y, 0.0) - _run(schedule, X + shift, -y, 0.0)
    bound = distances(schedule, 0.5, CURVATURE, 0.0)[0]
    assert 0.95 * bound < np.linalg.norm(moved) <= bound


def test_halved_sensitivity_is_exceeded():
    """The twin that forgets that a replaced record leaves as well as comes."""
    schedule = Schedule.constant(0.01, 20, (1,))
    X, y = np.array([[1.0, 0.0]]), np.array([1.0])
    moved = _run(schedule, X, y, 0.0) - _run(schedule, X, -y, 0.0)
    assert (
        np.linalg.norm(moved) > distances(schedule, 0.5, CURVATURE, 0.0, sensitivity_factor=1.0)[0]
    )


def test_batches_and_steps_must_match():
    with pytest.raises(ValueError, match="column"):
        Schedule(np.ones((2, 3)), (4, 4))
    with pytest.raises(ValueError, match="record or more"):
        Schedule(np.ones((2, 2)), (4, 0))


def exact_distances(schedule, slope, curvature, convexity):
    """The recursion step by step in fractions, of steps that are doubles; without averaging."""
    L, beta, mu = (Fraction(v) for v in (slope, curvature, convexity))
    ends = [Fraction(0)] * len(schedule.sizes)
    for steps in schedule.steps.tolist():
        for batch, step in enumerate(map(Fraction, steps)):
            rho = max(abs(1 - step * mu), abs(1 - step * (beta + mu)))
            ends = [rho * end for end in ends]
            ends[batch] += 2 * L * step / schedule.sizes[batch]
    return ends


EXACT = {
    "one batch": Schedule.constant(0.3, 60, (15,)),
    "one batch, steps that change": Schedule.harmonic(0.9, 12, (15,), None),
    "one batch, restarts at the same steps": Schedule(np.repeat([[0.5], [0.1], [0.1]], 9, 0), (4,)),
    "equal steps in a pass": Schedule.harmonic(0.7, 6, (7, 5, 3), None),
    "all steps differ": Schedule.inverse(0.35, 0.1, 5, (5, 5, 5)),
    "steps that grow": Schedule.constant(9.0, 3, (5, 5)),
    "no curvature left": Schedule.constant(4.0, 5, (5, 5)),
}


@pytest.mark.parametrize("convexity", [0.0, 1e-9, 0.1])
@pytest.mark.parametrize("name", EXACT)
def test_distances_are_just_above_the_exact_recursion(name, convexity):
    schedule = EXACT[name]
    found = distances(schedule, 0.7, CURVATURE, convexity)
    exact = exact_distances(schedule, 0.7, CURVATURE, convexity)
    for above, true in zip(found.tolist(), exact):
        assert true <= Fraction(above) <= true * Fraction(1.0 + 1e-10)


@pytest.mark.parametrize("name", EXACT)
def test_iterates_are_bounded_just_above_the_exact_recursion(name):
    schedule, w, furthest = EXACT[name], Fraction(0), Fraction(0)
    for step in map(Fraction, schedule.steps.ravel().tolist()):
        w = abs(1 - step * Fraction(0.1)) * w + step * Fraction(0.7)
        furthest = max(furthest, w)
    assert furthest <= Fraction(reached(schedule, 0.7, 0.1)) <= furthest * Fraction(1.0 + 1e-9)
