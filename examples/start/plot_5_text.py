"""
Short texts
===========

A vocabulary that is learnt from the texts shows every rare word. `HashingVectorizer` has none: it
maps each text by itself into a row of norm 1, so a private estimator may stand behind it.
"""

import warnings

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

import skdp

rng = np.random.default_rng(0)
good, bad = ["great", "fine", "lovely", "works"], ["broken", "slow", "awful", "loud"]
plain = ["the", "a", "phone", "screen", "box", "arrived", "today", "with", "my"]
labels = rng.integers(0, 2, 4000)
texts = [" ".join(rng.choice(plain + 2 * (good if label else bad), 6)) for label in labels]
print(texts[0], "->", labels[0])

# %%
fit = skdp.DPLogisticRegression(epsilon=1.0, classes=[0, 1])
model = skdp.make_pipeline(HashingVectorizer(n_features=256), fit)
model.fit(texts[:3000], labels[:3000])
print("accuracy", model.score(texts[3000:], labels[3000:]))
print(skdp.check(model))

# %%
# With a learnt vocabulary the receipt of the last step is as good as before, and the whole is not
# private. `skdp.make_pipeline` warns, and `skdp.check` says why.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(skdp.check(skdp.make_pipeline(CountVectorizer(), fit)))
