"""
Catch a mechanism that is broken
================================

A claim of privacy can be attacked: run the mechanism often on two neighbouring data sets, and learn
to tell its results apart. Here an honest sum is attacked, and a twin that adds half of the noise
that it claims.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp.audit import audit
from skdp.privacy import noise_multiplier

claimed, delta = 1.0, 0.05
noise = noise_multiplier(claimed, delta, neighbors="add_remove")
rng = np.random.default_rng()
neighbours = np.ones(10), np.ones(9)  # one person more, or fewer


def noisy_sum(values, share=1.0):
    """A sum of values of at most 1."""
    return values.sum() + share * noise * rng.normal()


# %%
# `audit` bounds epsilon from below, with confidence 0.999. More than was claimed refutes the claim;
# less proves nothing.

shares, bounds = [1.0, 0.8, 0.6, 0.5, 0.4, 0.3], []
for share in shares:
    found = audit(lambda data, s=share: noisy_sum(data, s), neighbours, delta, n_runs=20_000)
    bounds.append(found.epsilon)
    print(
        f"{share:.0%} of the noise: epsilon at least {found.epsilon:.2f}, refuted:",
        found.refutes(claimed),
    )

plt.bar([f"{share:.0%}" for share in shares], bounds)
plt.axhline(claimed, color="tab:red", label="claim")
plt.xlabel("noise that is really added")
plt.ylabel("epsilon, at least")
plt.legend()
plt.show()
