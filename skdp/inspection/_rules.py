"""Rules for scikit-learn's steps: which read no record in fit, which learn, and what to take instead.

Kinds are known by their exact names in scikit-learn: a subclass of somebody else's may do anything.

Verdicts of a check: of settings, of guarantees, and of the parameters that both depend on.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from sklearn.pipeline import Pipeline

from ..entry import read_cell
from ..privacy import Spec
from ..privacy._arithmetic import round_up
from ..privacy._risk import PROTECTS_NOBODY, share_caught
from ..privacy.receipt import Receipt

__all__ = [
    "ASSUMES",
    "FOREIGN",
    "LEARNS",
    "NOTHING",
    "PRIVATE",
    "PUBLIC",
    "UNKNOWN",
    "VOID",
    "Setting",
    "Verdict",
    "charges",
    "find_autologging",
    "find_code",
    "is_elementwise",
    "is_ours",
    "judge_foreign",
    "judge_guarantee",
    "judge_step",
    "kind_of",
    "may_be_sparse",
]


PRIVATE, PUBLIC = "private", "public"  # all is well
ASSUMES = "assumes"  # private where something holds that no declaration enforces
VOID = "void"  # it adds noise and has a receipt, and its parameters make the guarantee worthless
LEARNS, UNKNOWN = "learns", "unknown"  # without a receipt
NOTHING = (None, "passthrough", "drop", "deprecated")  # in the place of a step

Verdict = tuple[str, str]  # and why, in a few words


@dataclass(frozen=True)
class Setting:
    """Setting of a step in a pipeline, on which its verdict depends.

    Parameters
    ----------
    relations : frozenset of str
        Neighbouring relations of all steps that charge a budget.
    n : int or None
        Number of records, where it is public and was told.
    kept : bool
        Whether the step itself is what was fitted, and no copy of it: only then its receipt counts.
    finished : bool
        Whether the step's fit is over: it is frozen, or was fitted before.
    """

    relations: frozenset[str]
    n: int | None = None
    kept: bool = True
    finished: bool = False


def is_ours(thing: object) -> bool:
    """Tell whether an object's class is one of skdp itself, and no subclass from elsewhere."""
    return type(thing).__module__.split(".")[0] == "skdp"


LARGE_DELTA = 1e-3  # where the number of records is not known
_CODE = ("loss", "penalty", "scoring", "solver", "strategy")  # parameters that take objects


def charges(step: Any) -> bool:
    """Tell whether a step is an estimator of skdp that adds noise and charges a budget.

    Parameters
    ----------
    step : object
        Of a pipeline.
    """
    return is_ours(step) and hasattr(step, "quote")


def judge_guarantee(step: Any, setting: Setting) -> Verdict:
    """Judge a step that charges a budget by its parameters, and by its receipt where that counts.

    Parameters
    ----------
    step : estimator
        Of skdp.
    setting : Setting
        The number of records, and whether the step itself was fitted.
    """
    found = list(_complaints(step, setting))
    for verdict in (VOID, UNKNOWN, ASSUMES):
        if any(complaint[0] == verdict for complaint in found):
            return verdict, "; ".join(why for _, why in found)
    return PRIVATE, "charges the budget; see its receipt"


def _complaints(step: Any, setting: Setting) -> Iterator[Verdict]:
    """Yield one verdict for each thing that is wrong."""
    receipt = vars(step).get("privacy_") if setting.kept else None
    if not isinstance(receipt, Receipt):
        receipt = None
    n = setting.n if receipt is None or setting.n is not None else receipt.declared.get("n")
    if receipt is None or not setting.finished:  # else its receipt is all that counts
        yield from _of_numbers(_number(step, "epsilon"), _number(step, "delta"), n, "")
        if getattr(step, "random_state", None) is not None:
            yield VOID, "random_state is fixed, and whoever knows it subtracts the noise: use None"
    if receipt is not None:
        yield from _of_receipt(receipt, step, setting, n)
    own = [name for name in _CODE if _is_code(getattr(step, name, None))]
    if own:
        yield UNKNOWN, f"{own[0]} is code that is not of skdp: read it"
    if "classes" in step.get_params(deep=False) and step.classes is None:
        yield (
            ASSUMES,
            "takes the set of labels from y, so a rare label shows: declare classes=[...]",
        )


