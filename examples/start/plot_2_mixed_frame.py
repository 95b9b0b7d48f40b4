"""
A data frame with words and gaps
================================

`DPTableClassifier` takes a pandas frame and a declaration of its columns. It chooses the model by
public numbers, and the curve that it learnt for each column can be drawn at no further cost.
"""

# %%
# A generated census: numbers, words, and a tenth of the ages missing.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skdp import DPTableClassifier
from skdp.datasets import make_census

table = make_census(20_000)
frame = pd.DataFrame(dict(table.columns))
frame.loc[np.random.default_rng(0).random(len(frame)) < 0.1, "age"] = None
frame.head()

# %%
# What is declared: a range for a number, the values of a word. Nothing of this was read off the
# records.

for name in ["age", "capital_gain", "sex"]:
    print(name, table.declaration[name])

# %%
model = DPTableClassifier(table.declaration, epsilon=1.0, classes=[0, 1])
model.fit(frame, table.target)
print("model:", model.chosen_)
model.privacy_

# %%
# What each column adds to the log-odds of a high income. The curves are made of released
# coefficients, so drawing them costs nothing.

shapes = model.shape_functions()
numbers = ["age", "education_years", "hours_per_week", "commute_minutes"]
figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), sharey=True, layout="constrained")
for ax, name in zip(axes, numbers):
    ax.plot(*shapes[name])
    ax.set_xlabel(name.replace("_", " "))
axes[0].set_ylabel("added log-odds")
plt.show()
