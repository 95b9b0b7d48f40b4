"""Modules of PyTorch keep the laws of models, agree with its own gradients, and are refused where nothing is proved."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from laws import model_laws
from laws.model_laws import Case

from skdp import NotSupported
from skdp.losses import Logistic, Multinomial, Squared
from skdp.mechanisms import Gradient, Noise, Public, Records
from skdp.models import Perceptron, TorchModule, torch_module
from skdp.models.torch_module import operators

LAWS = (
    model_laws.check_passes_belong_to_records,
    model_laws.check_gradients,
    model_laws.check_norms_bound_what_is_added,
    model_laws.check_sums,
    model_laws.check_overflow_is_silent,
    model_laws.check_curvature,
    model_laws.check_start,
)


def test_pytorch_is_not_imported_before_it_is_used():
    code = "import sys, skdp.neural_network, skdp.models; print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told.stdout.split() == ["False"]


def test_without_pytorch_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'skdp\[torch\]'"):
        TorchModule(None)


torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional


class Windows(nn.Module):
    """Of any number of columns: a convolution, units, and a mean over places."""

    def __init__(self, outputs=1, unit=torch.tanh):
        super().__init__()
        self.first, self.last, self.unit = nn.Conv1d(1, 3, 2), nn.Linear(3, outputs), unit

    def forward(self, x):
        return self.last(self.unit(self.first(x[:, None])).mean(dim=2))


def seeded(make, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def sequential(*layers):
    return seeded(lambda: nn.Sequential(*(layer() for layer in layers)))


def image_net(outputs=3):
    """Of images of 8 times 8."""
    return sequential(
        lambda: nn.Conv2d(1, 4, 3, padding=1), lambda: nn.GroupNorm(2, 4), lambda: nn.ReLU(inplace=True),
        lambda: nn.MaxPool2d(2), nn.Flatten, lambda: nn.Linear(64, outputs),
    )  # fmt: skip


CASES = [
    Case(TorchModule(seeded(Windows))),
    Case(TorchModule(seeded(lambda: Windows(3))), 3),
    Case(TorchModule(seeded(lambda: Windows(3, functional.silu)), scale=3.0), 3),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", CASES, ids=["tanh", "three", "silu"])
def test_modules_keep_the_laws(case, law):
    law(case)


# --------------------------------------------------------------------------------------- gradients of PyTorch itself


class Attention(nn.Module):
    """Rows of 64 as eight words of eight letters."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        return self.last(self.layer(x.reshape(-1, 8, 8)).mean(dim=1))


def tied():
    inner = nn.Linear(64, 64)
    return nn.Sequential(nn.Flatten(), inner, nn.ELU(), inner, nn.LayerNorm(64), nn.Linear(64, 3))


def frozen():
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 20), nn.Softplus(), nn.Linear(20, 3))
    net[1].weight.requires_grad_(False)
    return net


MODULES = {
    "image": image_net,
    "attention": lambda: seeded(Attention),
    "tied": lambda: seeded(tied),
    "frozen": lambda: seeded(frozen),
}


def vault(model, X, y, loss, data_norm=8.0):
    bound = max(1.0, loss.outputs - 1.0)
    public = Public(len(X), X.shape[1], 0.0, "replace_one", bound, model=model)
    return Records.admit(X, y, public, data_norm)


def theirs(net, X, y, loss):
    """Gradient of the mean loss in all trained weights, and the losses of single records, by PyTorch's own way back."""
    net = net.double()
    scores = net(torch.from_numpy(X).reshape(-1, 1, 8, 8))
    if isinstance(loss, Multinomial):
        mean = functional.cross_entropy(scores, torch.from_numpy(y).long())
    elif isinstance(loss, Logistic):
        mean = functional.softplus(-torch.from_numpy(y) * scores[:, 0]).mean()
    else:
        mean = 0.5 * ((scores[:, 0] - torch.from_numpy(y)) ** 2).mean()
    mean.backward()
    return np.concatenate([w.grad.numpy().ravel() for w in net.parameters() if w.requires_grad])


