"""
An audit that needs one fit
===========================

Put records into the table whose labels are coins (*canaries*), fit once, and guess the coins by the
model. More right guesses than a promise allows refute it. Here a fit is audited, and one without
noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPLogisticRegression
from skdp.audit import audit_one_run, linear_canaries, released_by
from skdp.solvers import GD

epsilons, bounds = [1.0, 2.0, 4.0, 8.0], []
given = {"delta": 1e-5, "data_norm": 1.0, "classes": [0, 1], "penalty": None}
for epsilon in epsilons:
    model = DPLogisticRegression(
        epsilon=epsilon, solver=GD(steps=1), fit_intercept=False, calibrate=False, **given
    )
    found = audit_one_run(released_by(model), linear_canaries(1000), delta=1e-5)
    bounds.append(found.epsilon)
    print(f"claim {epsilon}: epsilon is at least {found.epsilon:.2f}")

# %%
bare = DPLogisticRegression(
    epsilon=np.inf, solver=GD(steps=1), fit_intercept=False, calibrate=False, **given
)
nothing = audit_one_run(released_by(bare), linear_canaries(1000), delta=1e-5).epsilon
print(f"without noise: at least {nothing:.2f}")
plt.plot(epsilons, epsilons, "--", color="0.6", label="the claim")
plt.plot(epsilons, bounds, "o-", label="found by the audit")
plt.axhline(nothing, color="tab:red", label="found without noise")
plt.xlabel("epsilon that is claimed")
plt.ylabel("epsilon, at least")
plt.legend()
plt.show()
