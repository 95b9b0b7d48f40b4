"""The promise in plain words, for whoever has never heard of epsilon."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

from .._arithmetic import round_up
from ..events import Event, Script, tally

if TYPE_CHECKING:
    from .._risk import Risk
    from ..receipt import Receipt

__all__ = [
    "UNTOLD",
    "Fold",
    "circumstances",
    "covers",
    "folded",
    "not_covered",
    "odds",
    "promise",
    "unit",
]


class Fold(NamedTuple):
    """A line of what was released: how often, in words, and the distinct events."""

    times: int
    label: str
    events: tuple[Event, ...]

    def __str__(self) -> str:
        return f"{self.times} x {self.label}"


_FEW = 3  # of one kind of event that get a line each

UNTOLD = (
    "Steps before this fit are not covered by this receipt; a pipeline made by skdp.make_pipeline says which of them "
    "learn from the data."
)
NOT_COVERED = (
    "steps before the fit: scalers, encoders, imputers or choices that looked at the data",
    "other releases from the same data, unless a ledger holds them all",
    "whatever was taken as public, listed under 'public'",
    "what groups have in common: a model may say much about people who are not in the data",
    "how long the fit took, and the memory of the machine while it ran",
)


def unit(receipt: Receipt) -> str:
    """Return the privacy unit in words, and how neighbours differ."""
    whole = f"one {receipt.unit}"
    if receipt.rows > 1:
        whole += f" of at most {receipt.rows} rows"
    change = "replaced by any other" if receipt.neighbors == "replace_one" else "added or removed"
    return f"{whole}, {change}"


def promise(receipt: Receipt, risk: Risk | None) -> str:
    """Return the guarantee in one sentence, after any warning of what it does not cover."""
    if receipt.around:
        own = promise(replace(receipt, around=()), risk)
        return f"NOT PRIVATE as a whole: the guarantee covers {covers(receipt)}. For this step alone: {own}"
    if risk is None or math.isinf(receipt.epsilon):
        return "No privacy: no noise was added, so the result may reveal anything about anybody."
    caught = round_up(100 * risk.power[0.05], 3)
    said = (
        f"An attacker who is wrong about 5 of 100 people outside the data can be right about at most {caught} of "
        f"100 people in it (protected: {unit(receipt)})."
    )
    if receipt.seeded:
        said += " This does not hold against whoever knows the seed."
    return said


def covers(receipt: Receipt) -> str:
    """Return a warning that names the steps around the fit that have no receipt."""
    names = receipt.around or ()
    many = "have no receipt" if len(names) > 1 else "has no receipt"
    return f"this step only; around it {', '.join(names)}, which {many} and may reveal anything"


def circumstances(receipt: Receipt) -> list[tuple[str, str]]:
    """Return lines on the date, the ledger's spending, and how far the noise is expected to move the model."""
    told = [("made", f"{receipt.date}, skdp {receipt.version}")] if receipt.date else []
    if receipt.ledger:
        before, after = receipt.ledger["spent_before"], receipt.ledger["spent_after"]
        whole = f"{round_up(receipt.ledger['epsilon'], 4)} (delta = {round_up(receipt.ledger['delta'], 3)})"
        told.append(
            ("ledger", f"from {round_up(before, 4)} to {round_up(after, 4)} of epsilon {whole}")
        )
    if receipt.standard_error:
        score, coefficient, of = (
            receipt.standard_error[name] for name in ("score", "coefficient", "unit")
        )
        told.append(
            (
                "nominal",
                f"noise moves the score of a typical row by about {score:.2g} {of}, and a coefficient by about "
                f"{coefficient:.2g} divided by its column's standard deviation{_supposed(receipt)}",
            )
        )
    return told


def _supposed(receipt: Receipt) -> str:
    """Return what the figures suppose, in words: a base rate that a quote was told, and scores before calibration."""
    rate = receipt.standard_error.get("base_rate")
    supposed = "" if rate is None else f", if {100 * rate:.3g} of 100 labels are of one class"
    return supposed + (", before calibration" if "calibration" in receipt.proofs else "")


def odds(receipt: Receipt, risk: Risk | None) -> str:
    """Return a sentence on how far the odds of a statement about one unit may move."""
    if risk is None or math.isinf(risk.odds):
        return "The odds of a statement about somebody may change by any factor."
    most = round_up(risk.odds, 3)
    return (
        "With probability 0.99, whatever an attacker already knows, the odds of any statement about one "
        f"{receipt.unit} change by a factor of at most {most} in either direction, for instance from 1:1 to at most "
        f"{most}:1."
    )


def not_covered(receipt: Receipt) -> tuple[str, ...]:
    """Return the statements on which the guarantee is silent."""
    seed = ("readers who know the seed: they can subtract the noise",) if receipt.seeded else ()
    return seed + NOT_COVERED


def folded(script: Script) -> list[Fold]:
    """Fold a script into lines: equal events share a line, and so do many events of one kind."""
    kinds: dict[type[Event], dict[Event, int]] = {}
    for event, count in tally(script).items():
        kinds.setdefault(type(event), {})[event] = count
    lines: list[Fold] = []
    for kind, counts in kinds.items():
        if len(counts) <= _FEW:
            lines += [Fold(count, label(event), (event,)) for event, count in counts.items()]
        else:
            name = f"{kind.__name__}({_ranges(list(counts))})"
            lines.append(Fold(sum(counts.values()), name, tuple(counts)))
    return lines


def label(event: Event) -> str:
    """The event with what is not its default, in five digits; to_dict has them all."""
    told = (
        f"{f.name}={_value(event, f.name)}"
        for f in fields(event)
        if getattr(event, f.name) != f.default
    )
    return f"{type(event).__name__}({', '.join(told)})"


def _value(event: Event, name: str) -> str:
    """A field of an event; an epsilon is a price."""
    value = getattr(event, name)
    return repr(float(round_up(value, 5))) if name.endswith("epsilon") else _short(value)


def _short(value: object) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return " or ".join(map(_short_run, value))
    if isinstance(value, tuple):
        return f"({', '.join(map(_short, value))})"
    return repr(float(f"{value:.5g}")) if isinstance(value, float) else repr(value)


def _short_run(script: Script) -> str:
    """Return a script inside an event in a single line of text."""
    return "[" + ", ".join(map(str, folded(script))) + "]"


def _ranges(events: list[Event]) -> str:
    """Return the fields of events of one kind: the common values, and the ranges of the others."""
    told = []
    for name in (f.name for f in fields(events[0])):
        values = [getattr(event, name) for event in events]
        if len(set(values)) == 1:
            told.append(f"{name}={_value(events[0], name)}")
        elif all(isinstance(value, int | float) for value in values):
            written = (
                [round_up(value, 4) for value in (min(values), max(values))]
                if name.endswith("epsilon")
                else [f"{value:.4g}" for value in (min(values), max(values))]
            )
            told.append(f"{name}={' to '.join(written)}")
        else:
            told.append(f"{name}: {len(set(values))} values")
    return ", ".join(told)
