"""Private ranking on MQ2008 (LETOR 4.0, Qin and Liu 2013): five folds, three parts for training, one for the test.

Labels of public documents (one-shot ListNet, PrivBR) beside whole lists (clipped BayesRank, ListNet, ListMLE), and no
privacy. First by epsilon with linear scores and the defaults of the library, then at the noise of Chen (2020,
dissertation, chapter 6), with linear scores and with the network of 256 hidden units that is used there: batches of 10
lists, 400 steps, deviation of the noise over the sensitivity 1.5, 2, 3 and 4, which Figure 6.2 prints for MQ2008 as an
epsilon of .972 to 2.301. What it is here stands beside it: each of a list's vectors is bounded, so labels move a sum
by two bounds, and the price is that of a Poisson batch where one list's labels are replaced.

Bounds of norms are taken from the documents. No default was chosen by these figures.
"""

import argparse
import csv
import warnings
from itertools import product
from os import environ
from pathlib import Path

import numpy as np
from _quick import RESULTS, few
from sklearn.datasets import load_svmlight_file

from skdp import PrivacyWarning
from skdp.losses import BayesRank
from skdp.privacy import accountants, events
from skdp.ranking import DPRanker, average_precision, ndcg
from skdp.solvers import SGD

DATA = Path(environ.get("SKDP_DATA", "data")) / "mq2008"
DELTA, EPSILONS, SEEDS = 1e-4, few((0.2, 0.5, 1.0, 2.0), (2.0,)), few(2, 1)
NOISES = few((1.5, 2.0, 3.0, 4.0), (1.5,))  # that Figure 6.2 prints for MQ2008
FOLDS = few(5, 2)
BATCH, STEPS, UNITS, PLACES = 10, few(400, 5), few(256, 4), (1, 2, 4, 8)
FULL = BayesRank(kept=False)
METHODS = {
    "one-shot": {"privacy_unit": "list_labels", "loss": "listnet"},
    "PrivBR": {"privacy_unit": "list_labels", "loss": "bayesrank"},
    "clipped BayesRank": {"privacy_unit": "list", "loss": FULL},
    "clipped ListNet": {"privacy_unit": "list", "loss": "listnet"},
    "clipped ListMLE": {"privacy_unit": "list", "loss": "listmle"},
}
CLIPPED = [name for name in METHODS if name.startswith("clipped")]
FIGURES = ("MAP", *(f"NDCG@{k}" for k in PLACES))


def part(number):
    """Documents, grades and ids of one of the five parts, list after list."""
    X, y, qid = load_svmlight_file(str(DATA / f"S{number}.txt.gz"), n_features=46, query_id=True)
    order = np.argsort(qid, kind="stable")
    return X.toarray()[order], y[order].astype(int), qid[order]


def folds():
    """(training, test) of the five folds."""
    parts = [part(number) for number in range(1, 6)]
    for first in range(FOLDS):
        chosen = [parts[(first + i) % 5] for i in range(3)]
        yield [np.concatenate(column) for column in zip(*chosen)], parts[(first + 4) % 5]


def figures(model, test):
    """All figures of one fit."""
    X, y, qid = test
    scores = model.predict(X)
    found = [ndcg(y, scores, qid=qid, k=k) for k in PLACES]
    return [average_precision(y, scores, qid=qid), *found]


def run(given, epsilon, seeds, **more):
    """Figures by fold, averaged over seeds."""
    found = []
    for (X, y, qid), test in folds():
        norm = float(np.linalg.norm(X, axis=1).max())
        fits = [
            DPRanker(
                epsilon=epsilon, delta=DELTA, data_norm=norm, random_state=seed, **given, **more
            )
            for seed in range(seeds)
        ]
        found.append(np.mean([figures(fit.fit(X, y, qid=qid), test) for fit in fits], axis=0))
    return np.array(found)


def epsilon_of(noise, lists):
    """What 400 batches of 10 lists cost at this noise over the distance of two labels' vectors."""
    event = events.PoissonGaussian(2.0 * noise, BATCH / lists)
    return accountants.epsilon(((event, STEPS),), DELTA, "replace_one")


def told(rows, name, epsilon, setting, found):
    """Write down means over folds and their standard errors."""
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    rows.append([setting, name, f"{epsilon:.4g}", *np.round(mean, 4), *np.round(error, 4)])
    print(f"{setting:20} {name:18} {epsilon:6.3g} ", " ".join(f"{m:.4f}" for m in mean), flush=True)


def compared(by_name):
    """The better private method less the best clipped one, paired over folds: mean and standard error."""
    for at, figure in ((0, "MAP"), (4, "NDCG@8")):
        named = [name for name in ("one-shot", "PrivBR") if name in by_name]
        best = max(named, key=lambda name: by_name[name][:, at].mean())
        rival = max(CLIPPED, key=lambda name: by_name[name][:, at].mean())
        gap = by_name[best][:, at] - by_name[rival][:, at]
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        print(f"    {figure}: {best} - {rival} = {gap.mean():+.4f} +- {error:.4f}", flush=True)


def by_epsilon(rows):
    """No privacy, and the defaults of the library."""
    for name, given in METHODS.items():
        told(rows, name, np.inf, "no privacy", run(given, np.inf, 1))
    for epsilon in EPSILONS:
        by_name = {name: run(given, epsilon, SEEDS) for name, given in METHODS.items()}
        for name, found in by_name.items():
            told(rows, name, epsilon, "defaults", found)
        compared(by_name)


def by_noise(rows):
    """Batches, steps, noise and scorer as published, and linear scores."""
    lists = int(np.mean([len(np.unique(train[2])) for train, _ in folds()]))
    solver = SGD(batch_size=BATCH, steps=STEPS, averaging=False)
    known = {row[0] for row in rows}
    for units, noise in product(((), (UNITS,)), (*NOISES, 0.0)):
        setting = f"noise {noise:g}, {len(units)} hidden"
        if setting in known:
            continue
        epsilon = epsilon_of(noise, lists) if noise else np.inf
        more = {"solver": solver, "hidden_layer_sizes": units}
        by_name = {
            name: run(given, epsilon, SEEDS, **more)
            for name, given in METHODS.items()
            if name != "one-shot"
        }
        for name, found in by_name.items():
            told(rows, name, epsilon, setting, found)
        compared(by_name)
        write("noise", rows)


PARTS = {"epsilon": by_epsilon, "noise": by_noise}


def read(name):
    """Return the lines of an earlier run, its head first."""
    with open(RESULTS / f"ranking_{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write(name, rows):
    """Write what has been run so far."""
    with open(RESULTS / f"ranking_{name}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def main():
    """Run the parts that are named, or all; each writes a file of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--resume", action="store_true", help="keep the noises that were run")
    given = parser.parse_args()
    warnings.simplefilter("ignore", PrivacyWarning)
    head = ["setting", "method", "epsilon", *FIGURES, *(f"error of {f}" for f in FIGURES)]
    for name in given.parts or PARTS:
        rows = read(name) if given.resume else [head]
        PARTS[name](rows)
        write(name, rows)


if __name__ == "__main__":
    main()
