"""Paths of inner searches and samplers that are seldom taken: models that mislead, and bits that do not tell."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from laws.vaults import random_vault
from test_minimise import (
    TOLERANCE,
    distance,
    exact_gradient,
    explicit_gradient,
    limits_of,
    minimise,
    problem,
)

from skdp.losses import HuberisedHinge, Logistic, Multinomial
from skdp.mechanisms import HiddenDescent, Schedule, Silence, distances
from skdp.mechanisms import _minimise as minimising
from skdp.mechanisms import _minimise as proximal
from skdp.mechanisms import _objective as objectives
from skdp.mechanisms._batches import _gap_exactly
from skdp.mechanisms._lattice import _rounded, lattice_radial
from skdp.mechanisms._schedule import reached
from skdp.penalties import L1, L1Ball, NoPenalty, ScaledPenalty

SMALL = {"n": 20, "strength": 20.0, "noise": 3.0}


def is_fixed(objective, penalty, w, tolerance=TOLERANCE):
    """Whether a short prox step stays, for gradients that are recomputed record by record."""
    step = 1e-3
    moved = penalty.prox(w - step * explicit_gradient(objective, w), step)
    return bool(np.linalg.norm(moved - w) <= 3 * step * tolerance + 1e-14)


def height(search, w):
    """The whole objective: losses of a binary logistic one, strength, linear term and penalty."""
    objective, penalty = search.objective, search.penalty
    margins = objective.y * objective.rows.dot(w)
    smooth = np.logaddexp(0.0, -margins).sum() + objective.strength * (w @ w) / 2
    return smooth + objective.linear @ w + penalty.value(w)


class TestMisledSearches:
    """A Newton model only speeds the way: the certificate holds whatever it says."""

    @pytest.mark.parametrize("penalty", [L1(2.0), L1Ball(0.3)], ids=repr)
    @pytest.mark.parametrize("guess", [1.0, 1e6, -3.0])
    def test_models_and_long_steps_that_lead_upwards_only_delay(self, penalty, guess, monkeypatch):
        """The curvature is said to be next to none and the model ends elsewhere: short steps are left."""
        objective, placed = problem(**SMALL | {"strength": 2.0}), ScaledPenalty(penalty)
        monkeypatch.setattr(objectives.DenseCurvature, "largest", lambda self: 0.0)
        monkeypatch.setattr(
            proximal, "_model", lambda _, penalty, w, *rest: (w + guess, np.zeros_like(w))
        )
        w = minimise(objective, TOLERANCE, placed)
        assert is_fixed(objective, placed, w)

    def test_models_that_are_left_unfinished_still_lead_there(self, monkeypatch):
        monkeypatch.setattr(proximal, "INNER_CAP", 2)
        objective, placed = problem(**SMALL), ScaledPenalty(L1(2.0))
        assert is_fixed(objective, placed, minimise(objective, TOLERANCE, placed))

    def test_directions_that_lead_upwards_only_delay(self, monkeypatch):
        monkeypatch.setattr(objectives.Objective, "direction", lambda self, w, z, g, _: -g)
        objective = problem(**SMALL)
        w = minimise(objective, TOLERANCE)
        assert np.linalg.norm(explicit_gradient(objective, w)) <= TOLERANCE * 1.01

    def test_where_no_fall_can_be_told_a_smaller_gradient_is_gone_to(self, monkeypatch):
        monkeypatch.setattr(minimising, "_step", lambda *asked: 0.0)
        objective = problem(**SMALL)
        w = minimise(objective, TOLERANCE)
        assert np.linalg.norm(explicit_gradient(objective, w)) <= TOLERANCE * 1.01

    def test_what_ordinary_products_cannot_tell_is_met_by_more_digits(self):
        """Their rounding alone exceeds the tolerance; the certificate is recomputed in rationals."""
        objective = problem(n=300, loss=HuberisedHinge(0.5), strength=5.0)
        limits, tolerance = limits_of(objective), 4e-12
        w = minimise(objective, tolerance)
        pull, slopes = objective.pull(w), objective.slopes(objective.rows.dot(w))
        assert limits.quick(objective.rows, slopes, w, pull) > tolerance
        assert limits.careful(np.linalg.norm(w), pull) < tolerance
        assert distance(np.zeros_like(w), exact_gradient(objective, w)) <= tolerance

    @pytest.fixture
    def search(self):
        objective, placed = problem(**SMALL), ScaledPenalty(L1(2.0))
        limits = replace(limits_of(objective), split=True)
        return proximal._Search(objective, placed, limits, TOLERANCE)

    def ends(self, search, w):
        """Scores and gradient at w, a point far above it, and where a prox step goes."""
        z = search.objective.rows.dot(w)
        g = search.objective.gradient(w, search.objective.slopes(z))
        far = search.at(w + 100.0, np.zeros_like(w))
        return z, g, far, search.prox_step(w, g, 0.5 / search.limits.steepness())

    def test_a_prox_step_is_taken_where_the_model_is_worse(self, search):
        w = np.zeros(8)
        z, g, far, near = self.ends(search, w)
        on, found = search.onwards(w, z, g, (far, near))
        assert not found and on is near.u
        fall = height(search, w) - height(search, on)
        assert fall >= near.below(w) > 0.0

    @pytest.mark.parametrize("done", [False, True])
    def test_a_careful_step_says_whether_it_met_the_tolerance(self, search, done):
        w = np.zeros(8)
        if done:
            w = minimise(search.objective, TOLERANCE, search.penalty)
        z, g, far, _ = self.ends(search, w)
        on, found = search.onwards(w, z, g, (far, far))
        assert found is done is is_fixed(search.objective, search.penalty, on)
        fall = height(search, w) - height(search, on)
        assert done or fall > 0.0


class TestCurvatures:
    """Factors of matrices that are no curvature, and bounds on the largest eigenvalue."""

    def test_a_matrix_of_lower_rank_is_solved_in_its_range(self):
        rng = np.random.default_rng(0)
        half = rng.normal(size=(6, 2))
        matrix = half @ half.T
        g = matrix @ rng.normal(size=6)
        p = objectives.solver_of(matrix)(g)
        np.testing.assert_allclose(matrix @ p, g, rtol=1e-6, atol=1e-9)

    @pytest.mark.parametrize("entry", [math.inf, math.nan])
    def test_a_matrix_beyond_the_numbers_gives_no_direction(self, entry):
        matrix = np.diag([1.0, entry, 2.0])
        assert not objectives.solver_of(matrix)(np.ones(3)).any()

    @pytest.mark.parametrize("size", [3, 500, 501])
    def test_the_largest_eigenvalue_is_not_exceeded(self, size):
        """Of a diagonal plus a rank of one, c I + u u', it is c + |u|^2."""
        u = np.cos(np.arange(size)) / math.sqrt(size)
        curvature = objectives.DenseCurvature(0.5 * np.eye(size) + np.outer(u, u))
        truth = 0.5 + float(u @ u)
        assert truth <= curvature.largest() <= (truth * (1 + 1e-8) if size <= 500 else 2.0)
        np.testing.assert_allclose(curvature.times(u), truth * u, rtol=1e-12)

    @pytest.mark.parametrize("loss", [Logistic(), Multinomial(3)], ids=repr)
    def test_products_without_a_matrix_are_those_of_all_second_derivatives(self, loss, monkeypatch):
        monkeypatch.setattr(objectives, "DENSE_WIDTH", 3)
        objective = problem(n=30, d=4, loss=loss)
        w = 0.1 * objective.linear
        curvature = objective.curvature(w, objective.rows.dot(w), 1e-12)
        units = np.eye(w.size).reshape(w.size, *w.shape)
        matrix = np.stack([curvature.times(unit).ravel() for unit in units])
        step = 1e-5
        slopes = [
            (
                explicit_gradient(objective, w + step * unit)
                - explicit_gradient(objective, w - step * unit)
            )
            / (2 * step)
            for unit in units
        ]
        np.testing.assert_allclose(matrix, [slope.ravel() for slope in slopes], atol=1e-6)
        top = np.linalg.eigvalsh(matrix)[-1]
        assert top <= curvature.largest() <= 1.2 * top
        g = np.sin(np.arange(w.size)).reshape(w.shape)
        np.testing.assert_allclose(curvature.times(curvature.solve(g)), g, atol=1e-9)


