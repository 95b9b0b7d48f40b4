"""Receipts: there and back, priced again, bound to their model; and nothing that was changed passes."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from privacy.receipt_samples import receipt_number

from skdp import DPLogisticRegression
from skdp.privacy import Filter, Receipt, Spec, epsilon, risk
from skdp.privacy._receipts import _plain
from skdp.privacy.events import Event, Gaussian
from skdp.solvers import CLASS_SOLVERS, LIST_SOLVERS, SOLVERS

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def text_of(receipt):
    return json.dumps(receipt.to_dict(), allow_nan=False)


def same_after(text, original):
    """Whether a changed text is read as a receipt that is not the original."""
    try:
        found = Receipt.from_dict(json.loads(text))
    except (ValueError, RecursionError):
        return None
    return found == original


def check(number):
    """There and back, priced again, and five flipped bits."""
    receipt = receipt_number(number)
    text = text_of(receipt)
    back = Receipt.from_dict(json.loads(text))
    assert back == receipt and hash(back) == hash(receipt) and text_of(back) == text
    silent = (
        []
        if receipt.script
        else ["The script is empty, so the receipt does not say what was released."]
    )
    assert receipt.verify() == (not silent) and back.complaints() == silent
    raw, rng = bytearray(text.encode()), np.random.default_rng(number)
    for at in rng.integers(8 * len(raw), size=5):
        raw[at // 8] ^= 1 << (at % 8)
        # not read at all, or the very same: an e of 1e-6 may become E
        assert same_after(raw.decode("utf-8", "replace"), receipt) in (None, True)
        raw[at // 8] ^= 1 << (at % 8)


@pytest.mark.parametrize("number", range(60))
def test_there_and_back_priced_again_and_flipped_bits_found(number):
    check(number)


@pytest.mark.slow
def test_ten_thousand_of_them():
    for number in range(10_000):
        check(number)


def test_every_bit_of_one_receipt():
    receipt = receipt_number(7)
    raw, told = bytearray(text_of(receipt).encode()), []
    for at in range(8 * len(raw)):
        raw[at // 8] ^= 1 << (at % 8)
        told.append(same_after(raw.decode("utf-8", "replace"), receipt))
        raw[at // 8] ^= 1 << (at % 8)
    assert False not in told and told.count(None) > 0.99 * len(told)


@pytest.mark.parametrize("number", range(40))
def test_a_claim_below_the_price_is_refuted(number):
    """A part in a million below it, where verify allows the round-off of other machines: a part in a billion."""
    receipt = receipt_number(number)
    assert not replace(receipt, epsilon=receipt.epsilon * (1 - 1e-6)).verify()
    assert replace(receipt, epsilon=receipt.epsilon * (1 + 1e-12)).verify()
    if receipt.unspent is not None:
        assert not replace(receipt, unspent=receipt.unspent * (1 + 1e-6) + 1e-6).verify()


def leaves(data, at=()):
    """(path, value) of all that is no list and no dict."""
    if isinstance(data, dict | list):
        keys = data if isinstance(data, dict) else range(len(data))
        for key in keys:
            yield from leaves(data[key], (*at, key))
    else:
        yield at, data


def edited(text, at, value):
    """The receipt of a text with another value in one place."""
    data = json.loads(text)
    inner = data
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return data


def test_every_leaf_that_was_edited_is_refused():
    """More than a thousand, in every place, by a step, another type, and nothing at all."""
    count = 0
    for number in range(24):
        text = text_of(receipt_number(number))
        for at, value in leaves(json.loads(text)):
            steps = [value + "x"] if isinstance(value, str) else [not value, None, str(value)]
            if isinstance(value, int | float) and not isinstance(value, bool):
                steps = [value + 1, np.nextafter(float(value), 9e99), str(value)]
            for step in steps:
                if json.dumps(step) == json.dumps(value):
                    continue
                count += 1
                with pytest.raises(ValueError, match="digest"):
                    Receipt.from_dict(edited(text, at, step))
    assert count > 1000


WRONG = {
    "an accountant that nobody knows": {"accountant": "nonsense"},
    "an accountant of another script": {"accountant": "pure"},
    "no proof": {"proofs": ()},
    "a page that is not there": {"proofs": ("sums", "no_such_page")},
    "nothing released": {"script": ()},
    "nothing released, in words": {"script": ((Gaussian(9.0), 0),)},
    "no relation": {"neighbors": "nonsense"},
    "no number": {"epsilon": math.nan},
    "a probability above 1": {"delta": 2.0},
    "no probability": {"delta": math.nan},
    "less than nothing": {"epsilon": -1.0},
    "a filter's rest without a filter": {"unspent": 1.0},
    "a filter without its rest": {"accountant": "gdp filter"},
    "a filter that nobody knows": {"accountant": "nonsense filter", "unspent": 1.0},
    "an order that is none": {"accountant": "rdp filter", "unspent": 1.0, "order": 10**400},
    "an order that is text": {"accountant": "rdp filter", "unspent": 1.0, "order": "8"},
    "a solver under a filter": {"solver": "BLGD(share=0.1)"},
    "one of several under a filter": {"solver": "GD(), then BLGD()"},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_receipt_that_nobody_can_have_written_does_not_hold(wrong):
    script = ((Gaussian(9.0), 1),)
    right = Receipt(
        epsilon(script, 1e-6), 1e-6, "replace_one", "gdp", script, "GD()", proofs=("sums",)
    )
    assert right.complaints() == []
    told = replace(right, **WRONG[wrong]).complaints()
    assert told and all(len(text) < 300 for text in told)


def filtered(solver, kind):
    """A receipt of a filtered fit."""
    budget = Filter(Spec(1.0, 1e-6), kind)
    budget.charge(Gaussian(40.0), count=50)
    return Receipt(
        1.0,
        1e-6,
        "replace_one",
        f"{kind} filter",
        budget.script,
        solver,
        proofs=("sums",),
        unspent=budget.unspent,
        order=budget.order,
    )


@pytest.mark.parametrize("name", [*SOLVERS, *LIST_SOLVERS, *CLASS_SOLVERS])
def test_no_fit_is_told_as_one_that_was_admitted_otherwise(name):
    """The script of a filtered fit, priced as if it had been fixed beforehand, is cheaper and proves nothing."""
    solver = {**SOLVERS, **LIST_SOLVERS, **CLASS_SOLVERS}[name]
    filters = {kind: filtered(f"{solver.__name__}()", kind) for kind in ("gdp", "rdp", "zcdp")}
    one = filters["rdp"]
    price = epsilon(one.script, one.delta)
    scripted = replace(one, unspent=None, order=None, accountant="auto", epsilon=price)
    assert price < 0.95 and scripted.verify() == (not solver.adaptive)
    for kind, receipt in filters.items():
        assert receipt.verify() == (solver.adaptive and kind == solver.filter)
        assert not replace(receipt, unspent=None).verify()


def test_a_filter_that_would_not_have_let_it_pass():
    receipt = next(r for r in map(receipt_number, range(3, 99, 4)) if len(r.script) > 3)
    assert not replace(receipt, script=receipt.script * 9).verify()
    assert not replace(receipt, script=receipt.script[1:]).verify()
    assert not replace(receipt, unspent=2 * receipt.unspent + 1e-3).verify()


@pytest.mark.parametrize("kind", ["gdp", "zcdp", "rdp"])
def test_the_risk_of_an_adaptive_fit_is_that_of_all_that_might_have_passed(kind):
    """Answers decide what a filter lets pass: what happened to pass is less, and bounds nothing."""
    told = filtered("BLGD()", kind)
    budget = Filter(Spec(1.0, 1e-6), kind)
    while budget.affords(Gaussian(40.0)):
        budget.charge(Gaussian(40.0))
    worst = risk(budget.script)  # another run of the same fit, exactly
    assert told.script[0][1] < budget.script[0][1]  # of which less has happened
    here = told.risk()
    assert all(here.power[rate] >= worst.power[rate] for rate in worst.power)
    assert all(here.epsilons[delta] >= worst.epsilons[delta] for delta in worst.epsilons)
    assert all(here.bayes_risk[prior] <= worst.bayes_risk[prior] for prior in worst.bayes_risk)
    assert here.advantage >= worst.advantage and here.odds >= worst.odds
    said = float(re.search(r"right about at most ([0-9.]+) of", str(told))[1])
    assert said >= 100 * worst.power[0.05]


class TestItsModel:
    """The hashes of a fit."""

    def fitted(self, **given):
        model = DPLogisticRegression(data_norm=3.0, classes=[0, 1], solver="gd", **given)
        return model.fit(X, Y)

    def test_it_belongs_to_the_fit_and_to_no_other(self):
        first, second = self.fitted(), self.fitted()
        assert {"class", "classes_", "coef_", "intercept_", "parameters"} < set(
            first.privacy_.model
        )
        assert first.privacy_.verify(first) and not first.privacy_.verify(second)
        assert "coef_" in first.privacy_.complaints(second)[0]

    def test_the_last_bit_of_a_coefficient_counts(self):
        model = self.fitted()
        model.coef_[0, 1] = np.nextafter(model.coef_[0, 1], 9.0)
        assert not model.privacy_.verify(model)

    def test_a_quote_belongs_to_none(self):
        model = self.fitted()
        quote = model.quote(60, 3)
        assert quote.verify() and not quote.verify(model) and quote.date == ""

    @pytest.mark.parametrize("solver", ["gd", "sgd", "agd", "blgd", "auto"])
    def test_fits_and_quotes_of_all_kinds_hold(self, solver):
        model = DPLogisticRegression(data_norm=3.0, classes=[0, 1], solver=solver).fit(X, Y)
        for receipt in (model.privacy_, model.quote(60, 3)):
            assert receipt.complaints() == []
            assert Receipt.from_dict(json.loads(text_of(receipt))) == receipt

    @pytest.mark.parametrize("error", [RuntimeError, RecursionError, AttributeError])
    def test_what_cannot_be_read_is_another_model(self, error):
        """Whatever it raises, and without what it says: that may tell of its data."""

        class Model(DPLogisticRegression):
            def get_params(self, deep=True):
                raise error("row 7 is ill")

        fitted, other = self.fitted(), Model()
        (told,) = fitted.privacy_.complaints(other)
        assert told.startswith("The receipt belongs to another model") and error.__name__ in told
        assert "ill" not in told and not fitted.privacy_.verify(other)

    def test_layout_and_byte_order_do_not_count(self):
        model = self.fitted()
        model.coef_ = np.asfortranarray(model.coef_).astype(">f8")
        assert model.privacy_.verify(model)


class TestWhatIsNoReceipt:
    """Refused in one sentence."""

    @pytest.mark.parametrize("data", [{}, {"digest": "0"}, [], None, "text", 3])
    def test_it_is_refused(self, data):
        with pytest.raises(ValueError, match="not a receipt as skdp wrote it"):
            Receipt.from_dict(data)

    def test_an_unknown_event_is_named(self):
        class Unknown(Event):
            """Nobody registered it."""

        data = replace(receipt_number(0), script=((Unknown(), 1),)).to_dict()
        with pytest.raises(ValueError, match="Unknown"):
            Receipt.from_dict(data)


def test_a_receipt_of_an_older_version_can_be_read():
    data = receipt_number(0).to_dict()
    del data["releases"], data["digest"]
    assert Receipt.from_dict(_plain.sealed(data)) == replace(
        receipt_number(0), releases="not known"
    )
    data["surprise"] = 1
    with pytest.raises(ValueError, match="other fields"):
        Receipt.from_dict(_plain.sealed(data))


def test_a_person_adds_what_only_a_person_knows():
    receipt = receipt_number(0).stating(tuning="fixed in advance", unit="visit")
    assert receipt.tuning == "fixed in advance" and "one visit" in receipt.statement()
    assert receipt.releases == "not known" and receipt.verify()


def test_equal_events_are_folded():
    runs = tuple((Gaussian(20.0 + i % 7), 1) for i in range(100))
    receipt = Receipt(9.0, 1e-6, "replace_one", "gdp", runs, "GD()")
    released = [value for what, value in receipt.lines() if what == "released"]
    assert released == ["100 x Gaussian(multiplier=20 to 26)"]
    assert len(receipt.to_dict()["script"]) == 100


@pytest.mark.parametrize("number", range(4))
def test_a_bar_shows_all_of_the_budget(number):
    page = receipt_number(number)._repr_html_()
    shown = re.findall(r"skdp-key' style='[^']*'></span>([\d.]+) %", page)
    assert page.count("<details>") >= 4 and sum(map(float, shown)) == pytest.approx(100.0, abs=0.2)


def test_neither_duration_nor_time_of_day_is_told():
    told = TestItsModel().fitted().privacy_
    assert len(told.date) == len("2026-11-19") and "time" not in told.to_dict()


@pytest.mark.parametrize("number", range(60))
def test_what_is_said_to_be_at_most_a_number_is(number):
    """In every sentence of a receipt, also in those of its page and its card: against the risk itself."""
    receipt = receipt_number(number)
    found = receipt.risk()
    truth = {
        r"right about at most ([\d.e+]+) of 100": 100 * found.power[0.05],
        r"by a factor of at most ([\d.e+]+) in either": found.odds,
        r"from 1:1 to at most ([\d.e+]+):1": found.odds,
    }
    texts = (str(receipt), receipt.statement(), receipt._repr_html_(), receipt.to_model_card())
    for pattern, least in truth.items():
        said = [float(one) for text in texts for one in re.findall(pattern, text)]
        assert said or math.isinf(least)
        assert all(least <= one <= least * 1.011 for one in said), (pattern, said, least)
