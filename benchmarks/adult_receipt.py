"""Fit Adult once, and file what its receipt gives: ``SKDP_DATA=... python benchmarks/adult_receipt.py``.

Writes the receipt, the registry's record, the answers that a person gave to it, and the model card into docs/receipts/.
The model itself is not kept: the receipt's hashes are of its coefficients.
"""

import json

from _quick import DOCS

from skdp import DPLogisticRegression
from skdp.datasets import load_adult

OUT = DOCS / "receipts"
TITLE = "Income above 50,000 dollars (Adult)"
ANSWERS = {
    "name": TITLE,
    "curators": ["The skdp developers"],
    "intended_use": "To show what a receipt files; the data are public, so nobody is protected by it.",
    "region": "United States (census of 1994)",
    "description": "A linear classifier of yearly income from 14 attributes of a person, on 48,842 rows.",
    "authors": ["The skdp developers"],
    "actors": "The data are public. In earnest: the office that runs the fit is trusted, readers are not.",
    "preprocessing": "categories and ranges are those of the data's documentation; no value was read to choose them",
    "justification": "epsilon = 1 at delta = 1e-6, below one in 20 of the number of rows; the default solver",
    "sources": "Becker and Kohavi, Adult, UCI Machine Learning Repository, 1996 (CC BY 4.0)",
    "slug": "skdp_adult",
}


def main():
    """Fit, check, write."""
    X, y = load_adult(return_X_y=True)
    model = DPLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[0, 1]).fit(X, y)
    receipt = model.privacy_.stating(
        unit="person",
        tuning="defaults of skdp; none was chosen on these data",
        releases="these data are public",
    )
    assert receipt.verify(model), receipt.complaints(model)
    OUT.mkdir(exist_ok=True)
    _write("adult_receipt.json", receipt.to_dict())
    _write("adult_answers.json", ANSWERS)
    _write("adult_registry.json", receipt.to_registry(**ANSWERS))
    (OUT / "adult_model_card.md").write_text(
        receipt.to_model_card(TITLE, "cc-by-4.0"), encoding="utf-8"
    )


def _write(name, data):
    (OUT / name).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
