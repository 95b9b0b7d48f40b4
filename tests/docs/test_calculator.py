"""The calculator of the site says what the library says, and never less."""

import json
import shutil
import subprocess

import pytest
from walls.checks import ROOT

from skdp.privacy import Spec, calibrate, delta, epsilon, for_rows, tradeoff
from skdp.privacy.events import Gaussian

NODE = shutil.which("node")
SCRIPT = ROOT / "docs" / "_static" / "calculator.js"
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def ask(*calls):
    """Values of calls of the page's functions."""
    code = f"const c = require({json.dumps(str(SCRIPT))});"
    code += f"console.log(JSON.stringify([{', '.join(f'c.{call}' for call in calls)}]))"
    done = subprocess.run([NODE, "-e", code], capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


def gaussian(mu):
    return ((Gaussian(1 / mu), 1),)


def test_gaussian_figures_are_the_library_s():
    cases = [(mu, at) for mu in (0.01, 0.2, 1.0, 5.0) for at in (1e-10, 1e-6, 0.01)]
    found = ask(*(f"epsilonOf({at}, {mu})" for mu, at in cases))
    assert found == pytest.approx([epsilon(gaussian(mu), at) for mu, at in cases], rel=1e-7)
    found = ask(*(f"deltaOf({e}, {mu})" for e in (0, 1, 8) for mu in (0.2, 3)))
    truth = [delta(gaussian(mu), e) for e in (0, 1, 8) for mu in (0.2, 3)]
    assert found == pytest.approx(truth, rel=1e-7, abs=1e-300)
    promises = [(0.1, 1e-6), (1, 1e-6), (8, 1e-5)]
    found = ask(*(f"muOf({e}, {d})" for e, d in promises))
    scales = [calibrate(lambda z: ((Gaussian(z), 1),), Spec(e, d))[0] for e, d in promises]
    assert found == pytest.approx([1 / scale for scale in scales], rel=1e-6)
    found = ask(*(f"powerOf({mu}, 0.05)" for mu in (0.2, 1.0, 4.0)))
    assert found == pytest.approx(
        [1 - tradeoff(gaussian(mu), [0.05])[0] for mu in (0.2, 1, 4)], rel=1e-7
    )


def test_groups_and_relations_are_the_library_s():
    (mu,) = ask("muOf(1, 1e-6)")
    five = for_rows(gaussian(mu), Spec(1.0, 1e-6), 5)
    assert ask(f"epsilonOf(1e-6, {5 * mu})") == pytest.approx([five.epsilon], rel=1e-6)
    ((e, d), (pure, none), (two, more)) = ask(
        "groupOf(1, 1e-6, 3)", "groupOf(0.5, 0, 2)", "replacedOf(1, 1e-6)"
    )
    assert e == 3 and d == pytest.approx(1e-6 * (1 + 2.718281828 + 2.718281828**2), rel=1e-8)
    assert (pure, none) == (1, 0)
    assert two == 2 and more == pytest.approx(1e-6 * (1 + 2.718281828), rel=1e-8)


def test_what_is_shown_is_rounded_up():
    shown = ask("roundUp(0.9991)", "roundUp(1.0001e-6)", "roundUp(2)", "roundUp(123.4)")
    assert [float(text) for text in shown] == [1.0, 1.01e-6, 2.0, 124.0]