def _of_receipt(receipt: Receipt, step: Any, setting: Setting, n: Any) -> Iterator[Verdict]:
    """Yield verdicts on the receipt of the last fit, where the parameters do not give them already."""
    told = (receipt.epsilon, receipt.delta)
    same = told == (_number(step, "epsilon"), _number(step, "delta"))
    if setting.finished or not same:
        yield from _of_numbers(*told, n, "was fitted with ")
    if receipt.seeded and (setting.finished or getattr(step, "random_state", None) is None):
        yield VOID, "was fitted with a fixed seed, and whoever knows it subtracts the noise"
    if setting.finished and receipt.around:
        yield UNKNOWN, "was fitted behind or inside steps that its receipt does not cover"


def _of_numbers(
    epsilon: float | None, delta: float | None, n: Any, before: str
) -> Iterator[Verdict]:
    """Yield verdicts on epsilon and delta."""
    if epsilon is not None and math.isinf(epsilon):
        yield VOID, f"{before}epsilon=inf adds no noise, so nothing is private"
    elif epsilon is not None and _protects_nobody(epsilon, delta):
        yield VOID, f"{before}epsilon={round_up(epsilon)} protects nobody: take 10 or less"
    if delta is None:
        return
    if isinstance(n, int) and delta * n >= 1:
        yield (
            VOID,
            f"{before}delta={round_up(delta)} is 1/n or more at n={n}, which allows publishing a record: take far less",
        )
    elif not isinstance(n, int) and delta >= LARGE_DELTA:
        yield (
            VOID,
            f"{before}delta={round_up(delta)} allows publishing a record now and then: take 1e-6",
        )


def _protects_nobody(epsilon: float, delta: float | None) -> bool:
    """Tell whether the best attack finds nearly everybody; values that no fit takes are refused there."""
    if not epsilon > 0.0:
        return False
    known = LARGE_DELTA if delta is None or not 0.0 <= delta < 1.0 else delta
    return share_caught(Spec(epsilon, known, "replace_one")) >= PROTECTS_NOBODY


def _number(step: Any, name: str) -> float | None:
    """Return a parameter if it is a number; what is not one is refused in fit."""
    value = getattr(step, name, None)
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _is_code(value: Any) -> bool:
    """Tell whether a parameter's value is an object or a function from elsewhere."""
    return value is not None and not isinstance(value, str | float | int) and not is_ours(value)


_COPIES = (
    "lets one record enter several rows, and makes rows of others: fit on the records as they are"
)
_PICKS = "picks rows by other records: fit on the records as they are"
_CATEGORIES = "learns categories or means of the target: skdp.preprocessing.DeclaredEncoder"
_SCALES = "learns scales, cuts or what to put for missing values: skdp.preprocessing.TableEncoder"
_COLUMNS = "learns which columns to keep: keep all, or select by public knowledge"
_SEARCHES = "chooses by scores in the clear: skdp.model_selection.DPGridSearchCV"
_REDUCES = "weighs records by what it saw of them, fit after fit"
_CALIBRATES = "calibrates on labels in the clear"
_RESAMPLES = "takes a record into several fits, picked by private labels"
_GROUPS = (
    "fits models on rows that it picks by what they hold, so each number of rows shows a count"
)

