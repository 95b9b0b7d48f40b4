"""
From a CSV file to a model in production
========================================

A clinic wants to publish a model that tells who is likely to come back within a year. Some people
have many visits in its file, and the promise is to be made to *people*, not to rows. This page goes
the whole way: file, declaration, price, fit, private score, receipt, and the model as other
programs take it.
"""

# %%
# The file
# --------
#
# The file has ages, words, gaps, and a column that says whose visit a row is. (It is generated
# here.)

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
n = 20_000
person = rng.integers(0, 8_000, n)
age = (18 + (person * 37) % 70).astype(object)
age[rng.random(n) < 0.03] = ""
ward = rng.choice(["surgery", "eye", "heart"], n)
days = rng.exponential(4, n).round(1)
log_odds = (ward == "heart") * 1.5 + days / 6 - 1.5
again = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
columns = {"person": person, "age": age, "ward": ward, "days": days, "again": again}
pd.DataFrame(columns).to_csv(folder / "visits.csv", index=False)

# %%
# Read everything as text. A reader that guesses the type of a column looks at all of its cells, and
# then one person's cell decides how everybody else's are read.

visits = pd.read_csv(folder / "visits.csv", dtype=str)
visits.head()

# %%
# Declare what is public
# ----------------------
#
# For each column: what you know *without looking at the file*. Nobody here is older than 110, wards
# have names, and a stay of more than 60 days counts as 60.

declared = {
    "age": [0, 110],
    "ward": ["eye", "heart", "surgery", "other"],
    "days": [0, 60, "symlog"],
}

# %%
# Ask the price
# -------------
#
# How many people came is private, too: ``neighbors="add_remove"`` protects whether somebody is in
# the file at all. A round number that everybody knows, ``n_public``, takes its place.
#
# The encoder maps every row into a ball of radius 1 by that declaration alone; it reads no record.
# The estimator behind it promises epsilon = 1 to each *person*, of whom at most 5 rows are used.
# The quote is free: it needs two public numbers, and no data.

import skdp
from skdp.preprocessing import TableEncoder

encoder = TableEncoder.from_declaration(declared, missing="indicator")
fit = skdp.DPLogisticRegression(
    epsilon=1.0,
    delta=1e-6,
    classes=["no", "yes"],
    max_rows_per_group=5,
    neighbors="add_remove",
    n_public=6_000,
)
model = skdp.make_pipeline(encoder, fit)
print(model[-1].quote(6_000, 10).statement())

# %%
# Fit, once
# ---------
#
# One person in five is kept aside, by the last digit of an id that says nothing else. A person is
# then in one of the parts, whoever the others are.

held = visits["person"].astype(int) % 5 == 0
train, test = visits[~held], visits[held]
model.fit(train, train["again"], dplogisticregression__groups=train["person"])
model[-1].privacy_

# %%
# How well could the best attack do that any theorem leaves possible?

import matplotlib.pyplot as plt

from skdp.inspection import TradeoffDisplay

TradeoffDisplay.from_estimator(model[-1])
plt.show()

# %%
# Does anything in the pipeline look at the data without paying?

print(skdp.check(model))

# %%
# A score that may be published
# -----------------------------
#
# Accuracy on held-out people is an exact function of their records. `dp_score` pays for it. Its
# unit is a row, so one visit of each person is scored: the first one that stands in the file. It
# takes encoded rows and the last step.

from skdp.metrics import dp_score

one_each = test.drop_duplicates("person")
rows = model[0].transform(one_each)
print(dp_score(model[-1], rows, one_each["again"], epsilon=0.5, neighbors="add_remove"))

# %%
# The fit and the score concern different people, so nobody pays for both.
#
# File the receipt
# ----------------
#
# The receipt is bound to the model: a changed model, or a changed claim, is refused.

from skdp.privacy import Receipt

receipt = model[-1].privacy_
(folder / "receipt.json").write_text(json.dumps(receipt.to_dict()))
filed = Receipt.from_dict(json.loads((folder / "receipt.json").read_text()))
print("verified:", filed.verify(model[-1]))

# %%
# Into production
# ---------------
#
# The model is an ordinary scikit-learn pipeline. `joblib` keeps it with its receipt.

import joblib

joblib.dump(model, folder / "model.joblib")
served = joblib.load(folder / "model.joblib")
print(served.predict_proba(test.head(3)).round(3), served[-1].privacy_.epsilon)

# %%
# Programs that know scikit-learn's classes by name (converters to ONNX or PMML, explainers) take
# `to_sklearn()`: a plain `LogisticRegression` with the released coefficients. It takes *encoded*
# rows. With `skl2onnx` installed, ``skl2onnx.to_onnx(plain, encoded[:1])`` makes an ONNX file of
# it.

plain = model[-1].to_sklearn()
encoded = model[0].transform(test.head(3))
print(type(plain).__name__, plain.predict_proba(encoded).round(3))

# %%
# What is left to you: keep the file of visits where it is, keep every fit on these people under one
# ledger (:ref:`sphx_glr_gallery_budgets_plot_2_ledger.py`), and tell readers what was taken as
# public.
