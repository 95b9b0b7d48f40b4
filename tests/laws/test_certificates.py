"""What releases compute is as near to stationary as was paid for, on hard data; their bounds on rounding hold."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from laws.certificate_laws import LONG, SMOOTH, check_certificate, rounding_shares
from laws.rounding_laws import LAYOUTS, laid_out

from skdp import NotSupported
from skdp.losses import Huber, HuberisedHinge, Logistic, Multinomial, QuantileHuber
from skdp.mechanisms import Coordinates, Mapped, NoisyMinimiser, PerturbedObjective, Public, Records
from skdp.mechanisms._limits import Limits
from skdp.mechanisms._mapped import MappedRows
from skdp.mechanisms._objective import Objective
from skdp.mechanisms._units import Units
from skdp.penalties import L1, L2, Box, ElasticNet, GroupLasso, NoPenalty, ScaledPenalty

pytestmark = pytest.mark.skipif(
    np.finfo(LONG).eps > 1e-18, reason="long double is no longer than double here"
)

TABLES = ("plain", "ill", "equal", "far", "tiny", "collinear", "one-signed", "corner")


def table(name, n, d, rng, dtype=np.float64):
    """Rows and labels that are hard to minimise over."""
    X, y = rng.normal(size=(n, d)) / np.sqrt(d), rng.choice([-1.0, 1.0], size=n)
    if name == "ill":
        X *= 10.0 ** -np.linspace(0, 8, d)
    elif name == "equal":
        X[:] = X[0]
    elif name == "far":
        X[: n // 3 + 1] *= 1e25 if dtype == np.float32 else 1e200
    elif name == "tiny":
        X *= 1e-20
    elif name == "collinear":
        X[:] = X[:, :1] * X[0] + 1e-9 * X
    elif name == "one-signed":
        y[:] = 1.0
    elif name == "corner":  # most rows are the same one, some all but the same
        X[:] = X[0] * (1.0 + 1e-9 * rng.integers(-2, 3, size=(n, 1)))
        y[:] = np.where(np.arange(n) % 7, 1.0, -1.0)
    return X.astype(dtype), y


def vault(X, y, relation="replace_one", intercept=0.25, layout="C", data_norm=1.0):
    n = len(X) if relation == "replace_one" else None
    public = Public(n=n, n_features=X.shape[1], intercept=intercept, neighbors=relation)
    return Records.admit(laid_out(X, layout), y, public, data_norm)


def release(kind, loss, public, strength, penalty=None, clip=None, **given):
    shape = (public.width,) if loss.outputs == 1 else (public.width, loss.outputs)
    placed = ScaledPenalty(penalty or NoPenalty(), 1.5, public.intercept > 0)
    if loss.slope is None and clip is None:
        clip = 0.4
    common = {"loss": loss, "penalty": placed, "shape": shape, "clip": clip, **given}
    return kind(multiplier=2.0, strength=strength, **common)


def certified(question, records, linear=None):
    """Whether double precision can promise the release at all; if so its certificate is checked."""
    try:
        question.event(records.public)
    except NotSupported as refusal:
        assert "double precision" in str(refusal)
        return False
    check_certificate(question, records, linear)
    return True


KINDS = [NoisyMinimiser, PerturbedObjective]


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_loss_is_certified_on_hard_tables(kind, loss):
    rng, checked = np.random.default_rng(1), 0
    for name, strength in itertools.product(TABLES, (0.05, 3.0)):
        dtype = (np.float64, np.float32)[checked % 2]
        records = vault(*table(name, 60, 4, rng, dtype), layout=LAYOUTS[checked % len(LAYOUTS)])
        checked += certified(release(kind, loss, records.public, strength), records)
    assert checked >= 12, "what is refused shows nothing"


@pytest.mark.parametrize("clip", [1e-3, 0.2])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_capped_slopes_are_certified(kind, clip):
    rng, checked = np.random.default_rng(2), 0
    for loss in SMOOTH:
        for name in ("plain", "corner", "far") if loss.outputs == 1 else ():
            records = vault(*table(name, 50, 3, rng))
            checked += certified(release(kind, loss, records.public, 0.1, clip=clip), records)
    assert checked >= 20


@pytest.mark.parametrize(
    "penalty",
    [L1(2.0), ElasticNet(3.0, 0.3), L2(4.0), Box(-0.1, 0.2), GroupLasso(1.0)],
    ids=lambda p: type(p).__name__,
)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_penalties_are_certified_by_a_true_subgradient(kind, penalty):
    rng, checked = np.random.default_rng(3), 0
    for loss in (Logistic(), HuberisedHinge(0.5), Huber(0.5), Multinomial(outputs=3)):
        for name in ("plain", "ill", "equal"):
            records = vault(*table(name, 30, 3, rng))
            question = release(kind, loss, records.public, 0.5, penalty)
            checked += certified(question, records)
    assert checked >= 11


def test_centres_and_ridges_are_part_of_what_is_certified():
    rng = np.random.default_rng(4)
    for pure in (False, True):
        records = vault(*table("plain", 50, 4, rng))
        given = {"center": rng.normal(size=5), "ridge": rng.uniform(0.0, 9.0, 5), "pure": pure}
        question = release(PerturbedObjective, Logistic(), records.public, 0.5, **given)
        assert certified(question, records)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("loss", [Logistic(), HuberisedHinge(1e-3)], ids=repr)
def test_far_tilts_are_certified(loss, sign):
    """Newton steps from 0 overshoot by far: slopes saturate on the way, and curvature is nowhere to be seen."""
    rng = np.random.default_rng(5)
    for name, size in itertools.product(TABLES, (1.0, 6.0, 40.0)):
        records = vault(*table(name, 60, 4, rng))
        question = release(PerturbedObjective, loss, records.public, 0.05)
        direction = rng.normal(size=5)
        tilt = sign * size * question.linear_term(records.public).scale * direction
        assert certified(question, records, tilt / np.linalg.norm(direction))


@pytest.mark.parametrize("n", [1, 2, 2000])
def test_minimisers_that_take_many_newton_rounds_are_certified(n):
    """Nearly corners, and hardly any strength: a fixed number of rounds is not enough."""
    rng, checked = np.random.default_rng(6), 0
    losses = (HuberisedHinge(1e-3), HuberisedHinge(1e-2), QuantileHuber(0.3, 1e-3), Logistic())
    for loss, name in itertools.product(losses, TABLES):
        for strength in (1e-3, 0.03) if n < 2000 else (0.3,):
            records = vault(*table(name, n, 4, rng))
            checked += certified(release(NoisyMinimiser, loss, records.public, strength), records)
    assert checked >= 20


def stretching(rng, width, stretch):
    """Coordinates that stretch rows by so much, but for those whose features add up to the constant column."""
    vanishing = np.append(np.ones(width - 1), -1.0)
    matrix = np.outer(rng.normal(size=3), vanishing)
    return Coordinates(
        matrix * stretch / np.linalg.norm(matrix) + 0.3 * rng.normal(size=(3, width))
    )


@pytest.mark.parametrize("stretch", [1.0, 100.0, 4000.0])
def test_minimisers_in_other_coordinates_are_certified(stretch):
    rng, checked = np.random.default_rng(7), 0
    for loss, name in itertools.product((Logistic(), HuberisedHinge(0.1)), TABLES):
        records = vault(*table(name, 60, 2, rng), intercept=1.0)
        coordinates = stretching(rng, 3, stretch)
        inner = PerturbedObjective(
            loss=loss,
            penalty=ScaledPenalty(NoPenalty(), 1.0, False),
            shape=(3,),
            multiplier=2.0,
            strength=2.0,
        )
        for whole in (0.0, 0.3, 1.0):
            question = Mapped(question=inner, coordinates=coordinates, scale=1.0 / 1.5, whole=whole)
            checked += certified(question, records)
    assert checked >= 42


def test_a_private_number_of_records_is_certified_too():
    rng = np.random.default_rng(8)
    for kind, name in itertools.product(KINDS, TABLES):
        records = vault(*table(name, 70, 4, rng), relation="add_remove")
        assert certified(release(kind, Logistic(), records.public, 50.0), records)


def of_units(records, weighted, rng, rows=3):
    """The same rows as units of up to `rows` of them, or as single weighted ones."""
    n = len(records.rows)
    counts = np.ones(n, dtype=int) if weighted else np.diff([*range(0, n, rows), n])
    units = Units.of(counts)
    if weighted:
        units = units.weighted(rng.random(n))
    public = replace(records.public, rows=1 if weighted else rows, weighted=weighted)
    if public.replace_one:
        public = replace(public, n=len(units))
    return replace(records, units=units, public=public)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clip", [None, 0.1])
def test_units_and_weights_are_part_of_what_is_certified(weighted, clip):
    """Rows are capped one by one, and weighed then."""
    rng, checked = np.random.default_rng(11), 0
    for loss, name in itertools.product(SMOOTH, ("plain", "corner", "far")):
        if loss.outputs > 1 and clip is not None:
            continue
        records = of_units(vault(*table(name, 48, 3, rng)), weighted, rng)
        question = release(PerturbedObjective, loss, records.public, 0.5, clip=clip)
        checked += certified(question, records)
    assert checked >= 20


def test_units_in_other_coordinates_are_certified():
    rng = np.random.default_rng(12)
    for weighted in (False, True):
        records = of_units(vault(*table("plain", 48, 2, rng)), weighted, rng)
        inner = release(PerturbedObjective, Logistic(), records.public, 2.0)
        coordinates = stretching(rng, 3, 5.0)
        assert certified(Mapped(question=inner, coordinates=coordinates), records)


# -------------------------------------------------------------------------- bounds on rounding


def problem(loss, records, rows=None, public=None, strength=0.5):
    public, rows = public or records.public, rows or records.rows.in_double()
    shape = (public.width,) if loss.outputs == 1 else (public.width, loss.outputs)
    linear = np.full(shape, 0.125)
    bound = public.row_bound * (10.0 if loss.slope is None else loss.slope)
    limits = Limits(public, loss, bound, strength, strength, float(np.linalg.norm(linear)))
    return Objective(rows, records.y, loss, strength, linear, None), limits


def points(rng, objective):
    """Parameters at which scores of the first row are all rounding, or meet the curved part."""
    width, outputs = objective.linear.shape[0], objective.linear.shape[1:]
    row = objective.rows.careful_tdot(np.eye(len(objective.rows))[0])[0]
    for size in (1e-3, 1.0, 1e4, 1e8):
        across = rng.normal(size=(width, *outputs)) * size
        across -= np.multiply.outer(row, row @ across) / (row @ row)
        yield across
        yield across + np.multiply.outer(row, np.ones(outputs)) * (0.999 / (row @ row))


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_bounds_on_rounding_hold_where_scores_cancel(loss):
    rng, worst = np.random.default_rng(9), (0.0, 0.0)
    for n, d, intercept in ((1, 1, 1.0), (3, 2, 1.0), (40, 7, 0.25), (600, 3, 0.25)):
        X, y = table("corner", n, d, rng)
        objective, limits = problem(loss, vault(X, y, intercept=intercept))
        for w in points(rng, objective):
            worst = np.maximum(worst, rounding_shares(objective, limits, w))
    assert worst.max() <= 1.0


@pytest.mark.parametrize("stretch", [1.0, 100.0, 4000.0])
@pytest.mark.parametrize("loss", [Logistic(), Huber(0.7), HuberisedHinge(1e-2)], ids=repr)
def test_bounds_on_rounding_hold_in_other_coordinates(loss, stretch):
    rng, worst = np.random.default_rng(10), (0.0, 0.0)
    for _ in range(6):
        # Rows whose images are short, although the coordinates stretch: they lie where the map all but vanishes.
        X = np.full((20, 2), 0.5) + rng.normal(size=(20, 2)) / stretch
        y = rng.choice([-1.0, 1.0], size=20)
        records = vault(3.0 * X, y, intercept=1.0, data_norm=3.0)
        question = Mapped(
            question=release(PerturbedObjective, Logistic(), records.public, 1.0),
            coordinates=stretching(rng, 3, stretch),
            scale=1.0 / 1.5,
        )
        matrix = question.coordinates.matrix
        images = records.rows.image_norms(matrix, True)
        rows = MappedRows(records.rows, matrix / question.scale, images / question.scale)
        public = question._seen(records.public)
        objective, limits = problem(loss, records, rows.in_double(), public)
        for w in points(rng, objective):
            worst = np.maximum(worst, rounding_shares(objective, limits, w))
    assert worst.max() <= 1.0
