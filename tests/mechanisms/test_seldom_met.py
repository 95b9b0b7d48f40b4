"""What few fits meet: refusals at the door, records whose scores overflow, empty sums and very wide rows."""

import copy
import math
import pickle
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from laws.vaults import random_vault, vault

from skdp.exceptions import NotSupported
from skdp.losses import Huber, Logistic, Multinomial, Squared
from skdp.mechanisms import (
    BestCandidate,
    Coordinates,
    Gradient,
    HiddenDescent,
    Mapped,
    Noise,
    NoisyMinimiser,
    PartyGradients,
    PerturbedObjective,
    Public,
    RandomBatch,
    Records,
    RowNorms,
    Schedule,
    Silence,
    SteepestCoordinate,
    _kernels,
)
from skdp.mechanisms._exact import _Uniform
from skdp.mechanisms._twofold import fold
from skdp.models import Linear
from skdp.penalties import NoPenalty, ScaledPenalty

FREE = ScaledPenalty(NoPenalty(), 1.0, False)


class OtherModel(Linear):
    """Not known to be linear."""


class TestTheDoor:
    """Records that are not admitted, and what the refusal says."""

    def public(self, **given):
        return Public(
            **{"n": 2, "n_features": 2, "intercept": 0.0, "neighbors": "replace_one"} | given
        )

    @pytest.mark.parametrize("data_norm", [0.0, -1.0, math.inf, math.nan, 1e-40])
    def test_bounds_of_rows_that_lose_digits(self, data_norm):
        with pytest.raises(ValueError, match=r"data_norm=.* must lie between"):
            Records.admit(np.ones((2, 2)), np.ones(2), self.public(), data_norm)

    @pytest.mark.parametrize("shape, labels", [((2, 3), 2), ((2, 2), 3)])
    def test_other_shapes_than_declared(self, shape, labels):
        with pytest.raises(ValueError, match="X must have 2 columns and as many rows as y"):
            Records.admit(np.ones(shape), np.ones(labels), self.public(), 1.0)

    def test_more_rows_than_rounding_is_bounded_for(self):
        public = self.public(n=None, n_features=1, neighbors="add_remove")
        many = public.most + 1
        with pytest.raises(ValueError, match="declare a rough count in n_public") as refusal:
            Records.admit(np.zeros((many, 1)), np.ones(many), public, 1.0)
        assert str(many) not in str(refusal.value)

    @pytest.mark.parametrize("target", [1.5, -7.25, math.nan, math.inf])
    def test_targets_beyond_their_bound(self, target):
        with pytest.raises(ValueError, match="targets must be finite and at most 1") as refusal:
            Records.admit(np.ones((2, 2)), np.array([1.0, target]), self.public(), 1.0)
        assert str(target) not in str(refusal.value)


class TestOverflow:
    """One record's score is beyond the numbers: it must not be seen in the answer."""

    AT = np.array([1e39, -1e39, 0.0])  # infinite, or no number, in single precision

    def vaults(self):
        common, labels = [[0.1, 0.1], [0.0, 0.0]], [1, -1]
        single = {"dtype": np.float32, "intercept": 0.25}
        return [vault([*common, row], [*labels, 1], **single) for row in ([0.9, 0.1], [0.0, 0.0])]

    @pytest.mark.parametrize("loss", [Logistic(), Squared(), Huber()], ids=repr)
    def test_a_gradient_stays_finite_and_within_its_bound(self, loss):
        question = Gradient(at=self.AT, loss=loss, clip=0.5, multiplier=0.0)
        with np.errstate(all="raise"):
            sums = [question.measure(records) for records in self.vaults()]
        assert np.isfinite(sums).all()
        assert np.linalg.norm(sums[0] - sums[1]) <= 2 * 0.5 * (1 + 1e-6)

    def test_a_candidate_is_no_better_and_no_worse_by_more_than_the_cap(self):
        question = BestCandidate(
            candidates=[self.AT, np.zeros(3), -self.AT], loss=Squared(), cap=0.5, epsilon=1.0
        )
        with np.errstate(all="raise"):
            scores = [question.measure(records) for records in self.vaults()]
        assert np.isfinite(scores).all() and all((abs(s) <= 3 * 0.5).all() for s in scores)
        moved = scores[0] - scores[1]
        assert moved.max() - moved.min() <= 2 * 0.5 * (1 + 1e-9)


