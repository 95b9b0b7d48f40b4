"""Replays with frozen answers: nothing is found in any mechanism or solver, and planted faults are."""

import warnings
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from laws.vaults import RELATIONS
from scipy.sparse import csr_array

from skdp import DPLogisticRegression
from skdp.audit import _replay_log, adversarial_pairs, fitted, replay
from skdp.audit._replay_log import MANY, D, N, first_that_fits, replays
from skdp.mechanisms import (
    MECHANISMS,
    Gradient,
    NoisyMinimiser,
    PoissonBatch,
    _rows,
    minimiser,
)
from skdp.solvers import GD, SOLVERS

ASKED = _replay_log.questions(MANY, D + 1)
LOG = Path(__file__).parents[2] / "docs" / "replay_log.md"


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ASKED)
def test_nothing_is_found_in_a_mechanism(name, relation):
    for _, _, pairs, calls, moved, findings in replays(lambda *at: at == (name, relation)):
        assert findings == () and (not pairs or calls >= pairs) and not moved > 1.0


@pytest.mark.parametrize("name", SOLVERS)
def test_nothing_is_found_in_a_solver(name):
    ran = 0
    for relation in RELATIONS:
        run = first_that_fits(name, relation)
        for seed, pair in enumerate(adversarial_pairs(relation, N, D)):
            if run is not None and seed % 7 == 0:
                found = replay(run, pair, seed)
                assert found.findings == () and found.calls > 0, pair.name
                ran += 1
    assert ran >= 6


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_nothing_is_found_in_a_solver_on_any_pair(name):
    for _, _, _, _, _, findings in replays(lambda subject, _: subject == f"solver {name}"):
        assert findings == ()


def found_in(question, relation="replace_one", pairs=12):
    """Findings of a few replays of one question."""
    run = _replay_log.asked(question, relation, MANY)
    some = [*adversarial_pairs(relation, MANY, D)][:pairs]
    return [what for k, pair in enumerate(some) for what in replay(run, pair, k).findings]


def expect(words, question, relation="replace_one"):
    """Nothing is found without the patch that the caller holds; something with these words with it."""
    found = found_in(question, relation)
    assert found and all(words in what for what in found[:1]), found


def test_a_statistic_that_moves_too_far_is_found():
    honest = Gradient.measure
    with patch.object(Gradient, "measure", lambda self, records: 3.0 * honest(self, records)):
        assert any("of its claim" in what for what in found_in(ASKED["Gradient"], pairs=None))
    assert found_in(ASKED["Gradient"], pairs=None) == []


