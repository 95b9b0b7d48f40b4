"""
Bounds that are too wide, and heavy tails
=========================================

A bound has to be known without the data, so people choose generous ones. For most columns a factor
of two costs nothing that can be seen. For incomes and the like, where a few are a thousand times
the rest, say ``"symlog"``.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import skdp
from skdp.preprocessing import TableEncoder

rng = np.random.default_rng(0)
n = 20_000
income = rng.lognormal(10, 1, n)
age = rng.uniform(18, 90, n)
frame = pd.DataFrame({"income": income, "age": age})
log_odds = 1.5 * (np.log(income) - 10) + (age - 54) / 20
label = (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)

# %%
# The same column, declared with upper ends from 100,000 to 100 million, as it is and with "symlog".

tops = [1e5, 1e6, 1e7, 1e8]
for scale in ("linear", "symlog"):
    scores = []
    for top in tops:
        encoder = TableEncoder({"income": [0, top, scale], "age": [18, 90]})
        fit = skdp.DPLogisticRegression(epsilon=1.0, classes=[0, 1])
        model = skdp.make_pipeline(encoder, fit).fit(frame[:15_000], label[:15_000])
        scores.append(model.score(frame[15_000:], label[15_000:]))
    print(scale, np.round(scores, 3))
    plt.semilogx(tops, scores, "o-", label=scale)
plt.xlabel("declared upper end of the income")
plt.ylabel("accuracy at epsilon = 1")
plt.legend()
plt.show()
