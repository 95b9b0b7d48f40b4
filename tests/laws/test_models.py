"""Every model keeps what the proofs need of it, and each law catches a model that has one thing wrong."""

from dataclasses import dataclass

import numpy as np
import pytest
from laws import model_laws
from laws.convolution import Convolution
from laws.hidden_layer import HiddenLayer
from laws.model_laws import Case, cases_of

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import (
    Coordinates,
    Gradient,
    GradientDifference,
    HiddenDescent,
    Mapped,
    Noise,
    NoisyMinimiser,
    Oracle,
    PerturbedObjective,
    Public,
    Records,
    RowNorms,
    Schedule,
    SteepestCoordinate,
)
from skdp.models import MODELS, Linear
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.privacy.ledger import Recorder
from skdp.solvers import SGD
from skdp.solvers._solver import Budget, Task

LAWS = (
    model_laws.check_passes_belong_to_records,
    model_laws.check_gradients,
    model_laws.check_norms_bound_what_is_added,
    model_laws.check_sums,
    model_laws.check_overflow_is_silent,
    model_laws.check_curvature,
    model_laws.check_start,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    "model", (*MODELS.values(), HiddenLayer, Convolution), ids=lambda m: m.__name__
)
def test_models_keep_the_laws(model, law):
    for case in cases_of(model):
        law(case)


@pytest.mark.parametrize("model", (*MODELS.values(), HiddenLayer), ids=lambda m: m.__name__)
def test_there_is_a_record_that_overflows(model):
    assert model_laws.where_one_overflows(Case(model())) is not None


def test_a_model_is_asked_for_several_scores_where_its_parameters_grow_with_them():
    assert cases_of(Linear) == [Case(Linear()), Case(Linear(), 3)]
    assert cases_of(HiddenLayer) == [Case(HiddenLayer())]


# --------------------------------------------------------------------------------------- models that are wrong


@dataclass(frozen=True)
class ForgetsALayer(HiddenLayer):
    """Norms of the first layer's gradient alone."""

    def norms(self, tape, dz):
        rows, hidden, slopes = tape
        return super().norms((rows, 0.0 * hidden, slopes), dz)


@dataclass(frozen=True)
class ForgetsTheWeights(Linear):
    """Adds gradients as they are: nothing is clipped."""

    def pullback(self, tape, dz, weights):
        return super().pullback(tape, dz, np.ones_like(weights))


@dataclass(frozen=True)
class NormsOfSlopes(Linear):
    """Takes every row for one of norm 1."""

    def norms(self, tape, dz):
        return super().norms(tape, dz) / tape.norms


@dataclass(frozen=True)
class ARoundingShort(Linear):
    """Norms that are 40 units too short."""

    def norms(self, tape, dz):
        return super().norms(tape, dz) * (1.0 - 40.0 * 2.0**-53)


@dataclass(frozen=True)
class Centred(Linear):
    """Scores less their mean: every record's depends on all."""

    def forward(self, w, rows):
        scores, tape = super().forward(w, rows)
        return scores - scores.mean(axis=0), tape


@dataclass(frozen=True)
class ByPosition(HiddenLayer):
    """The second layer by one product, which rounds a row by where it stands."""

    def forward(self, w, rows):
        _, tape = super().forward(w, rows)
        return tape[1] @ self._split(w, rows.width)[1], tape


@dataclass(frozen=True)
class SumsInSingle(HiddenLayer):
    """The second layer's sum in single precision."""

    def pullback(self, tape, dz, weights):
        total = super().pullback(tape, dz, weights)
        total[-self.units :] = total[-self.units :].astype(np.float32)
        return total


@dataclass(frozen=True)
class WritesIntoWeights(Linear):
    """Scales the weights where they lie: who overflowed could not be told from them."""

    def pullback(self, tape, dz, weights):
        weights *= dz
        return tape.tdot(weights)


@dataclass(frozen=True)
class HalfAGradient(HiddenLayer):
    """Forgets that the second layer weighs the first one's gradient."""

    def forward(self, w, rows):
        scores, (rows, hidden, _) = super().forward(w, rows)
        return scores, (rows, hidden, 1.0 - hidden**2)


@dataclass(frozen=True)
class SaysFiniteNorms(Linear):
    """A norm of 1 for what overflowed: its gradient is added as it is."""

    def norms(self, tape, dz):
        return np.nan_to_num(super().norms(tape, dz), nan=1.0, posinf=1.0)


