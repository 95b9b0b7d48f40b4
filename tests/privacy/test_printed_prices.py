"""A printed epsilon or delta is never below the true one, and what is said to be left never above it."""

import inspect
import math
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from sklearn.pipeline import make_pipeline

import skdp
from skdp.datasets import make_census
from skdp.exceptions import BudgetExceeded, PrivacyWarning
from skdp.fitting._payer import warn_of_promise
from skdp.inspection import LedgerDisplay, PrivacyDisplay, TradeoffDisplay
from skdp.metrics import dp_score
from skdp.privacy import Ledger, Receipt, Spec
from skdp.privacy._arithmetic import round_down, round_up
from skdp.privacy.events import Gaussian, PureDP

EPSILONS = (0.12341, 1.00004, 0.1234561, 20.000041)
DELTA = 1.00000049e-3
TEXTS = ("__str__", "__repr__", "_repr_html_")
PRICED = {"epsilon", "privacy", "used", "spent"}
NO_PRICE = {"Accountant"}  # prints how many events it holds
ADVISED = {
    1e-5,
    1e-6,
    1e-9,
    1e-10,
}  # deltas at which receipts compare prices, or that are recommended
NUMBER = r"(\d+\.?\d*(?:e[+-]?\d+)?)"


def printed(word, text):
    """Numbers that stand behind a word in a text."""
    return [float(found) for found in re.findall(rf"\b{word}\s*(?:[=:]|is)?\s*{NUMBER}", text)]


def assert_never_below(text, word, true):
    """Each number printed behind the word is this price, or above it by what three digits may be."""
    found = [number for number in printed(word, text) if number not in ADVISED]
    assert found, text
    for number in found:
        assert true <= number <= true * 1.01, (word, number, true, text)


@pytest.mark.parametrize("digits", range(1, 8))
@pytest.mark.parametrize("value", [*EPSILONS, 1e-5, 1e-6, 0.1, 0.1 + 0.2, 9.9996, 123456.7, 5e-324])
def test_digits_are_rounded_one_way_by_less_than_the_last(value, digits):
    up, down = float(round_up(value, digits)), float(round_down(value, digits))
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    assert down <= value <= up
    assert up - value <= step * 1.000001 and value - down <= step * 1.000001
    text = round_up(value, digits).split("e")[0].replace(".", "").strip("0")
    assert len(text) <= digits


@pytest.mark.parametrize("value", [0.0, math.inf])
def test_what_has_no_digits_is_written_as_it_is(value):
    assert float(round_up(value, 3)) == float(round_down(value, 3)) == value


def receipt(epsilon):
    """Of a script that costs exactly that."""
    script = ((PureDP(epsilon), 1),)
    stood = {"epsilon": epsilon, "delta": DELTA, "spent_before": 0.0, "spent_after": epsilon}
    return Receipt(
        epsilon, DELTA, "replace_one", "pure", script, "GD()", proofs=("sums",), ledger=stood
    )


def _receipt(epsilon):
    made = receipt(epsilon)
    for text in (
        str(made),
        made._repr_html_()
        .replace("</td><td>", " = ")
        .replace("epsilon, delta", "epsilon")
        .replace("epsilon and delta", "epsilon"),
        "\n".join(f"{line[1]} = {line[2]}" for line in made.nist_checklist()).replace(
            "epsilon and delta", "epsilon"
        ),
        made.to_model_card()
        .replace("epsilon, delta", "epsilon")
        .replace("epsilon and delta", "epsilon")
        .replace(" | ", " = "),
    ):
        yield text, epsilon


def _total(epsilon):
    found = skdp.total([receipt(epsilon)])
    yield str(found), found.epsilon


