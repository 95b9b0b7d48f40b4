"""What a careless or hostile solver may put into a question, and what hostile records may do to an answer."""

import warnings

import numpy as np
import pytest
from laws.listed import listed
from laws.vaults import vault

from skdp import NotSupported
from skdp.losses import LIST_LOSSES, BayesRank, Hinge, Logistic, Squared
from skdp.mechanisms import (
    AllocatedBatch,
    BestCandidate,
    Count,
    Gradient,
    LabelGradient,
    ListGradient,
    Noise,
    Oracle,
    PartyGradients,
    PoissonBatch,
    RandomBatch,
)
from skdp.mechanisms._bounds import pass_forward
from skdp.mechanisms._shrunk import LEAST_SHRINK
from skdp.privacy.ledger import Recorder


def _gradient(at, **given):
    return Gradient(**{"at": at, "loss": Logistic(), "clip": 1.0, "multiplier": 1.0, **given})


class Spy(np.ndarray):
    """An array whose operators keep what they are applied to."""

    seen: list = []  # noqa: RUF012

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        Spy.seen.append(inputs)
        inputs = [np.asarray(x) for x in inputs]
        return getattr(ufunc, method)(*inputs, **options)


class TwoFaced:
    """A number that is large when it is priced and small afterwards."""

    def __init__(self):
        self.asked = 0

    def __float__(self):
        self.asked += 1
        return 100.0 if self.asked == 1 else 0.0


def test_an_array_that_spies_on_its_operands_never_meets_a_record():
    records = vault([[0.5, 0.5], [0.1, -0.4]], [1, -1])
    with np.errstate(all="ignore"):
        _ = records.rows.to_dense() @ np.zeros(3).view(Spy)
    assert Spy.seen, "the spy is able to see rows that it multiplies"
    Spy.seen.clear()
    oracle = Oracle(records, Recorder(), Noise(0))
    oracle.ask(_gradient(np.zeros(3).view(Spy)))
    oracle.ask(
        BestCandidate(candidates=np.zeros((2, 3)).view(Spy), loss=Logistic(), cap=1.0, epsilon=1.0)
    )
    assert not Spy.seen


def test_a_number_is_read_once_so_that_price_and_noise_agree():
    question = _gradient(np.zeros(3), multiplier=TwoFaced())
    assert question.multiplier == 100.0
    assert question.event(vault([[0.5, 0.5]], [1]).public).multiplier == 50.0


def test_parameters_are_copied_when_a_question_is_made():
    at = np.zeros(3)
    question = _gradient(at)
    at[:] = np.nan
    assert np.isfinite(question.at).all()


@pytest.mark.parametrize("holder", ["loss", "question"])
def test_a_method_set_on_an_instance_is_refused_before_it_is_paid_for(holder):
    stolen, account = [], Recorder()
    loss = Logistic()
    question = _gradient(np.zeros(3), loss=loss)
    victim, name = (loss, "dz") if holder == "loss" else (question, "measure")
    object.__setattr__(victim, name, lambda *args: stolen.append(args) or np.zeros(3))
    oracle = Oracle(vault([[0.5, 0.5]], [1]), account, Noise(0))
    with pytest.raises(NotSupported, match="does not declare"):
        oracle.ask(PoissonBatch(question, 0.5))
    assert not stolen and not account.script


def test_parameters_with_a_score_for_each_record_are_refused():
    # (width, n) parameters would give (n, n) scores, and y would be broadcast along the wrong axis.
    records = vault(np.full((5, 2), 0.5), np.ones(5))
    with pytest.raises(ValueError, match="score"):
        _gradient(np.ones((3, 5))).measure(records)
    with pytest.raises(ValueError, match="score"):
        question = BestCandidate(
            candidates=np.ones((2, 3, 5)), loss=Logistic(), cap=1.0, epsilon=1.0
        )
        question.measure(records)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_parameters_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match="not finite"):
        _gradient(np.array([bad, 0.0, 0.0]))


@pytest.mark.parametrize("clip", [0.0, -1.0, np.inf, np.nan])
def test_a_clip_that_bounds_nothing_is_refused(clip):
    with pytest.raises(ValueError, match="clip"):
        _gradient(np.zeros(3), clip=clip)


