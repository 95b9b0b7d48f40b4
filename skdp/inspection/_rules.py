"""What is known of the steps of a pipeline: which read no record, which learn, which only hand records on.

Kinds are known by their exact names in scikit-learn: a subclass of somebody else's may do anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["HOLDS", "REPEATS", "SPOILS", "kind_of", "reads_nothing", "remedy", "rounds_by_place"]

Rule = Callable[[Any], bool]

# Of scikit-learn: reads no record in fit, where this holds.
PUBLIC: dict[str, Rule] = {
    "AdditiveChi2Sampler": lambda step: True,
    "Binarizer": lambda step: True,
    "CountVectorizer": lambda step: step.vocabulary is not None,
    "FeatureHasher": lambda step: True,
    "FunctionTransformer": lambda step: True,
    "GaussianRandomProjection": lambda step: step.n_components != "auto",
    "HashingVectorizer": lambda step: True,
    "MissingIndicator": lambda step: step.features == "all",
    "Normalizer": lambda step: True,
    "OneHotEncoder": lambda step: _declared(step) and step.drop is None,
    "OrdinalEncoder": lambda step: _declared(step),
    "PatchExtractor": lambda step: True,
    "PolynomialCountSketch": lambda step: True,
    "PolynomialFeatures": lambda step: True,
    "RBFSampler": lambda step: not isinstance(step.gamma, str),
    "SimpleImputer": lambda step: step.strategy == "constant" and not step.add_indicator,
    "SkewedChi2Sampler": lambda step: True,
    "SparseRandomProjection": lambda step: step.n_components != "auto",
    "SplineTransformer": lambda step: not isinstance(step.knots, str),
    "StandardScaler": lambda step: not (step.with_mean or step.with_std),
    "TfidfTransformer": lambda step: not step.use_idf,
    "TfidfVectorizer": lambda step: step.vocabulary is not None and not step.use_idf,
}
# Of these, they multiply the whole table at once: BLAS rounds a row by its place and by the number of rows, so that
# under add_remove one record more changes the bits of others. The others were measured to map each row by itself.
ROUND_BY_PLACE = {"GaussianRandomProjection", "RBFSampler", "SkewedChi2Sampler"}
# Of scikit-learn: records go on to the steps inside, each as it came.
HOLDS = {
    "ColumnTransformer",
    "FeatureUnion",
    "FixedThresholdClassifier",
    "FrozenEstimator",
    "Pipeline",
}
# These fit what is inside several times, and each fit pays.
REPEATS = {
    "ClassifierChain",
    "MultiOutputClassifier",
    "MultiOutputRegressor",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
    "RFE",
    "RegressorChain",
    "SelectFromModel",
    "StackingClassifier",
    "StackingRegressor",
    "TransformedTargetRegressor",
    "VotingClassifier",
    "VotingRegressor",
}
# And these add something that they learn in the clear.
SPOILS = {
    "AdaBoostClassifier": "weighs records by its errors on them",
    "AdaBoostRegressor": "weighs records by its errors on them",
    "BaggingClassifier": "takes a record into a fit several times",
    "BaggingRegressor": "takes a record into a fit several times",
    "CalibratedClassifierCV": "calibrates on labels in the clear",
    "GridSearchCV": "chooses by scores in the clear",
    "HalvingGridSearchCV": "chooses by scores in the clear",
    "HalvingRandomSearchCV": "chooses by scores in the clear",
    "RFECV": "chooses by scores in the clear",
    "RandomizedSearchCV": "chooses by scores in the clear",
    "SelfTrainingClassifier": "labels records by its own guesses",
    "SequentialFeatureSelector": "chooses by scores in the clear",
    "TunedThresholdClassifierCV": "chooses by scores in the clear",
}
BOUNDS = "declare bounds: skdp.preprocessing.BoundsScaler"
VALUES = "declare the categories: skdp.preprocessing.DeclaredEncoder"
REMEDIES = {
    **dict.fromkeys(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"), BOUNDS),
    **dict.fromkeys(("QuantileTransformer", "PowerTransformer", "KBinsDiscretizer"), BOUNDS),
    **dict.fromkeys(("OneHotEncoder", "OrdinalEncoder", "TargetEncoder"), VALUES),
    "SimpleImputer": "declare a constant: strategy='constant', or missing= of a declared scaler",
    "CountVectorizer": "declare a vocabulary, or use HashingVectorizer",
    "TfidfVectorizer": "use HashingVectorizer",
    "SplineTransformer": "declare knots",
    "RBFSampler": "declare gamma",
    "GridSearchCV": "choose on public or generated data",
    "RandomizedSearchCV": "choose on public or generated data",
}


def kind_of(step: Any) -> str | None:
    """Name of a step's class of scikit-learn, or None for anybody else's."""
    kind = type(step)
    return kind.__name__ if kind.__module__.split(".")[0] == "sklearn" else None


def reads_nothing(step: Any) -> bool:
    """Whether a step of scikit-learn is known to read no record in fit."""
    rule = PUBLIC.get(kind_of(step) or "")
    return rule is not None and rule(step)


def rounds_by_place(step: Any) -> bool:
    """Whether a step of scikit-learn gives a row other bits where the table has a row more."""
    return kind_of(step) in ROUND_BY_PLACE


def remedy(step: Any) -> str:
    """What to take instead of a step that learns."""
    return REMEDIES.get(kind_of(step) or "", "use what is public, or pay for it")


def _declared(encoder: Any) -> bool:
    """Whether an encoder's categories are given, and none is dropped for being rare."""
    rare = (encoder.min_frequency, encoder.max_categories)
    return not isinstance(encoder.categories, str) and rare == (None, None)