class TestRefusals:
    """Questions without a proof for what they are asked of."""

    @pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
    def test_models_that_are_not_linear_have_no_certified_minimiser(self, relation):
        records = random_vault(0, neighbors=relation, intercept=0.0)
        records = replace(records, public=replace(records.public, model=OtherModel()))
        question = NoisyMinimiser(
            loss=Logistic(), penalty=FREE, shape=(3,), multiplier=1.0, strength=1.0
        )
        with pytest.raises(NotSupported, match="OtherModel is not linear"):
            question.answer(records, Noise(0))
        with pytest.raises(NotSupported, match="OtherModel is not linear"):
            question.event(records.public)

    @pytest.mark.parametrize(
        "given", [{"candidates": np.zeros((0, 3))}, {"candidates": 1.0}, {"offsets": [1.0, 2.0]}]
    )
    def test_candidates_and_offsets_must_match(self, given):
        sound = {"candidates": np.zeros((3, 4)), "loss": Logistic(), "cap": 1.0, "epsilon": 1.0}
        with pytest.raises(ValueError, match="give one offset, or one for each candidate"):
            BestCandidate(**sound | given)

    def test_steepest_coordinates_have_one_output(self):
        with pytest.raises(NotSupported, match="it is for one output"):
            SteepestCoordinate(at=np.zeros((3, 2)), loss=Logistic(), bound=1.0, epsilon=1.0)

    def test_descents_that_run_away(self):
        plan = Schedule.constant(1e30, epochs=10, sizes=(30,))
        question = HiddenDescent(
            loss=Logistic(), penalty=FREE, shape=(3,), schedule=plan, convexity=0.0, multiplier=1.0
        )
        with pytest.raises(NotSupported, match="take steps below"):
            question.reach(random_vault(0, intercept=0.0).public)

    def test_coordinates_of_another_class(self):
        class Sly(Coordinates):
            """Could change its mind."""

        sly, inner = (
            Sly(np.eye(3)),
            Gradient(at=np.zeros(3), loss=Logistic(), clip=1.0, multiplier=1.0),
        )
        for ask in (
            lambda: Mapped(question=inner, coordinates=sly),
            lambda: RowNorms(coordinates=sly, cap=1.0, multiplier=1.0),
        ):
            with pytest.raises(NotSupported, match="must be a plain Coordinates, not Sly"):
                ask()

    def test_parties_of_a_batch(self):
        question = PartyGradients(at=np.zeros((2, 4)), loss=Logistic(), clip=1.0, multiplier=1.0)
        records = random_vault(0)
        assert np.isfinite(question.measure(records)).all()
        with pytest.raises(NotSupported, match="no price on a batch"):
            question.measure(records.take(np.arange(5)))

    def test_ridge_weights_of_another_shape(self):
        question = PerturbedObjective(
            loss=Logistic(),
            penalty=FREE,
            shape=(3,),
            multiplier=5.0,
            strength=1.0,
            ridge=np.ones(2),
        )
        with pytest.raises(ValueError, match=r"ridge of shape \(2,\) does not fit"):
            question.event(random_vault(0, intercept=0.0).public)

    def test_batches_of_fixed_size_show_n(self):
        batch = RandomBatch(Gradient(at=np.zeros(4), loss=Logistic(), clip=1.0, multiplier=1.0), 5)
        assert batch.proofs() == ("random_batch", "clipped_gradient")
        batch.event(random_vault(0).public)
        with pytest.raises(NotSupported, match="shows n under neighbors='add_remove'"):
            batch.event(random_vault(0, neighbors="add_remove").public)

    def test_scores_are_one_number_a_candidate(self):
        with pytest.raises(ValueError, match=r"scores of shape \(2, 2\)"):
            Noise(0).largest(np.zeros((2, 2)), 1.0)