@pytest.mark.parametrize("what", ["cancelling scores", "at the corner"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_scores_that_hang_on_the_layout_are_found(what, relation):
    def summed(x, w):
        return np.einsum("ij,j->i", x, w)

    question = ASKED[f"Gradient, {what}"]
    assert found_in(question, relation, pairs=None) == []
    with (
        patch.object(_rows, "row_dots", summed),
        patch.object(_rows.np, "ascontiguousarray", lambda x, **given: x),
    ):
        found = found_in(question, relation, pairs=None)
    assert any("of its claim" in f for f in found)


def test_scores_that_hang_on_the_place_are_found():
    def tailed(x, w):
        whole, tail = np.split(x, [len(x) // 8 * 8])
        one_by_one = sum(column * weight for column, weight in zip(tail.T, w))
        return np.concatenate([np.einsum("ij,j->i", whole, w), one_by_one])

    with patch.object(_rows, "row_dots", tailed):
        found = found_in(ASKED["Gradient, at the corner"], "add_remove", pairs=None)
    assert any("of its claim" in f for f in found)


def test_a_branch_on_the_data_is_found():
    def curious(self, records, noise):
        grid = self.grid(records.public)
        if (records.y > 0.0).sum() % 2:
            noise.gaussian(np.zeros(1), grid)
        return noise.gaussian(self.measure(records), grid)

    with patch.object(Gradient, "answer", curious):
        assert any(
            "calls of the noise" in f or "call 0 is" in f for f in found_in(ASKED["Gradient"])
        )


@pytest.mark.parametrize("relation", RELATIONS)
def test_noise_whose_scale_depends_on_the_data_is_found(relation):
    def scaled(self, records, noise):
        from skdp.mechanisms._lattice import lattice

        exact = self.measure(records)
        size = len(records) if relation == "add_remove" else np.abs(exact).max()
        return noise.gaussian(exact, lattice(self.multiplier, float(size) + 1.0, 0.0, exact.size))

    with patch.object(Gradient, "answer", scaled):
        expect("call 0 is gaussian", ASKED["Gradient"], relation)


@pytest.mark.parametrize(
    "name", ["Gradient", "SecondMoment", "NoisyMinimiser", "NoisyMinimiser, pure"]
)
def test_less_noise_than_was_paid_for_is_found(name):
    kind = type(ASKED[name])
    honest = kind.grid

    def weaker(self, public):
        full = honest(self, public)
        return replace(full, step=0.999 * full.step)

    with patch.object(kind, "grid", weaker):
        expect("of the noise that was paid for", ASKED[name])


def test_a_number_without_noise_is_found():
    honest = Gradient.answer

    def leaking(self, records, noise):
        return honest(self, records, noise) + 1e-9 * self.measure(records)

    with patch.object(Gradient, "answer", leaking):
        expect("outcome.result differs", ASKED["Gradient"])


def test_a_batch_divided_by_its_realised_size_is_found():
    def divided(self, records, noise):
        batch = records.take(noise.poisson_batch(len(records), self.rate))
        return self.question.answer(batch, noise) / max(len(batch), 1)

    with patch.object(PoissonBatch, "answer", divided):
        expect("outcome.result differs", ASKED["PoissonBatch: Gradient"], "add_remove")


def test_output_noise_by_the_private_number_of_records_is_found():
    honest = NoisyMinimiser.answer

    def counted(self, records, noise):
        scaled = replace(self, multiplier=self.multiplier / len(records))
        return honest(scaled, records, noise)

    with patch.object(NoisyMinimiser, "answer", counted):
        expect("call 0 is gaussian", ASKED["NoisyMinimiser"], "add_remove")


def test_a_minimiser_without_its_certificate_is_found():
    honest = minimiser.minimise

    def hasty(objective, limits, tolerance, rest):
        return honest(objective, limits, 1e6 * tolerance, rest)

    with patch.object(minimiser, "minimise", hasty):
        expect("of its claim", ASKED["PerturbedObjective"])
    assert found_in(ASKED["PerturbedObjective"]) == []


class Counting(DPLogisticRegression):
    """Keeps a number of the data."""

    def fit(self, X, y, **given):
        super().fit(X, y, **given)
        self.positives_ = int(np.sum(y))
        return self


class Held:
    """Keeps a private number."""

    def __init__(self, number):
        self._number = number


def knotted(number):
    """A list that is a part of itself."""
    one = [number]
    one.append(one)
    return one


# How a number may leave in whatever an estimator keeps.
FORMS = {
    "public": lambda n: {"positives_": n},
    "private": lambda n: {"_positives": n},
    "mangled": lambda n: {"_Estimator__positives": n},
    "dunder": lambda n: {"__positives__": n},
    "name": lambda n: {f"_{n}": None},
    "key": lambda n: {"told_": {f"_{n}": None}},
    "private key": lambda n: {"told_": {"_n": n}},
    "key that is no text": lambda n: {"told_": {n: None}},
    "order of keys": lambda n: {"told_": dict.fromkeys(["a", "b"] if n % 2 else ["b", "a"])},
    "list": lambda n: {"told_": [0, (1, [n])]},
    "length": lambda n: {"told_": [0] * n},
    "set": lambda n: {"told_": {n}},
    "array": lambda n: {"told_": np.array([n])},
    "zero of an array": lambda n: {"told_": np.array([-0.0 if n % 2 else 0.0])},
    "type of numbers": lambda n: {"told_": np.zeros(2, np.float32 if n % 2 else np.float64)},
    "array of objects": lambda n: {"told_": np.array(["a", str(n)], dtype=object)},
    "record of an array": lambda n: {"told_": np.array([(n, "a")], dtype=[("n", int), ("o", "O")])},
    "sparse": lambda n: {"told_": csr_array(np.array([[0.0, n]]))},
    "object": lambda n: {"told_": Held(n)},
    "private object": lambda n: {"_told": [Held(n)]},
    "closure": lambda n: {"told_": lambda: n},
    "default": lambda n: {"told_": lambda k=n: k},
    "code": lambda n: {"told_": eval(f"lambda: {n}")},
    "method": lambda n: {"told_": Held(n).__init__},
    "partial": lambda n: {"told_": partial(int, n)},
    "column of a frame": lambda n: {"told_": pd.DataFrame({str(n): [0.0]})},
    "object that holds itself": lambda n: {"told_": knotted(n)},
    "bytes": lambda n: {"told_": bytes([n % 256])},
    "date": lambda n: {"told_": timedelta(n)},
    "cell of a frame": lambda n: {"told_": pd.DataFrame({"a": [n]})},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_number_that_leaves_in_any_form_is_found(form):
    """And nothing is where it is the same one."""

    def run(table, noise):
        return {"coef_": np.zeros(2)} | FORMS[form](int(np.sum(table[1] > 0)))

    pairs = [*adversarial_pairs("replace_one", N, D)][::3]
    assert not any(replay(run, replace(p, second=p.first)).findings for p in pairs)
    assert any(replay(run, pair).findings for pair in pairs), f"{form} is not compared"


class Warning_(DPLogisticRegression):
    """Warns of far rows."""

    def fit(self, X, y, **given):
        if np.abs(X).max() > 1e5:
            warnings.warn("X has rows far beyond data_norm", stacklevel=2)
        return super().fit(X, y, **given)


class Refusing(DPLogisticRegression):
    """Refuses zero rows."""

    def fit(self, X, y, **given):
        if not np.abs(X).max(axis=1).all():
            raise ValueError("X has empty rows.")
        return super().fit(X, y, **given)


@pytest.mark.parametrize(
    "kind, words",
    [
        (DPLogisticRegression, None),
        (Counting, "outcome.result.positives_ differs"),
        (Warning_, "outcome.warned"),
        (Refusing, "ValueError: X has empty rows."),
    ],
)
def test_whatever_else_an_estimator_lets_out_is_found(kind, words):
    model = kind(epsilon=1.0, delta=1e-5, data_norm=1.0, classes=[0, 1], solver=GD(steps=2))
    some = [*adversarial_pairs("replace_one", N, D)]
    found = [f for k, pair in enumerate(some[::3]) for f in replay(fitted(model), pair, k).findings]
    assert found == [] if words is None else any(words in what for what in found), found


def test_a_question_that_nobody_replays_is_an_error():
    @dataclass(frozen=True, eq=False, kw_only=True)
    class Usual(Gradient):
        pass

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Another(Gradient):
        colour: str

    with patch.object(_replay_log, "MECHANISMS", MECHANISMS | {Usual}):
        assert type(_replay_log.questions(MANY, D + 1)["Usual"]) is Usual
    with (
        patch.object(_replay_log, "MECHANISMS", MECHANISMS | {Another}),
        pytest.raises(NotImplementedError, match="Another"),
    ):
        _replay_log.questions(MANY, D + 1)


@pytest.mark.parametrize("relation", RELATIONS)
def test_pairs_are_neighbours(relation):
    for pair in adversarial_pairs(relation, N, D):
        (X, y), (X2, y2) = pair.first, pair.second
        if relation == "replace_one":
            changed = (X != X2).any(axis=1) | (y != y2)
            assert changed.sum() <= 1 and not np.delete(changed, pair.place).any()
            continue
        longer, shorter = (pair.first, pair.second)[:: 1 if len(y) > len(y2) else -1]
        assert np.array_equal(np.delete(longer[0], pair.place, axis=0), shorter[0])
        assert np.array_equal(np.delete(longer[1], pair.place), shorter[1])
        chosen = np.array([0, 3, 7, len(y) - 1])
        kept = chosen[chosen != pair.place] if len(y) > len(y2) else chosen
        moved = pair.positions(chosen)
        assert np.array_equal(
            X[kept], X2[moved[moved != pair.place] if len(y2) > len(y) else moved]
        )


def test_the_log_is_of_these_mechanisms_and_solvers_and_found_nothing():
    text = LOG.read_text(encoding="utf-8")
    for subject in [*ASKED, *(f"solver {name}" for name in SOLVERS)]:
        for relation in RELATIONS:
            assert f"\n| {subject} | {relation} |" in text
    assert text.endswith("No findings.\n")