@dataclass(frozen=True)
class HalfTheCurvature(Linear):
    """Forgets the constant column, twice over."""

    def curvature(self, loss, public):
        return 0.5 * super().curvature(loss, public)


@dataclass(frozen=True)
class AnotherShape(Linear):
    """A start for other parameters than are asked for."""

    def start(self, public, outputs=1):
        return np.zeros(public.width + 1)


BROKEN = [
    (model_laws.check_passes_belong_to_records, Centred()),
    (model_laws.check_passes_belong_to_records, ByPosition()),
    (model_laws.check_gradients, ForgetsALayer()),
    (model_laws.check_gradients, ForgetsTheWeights()),
    (model_laws.check_gradients, NormsOfSlopes()),
    (model_laws.check_gradients, WritesIntoWeights()),
    (model_laws.check_gradients, HalfAGradient()),
    (model_laws.check_norms_bound_what_is_added, ARoundingShort()),
    (model_laws.check_sums, SumsInSingle()),
    (model_laws.check_overflow_is_silent, SaysFiniteNorms()),
    (model_laws.check_curvature, HalfTheCurvature()),
    (model_laws.check_start, AnotherShape()),
]


@pytest.mark.parametrize("law, model", BROKEN)
def test_each_law_catches_what_it_is_there_for(law, model):
    with pytest.raises((AssertionError, ValueError)):
        law(Case(model))


# ------------------------------------------------------------------------------------------- one more model


def exclusive_or(n=2000):
    """Two features whose product has the label's sign: no line tells the classes apart."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(n, 2))
    return X, np.sign(X[:, 0] * X[:, 1])


def trained(model):
    """Share of the records that `sgd` has learnt to tell, with noise, on clipped gradients of Poisson batches."""
    X, y = exclusive_or()
    public = Public(len(X), 2, 0.5, "replace_one", model=model)
    records = Records.admit(X, y, public, 1.0)
    task = Task(Logistic(), ScaledPenalty(NoPenalty(), 1.0, False), model.shape(public))
    account, solver = Recorder(), SGD(batch_size=200, steps=800, clip=1.0, step_size=2.0)
    oracle = Oracle(records, account, Noise(1))
    w = solver.solve(oracle, task, Budget(epsilon=8.0, delta=1e-5, noise=1.0))
    return float(np.mean(model.forward(w, records.rows)[0] * y > 0))


def test_sgd_trains_a_hidden_layer_through_the_same_gradient():
    assert trained(HiddenLayer()) > 0.9 > 0.7 > trained(Linear())


def _of_lines_only(public):
    width, flat = public.width, ScaledPenalty(NoPenalty(), 1.0, False)
    given, at = {"loss": Logistic(), "multiplier": 1.0}, np.zeros(HiddenLayer().shape(public))
    release = {**given, "penalty": flat, "shape": at.shape}
    here = Coordinates(np.eye(width))
    yield GradientDifference(at=at, anchor=at, clip=1.0, reach=1.0, **given)
    yield SteepestCoordinate(at=at, loss=Logistic(), bound=1.0, epsilon=1.0)
    yield RowNorms(coordinates=here, cap=1.0, multiplier=1.0)
    yield Mapped(question=Gradient(at=at, clip=1.0, **given), coordinates=here)
    yield PerturbedObjective(strength=1.0, **release)
    yield NoisyMinimiser(strength=1.0, **release)
    yield HiddenDescent(schedule=Schedule.constant(0.1, 2, (9,)), convexity=0.0, **release)


def test_what_is_proved_for_lines_alone_refuses_another_model_before_it_is_paid():
    public = Public(9, 2, 0.25, "replace_one", model=HiddenLayer())
    for question in _of_lines_only(public):
        with pytest.raises(NotSupported, match="HiddenLayer is not linear"):
            question.event(public)


def test_parameters_of_another_model_are_refused():
    question = Gradient(at=np.zeros(3), loss=Logistic(), clip=1.0, multiplier=1.0)
    assert question.event(Public(9, 2, 0.25, "replace_one"))
    with pytest.raises(ValueError, match=r"needs parameters of shape \(32,\)"):
        question.event(Public(9, 2, 0.25, "replace_one", model=HiddenLayer()))
