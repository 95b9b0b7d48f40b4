"""scikit-learn's bases, as mypy is to see them.

They have no types, and below a base of unknown type mypy takes any keyword of a constructor that is made of fields.
"""

from collections.abc import Callable
from typing import Any, Self, TypeVar

MYPY = False  # which mypy takes for true
Method = TypeVar("Method", bound=Callable[..., Any])

if MYPY:

    class BaseEstimator:
        """Methods of scikit-learn's BaseEstimator that this library and its users call."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...
        def __sklearn_clone__(self) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """Marks a classifier; those of skdp have scores."""

        def decision_function(self, X: Any) -> Any: ...

    class RegressorMixin:
        """Marks a regressor."""

    class TransformerMixin:
        """Marks a transformer."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class OneToOneFeatureMixin:
        """Mixin of transformers whose columns keep their names."""

        def get_feature_names_out(self, input_features: Any = None) -> Any: ...

    class CallbackSupportMixin:
        """Mixin of estimators that report the progress of a fit to callbacks."""

        def set_callbacks(self, *callbacks: Any) -> Self: ...
        def _init_callback_context(self, *, max_subtasks: int | None) -> Any: ...

    def with_callbacks(method: Method) -> Method:
        """A method after which callbacks are let go of, however it ends."""
        ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
    )

    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # before 1.9

        class CallbackSupportMixin:
            """Stand-in for scikit-learn before 1.9, whose estimators take no callbacks."""

        def with_callbacks(method: Method) -> Method:
            """The method itself."""
            return method


__all__ = [
    "BaseEstimator",
    "CallbackSupportMixin",
    "ClassifierMixin",
    "OneToOneFeatureMixin",
    "RegressorMixin",
    "TransformerMixin",
    "with_callbacks",
]