@pytest.mark.parametrize("multiplier", [-1.0, np.nan])
def test_a_multiplier_that_is_no_noise_is_refused(multiplier):
    with pytest.raises(ValueError, match="multiplier"):
        _gradient(np.zeros(3), multiplier=multiplier)


@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan])
def test_a_rate_that_is_no_probability_is_refused_before_it_is_answered(rate):
    oracle = Oracle(vault([[0.5, 0.5]], [1]), Recorder(), Noise(0))
    with pytest.raises(ValueError, match="rate"):
        oracle.ask(PoissonBatch(_gradient(np.zeros(3)), rate))


def test_a_selection_without_a_price_on_fixed_batches_is_refused():
    with pytest.raises(NotSupported, match="fixed size"):
        RandomBatch(
            BestCandidate(candidates=np.zeros((2, 3)), loss=Logistic(), cap=1.0, epsilon=1.0), 3
        )


def test_what_depends_on_positions_is_refused_on_any_batch():
    question = PartyGradients(at=np.zeros((2, 3)), loss=Logistic(), clip=1.0, multiplier=1.0)
    records, account = vault(np.full((6, 2), 0.1), np.ones(6)), Recorder()
    allocated = AllocatedBatch(question, 3, opens=True)
    for batch in (PoissonBatch(question, 0.5), RandomBatch(question, 3), allocated):
        with pytest.raises(NotSupported, match="no price on a batch"):
            Oracle(records, account, Noise(0)).ask(batch)
    assert not account.script


def test_batches_of_batches_are_refused():
    oracle = Oracle(vault([[0.5, 0.5]], [1]), Recorder(), Noise(0))
    with pytest.raises(NotSupported):
        oracle.ask(PoissonBatch(PoissonBatch(_gradient(np.zeros(3)), 0.5), 0.5))


def test_the_free_count_is_not_sold():
    oracle = Oracle(vault([[0.5, 0.5]], [1]), Recorder(), Noise(0))
    with pytest.raises(NotSupported, match="public"):
        oracle.ask(Count(multiplier=1.0))