class Ones:
    """So many words of ones, and an error beyond."""

    def __init__(self, words):
        self.left = 8 * words

    def bytes(self, count):
        self.left -= count
        assert self.left >= 0, "more bits were drawn than are needed"
        return b"\xff" * count


class TestBits:
    """Bits at the ends of their range."""

    @pytest.mark.parametrize("rate", [0.999, 0.5, 1e-3, 1e-18])
    def test_a_uniform_next_to_one_has_the_shortest_gap(self, rate):
        """All its 128 bits are ones, so it lies within 2^-128 of 1, and below."""
        assert Fraction(1, 2**128) / Fraction(rate) < 1
        assert _gap_exactly(2**64 - 1, rate, Ones(1)) == 1

    def test_where_so_many_ones_leave_the_gap_open_more_bits_are_drawn(self):
        """2^-128 is about thirty times 1e-40, so that gaps of up to thirty are possible."""
        with pytest.raises(AssertionError, match="more bits were drawn"):
            _gap_exactly(2**64 - 1, 1e-40, Ones(1))
        assert _gap_exactly(2**64 - 1, 1e-40, Ones(2)) == 1

    def test_a_direction_of_no_length_tells_nothing(self):
        assert _rounded([0, 0], [1 << 100, 1 << 90], 128, 10) is None
        assert _rounded([1 << 60], [1 << 100], 128, 10) is not None

    def test_noise_from_bits_of_zeros_is_drawn_until_it_is_told_from_zero(self):
        class Zeros:
            """Zeros first, as if all draws were next to nothing; honest bits then."""

            def __init__(self):
                self.zeros, self.rest = 40, np.random.default_rng(0)

            def bytes(self, count):
                self.zeros -= 1
                return bytes(count) if self.zeros >= 0 else self.rest.bytes(count)

        drawn = lattice_radial(2, 10, Zeros())
        assert len(drawn) == 2 and all(type(z) is int for z in drawn)


