"""Lower bound on epsilon at a confidence: the result of every attack."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LowerBound"]


@dataclass(frozen=True)
class LowerBound:
    """Lower bound on epsilon that an attack has shown; subclasses add the evidence.

    Parameters
    ----------
    epsilon : float
        Any smaller claim is false, at the stated confidence.
    delta : float
        The delta that was granted.
    confidence : float
        Probability with which the bound holds.
    """

    epsilon: float
    delta: float
    confidence: float

    def refutes(self, epsilon: float) -> bool:
        """Return True if a claim of this epsilon, at the same delta, is refuted.

        Parameters
        ----------
        epsilon : float
            The claim.

        Returns
        -------
        bool
            True where more was found than the claim allows.
        """
        return self.epsilon > epsilon