# What a class does with records: its package, and its names there.
FOREIGN: dict[str, dict[str, str]] = {
    _COPIES: {
        "imblearn": "ADASYN BorderlineSMOTE KMeansSMOTE RandomOverSampler SMOTE SMOTEENN SMOTEN SMOTENC SMOTETomek "
        "SVMSMOTE"
    },
    _PICKS: {
        "imblearn": "AllKNN ClusterCentroids CondensedNearestNeighbour EditedNearestNeighbours "
        "InstanceHardnessThreshold NearMiss NeighbourhoodCleaningRule OneSidedSelection RandomUnderSampler "
        "RepeatedEditedNearestNeighbours TomekLinks",
        "feature_engine": "OutlierTrimmer",
        "sklego": "OutlierRemover",
    },
    _RESAMPLES: {
        "imblearn": "BalancedBaggingClassifier BalancedRandomForestClassifier EasyEnsembleClassifier RUSBoostClassifier"
    },
    _CATEGORIES: {
        "category_encoders": "BackwardDifferenceEncoder BaseNEncoder BinaryEncoder CatBoostEncoder CountEncoder "
        "GLMMEncoder GrayEncoder HelmertEncoder JamesSteinEncoder LeaveOneOutEncoder MEstimateEncoder OneHotEncoder "
        "OrdinalEncoder PolynomialEncoder QuantileEncoder RankHotEncoder SumEncoder SummaryEncoder TargetEncoder "
        "WOEEncoder",
        "feature_engine": "CountFrequencyEncoder DecisionTreeEncoder MeanEncoder OneHotEncoder OrdinalEncoder "
        "RareLabelEncoder StringSimilarityEncoder WoEEncoder",
        "skrub": "GapEncoder SimilarityEncoder StringEncoder TableVectorizer",
        "dask_ml": "Categorizer DummyEncoder OneHotEncoder OrdinalEncoder",
        "sklego": "IntervalEncoder",
    },
    _SCALES: {
        "feature_engine": "CategoricalImputer DecisionTreeDiscretiser EndTailImputer EqualFrequencyDiscretiser "
        "EqualWidthDiscretiser GeometricWidthDiscretiser MeanMedianImputer MeanNormalizationScaler RandomSampleImputer "
        "Winsorizer YeoJohnsonTransformer BoxCoxTransformer",
        "dask_ml": "MinMaxScaler PCA QuantileTransformer RobustScaler SimpleImputer StandardScaler TruncatedSVD",
        "skrub": "SquashingScaler",
        "sklego": "ColumnCapper InformationFilter OrthogonalTransformer",
        "mlxtend": "MeanCenterer PrincipalComponentAnalysis",
        "fairlearn": "CorrelationRemover PrototypeRepresentationLearner",
    },
    _COLUMNS: {
        "feature_engine": "DropConstantFeatures DropCorrelatedFeatures DropDuplicateFeatures DropHighPSIFeatures MRMR "
        "ProbeFeatureSelection RecursiveFeatureAddition RecursiveFeatureElimination SelectByInformationValue "
        "SelectByShuffling SelectBySingleFeaturePerformance SelectByTargetMeanPerformance SmartCorrelatedSelection",
        "skrub": "Cleaner DropSimilar DropUninformative",
        "sklego": "MaximumRelevanceMinimumRedundancy",
    },
    _SEARCHES: {
        "optuna_integration": "OptunaSearchCV",
        "optuna": "OptunaSearchCV",
        "skopt": "BayesSearchCV",
        "dask_ml": "GridSearchCV HyperbandSearchCV IncrementalSearchCV InverseDecaySearchCV RandomizedSearchCV "
        "SuccessiveHalvingSearchCV",
        "sklearn_genetic": "GAFeatureSelectionCV GASearchCV",
        "mlxtend": "ExhaustiveFeatureSelector SequentialFeatureSelector",
        "skrub": "OptunaParamSearch ParamSearch",
    },
    _REDUCES: {"fairlearn": "ExponentiatedGradient GridSearch"},
    _CALIBRATES: {
        "fairlearn": "ThresholdOptimizer",
        "mapie": "CrossConformalRegressor ConformalizedQuantileRegressor CrossConformalClassifier "
        "JackknifeAfterBootstrapRegressor MapieClassifier MapieRegressor SplitConformalClassifier "
        "SplitConformalRegressor TimeSeriesRegressor TopLabelCalibrator VennAbersCalibrator",
        "sklego": "ConfusionBalancer SubjectiveClassifier",
        "mlxtend": "StackingCVClassifier StackingCVRegressor",
    },
    _GROUPS: {
        "sklego": "GroupedClassifier GroupedPredictor GroupedRegressor GroupedTransformer HierarchicalClassifier "
        "HierarchicalPredictor HierarchicalRegressor ZeroInflatedRegressor"
    },
}
_WHY = {
    (package, name): why
    for why, packages in FOREIGN.items()
    for package, names in packages.items()
    for name in names.split()
}


