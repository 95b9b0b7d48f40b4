"""Answers to NIST SP 800-226, "Guidelines for Evaluating Differential Privacy Guarantees" (2025)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._arithmetic import round_up
from ._words import NOT_COVERED, folded, unit

if TYPE_CHECKING:
    from ..receipt import Receipt

__all__ = ["Check", "checklist"]

OPEN = "to be answered by a person"


class Check(NamedTuple):
    """A line of the checklist.

    Parameters
    ----------
    layer : str
        Of the pyramid: what is above rests on what is below.
    asked : str
        What is to be known.
    answer : str
        From the receipt.
    """

    layer: str
    asked: str
    answer: str


def checklist(receipt: Receipt) -> tuple[Check, ...]:
    """All lines, from the top of the pyramid down."""
    return (
        *_parameters(receipt),
        *_unit(receipt),
        *_algorithms(receipt),
        *_side_channels(receipt),
        *_around(),
    )


def _parameters(receipt: Receipt) -> tuple[Check, ...]:
    released = "; ".join(map(str, folded(receipt.script)))
    n = receipt.declared.get("n")
    small = (
        f"delta * n = {round_up(receipt.delta * n, 2)}" if isinstance(n, int) else "n is private"
    )
    ledger = "held with others in one ledger" if receipt.ledger else "no ledger"
    layer = "privacy parameters"
    return (
        Check(
            layer,
            "epsilon and delta",
            f"{round_up(receipt.epsilon)} and {round_up(receipt.delta, 3)}",
        ),
        Check(layer, "all parameters, to convert", released or "nothing was released"),
        Check(layer, "delta is small", small),
        Check(layer, "comparable with", "fits of the same unit, relation and delta"),
        Check(layer, "other releases of the data", f"{ledger}; declared: {receipt.releases}"),
    )


def _unit(receipt: Receipt) -> tuple[Check, ...]:
    layer = "unit of privacy"
    if receipt.rows > 1:
        several = f"at most {receipt.rows} rows of a {receipt.unit} count"
    else:
        several = "a person with k rows has weaker privacy: for_rows(k) says how much"
    return (
        Check(layer, "what neighbours differ in", unit(receipt)),
        Check(layer, "one person with several rows", several),
    )


def _algorithms(receipt: Receipt) -> tuple[Check, ...]:
    version = f"skdp {receipt.version}".strip()
    layer = "algorithms, correctness, utility, bias"
    return (
        Check(layer, "library", version),
        Check(layer, "proofs", ", ".join(receipt.proofs) or "none named"),
        Check(layer, "algorithm", receipt.solver),
        Check(layer, "hyper-parameters", f"how they were chosen: {receipt.tuning}"),
        Check(
            layer, "accuracy", "not measured on the protected data: a figure from it costs privacy"
        ),
        Check(layer, "how many rows were clipped", "not released: it is private"),
        Check(
            layer,
            "small groups",
            "accuracy of groups not measured; noise weighs most on small ones",
        ),
    )


def _side_channels(receipt: Receipt) -> tuple[Check, ...]:
    seed = "FIXED SEED: no guarantee against whoever knows it" if receipt.seeded else "the system's"
    layer = "side channels"
    return (
        Check(
            layer, "floating point", "exact noise on a public lattice; rounding of sums is covered"
        ),
        Check(layer, "randomness", seed),
        Check(layer, "timing", "not covered: do not show readers how long the fit took"),
        Check(layer, "errors and warnings", "depend on public facts alone"),
    )


def _around() -> tuple[Check, ...]:
    return (
        Check("query model", "release", "one model, not interactive"),
        Check("threat model", "who is trusted", "central: whoever runs the fit sees the data"),
        Check("threat model", "not covered", "; ".join(NOT_COVERED)),
        Check("security", "of the raw data", OPEN),
        Check("access control", "who may spend the budget", OPEN),
        Check("data collection", "exposure before the fit", OPEN),
    )
