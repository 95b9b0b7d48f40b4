"""
What an epsilon is worth, and what it costs
===========================================

Before any record is touched, two questions can be answered: what could the best attack find out,
and how accurate will a model be? Both are drawn here over epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

import skdp

# %%
# The price: accuracy of fits on *generated* records with the columns that you declare, for two
# sizes of a table.

columns = {"age": [17, 90], "hours": [1, 99], "sex": ["female", "male"], "kind": list("abcdef")}
epsilons = (0.05, 0.1, 0.3, 1.0, 3.0, 10.0)
small, large = (skdp.simulate(columns, n, epsilons, repeats=4) for n in (1_000, 30_000))
print(large)

# %%
# The worth: of 100 people who are in the data, how many can an attacker name who is wrong about 5
# of 100 people who are not? Without any data: 5.

quotes = [skdp.DPLogisticRegression(epsilon=e, data_norm=1.0).quote(30_000, 10) for e in epsilons]
caught = [quote.risk().power[0.05] * 100 for quote in quotes]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for found, n in ((small, "1,000"), (large, "30,000")):
    left.errorbar(epsilons, found.accuracy.mean(1), found.accuracy.std(1), label=f"{n} records")
left.set_ylabel("accuracy on generated records")
left.legend()
right.plot(epsilons, caught, "o-", color="tab:red")
right.axhline(5, color="0.6", ls="--", label="without any data")
right.set_ylabel("at most so many of 100 people caught")
right.legend()
for ax in (left, right):
    ax.set_xscale("log")
    ax.set_xlabel("epsilon (delta = 1e-6)")
plt.show()
print(np.round(caught, 1))
