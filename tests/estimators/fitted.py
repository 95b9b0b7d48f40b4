"""What a fitted estimator shows, with all answers held fixed while the data changes."""

import pickle

import numpy as np

from skdp.mechanisms import Oracle
from skdp.solvers import SGD


def _answers_whatever_the_data(self, question):
    """The answer that a blank vault would give: the data is out of the picture, the path is the same."""
    blank = type(self._Oracle__records).blank(self.public)
    self._Oracle__account.charge(question.event(self.public))
    return question.answer(blank, self._Oracle__noise)


def check_attributes_are_answers(Estimator, neighbors, **given):
    """Fit on two data sets while the oracle ignores both: every fitted attribute must come out the same."""
    shown = []
    asked = Oracle.ask
    Oracle.ask = _answers_whatever_the_data
    try:
        for seed, n in ((0, 40), (1, 40 if neighbors == "replace_one" else 55)):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(n, 3)) + seed
            y = ((X[:, 0] > seed) == (seed == 0)).astype(int)
            if "solver" in Estimator().get_params():
                given.setdefault("solver", "gd" if hasattr(Estimator, "penalty") else SGD(steps=3))
            model = Estimator(
                data_norm=2.0,
                classes=[0, 1],
                neighbors=neighbors,
                random_state=0,
                **given,
            ).fit(X, y)
            shown.append({k: v for k, v in vars(model).items() if k not in model.get_params()})
    finally:
        Oracle.ask = asked
    assert shown[0].keys() == shown[1].keys(), "which attributes there are depends on the data"
    for name in shown[0]:
        one, other = (pickle.dumps(found[name]) for found in shown)
        assert one == other or str(shown[0][name]) == str(shown[1][name]), (
            f"{name} depends on the data"
        )