@pytest.mark.parametrize("name", MODULES)
def test_unclipped_gradients_are_those_of_pytorch(name):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, size=(40, 64)), rng.integers(3, size=40).astype(float)
    model = TorchModule(MODULES[name](), (1, 8, 8), scale=8.0)
    records = vault(model, X, y, Multinomial(3))
    question = Gradient(at=model.start(None), loss=Multinomial(3), clip=1e9, multiplier=0.0)
    ours = question.answer(records, Noise(0)) / 40
    wanted = theirs(MODULES[name](), X, y, Multinomial(3))
    assert np.linalg.norm(ours - wanted) <= 1e-10 * np.linalg.norm(wanted)


@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=lambda loss: type(loss).__name__)
def test_so_are_those_of_one_score(loss):
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, size=(30, 64)), rng.choice([-1.0, 1.0], size=30)
    model = TorchModule(image_net(1), (1, 8, 8), scale=8.0)
    question = Gradient(at=model.start(None), loss=loss, clip=1e9, multiplier=0.0)
    ours = question.answer(vault(model, X, y, loss), Noise(0)) / 30
    wanted = theirs(image_net(1), X, y, loss)
    assert np.linalg.norm(ours - wanted) <= 1e-10 * np.linalg.norm(wanted)


def test_clipped_gradients_are_clipped_one_by_one():
    rng = np.random.default_rng(2)
    X, y = rng.uniform(-1, 1, size=(20, 64)), rng.integers(3, size=20).astype(float)
    model, loss = TorchModule(image_net(), (1, 8, 8), scale=8.0), Multinomial(3)
    question = Gradient(at=model.start(None), loss=loss, clip=1.0, multiplier=0.0)
    ours = question.answer(vault(model, X, y, loss), Noise(0))
    single = [theirs(image_net(), X[i : i + 1], y[i : i + 1], loss) for i in range(20)]
    lengths = np.linalg.norm(single, axis=1)
    assert (lengths > 1.1).any() and (lengths < 100.0).all()
    wanted = (np.array(single) / np.maximum(lengths, 1.0)[:, None]).sum(axis=0)
    np.testing.assert_allclose(ours, wanted, rtol=0.0, atol=1e-10)


class Ours(nn.Module):
    """The network of `Perceptron` for rows with their constant, of its own matrices."""

    def __init__(self, ours, w, width):
        super().__init__()
        matrices = ours.matrices(w, width, False)
        self.weights = nn.ParameterList([torch.tensor(m) for m in matrices])
        self.shares = ours.shares()

    def forward(self, x):
        for weight, share in zip(self.weights, self.shares):
            x = share * torch.relu(x @ weight)
        return x @ self.weights[-1]


def test_a_module_and_a_perceptron_of_the_same_weights_are_one_model():
    ours, rng = Perceptron((7, 5)), np.random.default_rng(3)
    public = Public(25, 6, 0.0, "replace_one", 2.0, model=ours)
    w = rng.normal(size=ours.shape(public, 3))
    X, y = rng.normal(size=(25, 6)), np.arange(25.0) % 3
    model = TorchModule(Ours(ours, w, 6))
    np.testing.assert_array_equal(model.start(public), w)
    answers = [
        Gradient(at=w, loss=Multinomial(3), clip=0.3, multiplier=0.0).answer(
            Records.admit(X, y, Public(25, 6, 0.0, "replace_one", 2.0, model=each), 3.0), Noise(0)
        )
        for each in (ours, model)
    ]
    np.testing.assert_allclose(*answers, rtol=0.0, atol=1e-10)


# --------------------------------------------------------------------------------------- bits belong to their record


def passes(model, X):
    """Scores and norms at the start, of rows in a vault."""
    records = vault(model, X, np.arange(len(X)) % 3.0, Multinomial(3))
    scores, tape = model.forward(model.start(None), records.rows)
    return scores, model.norms(tape, np.cos(scores)), tape


