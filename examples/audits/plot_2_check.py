"""
Is the whole pipeline private?
==============================

The receipt of an estimator covers its own fit. A scaler, a vocabulary or a search around it may
look at the data without paying. `skdp.check` looks at every step.
"""

import warnings

from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import skdp
from skdp.preprocessing import TableEncoder

fit = skdp.DPLogisticRegression(epsilon=1.0, classes=["low", "high"])

# %%
# As most people would write it:

columns = ColumnTransformer(
    [("scale", StandardScaler(), ["age"]), ("encode", OneHotEncoder(), ["sex"])]
)
print(skdp.check(make_pipeline(columns, fit)))

# %%
# With declared columns instead of learnt ones:

encoder = TableEncoder({"age": [17, 90], "sex": ["female", "male"]})
print(skdp.check(skdp.make_pipeline(encoder, fit)))

# %%
# A search chooses by exact scores:

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(skdp.check(GridSearchCV(skdp.make_pipeline(encoder, fit), {})))

# %%
# And parameters count: a fixed seed undoes the noise for whoever knows it.

print(skdp.check(skdp.DPLogisticRegression(random_state=0, classes=[0, 1])))
