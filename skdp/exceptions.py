"""What skdp raises and warns: every message names the value and the remedy, never a private fact."""

__all__ = ["BudgetExceeded", "NotSupported", "OffScript", "PrivacyWarning"]


class BudgetExceeded(RuntimeError):
    """A release would cost more than what is left; nothing was touched and nothing was drawn."""


class OffScript(RuntimeError):
    """A solver asked a question that is not the next one of the script that was priced."""


class NotSupported(ValueError):
    """A combination that skdp cannot prove private, or cannot do yet; the message says what would work."""


class PrivacyWarning(UserWarning):
    """The guarantee holds for less than one may think: a fixed seed, undeclared classes, no noise."""
