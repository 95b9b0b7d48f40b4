"""What figures of held-out records are without noise, of those that say so in a file: laws/truths/<scoring>.py."""

from importlib import import_module
from pathlib import Path

__all__ = ["true_figures"]

TRUTHS = Path(__file__).parent / "truths"


def true_figures(scorings):
    """Function of labels, predictions and probabilities, by the name of each scoring that has a file."""
    told = [name for name in scorings if (TRUTHS / f"{name}.py").exists()]
    return {name: import_module(f"laws.truths.{name}").truth for name in told}
