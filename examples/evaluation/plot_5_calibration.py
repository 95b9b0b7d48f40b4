"""
Probabilities that mean what they say
=====================================

Noise in many weights makes scores too large or too small. A twentieth of the budget or less buys a
mend: ``calibrate``. The curve of rates by probability, measured privately on held-out records,
shows whether it worked.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp.metrics import dp_calibration_curve
from skdp.neural_network import DPMLPClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (20_000, 6))
y = (rng.random(len(X)) < 1 / (1 + np.exp(-5 * X[:, 0] - 12 * X[:, 1] * X[:, 2]))).astype(int)

for calibrate in (False, True):
    model = DPMLPClassifier(
        epsilon=0.5, hidden_layer_sizes=(40,), data_norm=1.3, classes=[0, 1], calibrate=calibrate
    ).fit(X[:15_000], y[:15_000])
    curve = dp_calibration_curve(model, X[15_000:], y[15_000:], epsilon=1.0)
    middle = [(low + high) / 2 for low, high, _ in curve]
    rate = np.array([estimate.value for *_, estimate in curve])
    ends = np.array([(estimate.low, estimate.high) for *_, estimate in curve]).T
    bars = np.clip([rate - ends[0], ends[1] - rate], 0, None)
    plt.errorbar(middle, rate, bars, fmt="o-", capsize=3, label=f"calibrate={calibrate}")
plt.plot([0, 1], [0, 1], "--", color="0.6")
plt.xlabel("probability that the model gives")
plt.ylabel("rate among held-out records, privately")
plt.legend()
plt.show()
