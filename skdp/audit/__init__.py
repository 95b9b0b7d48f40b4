"""Attacks on privacy claims: run a mechanism often on two neighbouring data sets, and try to tell its results apart.

An attack that fails proves nothing; one that finds more than was claimed proves the claim wrong, up to the stated
confidence. Nothing here is private: it is for data that you made up.
"""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ._attack import Canaries, Evidence, audit, linear_canaries, released_by
    from ._neighbours import Neighbours, adversarial_pairs, worst_case_pair
    from ._one_run import OneRun, audit_one_run, likeliest
    from ._replay import Replayed, fitted, replay
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Evidence": "_attack",
            "audit": "_attack",
            "Canaries": "_attack",
            "linear_canaries": "_attack",
            "Neighbours": "_neighbours",
            "adversarial_pairs": "_neighbours",
            "OneRun": "_one_run",
            "audit_one_run": "_one_run",
            "likeliest": "_one_run",
            "worst_case_pair": "_neighbours",
            "Replayed": "_replay",
            "fitted": "_replay",
            "replay": "_replay",
            "released_by": "_attack",
        },
    )

__all__ = [
    "Canaries",
    "Evidence",
    "Neighbours",
    "OneRun",
    "Replayed",
    "adversarial_pairs",
    "audit",
    "audit_one_run",
    "fitted",
    "likeliest",
    "linear_canaries",
    "released_by",
    "replay",
    "worst_case_pair",
]
