"""Regressors whose namesakes in scikit-learn call another number epsilon, which is the privacy budget here."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from ..fitting._parameters import Rule

__all__ = ["OtherEpsilon", "WithOtherEpsilon"]


class OtherEpsilon(NamedTuple):
    """What scikit-learn calls epsilon.

    Parameters
    ----------
    namesake : str
        The estimator of scikit-learn's.
    name : str
        What its epsilon is called here.
    low, high : float
        Between which it usually lies, where nobody promises a budget but by accident.
    """

    namesake: str
    name: str
    low: float
    high: float


class WithOtherEpsilon:
    """Of a regressor with such a namesake: it says so, where a script seems to mean the other epsilon."""

    epsilon: float
    _other: ClassVar[OtherEpsilon]

    def _clash(self) -> str:
        other = self._other
        return f"epsilon is the privacy budget here, and {other.name} is what {other.namesake} calls epsilon"

    def _rules(self) -> dict[str, Rule]:
        """Bounds are asked for first of a script whose import alone was changed."""
        rules: dict[str, Rule] = super()._rules()  # type: ignore[misc]
        of_both = {name: rules[name] for name in ("epsilon", "y_bounds")}
        return rules | {
            name: (lies, f"{told}; {self._clash()}") for name, (lies, told) in of_both.items()
        }

    def _doubts(self) -> Iterator[str]:
        """Where the other number was not written, this one may be meant for it."""
        yield from super()._doubts()  # type: ignore[misc]
        other, given = self._other, self.epsilon
        if getattr(self, other.name) is None and other.low < given < other.high:
            yield (
                f"epsilon={given:g} of {type(self).__name__}: {self._clash()}; write {other.name}=... beside it."
            )
