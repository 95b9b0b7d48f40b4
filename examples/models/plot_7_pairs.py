"""
Two columns that say something together
=======================================

An additive model is a sum of curves. Where you know of a pair that belongs together, declare it:
``interactions``. Which pair it is must not come from the records.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skdp import DPTableRegressor

rng = np.random.default_rng(0)
n = 20_000
frame = pd.DataFrame({"hour": rng.uniform(0, 24, n), "weekday": rng.choice(list("wh"), n)})
morning = np.exp(-(((frame["hour"] - 8) / 1.5) ** 2))
noon = np.exp(-(((frame["hour"] - 14) / 4) ** 2))
rides = 100 + 400 * np.where(frame["weekday"] == "w", morning, noon) + rng.normal(0, 40, n)
declared = {"hour": [0, 24], "weekday": ["w", "h"], "rides": [0, 800]}

hours = np.linspace(0, 24, 100)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for ax, pairs in zip(axes, ((), [("hour", "weekday")])):
    columns = {name: declared[name] for name in ("hour", "weekday")}
    model = DPTableRegressor(
        columns, epsilon=1.0, y_bounds=(0, 800), model="curves", interactions=pairs
    )
    model.fit(frame[:15_000], rides[:15_000])
    print(pairs, "R2", round(model.score(frame[15_000:], rides[15_000:]), 3))
    for day, name in (("w", "working day"), ("h", "holiday")):
        at = pd.DataFrame({"hour": hours, "weekday": day})
        ax.plot(hours, model.predict(at), label=name)
    ax.set_title("hour and weekday as a pair" if pairs else "no pair")
    ax.set_xlabel("hour")
axes[0].set_ylabel("rides, predicted")
axes[0].legend()
plt.show()
