"""Runs of registered solvers on small vaults, with a tape of all answers, and a stub that plays the tape back."""

import warnings
from functools import lru_cache

import numpy as np
from laws.faces import face_for

from skdp import DPLinearSVC, DPLogisticRegression, NotSupported
from skdp.fitting import prepare
from skdp.mechanisms import Noise, Oracle, Records, price
from skdp.penalties import L1Ball
from skdp.solvers import SOLVERS

LOSSES = {"logistic": DPLogisticRegression, "huberised_hinge": DPLinearSVC}
# Where a solver needs more of the task than the default gives it, the first of these that fits.
TASKS = (
    {},
    {"fit_intercept": False},
    {"fit_intercept": False, "penalty": L1Ball(2.0)},
)


SHORT = {"steps": 40, "epochs": 3, "max_rounds": 40}


def short(name, **given):
    """The registered solver with fewer rounds: the laws are about each of them, not about their number."""
    solver = SOLVERS[name]()
    params = {k: min(v, SHORT[k]) for k, v in solver.get_params().items() if k in SHORT and v}
    taken = {k: v for k, v in given.items() if k in solver.get_params()}
    return solver.with_params(**params, **taken)


@lru_cache(maxsize=512)
def plan_for(solver, relation, loss="logistic", epsilon=1.0, n=60, d=3, **given):
    """The plan that an estimator would make; refused only if the solver cannot do it under this relation."""
    refusal = None
    for task in TASKS:
        estimator = face_for(
            **{
                "Estimator": LOSSES[loss],
                "epsilon": epsilon,
                "delta": 1e-5,
                "data_norm": 2.0,
                "classes": [0, 1],
                "neighbors": relation,
                "solver": solver,
                **task,
                **given,
            }
        )
        try:
            plan = estimator._plan(n, d, {})
            prepare(plan).quote()
        except NotSupported as error:
            refusal = refusal or error
        else:
            return plan
    raise refusal


def records_for(plan, n=60, seed=0):
    """Records that the plan could be run on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, plan.public.n_features))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    return Records.admit(X, y, plan.public, plan.data_norm)


class Tape:
    """An oracle that keeps what it answered."""

    def __init__(self, oracle):
        self._oracle = oracle
        self.answers = []

    @property
    def public(self):
        """Public facts."""
        return self._oracle.public

    def ask(self, question):
        """Ask the oracle and keep the answer."""
        answer = self._oracle.ask(question)
        self.answers.append(("ask", type(question), np.copy(answer)))
        return answer

    def affords(self, *questions):
        """Ask whether these can be paid and keep the answer."""
        answer = self._oracle.affords(*questions)
        self.answers.append(("affords", tuple(map(type, questions)), answer))
        return answer

    def share(self, question):
        """Ask what a question takes of the whole and keep the answer."""
        answer = self._oracle.share(question)
        self.answers.append(("share", type(question), answer))
        return answer


class Playback:
    """The tape alone: no vault, no noise, no account."""

    def __init__(self, public, answers):
        self.public = public
        self._answers = iter(answers)

    def _next(self, kind, what):
        recorded = next(self._answers, None)
        assert recorded is not None, "the solver asks more than it asked before"
        assert recorded[:2] == (kind, what), "the solver asks something else than before"
        return recorded[2]

    def ask(self, question):
        """The recorded answer."""
        answer = self._next("ask", type(question))
        return np.copy(answer) if answer.ndim else answer[()]

    def affords(self, *questions):
        """The recorded answer."""
        return self._next("affords", tuple(map(type, questions)))

    def share(self, question):
        """The recorded answer."""
        return self._next("share", type(question))


def run(plan, records, seed=0):
    """Solve once; return parameters, tape and the budget that the solver was given."""
    priced = prepare(plan)
    account, budget = priced.account, priced.budget
    tape = Tape(Oracle(records, account, Noise(seed)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        w = plan.solver.solve(tape, plan.task, budget)
    return w, tape.answers, budget


class Noting(Oracle):
    """An oracle that keeps the price of all that it is asked."""

    def __init__(self, *given):
        super().__init__(*given)
        self.prices = []

    def ask(self, question):
        """Answer as ever."""
        self.prices.append(price(question, self.public))
        return super().ask(question)


def check_all_is_paid(plan, records, seed=0):
    """Raise unless the account of a run holds the prices of all that was asked, one by one."""
    priced = prepare(plan)
    oracle = Noting(records, priced.account, Noise(seed))
    plan.solver.solve(oracle, plan.task, priced.budget)
    paid = [event for event, count in priced.account.script for _ in range(count)]
    assert oracle.prices and oracle.prices == paid


def check_replay(plan, records, seed=0):
    """What comes out is a function of the answers: bit for bit the same from the tape alone."""
    w, answers, budget = run(plan, records, seed)
    again = plan.solver.solve(Playback(plan.public, answers), plan.task, budget)
    assert answers, "a solver that asked nothing shows nothing"
    assert np.asarray(w).tobytes() == np.asarray(again).tobytes(), (
        "the result is no function of the answers"
    )
    return w, answers
