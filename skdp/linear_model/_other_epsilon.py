"""Regressors whose namesakes in scikit-learn call another number epsilon, which is the privacy budget here."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from ..fitting._parameters import Rule

__all__ = ["OtherEpsilon", "WithOtherEpsilon"]


class OtherEpsilon(NamedTuple):
    """Parameter of scikit-learn that is called epsilon there, and has another name here.

    Parameters
    ----------
    namesake : str
        The estimator of scikit-learn's.
    name : str
        What its epsilon is called here.
    low, high : float
        Usual range of scikit-learn's epsilon, in which a privacy budget seldom lies.
    """

    namesake: str
    name: str
    low: float
    high: float


class WithOtherEpsilon:
    """Mixin of a regressor whose namesake in scikit-learn has another epsilon: it warns if that one seems meant."""

    epsilon: float
    _other: ClassVar[OtherEpsilon]

    def _clash(self) -> str:
        other = self._other
        return f"epsilon is the privacy budget here, and {other.name} is what {other.namesake} calls epsilon"

    def _rules(self) -> dict[str, Rule]:
        """Return rules that name the other epsilon; y_bounds comes first for scripts whose import alone was changed."""
        rules: dict[str, Rule] = super()._rules()  # type: ignore[misc]
        of_both = {name: rules[name] for name in ("epsilon", "y_bounds")}
        return rules | {
            name: (lies, f"{told}; {self._clash()}") for name, (lies, told) in of_both.items()
        }

    def _doubts(self) -> Iterator[str]:
        """Warn if epsilon lies in the range of the other number, and the other number was not given."""
        yield from super()._doubts()  # type: ignore[misc]
        other, given = self._other, self.epsilon
        if getattr(self, other.name) is None and other.low < given < other.high:
            yield (
                f"epsilon={given:g} of {type(self).__name__}: {self._clash()}; write {other.name}=... beside it."
            )