def judge_foreign(step: Any) -> Verdict:
    """Judge a step that is neither of scikit-learn nor of skdp.

    Parameters
    ----------
    step : object
        Of a pipeline.
    """
    kind = type(step)
    why = _WHY.get((kind.__module__.split(".")[0], kind.__name__))
    if why is None:
        return UNKNOWN, "not of scikit-learn: read what its fit does with records"
    return LEARNS, why


def find_autologging() -> Verdict | None:
    """Tell whether MLflow, where a program uses it, writes scores of scikit-learn's fits to its store."""
    mlflow = sys.modules.get("mlflow.utils.autologging_utils")
    if mlflow is None or mlflow.autologging_is_disabled("sklearn"):
        return None
    return (
        LEARNS,
        "writes scores of the training records to its store: mlflow.sklearn.autolog(disable=True)",
    )


Rule = Callable[[Any], bool]

# Of scikit-learn: reads no record in fit, where this holds.
READS_NOTHING: dict[str, Rule] = {
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
    # Without keep_empty_features it drops a column of which every value is missing, and warns of it. Without a
    # fill_value it takes 0 or a word, by whether all cells of the column are numbers.
    "SimpleImputer": lambda step: (
        step.strategy == "constant"
        and not step.add_indicator
        and step.keep_empty_features
        and step.fill_value is not None
    ),
    "SkewedChi2Sampler": lambda step: True,
    "SparseRandomProjection": lambda step: step.n_components != "auto",
    "SplineTransformer": lambda step: not isinstance(step.knots, str),
    "TfidfTransformer": lambda step: not step.use_idf,
    "TfidfVectorizer": lambda step: step.vocabulary is not None and not step.use_idf,
}
# Products of matrices round a row by where it stands. Under add_remove a row moves when another one comes or goes.
ROUNDS_BY_PLACE = {"GaussianRandomProjection", "RBFSampler", "SkewedChi2Sampler"}
# How many entries of their rows are zero depends on the records.
GIVES_SPARSE = {
    "CountVectorizer",
    "FeatureHasher",
    "HashingVectorizer",
    "SparseRandomProjection",
    "TfidfTransformer",
    "TfidfVectorizer",
}
_ENCODERS = ("OneHotEncoder", "OrdinalEncoder")

# Functions that make names of columns or of categories out of such names, which are public.
_OF_NAMES = {"feature_name_combiner", "feature_names_out", "verbose_feature_names_out"}