class TestNoise:
    """The source itself."""

    @pytest.mark.parametrize("spread", [copy.copy, copy.deepcopy, pickle.dumps])
    @pytest.mark.parametrize("noise", [Noise(), Noise(0)])
    def test_is_never_copied(self, spread, noise):
        with pytest.raises(TypeError, match="never copied or pickled"):
            spread(noise)

    def test_silence_has_no_bits(self):
        assert Silence().bytes(5) == bytes(5)

    def test_uniform_that_begins_with_zeros_goes_on_until_it_is_told_from_zero(self):
        words = iter([0, 0, 7])

        class Source:
            """Two words of zeros, then one of 7."""

            def bytes(self, count):
                assert count == 8
                return next(words).to_bytes(8, "big")

        uniform = _Uniform(0)
        uniform.refine(Source())
        assert next(words, None) is None and uniform.word in (7, 7 << 56)
        low, high = uniform.exponential()
        for end in (uniform.word, uniform.word + 1):
            exact = -(Decimal(end) / Decimal(2) ** uniform.bits).ln()
            assert low <= exact <= high
        assert uniform.bits == 64 * 4  # what was drawn counts


class TestFields:
    """Numbers that a question keeps are its own and plain."""

    def test_losses_are_rebuilt_with_plain_numbers(self):
        given = {"at": np.zeros((3, 3)), "clip": 1.0, "multiplier": 1.0}
        loss = Gradient(loss=Multinomial(outputs=np.int64(3)), **given).loss
        assert type(loss.outputs) is int and loss == Multinomial(outputs=3)
        loss = Gradient(loss=Huber(delta=np.float64(2.0)), **given).loss
        assert type(loss.delta) is float and loss == Huber(delta=2.0)


class TestSums:
    """Sums of nothing, and of very wide rows."""

    def test_the_sum_of_nothing(self):
        high, low = fold(np.zeros((0, 2, 3)), np.zeros((0, 2, 3)))
        assert high.shape == low.shape == (2, 3) and not high.any() and not low.any()

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("quick", [True, False])
    @pytest.mark.parametrize("outputs", [(), (3,)])
    def test_scores_of_wide_rows_are_the_exact_ones_but_for_rounding(
        self, dtype, quick, outputs, monkeypatch
    ):
        monkeypatch.setattr(_kernels, "_QUICK_DOT", quick and hasattr(np, "vecdot"))
        rng = np.random.default_rng(0)
        width = _kernels.NARROW + 9
        records = vault(rng.normal(size=(4, width)), [1, -1, 1, -1], intercept=0.0, dtype=dtype)
        w = rng.normal(size=(width, *outputs)).astype(dtype)
        rows = records.rows.to_dense()
        exact = np.array(
            [
                [
                    sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, column))
                    for column in w.reshape(width, -1).T
                ]
                for row in rows
            ]
        ).astype(float)
        scores = records.rows.dot(w).reshape(exact.shape)
        assert np.abs(scores - exact).max() <= 50 * np.finfo(dtype).eps * np.abs(w).sum()

    def test_without_a_quick_product_the_careful_one_is_taken(self, monkeypatch):
        monkeypatch.delattr(np, "vecdot", raising=False)
        assert _kernels._quick_dot() is False

    def test_rows_in_single_precision_are_doubled_without_loss(self):
        records = vault([[1e-30, 2e-30], [0.5, 0.25]], [1, 1], dtype=np.float32, intercept=0.0)
        double = records.rows.in_double()
        assert double.dtype == np.float64
        np.testing.assert_array_equal(double.to_dense(), records.rows.to_dense())

    def test_rows_that_are_scaled_down_by_a_lot_meet_large_parameters(self):
        records = vault([[1e120, 2e120], [0.5, 0.25]], [1, 1], intercept=0.0)
        with np.errstate(all="raise"):
            scores = records.rows.in_double().dot(np.array([1e200, 1e200]))
        np.testing.assert_allclose(scores, [3e200 / math.sqrt(5), 0.75e200], rtol=1e-12)
