"""The slider of the landing page: accuracy on generated records, and the best attack, by epsilon."""

import html
import json

import skdp

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
COLUMNS = {"age": [17, 90], "hours": [1, 99], "sex": ["female", "male"], "kind": list("abcdefgh")}


class Slider:
    """A slider over epsilon with what `simulate` and a quote say at each."""

    def __init__(self, sizes=(1_000, 10_000, 100_000), repeats=3):
        self.accuracy = {}
        for n in sizes:
            found = skdp.simulate(COLUMNS, n, EPSILONS, repeats=repeats)
            self.accuracy[f"{n:,}"] = [round(100 * mean, 1) for mean in found.accuracy.mean(axis=1)]
        quotes = [skdp.DPLogisticRegression(epsilon=e, data_norm=1.0) for e in EPSILONS]
        self.caught = [round(100 * q.quote(10_000, 10).risk().power[0.05], 1) for q in quotes]

    def _repr_html_(self):
        given = {"epsilons": EPSILONS, "accuracy": self.accuracy, "caught": self.caught}
        rows = "".join(
            f'<tr><td>accuracy with {n} records</td><td class="bar"><i data-n="{n}"></i></td>'
            f'<td data-text="{n}"></td></tr>'
            for n in self.accuracy
        )
        return (
            f'<div class="skdp-slider" data-given="{html.escape(json.dumps(given))}">'
            "<label>epsilon = <output></output>"
            f'<input type="range" min="0" max="{len(EPSILONS) - 1}" value="6" aria-label="epsilon"></label>'
            f"<table>{rows}"
            "<tr><td>of 100 people in the data, caught at most</td>"
            '<td class="bar"><i class="attack"></i></td><td class="attack"></td></tr></table></div>'
        )
