"""Price the settings of Chen's dissertation (2020), Figures 6.1 and 6.2, and write the table.

    python benchmarks/papers_priced.py

A batch of 10 out of the sessions that five-fold cross-validation leaves for training, about 4/5 of 1,692 (MQ2007) or
784 (MQ2008), delta = 1e-4, Gaussian noise of ``sigma`` times the bound on one session's contribution. `as_published` is
the source's own formula, which gives all printed figures. Writes ``docs/papers_priced.md``.
"""

import math
from functools import partial

from _quick import DOCS, few

from skdp.privacy import Spec, accountants, calibrate
from skdp.privacy.events import PoissonGaussian, WithoutReplacementGaussian, scaled

DELTA, BATCH = 1e-4, 10
ORDERS = range(2, 257)
COUNTS = (200, 400)  # of steps
# By data and sessions outside the test part. The source does not print these: of all whole numbers near 4/5 they are
# nearest to its figures, and 628 are the four largest of the five parts of MQ2008.
PRINTED = {
    ("MQ2007", 1356): {
        0.875: (1.981, 2.422),
        1.0: (1.484, 1.817),
        1.5: (0.761, 1.040),
        2.0: (0.0551, 0.758),
    },
    ("MQ2008", 628): {
        1.5: (1.643, 2.301),
        2.0: (1.203, 1.667),
        3.0: (0.865, 1.168),
        4.0: (0.735, 0.972),
    },
}
LOST_DIGIT = {0.0551: 0.551}  # the one printed figure that the formula does not give as it stands
HEAD = """# The dissertation's private ranking, priced again

Chen (2020), Figures 6.1 and 6.2: sigma is the noise on the sum over the bound of one session's contribution,
batches of 10 out of the sessions outside the test part of five-fold cross-validation (1,356 of 1,692 in MQ2007, 628 of
784 in MQ2008), delta = 1e-4. "Lemma 2.3" is the source's own formula: that lemma with sensitivity 1, Lemma 2.2 for the
steps and Proposition 2.1, at orders 2 to 256. The other prices are privacy loss distributions, never below the truth
and above it by about 1e-5 of themselves. `python benchmarks/papers_priced.py` makes this page.

| data | sigma | steps | printed | Lemma 2.3 | add/remove, Poisson | replace-one, Poisson | \
replace-one, without replacement | sigma that the printed epsilon needs |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
FOOT = """
* The source's formula gives every printed figure to within {apart:.4f}, if 0.0551 stands for 0.551. The source does not
  print how many sessions it trains on; these two numbers are the nearest to its figures.
* It does not hold for these batches. Lemma 2.3 is about neighbours of which one record is replaced, and asks what the
  mechanism costs on a batch where one is. A batch without the session holds *another* session in its place: two
  contributions differ, not one, so the sensitivity is twice the bound that the formula takes.
* Under add/remove with Poisson sampling the printed epsilon is safe in {safe} of {rows} rows, and loose; the last
  column is the noise it would need. The exception is 0.0551 as it is printed.
* A price holds for the batches that were drawn. Batches of a fixed size have no add/remove guarantee at all (their
  size tells n), and replacing a record then costs the price without replacement, above what is printed in {above} of
  {rows} rows. Replacing one list's labels in a Poisson batch costs the price beside it, above what is printed in
  {labels} of {rows} rows.
"""


def as_published(sigma, rate, steps):
    """Return epsilon by Lemma 2.3 (Wang, Balle and Kasiviswanathan 2019) with sensitivity 1, and Proposition 2.1."""
    costs = {order: order / (2.0 * sigma**2) for order in ORDERS}
    pair = min(4.0 * math.expm1(costs[2]), 2.0 * math.exp(costs[2]))
    found = []
    for order in ORDERS:
        terms = [0.0, 2.0 * math.log(rate) + _log_choose(order, 2) + math.log(pair)]
        for j in range(3, order + 1):
            more = math.log(2.0) + (j - 1) * costs[j]
            terms.append(j * math.log(rate) + _log_choose(order, j) + more)
        most = max(terms)
        total = most + math.log(sum(math.exp(term - most) for term in terms))
        found.append((steps * total + math.log(1.0 / DELTA)) / (order - 1))
    return min(found)


def _log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def settings():
    """Yield data, sampling rate, sigma, steps and printed epsilon of each figure."""
    for (data, size), figures in PRINTED.items():
        for sigma, printed in figures.items():
            for steps, claimed in zip(COUNTS, printed):
                yield data, BATCH / size, sigma, steps, claimed


def priced(data, rate, sigma, steps, claimed):
    """Return a line of the table, and its prices."""
    sampled = ((PoissonGaussian(sigma, rate), steps),)
    fixed = ((WithoutReplacementGaussian(sigma, rate), steps),)
    prices = (
        as_published(sigma, rate, steps),
        accountants.epsilon(sampled, DELTA, "add_remove", "pld"),
        accountants.epsilon(sampled, DELTA, "replace_one", "pld"),
        accountants.epsilon(fixed, DELTA, "replace_one", "pld"),
    )
    needed = sigma * calibrate(partial(scaled, sampled), Spec(claimed, DELTA, "add_remove"))[0]
    figures = " | ".join(f"{price:.4f}" for price in prices)
    return f"| {data} | {sigma} | {steps} | {claimed} | {figures} | {needed:.3f} |", prices


def main():
    """Write the page and print it."""
    chosen = list(settings())[: few(None, 1)]
    claims = [setting[-1] for setting in chosen]
    lines, prices = zip(*(priced(*setting) for setting in chosen))
    own, added, replaced, fixed = zip(*prices)
    foot = FOOT.format(
        rows=len(lines),
        apart=max(abs(price - LOST_DIGIT.get(c, c)) for price, c in zip(own, claims)),
        safe=sum(price <= c for price, c in zip(added, claims)),
        labels=sum(price > c for price, c in zip(replaced, claims)),
        above=sum(price > c for price, c in zip(fixed, claims)),
    )
    page = HEAD + "\n".join(lines) + "\n" + foot
    (DOCS / "papers_priced.md").write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
