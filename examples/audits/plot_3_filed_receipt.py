"""
Check a filed receipt
=====================

A receipt says what a fit released, which theorem priced it, and which model came of it. Whoever
gets both can check them without the data. Its digest finds accidents and careless edits. Against
somebody who writes a new receipt from scratch take a signature: `Receipt.sign`.
"""

import json

import numpy as np

from skdp import DPLogisticRegression
from skdp.privacy import Receipt

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (2000, 3))
model = DPLogisticRegression(data_norm=1.0, classes=[0, 1]).fit(X, (X[:, 0] > 0).astype(int))
filed = json.dumps(model.privacy_.to_dict())
print(len(filed), "characters; verified:", Receipt.from_dict(json.loads(filed)).verify(model))

# %%
# A smaller epsilon typed into the file:

edited = {**json.loads(filed), "epsilon": 0.1}
try:
    Receipt.from_dict(edited)
except ValueError as refusal:
    print("refused:", refusal)

# %%
# Another model under the same receipt:

model.coef_[0, 0] += 1e-12
receipt = Receipt.from_dict(json.loads(filed))
print(receipt.verify(model), receipt.complaints(model))
