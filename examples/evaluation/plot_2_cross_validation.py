"""
Cross-validation, with and without a price
==========================================

scikit-learn's `cross_val_score` shows exact scores: they are for whoever may see the data, and the
fits have to be paid for. `dp_cross_val_score` makes the whole thing one private release.
"""

from sklearn.model_selection import cross_val_score

import skdp
from skdp.datasets import make_census
from skdp.model_selection import dp_cross_val_score

X, y = make_census(10_000, return_X_y=True)
model = skdp.DPLogisticRegression(
    epsilon=0.5, delta=1e-6, data_norm=1.0, classes=[0, 1], solver="gd"
)

# %%
# Within a budget, all fits of scikit-learn's function are counted. The scores themselves stay
# inside.

with skdp.budget(epsilon=3, delta=1e-5, fits=5) as ledger:
    scores = cross_val_score(model, X, y, cv=5)
print("five fits cost epsilon =", round(ledger.spent, 3))

# %%
# A score that may leave. Records are divided by position, so that a changed record stays in its
# part; each record then trains one of two models and is scored by the other.

found = dp_cross_val_score(model, X, y, cv=2, epsilon=0.5)
print(found)
print("all of it:", found.privacy.epsilon)