HUGE = {np.float32: 3e38, np.float64: 1e308}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("signs", [(1, -1), (1, 1), (-1, 1)])
def test_a_record_whose_score_overflows_spoils_neither_sum_nor_selection(dtype, signs):
    # Two products overflow to +inf and -inf and their sum to NaN, although the scaled row has norm 1.
    row = np.array(signs) * HUGE[dtype]
    quiet = vault([[0.1, 0.2]], [1], dtype=dtype, neighbors="add_remove")
    loud = vault([[0.1, 0.2], row], [1, -1], dtype=dtype, neighbors="add_remove")
    question = _gradient(np.array([4.0, 4.0, 0.0]))
    choice = BestCandidate(
        candidates=np.array([[4.0, 4.0, 0.0], [0.0, 0.0, 0.0]]),
        loss=Logistic(),
        cap=1.0,
        epsilon=1.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning would show the record to whoever watches
        moved = question.measure(loud) - question.measure(quiet)
        scores = choice.measure(loud) - choice.measure(quiet)
    assert np.linalg.norm(moved) <= 1.0 + 1e-6
    assert np.ptp(scores) <= 1.0 + 1e-6


LIST_QUESTIONS = [(ListGradient, loss()) for loss in LIST_LOSSES.values()]
LIST_QUESTIONS.append((LabelGradient, BayesRank()))


@pytest.mark.parametrize(("kind", "loss"), LIST_QUESTIONS)
@pytest.mark.parametrize("far", [0.7, 1e18])
def test_a_list_whose_scores_overflow_adds_nothing(kind, loss, far):
    # Scores of single precision become infinite, and their chances NaN; so did the weight of the list, and the sum.
    calm = np.full((2, 2), 0.3 / max(far, 1.0)), np.array([1.0, 0.0])
    others = [calm, calm]
    loud = np.array([[far, far], [0.1, 0.2]]), np.array([1.0, 0.0])
    question = kind(at=np.full(2, 3e38 / max(far, 1.0)), loss=loss, clip=0.5, multiplier=1.0)
    given = {"relation": "add_remove", "most": 2, "dtype": np.float32}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet = question.measure(listed(others, **given))
        found = question.measure(listed([loud, *others], **given))
    assert np.isfinite(quiet).all()
    np.testing.assert_array_equal(found, quiet)


def test_a_long_sum_in_single_precision_still_moves_by_one_contribution():
    # Naive single precision: 1e6 contributions of 0.3 and one replaced move the sum by 0.99 of the truth.
    n = 1_000_000
    X, y = np.ones((n, 1)), -np.ones(n)
    other = y.copy()
    other[n // 2] = 1.0
    question = _gradient(np.zeros(1), clip=0.3)
    given = {"intercept": 0.0, "dtype": np.float32}
    moved = question.measure(vault(X, y, **given)) - question.measure(vault(X, other, **given))
    assert abs(float(np.abs(moved[0])) / 0.6 - 1.0) < 1e-3


@pytest.mark.parametrize("removed", [0, 100_000, 199_999])
def test_a_record_more_does_not_make_all_later_ones_round_anew(removed):
    # Sums in single precision, in blocks: a record less shifted the blocks, and the sum by eleven clips.
    rng = np.random.default_rng(0)
    X = rng.choice([1.0, 0.7310585, 0.3333333], (200_000, 3)) * [0.5, 0.6, 0.6]
    y = rng.choice([-1.0, 1.0], 200_000, p=[0.1, 0.9])
    given = {"intercept": 0.0, "dtype": np.float32, "neighbors": "add_remove"}
    question = _gradient(np.zeros(3), clip=0.3)
    whole = question.measure(vault(X, y, **given))
    less = question.measure(vault(np.delete(X, removed, 0), np.delete(y, removed), **given))
    assert np.linalg.norm(whole - less) <= 0.3 * (1 + 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_corner_is_met_alike_wherever_a_record_stands(dtype):
    # Products with a matrix round their last rows in another way. At the kink of the hinge that turns slopes around,
    # and a record more moved the sum by a clip for each part of the table.
    rng = np.random.default_rng(1)
    turned = 0
    for _ in range(60):
        row = rng.normal(size=100)
        row = (row / np.linalg.norm(row)).astype(dtype)
        X = np.tile(row, (1003, 1))
        w = rng.normal(size=100)
        w /= float(row @ w.astype(dtype))
        given = {"intercept": 0.0, "dtype": dtype, "data_norm": 1.1}
        records = vault(X, np.ones(1003), **given)
        for step in range(-8, 9):
            at = 1.1 * w * (1 + step * np.finfo(dtype).eps / 4)
            turned += len(np.unique(records.rows.dot(at) < 1)) > 1
            slopes, _ = pass_forward(at, records, Hinge())
            assert len(np.unique(slopes)) == 1
    if not turned:
        pytest.skip("this machine's matrix product rounds all rows alike: it could not have failed")


def test_a_record_whose_weight_overflows_in_single_precision_shows_nothing():
    question = Gradient(at=np.array([1e30]), loss=Squared(), clip=1e30, multiplier=0.0)
    given = {"intercept": 0.0, "dtype": np.float32, "data_norm": 1e-10}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved = question.measure(vault([[1e-10], [0.0]], [1, 1], **given))
    assert abs(moved[0]) <= 1e30


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_huge_row_is_scaled_before_it_is_multiplied(dtype):
    # Inner solvers of releases multiply rows too: their scores must be finite for every admitted row.
    row = np.array([1.0, -1.0]) * HUGE[dtype]
    rows = vault([row, [0.1, 0.2]], [1, -1], dtype=dtype, data_norm=1.0).rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = rows.dot(np.array([4.0, 4.0, 1.0]))
        moved = rows.tdot(np.array([1.0, 0.0], dtype=dtype))
    assert np.allclose(scores, [0.25 * LEAST_SHRINK, 1.45], rtol=1e-3)
    assert np.linalg.norm(moved) == pytest.approx(1.0, rel=1e-5)


def test_a_row_whose_norm_overflows_is_refused_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="too large"):
            vault([[1.7e308, 1.7e308]], [1])
