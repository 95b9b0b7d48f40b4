"""The receipt as a page for notebooks: plain words, a bar of the budget, and the rest folded.

Colours are either the notebook's own or of middle brightness, so that the page reads on light and on dark ground.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .._arithmetic import round_up
from ._card import budget_shares, numbers
from ._check import known_risk
from ._checklist import checklist
from ._pages import statement_of, web_address
from ._words import UNTOLD, not_covered, odds, promise

if TYPE_CHECKING:
    from .._risk import Risk
    from ..receipt import Receipt

__all__ = ["page"]

# Paul Tol's bright scheme without its yellow: told apart by readers who do not see all colours.
COLOURS = ("#4477aa", "#ee6677", "#228833", "#66ccee", "#aa3377", "#999999")

STYLE = """
.skdp-receipt {font: 14px/1.45 system-ui, sans-serif; max-width: 54em; color: inherit;}
.skdp-receipt .skdp-promise {font-size: 1.1em; margin: .3em 0 .6em;}
.skdp-receipt .skdp-bar {display: flex; height: 1em; border-radius: .25em; overflow: hidden; margin: .4em 0;}
.skdp-receipt .skdp-key {display: inline-block; width: .8em; height: .8em; border-radius: .2em; margin-right: .5em;}
.skdp-receipt details {border-top: 1px solid rgba(128, 128, 128, .4); padding: .3em 0;}
.skdp-receipt details details {border: 0; padding: 0 0 0 1em;}
.skdp-receipt summary {cursor: pointer; font-weight: 600;}
.skdp-receipt table {border-collapse: collapse; margin: .3em 0 .3em 1em; font: inherit;}
.skdp-receipt table, .skdp-receipt table tr, .skdp-receipt table td {background: transparent; color: inherit;}
.skdp-receipt td {text-align: left; vertical-align: top; padding: .1em 1em .1em 0; border: 0; white-space: normal;}
.skdp-receipt td:first-child {opacity: .8;}
.skdp-receipt .skdp-share {white-space: nowrap; opacity: 1;}
.skdp-receipt a {color: inherit; text-decoration: underline;}
.skdp-receipt pre {white-space: pre-wrap; margin: .3em 0; font-size: .8em; color: inherit; background: transparent;}
"""


def page(receipt: Receipt) -> str:
    """The whole, in one block without scripts."""
    known = known_risk(receipt)
    parts = [
        f"<style>{STYLE}</style>",
        f"<div class='skdp-promise'>{_text(promise(receipt, known))}</div>",
        f"<div>{_text(UNTOLD)}</div>" if receipt.around is None else "",
        _budget(receipt),
        _fold("In numbers", _numbers(receipt, known)),
        _fold("The whole statement", _table(receipt.lines())),
        _fold("Proofs", "".join(_proof(name, receipt.version) for name in receipt.proofs)),
        _fold("Not covered", _table(("", what) for what in not_covered(receipt))),
        _fold("NIST SP 800-226", _table(checklist(receipt))),
    ]
    return f"<div class='skdp-receipt'>{''.join(parts)}</div>"


def _text(value: object) -> str:
    return html.escape(str(value))


def _table(rows: Iterable[Sequence[str]]) -> str:
    lines = ("".join(f"<td>{_text(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _fold(title: str, inside: str) -> str:
    return f"<details><summary>{_text(title)}</summary>{inside}</details>" if inside else ""


def _numbers(receipt: Receipt, risk: Risk | None) -> str:
    if risk is None:
        return ""
    return f"<div>{_text(odds(receipt, risk))}</div>{_table(numbers(receipt, risk))}"


def _budget(receipt: Receipt) -> str:
    """A bar, and a line for each part of it."""
    parts = budget_shares(receipt) if receipt.script else []
    bars, keys = [], []
    for number, (fold, share) in enumerate(parts):
        colour = COLOURS[min(number, len(COLOURS) - 1)]
        width = f"width:{100 * share:.2f}%;background:{colour}"
        bars.append(f"<div style='{width}' title='{_text(fold)}'></div>")
        keys.append(
            f"<tr><td class='skdp-share'><span class='skdp-key' style='background:{colour}'></span>"
            f"{100 * share:.1f} %</td><td>{_text(fold)}</td></tr>"
        )
    if not parts:
        return ""
    price = f"epsilon = {round_up(receipt.epsilon, 4)} at delta = {round_up(receipt.delta, 3)}"
    title = f"<div>The budget, {price}, by release:</div>"
    return f"{title}<div class='skdp-bar'>{''.join(bars)}</div><table>{''.join(keys)}</table>"


def _proof(name: str, version: str) -> str:
    """Return the statement of a proof page, from this installation, and a link to the whole page."""
    link = f"<a href='{_text(web_address(name, version))}'>the whole page</a>"
    here = f"<code>skdp.privacy.proof_page({_text(repr(name))})</code>"
    said = f"<pre>{_text(statement_of(name))}</pre><div>{link}, or here: {here}</div>"
    return _fold(name, said)
