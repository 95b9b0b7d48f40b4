"""What a failure in the midst of a fit may do: what was paid stays paid, and nothing is made again."""

from contextlib import contextmanager, suppress

import numpy as np

import skdp
from skdp.fitting import PrivateEstimator
from skdp.mechanisms import Oracle

__all__ = [
    "Failure",
    "check_next_is_paid",
    "check_not_made_again",
    "check_paid_again",
    "check_stays_paid",
    "failing_at",
    "fits_begun",
    "rows",
]


class Failure(RuntimeError):
    """What a solver may raise in the midst of a fit."""


@contextmanager
def failing_at(which, error=Failure):
    """Let the question of this number fail; a list gets the numbers of all questions that are asked."""
    asked, ask = [], Oracle.ask

    def fail(self, question):
        asked.append(len(asked))
        if asked[-1] == which:
            raise error
        return ask(self, question)

    Oracle.ask = fail
    try:
        yield asked
    finally:
        Oracle.ask = ask


def rows(n=200, seed=0):
    """A table and labels."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 3))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)


def check_stays_paid(run, ledger_of, which=0):
    """Complaints of a thing whose run fails once it has paid, beside a run that does not.

    Parameters
    ----------
    run : callable
        Takes a ledger, and fits or scores.
    ledger_of : callable
        Makes a ledger.
    which : int
        The question that fails.
    """
    whole, failed = ledger_of(), ledger_of()
    run(whole)
    with failing_at(which) as asked, suppress(Failure):
        run(failed)
    if which not in asked:
        yield f"question {which} was never asked"
    if not whole.spent > 0 or whole.scripts != failed.scripts:
        yield f"charged {len(failed)} times, epsilon {failed.spent:g}, and without the failure {whole.spent:g}"


def check_paid_again(run, ledger_of, which=0):
    """Complaints of a thing that is run once more at the same ledger after it has failed; parameters as above.

    Answers have left the first run, whoever has heard them: the second one pays by itself.
    """
    once, twice = ledger_of(), ledger_of()
    run(once)
    with failing_at(which), suppress(Failure):
        run(twice)
    run(twice)
    if not once.spent > 0 or twice.scripts != once.scripts * 2:
        yield f"charged {len(twice)} times for a run that failed and one more, and {len(once)} times for one"


def check_next_is_paid(run, later, room, error=KeyboardInterrupt):
    """Complaints of a thing after which, once it was broken off, a fit in the same budget is charged to nobody.

    Parameters
    ----------
    run, later : callable
        Each takes a ledger, and fits or scores.
    room : dict
        Of the budget.
    error : type
        What breaks it off, at its first question.
    """
    with skdp.budget(**room) as ledger:
        with failing_at(0, error) as asked, suppress(error):
            run(None)
        if not asked:
            yield "nothing was asked"
        charged = len(ledger)
        if not charged:
            yield "what was broken off is not charged"
        later(None)
        if len(ledger) != charged + 1:
            yield f"a later fit was charged {len(ledger) - charged} times"


def fits_begun(run, which=None):
    """How many fits begin in a run, of which one question may fail."""
    begun, fit = [], PrivateEstimator._fit

    def count(self, *given):
        begun.append(type(self).__name__)
        return fit(self, *given)

    PrivateEstimator._fit = count
    try:
        with failing_at(which) as asked, suppress(Failure):
            run()
    finally:
        PrivateEstimator._fit = fit
    assert which is None or which in asked, f"question {which} was never asked"
    return len(begun)


def check_not_made_again(run, which=0):
    """Complaints of a search of a fixed seed in which another number of fits begin once one of them fails.

    Parameters
    ----------
    run : callable
        Searches, with the same draws each time.
    which : int
        The question that fails.
    """
    whole, failed = fits_begun(run), fits_begun(run, which)
    if failed != whole:
        yield f"{failed} fits began where one failed, and {whole} where none did"
