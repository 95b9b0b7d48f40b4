"""What a receipt promises to several rows, from its own script."""

import math

import mpmath as mp
import pytest

from skdp.exceptions import NotSupported
from skdp.linear_model import DPLogisticRegression
from skdp.privacy import Spec, epsilon, for_rows
from skdp.privacy.events import Gaussian, MixtureOfGaussians, PoissonGaussian, PureDP
from skdp.privacy.receipt import Receipt


def receipt(*runs, delta=1e-6, neighbors="replace_one", **given):
    """A receipt of these runs, at the price that `epsilon` gives them."""
    cost = epsilon(runs, delta, neighbors)
    return Receipt(cost, delta, neighbors, "auto", runs, "GD()", **given)


def normal_delta(e, mu):
    """delta at e of two normal laws at distance mu, in forty digits."""
    with mp.workdps(40):
        e, mu = mp.mpf(e), mp.mpf(mu)
        return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_gaussians_of_total_mu_are_one_of_k_times_it(k, neighbors):
    made = receipt((Gaussian(20.0), 4), (Gaussian(5.0), 1), neighbors=neighbors)
    promise = made.for_rows(k)
    mu = k * mp.sqrt(4 / mp.mpf(20) ** 2 + 1 / mp.mpf(5) ** 2)
    assert normal_delta(promise.epsilon, mu) <= 1e-6
    assert normal_delta(promise.epsilon * (1 - 1e-6), mu) > 1e-6
    assert (promise.delta, promise.neighbors) == (1e-6, neighbors)


def test_pure_steps_cost_k_times_what_was_written():
    made = receipt((PureDP(0.1), 3), delta=0.0)
    assert made.for_rows(7) == Spec(2.1, 0.0)


def test_one_row_has_the_price_of_the_script_and_not_the_promise_of_a_looser_accountant():
    runs = ((Gaussian(9.0), 1),)
    loose = Receipt(0.5, 1e-6, "replace_one", "rdp", runs, "GD()")
    assert loose.for_rows(1).epsilon == epsilon(runs, 1e-6) < 0.5


def test_it_is_the_function_of_the_same_name():
    made = receipt((Gaussian(9.0), 2), (PureDP(0.2), 1), neighbors="add_remove")
    assert made.for_rows(3) == for_rows(made.script, Spec(made.epsilon, 1e-6, "add_remove"), 3)


@pytest.mark.parametrize("unspent", [0.0, 0.25, math.inf])
@pytest.mark.parametrize("k", [1, 3])
def test_a_filters_script_depends_on_answers_and_proves_nothing(k, unspent):
    made = receipt((Gaussian(9.0), 2), unspent=unspent)
    with pytest.raises(NotSupported, match="A filter's script was not fixed beforehand"):
        made.for_rows(k)


def test_rows_on_one_sample_are_priced_together():
    made = receipt((PoissonGaussian(3.0, 0.1), 2), neighbors="add_remove")
    assert made.for_rows(1).epsilon == made.epsilon
    pair = ((MixtureOfGaussians.of_rows(3.0, 0.1, 2), 2),)
    assert made.for_rows(2).epsilon == epsilon(pair, 1e-6, "add_remove") > 2 * made.epsilon


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2"])
def test_numbers_of_rows_that_are_none(k):
    with pytest.raises(ValueError, match="must be a whole number, 1 or more"):
        receipt((Gaussian(9.0), 2)).for_rows(k)


def test_where_nothing_is_promised_to_a_row_nothing_is_to_several():
    assert receipt((Gaussian(0.0), 2)).for_rows(4).epsilon == math.inf


class TestQuotes:
    """Receipts of solvers: those with a fixed script answer, those with a filter refuse."""

    def quote(self, solver, **given):
        return DPLogisticRegression(solver=solver, data_norm=1.0, **given).quote(500, 3)

    def test_a_fixed_script_answers(self):
        made = self.quote("gd")
        one, four = made.for_rows(1).epsilon, made.for_rows(4).epsilon
        assert one == pytest.approx(made.epsilon, rel=1e-9) and four > 4 * one  # a tail of normals

    def test_without_noise_nothing_is_promised(self):
        assert self.quote("gd", epsilon=math.inf).for_rows(2).epsilon == math.inf

    def test_an_adaptive_one_refuses(self):
        with pytest.raises(NotSupported, match="use a solver whose script is fixed"):
            self.quote("agd").for_rows(2)


def test_what_noise_is_expected_to_do_is_said_where_it_is_known():
    told = {"score": 0.123, "coefficient": 0.0456, "unit": "log-odds"}
    known, unknown = (receipt((Gaussian(5.0), 1), standard_error=given) for given in (told, {}))
    said = "noise moves the score of a typical row by about 0.12 log-odds, and a coefficient by about 0.046"
    assert said in str(known) and "nominal" not in str(unknown)
    again = Receipt.from_dict(known.to_dict())
    assert again == known and again.standard_error == told


def test_what_was_supposed_of_the_labels_stands_beside_it():
    told = {"score": 0.1, "coefficient": 0.04, "unit": "log-odds", "base_rate": 0.07}
    known = receipt((Gaussian(5.0), 1), standard_error=told)
    assert "standard deviation, if 7 of 100 labels are of one class" in str(known)
    assert Receipt.from_dict(known.to_dict()) == known
