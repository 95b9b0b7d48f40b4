"""Classes that labels are coded by: two or more, each told from the others in any file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._messages import as_text, frames_to_caller
from ..exceptions import PrivacyWarning
from ._arrays import Array, attempt, known_labels
from ._cells import find_ambiguous

__all__ = ["are_text", "classes_of_targets", "coded", "read_classes", "refuse_unfit", "told"]


def classes_of_targets(y: Array) -> Array:
    """Take the classes from labels, and warn that this makes them public.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    """
    if y.dtype.kind == "f" and not (y == np.trunc(y)).all():
        raise ValueError("Unknown label type: continuous; declare classes=, or round y to labels.")
    classes = np.unique(y)
    warnings.warn(
        "classes=None takes the set of labels from y and makes it public; declare classes= to keep it private.",
        PrivacyWarning,
        stacklevel=frames_to_caller(),
    )
    return classes


def read_classes(given: Any, name: str) -> Array:
    """Return a user's declared classes, sorted, or refuse them.

    Parameters
    ----------
    given : object
        What the user declared.
    name : str
        Of the estimator.

    Returns
    -------
    ndarray
        Two or more numbers or strings.
    """
    found, kind = attempt(lambda: np.asarray(given))
    listed = isinstance(given, list | tuple)
    # Of a mix of text and numbers numpy makes text.
    mixed = listed and len({isinstance(label, str) for label in given}) > 1
    if mixed or kind is not None or found.ndim != 1 or known_labels(found)[1] is not None:
        short = listed and len(given) <= 3
        shown = f"[{', '.join(map(as_text, given))}]" if short else as_text(given)
        raise ValueError(f"classes={shown} must be a list of numbers, or of strings, two or more.")
    return refuse_unfit(np.unique(found), name, declared=True)


def refuse_unfit(classes: Array, name: str, declared: bool = False) -> Array:
    """Return classes that labels can be coded by, or refuse them.

    Parameters
    ----------
    classes : ndarray
        Sorted, all different.
    name : str
        Of the estimator.
    declared : bool, default=False
        Whether a user declared them: a sentence may then show them.
    """
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs two classes or more, got {len(classes)} class; declare them in classes=."
        )
    alike = find_ambiguous(classes.tolist())
    if alike:
        shown = " and ".join(map(as_text, alike)) if declared else "labels"
        why = "are the same label" if len(alike) > 1 else "is read as a missing cell"
        raise ValueError(f"classes holds {shown}, which {why} in a file; spell labels otherwise.")
    return classes


def told(classes: Array) -> str:
    """The classes, where they are few: more may be a column of data that took a wrong turn."""
    return f"classes={classes.tolist()}" if len(classes) <= 3 else f"the {len(classes)} classes"


def coded(classes: Array, y: Array) -> str:
    """Return what to declare where text labels were declared and integer codes came."""
    if not are_text(classes) or y.dtype.kind not in "iu":
        return ""
    codes = "[0, 1]" if len(classes) == 2 else f"list(range({len(classes)}))"
    return f" (a meta-estimator such as VotingClassifier hands on codes of labels: declare classes={codes})"


def are_text(found: Array) -> bool:
    """Return True if labels are text, which has no order among numbers."""
    return found.dtype.kind in "UOT"
