"""Honest and sabotaged fits for the one-run audit, and the truth that its bound is held against."""

import itertools
import math

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from skdp.fitting import prepare
from skdp.mechanisms import Noise, Oracle, Records
from skdp.privacy.ledger import Recorder


def run_with(model, share, seed=0):
    """A function from data to parameters: the fit of `model`, at this share of the noise that it paid for."""

    def run(data):
        X, y = data
        plan = model._plan(len(X), X.shape[1], {})
        budget = plan.budget(noise=share * prepare(plan).budget.noise)
        records = Records.admit(X, 2.0 * y - 1.0, plan.public, plan.data_norm)
        return plan.solver.solve(Oracle(records, Recorder(), Noise(seed)), plan.task, budget)

    return run


def largest_tail(correct, guesses, canaries, claims):
    """Over ALL mechanisms that keep every (epsilon, delta) of `claims`, and all guessers: a linear program.

    A guesser is a function of the release, so the release may as well be the guess. Variables: the law of the guess in
    each of the 2^m worlds, and by how much it passes exp(epsilon) times its neighbour's.
    """
    worlds = list(itertools.product((-1, 1), repeat=canaries))
    signs = list(itertools.product((-1, 0, 1), repeat=canaries))
    said = [t for t in signs if sum(map(abs, t)) == guesses]
    pairs = [
        (a, b)
        for a, b in itertools.permutations(range(len(worlds)), 2)
        if _turned(worlds, a, b) == 1
    ]
    laws, entries, limits = len(worlds) * len(said), [], []
    for k, ((epsilon, delta), (a, b)) in enumerate(itertools.product(claims, pairs)):
        passed = laws + k * len(said) + np.arange(len(said))
        for g, spare in enumerate(passed):
            row = {a * len(said) + g: 1.0, b * len(said) + g: -math.exp(epsilon), spare: -1.0}
            entries += [(len(limits), column, value) for column, value in row.items()]
            limits.append(0.0)
        entries += [(len(limits), column, 1.0) for column in passed]
        limits.append(delta)
    rows, columns, values = zip(*entries)
    size = laws + len(claims) * len(pairs) * len(said)
    upper = sp.csr_matrix((values, (rows, columns)), shape=(len(limits), size))
    whole = sp.kron(sp.eye(len(worlds)), np.ones((1, len(said))), format="csr")
    whole = sp.hstack([whole, sp.csr_matrix((len(worlds), size - laws))], format="csr")
    gain = np.zeros(size)
    for a, g in itertools.product(range(len(worlds)), range(len(said))):
        if sum(x == y for x, y in zip(worlds[a], said[g])) >= correct:
            gain[a * len(said) + g] = -1.0 / len(worlds)
    solved = linprog(gain, upper, limits, whole, np.ones(len(worlds)), method="highs")
    return -solved.fun


def _turned(worlds, a, b):
    return sum(x != y for x, y in zip(worlds[a], worlds[b]))