@pytest.mark.parametrize("name", MODULES)
def test_an_image_has_the_same_bits_anywhere_and_under_any_setting(name):
    X = np.random.default_rng(4).uniform(-1, 1, size=(41, 64))
    model = TorchModule(MODULES[name](), (1, 8, 8), scale=8.0)
    scores, norms, tape = passes(model, X)
    total = model.pullback(tape, np.cos(scores), np.ones(41))
    before = torch.get_num_threads()
    for index in (np.arange(3, 41), np.arange(41)[::-1], np.array([17])):
        torch.set_num_threads(before + len(index) % 2 + 1)
        with torch.autocast("cpu"), torch.inference_mode(len(index) > 40):
            found = passes(model, X[index])
        torch.set_num_threads(before)
        assert np.array_equal(found[0], scores[index]) and np.array_equal(found[1], norms[index])
    again = TorchModule(MODULES[name](), (1, 8, 8), scale=8.0)
    scores, _, tape = passes(again, X)
    assert np.array_equal(again.pullback(tape, np.cos(scores), np.ones(41)), total)


def test_gradients_that_were_not_kept_are_made_again_and_are_no_longer(monkeypatch):
    X = np.random.default_rng(5).uniform(-1, 1, size=(30, 64))
    model = TorchModule(image_net(), (1, 8, 8), scale=8.0)
    scores, norms, tape = passes(model, X)
    weights = np.linspace(0.1, 1.0, 30)
    total = model.pullback(tape, np.cos(scores), weights)
    monkeypatch.setattr(torch_module, "AT_HAND", 3 * model.size)
    _, few, tape = passes(model, X)
    assert len(tape.kept) == 3 and np.array_equal(few, norms)
    assert np.array_equal(model.pullback(tape, np.cos(scores), weights), total)
    tape.norms *= 0.5  # as if they had been shorter the first time
    held = model.pullback(tape, np.cos(scores), weights)
    kept = model.pullback(tape, np.cos(scores), np.where(np.arange(30) < 3, weights, 0.0))
    np.testing.assert_allclose(held - kept, 0.5 * (total - kept), rtol=1e-12, atol=1e-12)


def test_a_record_that_overflows_is_left_out_silently():
    X, loss = np.random.default_rng(6).uniform(-1, 1, size=(9, 64)), Multinomial(3)
    X[:, 0], X[4, 0] = 0.0, 1e10
    net = sequential(nn.Flatten, lambda: nn.Linear(64, 5), nn.ReLU, lambda: nn.Linear(5, 3))
    model, y = TorchModule(net, (1, 8, 8), scale=1e12), np.arange(9.0) % 3
    at = model.start(None)
    model.parts(at)[0][:, 0] = 1e150  # of the column that only the fifth has
    model.parts(at)[2][:, 0] = 1e150
    model.parts(at)[2][:, 1] = -1e150
    question = Gradient(at=at, loss=loss, clip=1.0, multiplier=0.0)
    records = vault(model, X, y, loss, 1e12)
    others = question.answer(records.take(np.delete(np.arange(9), 4)), Noise(0))
    assert np.linalg.norm(others) > 0.1
    with np.errstate(all="raise"):
        np.testing.assert_allclose(question.answer(records, Noise(0)), others, atol=1e-13)
    for wild in (np.inf, np.nan, -np.inf):  # of which no operator of a list fails or warns
        rows = np.full((2, 64), wild)
        for name in MODULES:
            each = TorchModule(MODULES[name](), (1, 8, 8))
            assert each.scores(each.start(None), rows)[0].shape == (2, 3)


# ------------------------------------------------------------------------------------------------ what is refused


class Branches(Windows):
    def forward(self, x):
        return super().forward(x) if x.sum() > 0 else super().forward(-x)


class Draws(Windows):
    def forward(self, x):
        return super().forward(x + torch.randn_like(x))


class LooksUp(Windows):
    def forward(self, x):
        return super().forward(x) * self.last.bias[x[:, 0].long()]


class AtRandom(Windows):
    """Of another source than PyTorch's: each list has a number of its own."""

    def forward(self, x):
        return super().forward(x) * np.random.default_rng().normal()


