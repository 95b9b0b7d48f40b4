"""How much work a fit is, as counts that no machine changes: questions asked, and products with all the rows."""

import math
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import isfunction

import numpy as np
from laws.faces import face_for

from skdp import DPLogisticRegression, NotSupported
from skdp.mechanisms import Oracle, Public, Records
from skdp.penalties import L1Ball


@dataclass
class Work:
    """What a fit has done so far.

    Parameters
    ----------
    questions : int
        That were answered from records.
    products : int
        Of rows, or a batch of them, with one vector each: a product with K vectors counts K times, a matrix of second
        moments once for each column.
    """

    questions: int = 0
    products: int = 0


def _vectors(answer):
    """How many vectors an array of rows' products stands for; 0 where it is no such array."""
    if isinstance(answer, tuple):  # a sum, and what rounding took from it
        answer = answer[0]
    return math.prod(answer.shape[1:]) if isinstance(answer, np.ndarray) and answer.ndim else 0


def _counting(method, work, inside):
    @wraps(method)
    def counted(rows, *given):
        inside.append(method)
        try:
            answer = method(rows, *given)
        finally:
            inside.pop()
        # A method that calls another is one product, and what the rows carry about with them is none.
        if not inside and len(rows) and answer is not rows.norms:
            work.products += _vectors(answer)
        return answer

    return counted


@contextmanager
def counted(patch):
    """Count what happens to records within; rehearsals have none, so they count for nothing.

    Parameters
    ----------
    patch : pytest.MonkeyPatch
        Undoes the counting afterwards.
    """
    work, inside = Work(), []
    engine = type(Records.blank(Public(1, 1, 0.0, "replace_one")).rows)
    asked = Oracle.ask

    def ask(self, question):
        work.questions += bool(len(self._Oracle__records))
        return asked(self, question)

    with patch.context() as undone:
        undone.setattr(Oracle, "ask", ask)
        for name, method in vars(engine).items():
            if isfunction(method) and not name.startswith("_"):
                undone.setattr(engine, name, _counting(method, work, inside))
        yield work


def work_of(solver, columns, patch, rows=300):
    """Work of a fit of so many columns, on the first task that the solver takes."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (rows, columns)) / math.sqrt(columns)
    y = (X @ rng.normal(size=columns) > 0).astype(int)
    for penalty in ("l2", L1Ball(3.0)):
        model = face_for(
            solver,
            DPLogisticRegression,
            epsilon=1.0,
            delta=1e-6,
            penalty=penalty,
            data_norm=1.0,
            classes=[0, 1],
            random_state=0,
        )
        with counted(patch) as work, warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                model.fit(X, y)
            except NotSupported:
                continue
        return work
    raise AssertionError(f"{solver} takes no task")