class TestRunaways:
    """Descents beyond the doubles have no bound, and say so as an infinite one."""

    def test_distances_and_iterates_beyond_the_doubles_are_infinite(self):
        plan = Schedule.constant(1e30, epochs=20, sizes=(30,))  # (1e30)^20 exceeds any double
        assert np.isposinf(distances(plan, slope=1.0, curvature=1.0, convexity=0.0)).all()
        assert reached(plan, slope=1.0, convexity=1.0) == math.inf

    def test_a_step_that_forgets_all_is_as_far_as_its_last_slope(self):
        plan = Schedule.constant(1.0, epochs=5, sizes=(30,))  # 1 - step * convexity = 0
        assert 2.0 <= reached(plan, slope=2.0, convexity=1.0) <= 2.0 * (1 + 1e-9)

    def test_those_just_within_are_the_exact_sums(self):
        plan = Schedule.constant(8.0, epochs=300, sizes=(4,))  # 7^300 < 1e254
        ratio, kick = Fraction(7), Fraction(2 * 8, 4)
        exact = kick * (ratio**300 - 1) / (ratio - 1)
        (found,) = distances(plan, slope=1.0, curvature=1.0, convexity=0.0)
        assert exact <= Fraction(float(found)) <= exact * (1 + Fraction(1, 10**9))

    def test_a_descent_over_nobody_stays_where_it_starts(self):
        question = HiddenDescent(
            loss=Logistic(),
            penalty=ScaledPenalty(NoPenalty(), 1.0, False),
            shape=(3,),
            schedule=Schedule.constant(0.1, epochs=2, sizes=(30,)),
            convexity=0.1,
            multiplier=0.0,
        )
        records = random_vault(0, intercept=0.0)
        assert question.answer(records, Silence()).any()
        assert not question.answer(records.take(np.arange(0)), Silence()).any()
