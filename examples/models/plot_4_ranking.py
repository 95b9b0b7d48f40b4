"""
Ranking documents
=================

`DPRanker` learns from judged lists. What is protected is a whole list, all lists of a person, or,
as here, how a judge graded the documents of a public catalogue.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp.ranking import DPRanker, ndcg

rng = np.random.default_rng(0)


def judged(lists, documents=8):
    """Documents, their grades 0 to 4, and the list that each is in."""
    X = rng.uniform(-0.5, 0.5, (lists * documents, 3))
    worth = X @ [2.0, 1.0, 0.0] + rng.normal(scale=0.3, size=len(X))
    return X, np.digitize(worth, [-0.5, 0.2, 0.7, 1.0]), np.repeat(np.arange(lists), documents)


X_test, y_test, q_test = judged(1000)
epsilons = [0.05, 0.1, 0.3, 1.0, 3.0]
for lists in (300, 3000):
    X, y, q = judged(lists)
    scores = []
    for epsilon in epsilons:
        model = DPRanker(epsilon=epsilon, privacy_unit="list_labels", data_norm=1.0)
        scores.append(ndcg(y_test, model.fit(X, y, qid=q).predict(X_test), qid=q_test, k=5))
    plt.plot(epsilons, scores, "o-", label=f"{lists} lists")
chance = ndcg(y_test, rng.normal(size=len(y_test)), qid=q_test, k=5)
plt.axhline(chance, color="0.6", ls="--", label="random order")
plt.xscale("log")
plt.xlabel("epsilon (delta = 1e-6)")
plt.ylabel("NDCG of the first 5")
plt.legend()
plt.show()
print(model.privacy_.unit)