BOUNDS = "declare bounds: skdp.preprocessing.BoundsScaler"
BY_TYPE = "maps a row by the type that a reader of files gave its column, which one cell changes"
VALUES = "declare the categories: skdp.preprocessing.DeclaredEncoder"
PAID = "skdp.preprocessing.DPImputer, or missing= of a declared encoder such as TableEncoder"
REMEDIES = {
    **dict.fromkeys(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"), BOUNDS),
    **dict.fromkeys(("QuantileTransformer", "PowerTransformer", "KBinsDiscretizer"), BOUNDS),
    **dict.fromkeys(("OneHotEncoder", "OrdinalEncoder", "TargetEncoder"), VALUES),
    **dict.fromkeys(("KNNImputer", "IterativeImputer"), PAID),
    "SimpleImputer": f"{PAID}, or strategy='constant' with fill_value and keep_empty_features=True",
    "CountVectorizer": "declare a vocabulary, or use HashingVectorizer",
    "TfidfVectorizer": "use HashingVectorizer",
    "SplineTransformer": "declare knots",
    "RBFSampler": "declare gamma",
    "PCA": "skdp.preprocessing.DPPCA",
}


def kind_of(step: Any) -> str | None:
    """Return the name of a step's class of scikit-learn, or None for anybody else's.

    A pipeline of skdp is one of scikit-learn that tells its last step what stands in front.
    """
    kind = type(step)
    if is_ours(step) and isinstance(step, Pipeline):
        return "Pipeline"
    return kind.__name__ if kind.__module__.split(".")[0] == "sklearn" else None


def judge_step(step: Any, setting: Setting) -> Verdict:
    """Judge a step of scikit-learn that holds no other one.

    Parameters
    ----------
    step : estimator
        Of scikit-learn.
    setting : Setting
        The neighbouring relations.
    """
    kind = kind_of(step) or ""
    if _goes_by_type(step):
        return UNKNOWN, BY_TYPE + (f": {VALUES}" if kind in _ENCODERS else "")
    rule = READS_NOTHING.get(kind)
    if rule is None or not rule(step):
        return LEARNS, REMEDIES.get(kind, "use what is public, or pay for it")
    if (name := find_code(step)) is not None:
        return UNKNOWN, f"{name} may look at all records at once: read it"
    if kind == "FunctionTransformer" and step.check_inverse and _is_two_way(step):
        return LEARNS, "warns by the records of a wrong inverse: check_inverse=False"
    if kind in ROUNDS_BY_PLACE and "add_remove" in setting.relations:
        return (
            UNKNOWN,
            "rounds a row by where it stands, which holds under neighbors='replace_one' only",
        )
    return PUBLIC, "reads no record in fit"


def find_code(step: Any) -> str | None:
    """Return the first parameter of a step of scikit-learn that is a function which may do anything.

    No function is run: what it does to made-up rows proves nothing.

    Parameters
    ----------
    step : estimator
        Of scikit-learn.
    """
    steered = bool(getattr(step, "kw_args", None) or getattr(step, "inv_kw_args", None))
    for name, value in step.get_params(deep=False).items():
        if not callable(value) or isinstance(value, type) or name in _OF_NAMES:
            continue
        if not (hasattr(value, "fit") or hasattr(value, "split")) and (
            steered or not is_elementwise(value)
        ):
            return name
    return None


def is_elementwise(function: Any) -> bool:
    """Tell whether a function is one of numpy's or SciPy's that take each number by itself, whatever its type.

    Parameters
    ----------
    function : callable
        Of which a ufunc made by `numpy.frompyfunc` is not known.
    """
    if not isinstance(function, np.ufunc) or function.signature is not None:
        return False
    # Integers may have a rule of their own (1/2 is 0, squares run over), and so has text (not "0" is False).
    if "l->l" in function.types or function is np.logical_not:
        return False
    own = (getattr(module, function.__name__, None) for module in (np, special))
    return (function.nin, function.nout) == (1, 1) and any(function is one for one in own)


def may_be_sparse(step: Any) -> bool:
    """Tell whether a step may give rows whose number of zeros depends on the records.

    Parameters
    ----------
    step : object
        A single one.
    """
    if kind_of(step) == "OneHotEncoder" and step.handle_unknown == "error":
        return False  # each row has one entry for each column
    return kind_of(step) in GIVES_SPARSE or bool(getattr(step, "sparse_output", False))


def _is_two_way(step: Any) -> bool:
    """Tell whether a FunctionTransformer has a function for each direction."""
    return step.func is not None and step.inverse_func is not None


def _declared(encoder: Any) -> bool:
    """Tell whether an encoder's categories are given, and none is dropped for being rare."""
    rare = (encoder.min_frequency, encoder.max_categories)
    return not isinstance(encoder.categories, str) and rare == (None, None)


def _goes_by_type(step: Any) -> bool:
    """Tell whether a step cuts off digits for whole numbers, or holds numbers against cells that may be text."""
    kind = kind_of(step)
    if kind in _ENCODERS and READS_NOTHING[kind](step):
        return not _are_words(step.categories)
    return kind == "AdditiveChi2Sampler"


def _are_words(categories: Any) -> bool:
    """Tell whether all categories are words, which no reader of files makes numbers or booleans of."""
    each = (value for values in categories for value in values)
    return all(isinstance(value, str) and isinstance(read_cell(value), str) for value in each)