def _ledger(epsilon):
    ledger = Ledger(epsilon, DELTA)
    yield repr(ledger), epsilon
    ledger.reserve(((PureDP(epsilon / 2), 1),), "a count")
    yield repr(ledger).replace("epsilon", "").replace("spent", "epsilon"), ledger.spent
    yield str(ledger.report()).splitlines()[0], epsilon
    row = str(ledger.report()).splitlines()[2].split()
    yield f"epsilon = {row[2]}", ledger.report().rows[0].epsilon
    yield ledger.report()._repr_html_().split("</p>")[0], epsilon
    texts = [text.get_text() for text in LedgerDisplay.from_ledger(ledger).ax_.get_legend().texts]
    for text in texts:
        if "budget:" in text:
            yield text.replace("budget", "epsilon"), epsilon
        elif "together:" in text:
            yield text.replace("used together", "epsilon"), ledger.spent
    with pytest.raises(BudgetExceeded) as refused:
        Ledger(epsilon, DELTA, fits=3).reserve(((PureDP(epsilon), 1),))
    yield str(refused.value).split("has ")[1].split(":")[0].join(("epsilon = ", "")), epsilon
    with pytest.raises(BudgetExceeded) as refused:
        ledger.reserve(((PureDP(epsilon), 1),))
    yield str(refused.value).split(",")[1].replace("spent", "").split(" of")[0], ledger.spent


def _estimate(epsilon):
    X, y = make_census(n_samples=300, return_X_y=True)
    model = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd").fit(X, y)
    found = dp_score(model, X, y, epsilon=epsilon, delta=DELTA)
    yield repr(found), found.privacy.epsilon


def _estimator(epsilon):
    model = skdp.DPLogisticRegression(epsilon=epsilon, delta=DELTA)
    yield repr(model), epsilon
    yield model._sk_visual_block_().name_caption, epsilon


def _displays(epsilon):
    for display in (PrivacyDisplay, TradeoffDisplay):
        ax = display.from_estimator(receipt(epsilon)).ax_
        texts = [] if ax.get_legend() is None else ax.get_legend().get_texts()
        told = [ax.get_title(), *(text.get_text() for text in texts)]
        yield next(text for text in told if "epsilon" in text), epsilon


def _verdicts(epsilon):
    model = skdp.DPLogisticRegression(epsilon=1000 * epsilon, delta=DELTA)
    yield str(skdp.check(make_pipeline(model), n=10**6)), 1000 * epsilon


def _warnings(epsilon):
    for n in (None, 10**6):
        with pytest.warns(PrivacyWarning) as heard:
            warn_of_promise(Spec(1000 * epsilon, DELTA), n)
        yield "\n".join(str(one.message) for one in heard), 1000 * epsilon


PRINTERS = {
    "Receipt": _receipt,
    "Total": _total,
    "Ledger": _ledger,
    "Report": _ledger,
    "Estimate": _estimate,
    "estimators": _estimator,
    "displays": _displays,
    "check": _verdicts,
    "warnings": _warnings,
}


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", PRINTERS)
def test_no_printed_epsilon_is_below_the_true_one(name, epsilon):
    for text, true in PRINTERS[name](epsilon):
        assert_never_below(text, "epsilon", true)
        if set(printed("delta", text)) - ADVISED:
            assert_never_below(text, "delta", DELTA)


def test_what_is_left_is_never_above_the_truth():
    ledger = Ledger(1.0, 1e-6)
    ledger.reserve(((Gaussian(20.0), 1),))
    (left,) = printed("remaining", repr(ledger))
    (spent,) = printed("spent", repr(ledger))
    assert left <= ledger.remaining <= left * 1.00001 and spent >= ledger.spent
    (told,) = printed("Left for Gaussian noise: epsilon", str(ledger.report()))
    assert told <= ledger.remaining <= told * 1.001


def test_whatever_has_an_epsilon_and_writes_its_own_text_is_among_these():
    """Texts of dataclasses and of scikit-learn's estimators show all digits."""
    found = set()
    for info in walk_packages(skdp.__path__, "skdp."):
        if info.name.endswith("__main__"):
            continue
        for name, kind in inspect.getmembers(import_module(info.name), inspect.isclass):
            priced = {*dir(kind), *getattr(kind, "__annotations__", {})} & PRICED
            if priced and any(map(_is_ours, (vars(kind).get(n) for n in TEXTS))):
                found.add(name)
    assert {"Receipt", "Total", "Ledger", "Report", "Estimate"} <= found
    assert found - NO_PRICE <= set(PRINTERS)


def _is_ours(method):
    code = getattr(method, "__code__", None)
    return code is not None and Path(skdp.__file__).parent in Path(code.co_filename).parents
