"""Known classes of other libraries, by package and name: none of them is imported.

Packages move their modules about, so a class is known by the first part of its module and by its own name.
"""

from __future__ import annotations

import sys
from typing import Any

from ._verdicts import LEARNS, UNKNOWN, Verdict

__all__ = ["FOREIGN", "find_autologging", "judge_foreign"]

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
