"""Questions of private evaluation and search under attack: below the claim, and what breaks the claim is caught."""

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest
from audit.solver_audits import HalfTheNoise
from laws.vaults import vault
from laws.worst_pairs import cell_counts, mean_loss, rank_sum
from mechanisms.test_trials import best_of_all

from skdp.audit import audit
from skdp.mechanisms import BestColumn, CellCounts, Noise, Public, Records, best_of, state
from skdp.privacy import Ledger, epsilon
from skdp.privacy._runs import geometric_odds
from skdp.privacy.events import BestOf, Gaussian

RUNS = [3000, pytest.param(20_000, marks=pytest.mark.slow)]


@dataclass(frozen=True)
class Subject:
    """A mechanism, one that is broken, two neighbours, and what is claimed."""

    sound: Any
    broken: Any
    pair: tuple[Any, Any]
    claim: float
    delta: float


def _question(pair, relation, delta):
    """A registered question on a pair that shows much of a record; broken: with half of its noise."""
    question, one, other, _ = pair(relation)
    script = state([(question, 1)], one.public).script

    def runs(noise):
        seeds = count()
        return lambda records: np.atleast_1d(question.answer(records, noise(next(seeds))))

    claim = epsilon(script, delta, relation)
    return Subject(runs(Noise), runs(HalfTheNoise), (one, other), claim, delta)


def _many_columns(relation):
    """A record that loses by all columns but one, and by that one alone: what is chosen says more than of two."""
    question = BestColumn(unit=4.0, epsilon=2.0)
    first, rest = [[0.25] + 7 * [0.0]], [[0.0] + 7 * [0.25]]
    same = [[0.1] * 8]
    one, other = (vault(same + rows, [1, 1], relation) for rows in (first, rest))
    return question, one, other, None


def _best_of():
    """The best of a secret number of runs by their score; broken: the best of as many as there may be."""
    odds, sd = geometric_odds(2, 20), 1.0

    def runs(search):
        rng, noise = np.random.default_rng(0), Noise(seed=0)

        def one_run(at):
            score = at + sd * rng.normal()
            return score, np.array([score])

        return lambda at: search(lambda setting: one_run(at), (1,), odds, noise)

    script = ((BestOf((((Gaussian(sd), 1),),), (1.0,), mean=2, cap=20), 1),)
    claim = epsilon(script, 0.05, "add_remove")
    return Subject(runs(best_of), runs(best_of_all), (0.0, 1.0), claim, 0.05)


def _partition():
    """Two parts, each with a question; broken: parts by rank, where one record moves another."""
    question, delta = CellCounts(cells=3, multiplier=1.5), 0.1
    records = np.array([[0.4, 1], [0.3, 0], [0.6, 0], [0.7, 0]])
    public = Public(2, 1, 0.0, "replace_one", target_bound=2.0)
    changed = records.copy()
    changed[0] = 0.8, 2

    def runs(order):
        seeds = count()

        def run(table):
            halves = np.split(table[order(table)], 2)
            noise = Noise(next(seeds))
            vaults = [Records.admit(half[:, :1], half[:, 1], public, 1.0) for half in halves]
            return np.concatenate([question.answer(records, noise) for records in vaults])

        return run

    ledger = Ledger(20.0, delta)
    folds = ledger.partition(2)
    for fold in folds:
        folds[fold].reserve(state([(question, 1)], public).script)
    pair = records, changed
    by_place, by_rank = (lambda table: slice(None)), (lambda table: np.argsort(table[:, 0]))
    return Subject(runs(by_place), runs(by_rank), pair, ledger.spent, delta)


SUBJECTS = {
    "CellCounts": (_question, cell_counts.worst_pair, "replace_one", 0.1),
    "MeanLoss": (_question, mean_loss.worst_pair, "replace_one", 0.1),
    "MeanLoss, n private": (_question, mean_loss.worst_pair, "add_remove", 0.1),
    "RankSum": (_question, rank_sum.worst_pair, "replace_one", 0.1),
    "BestColumn": (_question, _many_columns, "replace_one", 0.0),
    "BestOf": (_best_of,),
    "partition": (_partition,),
}


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_the_claim_holds_and_its_twin_is_caught(name, runs):
    build, *given = SUBJECTS[name]
    subject = build(*given)
    honest = audit(subject.sound, subject.pair, subject.delta, runs)
    assert 0.2 * subject.claim < honest.epsilon <= subject.claim
    assert audit(subject.broken, subject.pair, subject.delta, runs).epsilon > subject.claim
