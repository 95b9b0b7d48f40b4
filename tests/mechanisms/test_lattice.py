"""Public lattices in exact fractions, and radial noise on them against mpmath on the very bits drawn."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from laws.noise_laws import check_law
from mechanisms.recorded import Recorded, Repeated, Replayed
from scipy import stats

from skdp import NotSupported
from skdp.mechanisms import Noise, _lattice
from skdp.mechanisms._lattice import Lattice, lattice, lattice_radial, on_lattice, radial_on_lattice
from skdp.mechanisms._strips import lattice_normals

MULTIPLIERS = (1e-9, 2.0**-20, 0.03, 1.0, 17.3, 1e4, 1e9)
SIZES = (1, 2, 101, 5151, 125_751)
UNITS = (1e-30, 1e-9, 0.7, 1.0, 3e5, 1e100)
ROUNDINGS = (0.0, 1e-12, 1e-3, 2.0)  # over the unit
REACHES = (None, 1.0, 2.0, 50.0)  # over the unit


def grid_of(multiplier, size, unit, rounding, reach=None):
    return lattice(multiplier, unit, rounding * unit, size, None if reach is None else reach * unit)


def promised(grid, multiplier, unit, rounding, size, reach):
    """The exact noise over the exact movement, in units of what was priced: at least 1, or the price is too low."""
    unit, rounding = Fraction(unit), Fraction(rounding * unit)
    reach = unit if reach is None else Fraction(reach) * unit
    # An upper bound on the root: its square is at least the size.
    root = Fraction(math.isqrt(size * 2**80) + 1, 2**40)
    scale = Fraction(grid.step) * 2**grid.bits
    claimed = reach + 2 * rounding + root * Fraction(grid.step)
    return scale / claimed / (Fraction(multiplier) * unit / reach)


@pytest.mark.parametrize("reach", REACHES)
def test_noise_over_sensitivity_is_at_least_what_was_priced(reach):
    for multiplier, size, unit, rounding in itertools.product(MULTIPLIERS, SIZES, UNITS, ROUNDINGS):
        grid = grid_of(multiplier, size, unit, rounding, reach)
        assert promised(grid, multiplier, unit, rounding, size, reach) >= 1
        claimed = 1 + 2 * rounding if reach is None else reach + 2 * rounding
        assert grid.reach == pytest.approx(claimed * unit, rel=1e-15)
        assert 0 <= grid.bits <= 53 and grid.scale == grid.step * 2.0**grid.bits


def test_noise_at_random_is_at_least_what_was_priced():
    rng = np.random.default_rng(0)
    for _ in range(3000):
        multiplier, unit = 10.0 ** rng.uniform(-12, 9), 10.0 ** rng.uniform(-30, 100)
        size, rounding = int(10 ** rng.uniform(0, 6)), 10.0 ** rng.uniform(-20, 1)
        grid = grid_of(multiplier, size, unit, rounding)
        assert promised(grid, multiplier, unit, rounding, size, None) >= 1


def test_noise_grows_by_no_more_than_a_millionth_beside_the_rounding():
    for multiplier, size, unit, rounding in itertools.product(MULTIPLIERS, SIZES, UNITS, ROUNDINGS):
        if multiplier * math.sqrt(size) > 2.0**32:
            continue  # the finest lattice is coarser than 2^-20 of what a record moves then
        grown = grid_of(multiplier, size, unit, rounding).scale / (multiplier * unit)
        assert 1.0 <= grown <= (1.0 + 1e-6) * (1.0 + 2.0 * rounding)


@pytest.mark.parametrize("forgotten", ["root of the size", "rounding"])
def test_a_lattice_that_forgets_a_part_breaks_the_law(forgotten):
    def forgetful(multiplier, unit, rounding, size):
        if forgotten == "rounding":
            return lattice(multiplier, unit, 0.0, size)
        scale = multiplier * (unit + 2 * rounding)
        return Lattice(scale * 2.0**-40, 40, unit)

    grid = forgetful(2.0, 1.0, 1e-12, 101)
    assert promised(grid, 2.0, 1.0, 1e-12, 101, None) < 1


@pytest.mark.parametrize(
    "given",
    [
        (math.inf, 1.0, 0.0, 1),
        (math.nan, 1.0, 0.0, 1),
        (1.0, math.inf, 0.0, 1),
        (1.0, math.nan, 0.0, 1),
        (1.0, 1.0, math.inf, 1),
        (1.0, 1.0, math.nan, 1),
        (2.0**53, 1.0, 0.0, 1),
        (2.0**50, 1.0, 0.0, 1 << 10),
        (1e-300, 1.0, 0.0, 1),
        (1.0, 1e260, 0.0, 1),
    ],
)
def test_noise_that_doubles_cannot_carry_is_refused(given):
    with pytest.raises(NotSupported, match="epsilon"):
        lattice(*given)


def test_no_noise_is_no_lattice():
    grid = lattice(0.0, 3.0, 0.5, 7)
    assert grid.step == grid.scale == 0.0 and grid.reach == 4.0
    exact = np.array([0.1, 1e300])
    assert Noise(0).gaussian(exact, grid) is exact and Noise(0).radial(exact, grid) is exact


# --------------------------------------------------------------------------------- answers

EXTREME = [0.0, -0.0, 5e-324, 1e-300, 0.1, -3.7, 2.0**53 + 2, 1e18, -1e30, 1e300, -1.7e308]
EXTREME += [np.inf, -np.inf, np.nan, np.finfo(float).max]


@pytest.mark.parametrize("release", [on_lattice, radial_on_lattice])
@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e100])
@pytest.mark.parametrize("multiplier", [1e-3, 1.0, 1e4])
def test_answers_are_multiples_of_the_step_and_nothing_else(release, unit, multiplier):
    grid = lattice(multiplier, unit, 0.0, len(EXTREME))
    for seed in range(10):
        got = release(np.array(EXTREME), grid, Noise(seed))
        assert np.isfinite(got).all() and not (np.signbit(got) & (got == 0)).any()
        steps = np.rint(got / grid.step)
        assert (steps * grid.step == got).all() and np.abs(steps).max() <= 2.0**61 + 2.0**58


def test_a_zero_is_never_signed():
    grid = Lattice(0.1, 0, 1.0)
    got = on_lattice(np.full(5000, -0.04), grid, Noise(0))
    assert (got == 0).any() and not np.signbit(got[got == 0]).any()


def test_an_answer_is_the_rounded_statistic_and_the_rounded_noise():
    rng = np.random.default_rng(1)
    grid = lattice(3.0, 1.0, 1e-12, 50)
    for shape in [(50,), (5, 10), (), (1,)]:
        exact = rng.normal(size=shape) * 10.0 ** rng.uniform(-5, 5, size=shape)
        steps = np.rint(exact / grid.step).astype(int)
        noise = lattice_normals(max(exact.size, 1), grid.bits, Noise(9)).reshape(shape)
        got = on_lattice(exact, grid, Noise(9))
        assert got.shape == shape and (got == (steps + noise) * grid.step).all()


def test_statistics_outside_the_box_are_pulled_to_it_without_overflow():
    grid = lattice(1.0, 1.0, 0.0, 2)
    far = on_lattice(np.array([1e300, -1e300]), grid, Noise(0)) / grid.step
    assert (np.abs(np.abs(far) - 2.0**61) < 2.0**40).all() and far[0] > 0 > far[1]


def test_a_statistic_is_left_as_it_was():
    exact = np.array([0.25, 1.5])
    on_lattice(exact, lattice(1.0, 1.0, 0.0, 2), Noise(0))
    radial_on_lattice(exact, lattice(1.0, 1.0, 0.0, 2), Noise(0))
    assert exact.tolist() == [0.25, 1.5]


# ---------------------------------------------------------------------------------- radial


def radial_sample(size, bits, repetitions, seed=0):
    noise = Noise(seed)
    drawn = [lattice_radial(size, bits, noise) for _ in range(repetitions)]
    return np.array(drawn, dtype=float) * 2.0**-bits


@pytest.mark.parametrize("chunk", [8, 128])
@pytest.mark.parametrize("size", [1, 3])
def test_radius_is_gamma_and_direction_uniform(size, chunk, monkeypatch):
    # With 8 bits at a time nearly every coordinate is left open, and drawn on, once or more often.
    monkeypatch.setattr(_lattice, "_BITS", chunk)
    sample = radial_sample(size, 40, 600)
    radius = np.linalg.norm(sample, axis=1)
    check_law(radius, stats.gamma(size))
    if size > 1:
        check_law(
            sample[:, 1] / radius, stats.uniform(-1, 2)
        )  # Archimedes: uniform in 3 dimensions
    assert abs(np.sign(sample[:, 0]).mean()) < 6 / np.sqrt(600)


def check_roundings(size, bits, seed, monkeypatch):
    """Recompute by mpmath from all bits that were drawn; returns how often more were needed."""
    normals, calls = [], []
    deviate, rounded = _lattice.deviate, _lattice._rounded

    def keep(source):
        normals.append(deviate(source))
        return normals[-1]

    def look(sizes, uniforms, known, bits):
        calls.append((uniforms, known))
        return rounded(sizes, uniforms, known, bits)

    with monkeypatch.context() as patch:
        patch.setattr(_lattice, "deviate", keep)
        patch.setattr(_lattice, "_rounded", look)
        got = lattice_radial(size, bits, Noise(seed))
    uniforms, known = calls[-1]
    with mp.workprec(4 * known + 500):
        radius = [-mp.fsum(mp.log(mp.ldexp(u + k, -known)) for u in uniforms) for k in (1, 0)]
        ends = [[mp.mpf(n.size()[0] + k) for n in normals] for k in (0, 1)]
        for i, (z, normal) in enumerate(zip(got, normals)):
            rest = [[m for j, m in enumerate(end) if j != i] for end in ends]
            # Each coordinate grows with its own deviate and falls with the others.
            low = radius[0] * ends[0][i] / mp.norm([ends[0][i], *rest[1]])
            high = radius[1] * ends[1][i] / mp.norm([ends[1][i], *rest[0]])
            roundings = {int(mp.floor(mp.ldexp(y, bits) + 0.5)) for y in (low, high)}
            assert roundings == {abs(z)} and (z == 0 or (z < 0) == normal.negative)
    return len(calls) - 1


def test_roundings_are_those_of_the_real_vector(monkeypatch):
    monkeypatch.setattr(_lattice, "_BITS", 8)
    further = [
        check_roundings(size, bits, seed, monkeypatch)
        for size, bits in itertools.product((1, 2, 5), (1, 8, 30, 53))
        for seed in range(12)
    ]
    assert sum(further) > 100
    monkeypatch.setattr(_lattice, "_BITS", 128)
    assert sum(check_roundings(3, 53, seed, monkeypatch) for seed in range(12)) == 0


@pytest.mark.parametrize("rest, rounded", [(0, 1), (255, 0)])
@pytest.mark.parametrize("steps", [0, 5, 300])
def test_a_radius_at_a_half_is_told_by_further_bits(steps, rest, rounded, monkeypatch):
    # U straddles exp(-(steps + 1/2) 2^-8) in its first 128 bits; one whose further bits are zeros gives more.
    with mp.workprec(300):
        u = int(mp.floor(mp.ldexp(mp.exp(-(steps + mp.mpf(0.5)) / 256), 128)))
    calls, deviate = [], _lattice.deviate
    monkeypatch.setattr(_lattice, "deviate", lambda source: deviate(Noise(3)))
    own = _lattice._rounded

    def look(*given):
        calls.append(own(*given))
        return calls[-1]

    monkeypatch.setattr(_lattice, "_rounded", look)
    further = [bytes([255]) * 16, bytes([rest]) * 16]  # of the deviate, which is one-sided too
    source = Replayed(b"", bytes(16), u.to_bytes(16, "little"), *further)
    (got,) = lattice_radial(1, 8, source)
    assert calls[0] is None and abs(got) == steps + rounded


def test_a_radius_that_is_tiny_rounds_to_nothing():
    class TinyRadius(Noise):
        """All uniforms begin with ones: the last `size` calls for 16 bytes, of the first round."""

        asked = 0

        def bytes(self, count):
            if count == 16:
                self.asked += 1
                if self.asked > 3:
                    return b"\xff" * 16
            return super().bytes(count)

    assert lattice_radial(3, 53, TinyRadius(0)) == [0, 0, 0]


def test_uniforms_of_zeros_are_drawn_on():
    class NoRadius(Noise):
        asked = 0

        def bytes(self, count):
            self.asked += count == 16
            return bytes(16) if count == 16 and self.asked in (2, 4) else super().bytes(count)

    (far,) = lattice_radial(1, 8, NoRadius(0))
    assert abs(far) * 2.0**-8 > 256 * math.log(2.0)  # 256 zeros: the tail ends nowhere


def test_a_radial_law_can_fail():
    # Laplace noise by coordinates, and a Gaussian direction with a radius of its own.
    rng = np.random.default_rng(0)
    for wrong in (rng.laplace(size=(600, 3)), rng.normal(size=(600, 3))):
        with pytest.raises(AssertionError):
            check_law(np.linalg.norm(wrong, axis=1), stats.gamma(3))


def test_bytes_that_never_change_end_too():
    assert Recorded(0).bytes(0) == b"" and lattice_normals(3, 8, Repeated(0)).tolist() == [0, 0, 0]
