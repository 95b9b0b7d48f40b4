"""
A line, curves or a network?
============================

`DPTableClassifier` decides by public numbers where these are enough. Here all of its models are
fitted to two generated tables: in one, columns add up; in the other, they say something only
together.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPTableClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (16_000, 4))
chance = rng.logistic(size=len(X))
tables = {
    "columns add up": chance < 5 * np.sin(3 * X[:, 0]) + 3 * X[:, 1] ** 2 - 1,
    "products of columns": chance < 8 * X[:, 0] * X[:, 1] + X[:, 2],
}
models = ["line", "curves", "random_features", "network", "auto"]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for ax, (name, y) in zip(axes, tables.items()):
    scores = []
    for word in models:
        model = DPTableClassifier((-1, 1), epsilon=3.0, classes=[False, True], model=word)
        model.fit(X[:12_000], y[:12_000])
        scores.append(model.score(X[12_000:], y[12_000:]))
    print(f"{name}: auto took {model.chosen_!r}")
    ax.bar([word.replace("_", "\n") for word in models], scores)
    ax.set_title(name)
    ax.set_ylim(0.45, 0.95)
axes[0].set_ylabel("accuracy at epsilon = 3")
plt.show()

# %%
# No public number tells that only products count, and 12,000 records are too few for "auto" to pay
# for the question. Where you know of products, name ``"network"`` or ``"mixture"``.
#
# Each model here costs epsilon = 3 by itself. To choose among them by their scores on private
# records, pay for the choice: :ref:`sphx_glr_gallery_evaluation_plot_3_private_search.py`.
