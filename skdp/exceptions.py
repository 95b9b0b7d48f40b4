"""Exceptions and warnings of skdp: every message names the value and the remedy, never a private fact."""

__all__ = ["BudgetExceeded", "NotSupported", "OffScript", "PrivacyWarning"]


class BudgetExceeded(RuntimeError):
    """Error: a release would cost more than what is left; nothing was touched and nothing was drawn.

    See Also
    --------
    skdp.privacy.Ledger : A budget that several fits share.

    Examples
    --------
    >>> from skdp import BudgetExceeded
    >>> from skdp.privacy import Ledger
    >>> from skdp.privacy.events import PureDP
    >>> ledger = Ledger(1.0, 0.0)
    >>> ledger.reserve(((PureDP(0.7), 1),))
    >>> try:
    ...     ledger.reserve(((PureDP(0.7), 1),))
    ... except BudgetExceeded:
    ...     print(ledger.spent)  # as before
    0.7
    """


class OffScript(RuntimeError):
    """A solver asked a question that is not the next one of the script that was priced.

    See Also
    --------
    skdp.privacy.calibrate : Prices the script beforehand.

    Examples
    --------
    >>> from skdp import OffScript
    >>> from skdp.privacy import Spec
    >>> from skdp.privacy.events import Gaussian
    >>> from skdp.privacy.ledger import Scripted
    >>> account = Scripted(Spec(2.0, 1e-6), ((Gaussian(10.0), 2),))
    >>> try:
    ...     account.charge(Gaussian(9.0))  # less noise than was priced
    ... except OffScript:
    ...     print("refused")
    refused
    """


class NotSupported(ValueError):
    """Error: skdp cannot prove this combination private, or does not support it yet; the message names an alternative.

    Examples
    --------
    >>> from skdp import DPLogisticRegression, NotSupported
    >>> model = DPLogisticRegression(epsilon=1.0, delta=0.0, solver="gd", data_norm=1.0)
    >>> try:
    ...     model.quote(1000, 5)
    ... except NotSupported as refusal:
    ...     print("delta" in str(refusal))  # the message says what would work
    True
    """


class PrivacyWarning(UserWarning):
    """The guarantee holds for less than one may think: a fixed seed, undeclared classes, little noise or too much.

    Examples
    --------
    In production, let it be an error:

    >>> import warnings
    >>> from skdp import DPLogisticRegression, PrivacyWarning
    >>> from skdp.datasets import make_census
    >>> X, y = make_census(n_samples=500, return_X_y=True)
    >>> model = DPLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=1.0)  # no classes declared
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PrivacyWarning)
    ...     try:
    ...         model.fit(X, y)
    ...     except PrivacyWarning:
    ...         print("nothing was fitted")
    nothing was fitted
    """