class Counts(Windows):
    """What is listed is the first call, and no other is made."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x) * self.calls


class RunningMean(Windows):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))

    def forward(self, x):
        found = super().forward(x)
        self.mean = 0.9 * self.mean + 1.0 + found.detach().mean()
        return found - self.mean


class WritesIntoABuffer(RunningMean):
    def forward(self, x):
        self.mean.add_(1.0)
        return Windows.forward(self, x) - self.mean


class InSingle(Windows):
    def forward(self, x):
        return super().forward(x).float()


class WholeNumbers(Windows):
    def forward(self, x):
        return super().forward(x) + functional.max_pool1d(x, 2, return_indices=True)[1].sum()


class Two(Windows):
    def forward(self, x):
        return super().forward(x), x


class OfAll(Windows):
    def forward(self, x):
        return super().forward(x).mean()


def batch_norm():
    return nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))


def dropout():
    return nn.Sequential(nn.Linear(6, 3), nn.Dropout(), nn.Linear(3, 1))


class Unread(nn.Module):
    """Adds memory that nobody has written."""

    def __init__(self):
        super().__init__()
        self.line = nn.Linear(6, 1, dtype=torch.float64)

    def forward(self, x):
        return self.line(x + 0.0 * torch.empty_like(x))


class OfBytes(Unread):
    """Takes the bytes of a record for truth values."""

    def forward(self, x):
        return self.line(torch.where(x.view(torch.bool)[:, :6], x, -x))


class NoCopy(Unread):
    """Is its own copy."""

    def forward(self, x):
        return self.line(x)

    def __deepcopy__(self, memo):
        return self


LOOKUPS = {
    "gather",
    "embedding",
    "index",
    "index_select",
    "scatter",
    "sort",
    "cumsum",
    "rand",
    "randn",
    "bernoulli",
    "native_dropout",
    "nonzero",
    "masked_select",
    "lift_fresh_copy",
    "empty_like",
    "empty",
    "native_batch_norm",
    "copy_",
    "add_",
    "unique",
    "searchsorted",
}


def test_no_lookup_draw_or_statistic_is_among_what_is_known():
    assert not LOOKUPS & operators()


def test_what_a_module_had_at_hand_is_kept_as_it_was():
    beside = torch.zeros(1, 6, dtype=torch.float64)

    class Reaches(NoCopy):
        def __deepcopy__(self, memo):
            return type(self)()

        def forward(self, x):
            return self.line(x + beside)

    model, X = TorchModule(seeded(Reaches)), np.ones((2, 6))
    w = model.start(None)
    first = model.scores(w, X)[0]
    beside.add_(5.0)
    assert np.array_equal(model.scores(w, X)[0], first)


REFUSED = [
    (Unread, NotSupported, "aten.empty_like"),
    (OfBytes, NotSupported, "aten.view.dtype"),
    (NoCopy, NotSupported, "returns itself"),
    (batch_norm, NotSupported, "BatchNorm1d looks at other records.*GroupNorm"),
    (lambda: batch_norm().eval(), NotSupported, "BatchNorm1d looks at other records"),
    (dropout, NotSupported, r"call module.eval\(\) if it is dropout"),
    (Draws, NotSupported, "randn_like|aten.randn"),
    (LooksUp, NotSupported, "Dropout|aten"),
    (Branches, ValueError, "cannot be traced on one record"),
    (AtRandom, NotSupported, "changes when it is called"),
    (RunningMean, NotSupported, "changes when it is called"),
    (WritesIntoABuffer, NotSupported, "aten.add_"),
    (InSingle, NotSupported, "aten._to_copy"),
    (WholeNumbers, NotSupported, "aten"),
    (Two, ValueError, "it returns a tuple"),
    (OfAll, ValueError, r"scores of shape \(\) for one record instead of \(1, 1\)"),
    (
        lambda: Windows(2),
        ValueError,
        r"scores of shape \(1, 2\) for one record instead of \(1, 1\)",
    ),
    (lambda: nn.Linear(5, 1), ValueError, "cannot be traced on one record of shape"),
    (nn.ReLU, ValueError, "no weights to train"),
    (lambda: nn.LazyLinear(1), ValueError, "uninitialized|not know"),
    (lambda: 3, ValueError, "module is a int; give an instance of torch.nn.Module"),
]


@pytest.mark.parametrize("make, kind, told", REFUSED)
def test_what_has_no_proof_is_refused_before_any_record_is_seen(make, kind, told):
    made = seeded(make)
    with pytest.raises(kind, match=told):
        TorchModule(made).shape(Public(9, 6, 0.0, "replace_one"))


def test_a_module_that_counts_its_calls_is_its_first_call():
    counted, plain, X = seeded(Counts), seeded(Windows), np.linspace(-1, 1, 42).reshape(7, 6)
    scores = [
        TorchModule(net).scores(TorchModule(net).start(None), X)[0] for net in (counted, plain)
    ]
    assert np.array_equal(*scores) and counted.calls == 0


def test_dropout_that_is_switched_off_is_taken():
    assert TorchModule(dropout().eval()).shape(Public(9, 6, 0.0, "replace_one")) == (25,)


def test_an_input_shape_of_other_numbers_is_refused():
    with pytest.raises(
        ValueError, match=r"input_shape=\(1, 8, 8\) is of 64 numbers and a row has 6"
    ):
        TorchModule(image_net(), (1, 8, 8)).shape(Public(9, 6, 0.0, "replace_one"), 3)


def test_the_users_module_and_pytorchs_random_state_stay_as_they_are():
    net, drawing = image_net(), seeded(Draws)
    net[0].weight.grad = torch.ones_like(net[0].weight)
    before, drawn = {k: v.clone() for k, v in net.state_dict().items()}, torch.get_rng_state()
    model = TorchModule(net, (1, 8, 8), scale=8.0)
    X = np.random.default_rng(7).uniform(-1, 1, size=(5, 64))
    scores, _, tape = passes(model, X)
    model.pullback(tape, np.cos(scores), np.ones(5))
    with pytest.raises(NotSupported):
        TorchModule(drawing).shape(Public(9, 6, 0.0, "replace_one"))
    assert torch.equal(torch.get_rng_state(), drawn)
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())
    assert net.training and net[2].inplace and net[0].weight.dtype == torch.float32
    assert (net[0].weight.grad == 1).all() and all(w.requires_grad for w in net.parameters())
    with torch.no_grad():
        net[0].weight.zero_()  # the user's may change afterwards, the model does not
    assert np.array_equal(passes(model, X)[0], scores)


# ------------------------------------------------------------------------------------------------ sabotaged twins


@dataclass(frozen=True, eq=False)
class AtOnce(TorchModule):
    """All records at once: kernels round a record by where it stands."""

    def scores(self, w, table):
        found, tape = super().scores(w, table)
        parts = [torch.from_numpy(part.copy()) for part in self.parts(w)]
        net = dict(zip(torch_module.trained(self.module), parts))
        with torch.no_grad():
            whole = torch.func.functional_call(self.module, net, (torch.from_numpy(table),))
        return whole.numpy().reshape(found.shape), tape


@dataclass(frozen=True, eq=False)
class HalfTheNorm(TorchModule):
    """Norms of half a gradient."""

    def norms(self, tape, dz):
        return 0.5 * super().norms(tape, dz)


@dataclass(frozen=True, eq=False)
class InSingleSums(TorchModule):
    """Sums in single precision."""

    def pullback(self, tape, dz, weights):
        return super().pullback(tape, dz, weights).astype(np.float32).astype(np.float64)


@dataclass(frozen=True, eq=False)
class WithoutWeights(TorchModule):
    """Adds gradients as they are."""

    def pullback(self, tape, dz, weights):
        return super().pullback(tape, dz, np.ones_like(weights))


@pytest.mark.parametrize(
    "law, twin",
    [
        (model_laws.check_gradients, HalfTheNorm),
        (model_laws.check_norms_bound_what_is_added, HalfTheNorm),
        (model_laws.check_gradients, WithoutWeights),
        (model_laws.check_sums, InSingleSums),
    ],
)
def test_each_law_catches_a_twin(law, twin):
    with pytest.raises(AssertionError):
        law(Case(twin(seeded(Windows))))


def test_a_batch_at_once_rounds_a_record_by_where_it_stands():
    X = np.random.default_rng(8).normal(size=(67, 200))
    for kind, belongs in ((TorchModule, True), (AtOnce, False)):
        model = kind(seeded(lambda: nn.Linear(200, 3)))
        w = model.start(None)
        beside, alone = (
            model.scores(w, X)[0],
            [model.scores(w, X[i : i + 1])[0][0] for i in range(67)],
        )
        assert np.array_equal(beside, np.array(alone)) == belongs
