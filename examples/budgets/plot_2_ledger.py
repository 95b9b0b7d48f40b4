"""
One budget for a week of work
=============================

Every fit on the same people adds to what they have paid. A ledger in a file counts all of it, over
days and programs, and refuses before the budget is overdrawn.
"""

import tempfile

import matplotlib.pyplot as plt

import skdp
from skdp.datasets import make_census
from skdp.inspection import LedgerDisplay
from skdp.privacy import Ledger

X, y = make_census(10_000, return_X_y=True)
path = tempfile.mkdtemp() + "/clinic.db"
week = {"Monday": 0.3, "Tuesday": 0.3, "Wednesday": 0.5, "Thursday": 0.3, "Friday": 0.8}

# %%
# Each day opens the same file, as another program on another day would.

for day, epsilon in week.items():
    ledger = Ledger(1.0, 1e-6, path=path)
    model = skdp.DPLogisticRegression(
        epsilon=epsilon, delta=1e-6, data_norm=1.0, classes=[0, 1], solver="gd", ledger=ledger
    )
    try:
        model.fit(X, y)
    except skdp.BudgetExceeded as refusal:
        print(f"{day:>9}: refused. {refusal}")
    else:
        print(f"{day:>9}: {epsilon} paid, {ledger.spent:.3f} spent in all")

# %%
# Four fits of 0.3, 0.3, 0.5 and 0.3 do not cost 1.4: composition is kinder than addition.

print(Ledger(1.0, 1e-6, path=path).report())

# %%
LedgerDisplay.from_ledger(Ledger(1.0, 1e-6, path=path))
plt.show()
