"""How often DP-EBM of interpret-core publishes the name of a category that one record of 20,000 has: at epsilon 0.1.

    <python with interpret-core> benchmarks/_ebm_names.py

A name can only be in a model whose fit has seen the record, so its share of fits is at most delta under any promise.
"""

import warnings

import numpy as np
from interpret.privacy import DPExplainableBoostingClassifier

N, FITS, EPSILON, DELTA = 20_000, 60, 0.1, 1e-8


def published(words, numbers, y, seed):
    """Whether the rare name is in the model."""
    model = DPExplainableBoostingClassifier(
        feature_names=["word", "number"],
        feature_types=["nominal", "continuous"],
        privacy_bounds={1: (0.0, 1.0)},
        epsilon=EPSILON,
        delta=DELTA,
        max_rounds=5,
        n_jobs=1,
        random_state=seed,
    )
    model.fit(np.column_stack([words, numbers.astype(object)]), y)
    return "rare" in str(model.bins_)


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    words = rng.choice(["a", "b", "c"], N).astype(object)
    numbers, y = rng.uniform(0, 1, N), rng.integers(0, 2, N)
    words[0] = "rare"
    told = sum(published(words, numbers, y, seed) for seed in range(FITS))
    print(f"{told} of {FITS} fits name it, epsilon {EPSILON}, delta {DELTA}")


if __name__ == "__main__":
    main()
