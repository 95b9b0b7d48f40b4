"""Verify a privacy certificate (``python certificate_checker.py < file.json``) by the standard library alone.

A certificate names a script of releases, fixed beforehand, and claims that epsilon at a delta, or delta at an epsilon,
lies in an interval. All is recomputed here; the certificate only proposes a grid. Why "verified" is a proof:

1. *One step* is a pair of laws (P, Q) of two neighbours; its loss is L = log dP/dQ under P, and for the sum S of all
   losses delta(e) = E(1 - e^(e - S))+.
2. *Upwards.* What lies between two grid points is put on these two so that its mass under P and under Q stay. In
   v = e^e delta is a mean of convex functions (1 - v e^-S)+, and e^-L was spread about its mean: delta can only grow.
3. *Downwards.* Given all losses, e^-L is spread by independent factors of mean 1 with two values of ratio e^h. If
   s = h sqrt(pi/8), a factor e^(sN - s^2/2), N normal, has conditional means of a larger ratio on the two sides of any
   threshold, for the log odds of a normal law grow by 4/sqrt(2 pi) at least: it is larger in convex order. Hence
   delta_grid(v) <= E delta(v R), R log-normal with s^2 = (pi/8) sum h^2. Since delta is convex in v, falls and is below
   delta_grid, E delta(v R) is at most what interpolates delta_grid at points v r_j and delta itself at r_0 = 1.
4. *Sums.* Masses times x^index are rounded DOWN to integers, convolved exactly as digits of long numbers, and rounded
   down again. Totals multiply, so the total of what was lost is known; upwards all of it counts as if it lay where
   undoing x^index makes the most of it, at the least loss above e. All else is interval arithmetic in decimals.
"""

# fmt: off
import json
import math
import sys
from collections import namedtuple
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

FORMAT, ZERO, ONE = "privacy certificate 1", Decimal(0), Decimal(1)
DOWN, UP = (Context(40, mode, -(10**9), 10**9) for mode in (ROUND_FLOOR, ROUND_CEILING))
WIDE = Context(MAX_PREC, ROUND_FLOOR, MIN_EMIN, MAX_EMAX)
ROOT_2PI, EIGHTH_PI = Decimal("2.5066282746310005024157652848110452530070"), "0.39269908169872415480783042290993786053"
MOST_CELLS, NODES, FAINT, MARGIN, ANCHORS = 2**19, 8, Decimal("1e-30"), Decimal("1e-25"), dict[int, Any]()
ENDS: dict[str, Any] = {"shift": (1, 10**4), "categories": (2, 2**53), "epsilon": (1e-9, 100.0), "sd": (1e-2, 1e4),
    "rate": (1e-9, 1 - 1e-9), "step": (1e-9, 1e3), "base": (1 + 1e-15, 1e9), "upper": (0.0, 1.0), "lower": (0.0, 1.0)}
LOPSIDED = {"PoissonGaussian", "PoissonPure", "WorstPair"}  # removing a record differs from adding one

class Interval:
    """An interval of real numbers, by its ends."""
    def __init__(self, lo: Any, hi: Any = None) -> None:
        self.lo, self.hi = Decimal(lo), Decimal(lo if hi is None else hi)
    def __add__(self, o: "Interval") -> "Interval":
        return Interval(DOWN.add(self.lo, o.lo), UP.add(self.hi, o.hi))
    def __sub__(self, o: "Interval") -> "Interval":
        return Interval(DOWN.subtract(self.lo, o.hi), UP.subtract(self.hi, o.lo))
    def __mul__(self, o: "Interval") -> "Interval":
        if self.lo >= 0 and o.lo >= 0:
            return Interval(DOWN.multiply(self.lo, o.lo), UP.multiply(self.hi, o.hi))
        ends = [(a, b) for a in (self.lo, self.hi) for b in (o.lo, o.hi)]
        return Interval(min(DOWN.multiply(*p) for p in ends), max(UP.multiply(*p) for p in ends))
    def __truediv__(self, o: "Interval") -> "Interval":
        if o.lo <= 0 <= o.hi:
            raise ValueError("an interval that holds zero is divided by")
        return self * Interval(DOWN.divide(ONE, o.hi), UP.divide(ONE, o.lo))
    def _of(self, name: str) -> "Interval":
        low = getattr(DOWN, name)(self.lo)  # correctly rounded to the nearest, whatever the context's mode
        high = low if self.hi == self.lo else getattr(UP, name)(self.hi)
        return Interval(DOWN.next_minus(low), UP.next_plus(high))
    def _within(self, low: "Interval", high: "Interval") -> "Interval":
        return Interval(min(max(self.lo, low.lo), high.lo), min(max(self.hi, low.hi), high.hi))

NIL, UNIT, TWO, HALF, TINY = Interval(0), Interval(1), Interval(2), Interval("0.5"), Interval("-1e-35", "1e-35")

def read(value: Any, least: float, most: float) -> Any:
    """Read a number between two ends, whole where the first end is."""
    if type(value) not in (int, type(least)) or not least <= value <= most:
        raise ValueError(f"{value!r} is no number between {least} and {most}")
    return value

def field(name: str, value: Any) -> Any:
    """Read a number, or a list of them, by its name."""
    ends, many = ENDS.get(name, (1e-3, 1e6)), isinstance(value, list)
    return [field(name, v) for v in value] if many else Interval(read(value, *ends))

def normal(x: Interval) -> Interval:
    """Enclose the normal distribution function, by its Taylor series at the next i/16.
    There it is 1/2 + density (x + x^3/3 + x^5/15 + ...). 28 terms of density e^(-xs - s^2/2) leave less than 10^-38
    (Cauchy's bound on |s| = 1), as much is beyond 13, and a floor loses 10^-48, times e^(x^2/2) before the density."""
    if x.hi < -13 or x.lo > 13:
        return ((NIL if x.hi < 0 else UNIT) + TINY)._within(NIL, UNIT)
    low, one = max(x.lo, Decimal(-13)), 10**48
    i, total = round(low * 16), 0
    if i not in ANCHORS:
        y, k, series = abs(i) * one // 16, 1, [Fraction(1), Fraction(-i, 16)]
        term, square = y, y * y // one
        while term > 0:
            total, k = total + term, k + 2
            term = term * square // (one * k)
        for n in range(2, 28):
            series.append((Fraction(-i, 16) * series[-1] - series[-2]) / n)
        density = DOWN.divide(DOWN.exp(DOWN.divide(Decimal(-i * i), Decimal(512))), ROOT_2PI)
        part = DOWN.multiply(density, DOWN.scaleb(Decimal(total if i > 0 else -total), -48))
        ANCHORS[i] = DOWN.add(HALF.lo, part), density, [math.floor(c * one / (n + 1)) for n, c in enumerate(series)]
    (value, density, series), total = ANCHORS[i], 0
    s = int(DOWN.scaleb(DOWN.subtract(low, DOWN.divide(Decimal(i), Decimal(16))), 48))
    for c in reversed(series):
        total = c + total * s // one
    value = DOWN.add(value, DOWN.multiply(density, DOWN.scaleb(Decimal(total * s // one), -48)))
    return (Interval(value, UP.add(value, UP.subtract(x.hi, low))) + TINY)._within(NIL, UNIT)

# Loss of one step under P: atoms (loss, mass, index), on a line if there is a spacing; mass at infinity; and what is
# spread: ``below`` gives at e^loss its mass below, under P and under Q but for a constant, and above.
Step = namedtuple("Step", "atoms spacing offset infinite below", defaults=(None, NIL, NIL, None))

def _line(spacing: Interval, offset: Interval, law: Any, infinite: Interval = NIL) -> Step:
    return Step([(offset + Interval(j) * spacing, p, j) for j, p in law.items()], spacing, offset, infinite)

class Families(namedtuple("Families", "way")):
    """Steps by the name of their family; ``way`` says which neighbour is P."""
    def _PureDP(self, epsilon: Interval) -> Step: return self._RandomizedResponse(epsilon, TWO)
    def _RandomizedResponse(self, epsilon: Interval, categories: Interval) -> Step:
        lie = UNIT / (epsilon._of("exp") + categories - UNIT)
        return _line(epsilon, NIL, {-1: lie, 0: lie * (categories - TWO), 1: lie * epsilon._of("exp")})
    def _PoissonPure(self, epsilon: Interval, rate: Interval) -> Step:
        b = UNIT / (UNIT + epsilon._of("exp"))
        a, rest = UNIT - b, UNIT - rate
        return self._WorstPair([rest * b + rate * a, rest * a + rate * b], [b, a])
    def _DiscreteLaplace(self, scale: Interval, shift: Interval) -> Step:
        r, end = (Interval(-1) / scale)._of("exp"), int(shift.lo)
        law = {j: (Interval(j - end) / scale)._of("exp") / (UNIT + r) for j in range(end + 1)}
        return _line(TWO / scale, Interval(-end) / scale, law | {j: law[j] * (UNIT - r) for j in range(1, end)})
    def _DiscreteGaussian(self, sd: Interval, shift: Interval) -> Step:
        last, twice, s = int(sd.hi) * 14 + 14, TWO * sd * sd, int(shift.lo)
        law = {k: (Interval(-k * k) / twice)._of("exp") for k in range(-last, last + 1)}
        beyond = Interval(0, law[last].hi * 2 * last)  # by a geometric series
        total = sum(law.values(), beyond)
        law = {k + s: mass / total for k, mass in law.items()}
        return _line(Interval(2 * s) / twice, Interval(-s * s) / twice, law, beyond)
    def _WorstPair(self, upper: Any, lower: Any) -> Step:
        p, q = (lower, upper) if self.way == "add" else (upper, lower)
        there, back = (sorted((x[i].lo, x[1 - i].lo) for x in zip(p, q, strict=True)) for i in (0, 1))
        if self.way == "replace" and there != back:
            raise ValueError("a pair must be its own mirror image under replace_one")
        lost = UNIT - sum(p, NIL)  # what is missing beyond 4e-15, which is rounding
        lost = Interval(max(DOWN.subtract(lost.lo, Decimal("4e-15")), ZERO), max(lost.hi, ZERO))
        lost = sum((x for x, y in zip(p, q) if not y.hi), lost)
        atoms = sorted((((x / y)._of("ln"), x, 0) for x, y in zip(p, q) if x.lo and y.lo), key=lambda a: a[0].lo)
        if len(atoms) == 2 and atoms[1][0].lo - atoms[0][0].hi > FAINT:
            return _line(atoms[1][0] - atoms[0][0], atoms[0][0], {0: atoms[0][1], 1: atoms[1][1]}, lost)
        return Step(atoms, infinite=lost)
    def _Laplace(self, multiplier: Interval) -> Step:
        a = UNIT / multiplier
        least, most = (NIL - a)._of("exp"), a._of("exp")
        def below(grown: Interval) -> Any:
            grown = grown._within(least, most)
            mass, other = HALF * (grown * least)._of("sqrt"), HALF * (least / grown)._of("sqrt")
            return mass - HALF * least, NIL - other, HALF - mass
        return Step([(a, HALF, 1), (NIL - a, HALF * least, -1)], a, below=below)
    def _Gaussian(self, multiplier: Interval) -> Step: return Families("remove")._PoissonGaussian(multiplier, UNIT)
    def _PoissonGaussian(self, multiplier: Interval, rate: Interval) -> Step:
        shift, rest, adding, replacing = UNIT / multiplier, UNIT - rate, self.way == "add", self.way == "replace"
        def place(grown: Interval) -> Any:  # where the loss of removing or replacing is that large; it grows
            if not replacing:
                ratio = (grown - rest) / rate
                low, high = (Interval(max(end, Decimal("1e-999"))) for end in (ratio.lo, ratio.hi))
                more = (high - low) / low  # ln is concave
                return (low._of("ln") + Interval(0, more.hi)) / shift + shift * HALF  # below all losses: far away
            if grown.hi < 1:
                return NIL - place(UNIT / grown)
            a, b = rate * (NIL - shift * shift * HALF)._of("exp"), rest * (grown - UNIT)
            return ((b + (b * b + Interval(4) * a * a * grown)._of("sqrt")) / (a + a))._of("ln") / shift
        def below(grown: Interval) -> Any:
            x = place(UNIT / grown if adding else grown)
            alone = normal(x)
            there = rest * alone + rate * normal(x - shift)
            if adding:  # noise alone under P, on the mirrored line
                return UNIT - alone, UNIT - there, alone
            return there, rest * alone + rate * normal(x + shift) if replacing else alone, UNIT - there
        return Step([], below=below)

# Part of a law on a grid: from index ``first`` on, whole numbers of units of mass times x^index. ``total`` is at least
# what all of the law would be; ``spread`` counts the steps whose losses were not on the grid.
Law = namedtuple("Law", "first masses unit total spread infinite offset")

class Prover:
    """The law of all losses in one direction, on the grid that a certificate proposes."""
    def __init__(self, script: Any, witness: Any, way: str) -> None:
        self.digits, mine = read(witness["digits"], 10, 60), witness["ways"][way]
        grid = mine.get("grid", witness["grid"])
        exact, parts, steps, laws, self.sums = -1, 1, [], [], list[Any]()
        for event in script:
            fields = {name: field(name, v) for name, v in event.items() if name not in ("family", "count")}
            if event["family"] == "Gaussian":  # so many are one with less noise
                fields["multiplier"] /= Interval(read(event["count"], 1, 2**53))._of("sqrt")
            steps.append(getattr(Families(way), "_" + event["family"])(**fields))
        if "event" in grid:
            exact, parts = read(grid["event"], 0, len(steps) - 1), read(grid["parts"], 1, MOST_CELLS)
        self.h = steps[exact].spacing / Interval(parts) if exact >= 0 else field("step", grid["step"])
        read(float(self.h.lo), 1e-9, 1e3)  # finer ones are beyond the account of rounding
        self.base = field("base", mine["base"])
        for i, (event, step, ends) in enumerate(zip(script, steps, mine["ranges"], strict=True)):
            law = self.law_of(step, parts if i == exact else 0, ends)
            laws.append(self._power(law, 1 if event["family"] == "Gaussian" else read(event["count"], 1, 2**53)))
        self.law = reduce(self._product, laws)
    def law_of(self, step: Step, parts: int, ends: Any) -> Law:
        """Masses of one step on the grid; where that is parts of the step's own spacing, its atoms stay."""
        ideal, h, infinite = dict[int, Interval](), self.h, step.infinite
        gap, factor = UNIT - (NIL - h)._of("exp"), h._of("exp")
        def put(index: int, mass: Interval) -> None:
            ideal[index] = ideal.get(index, NIL) + mass._within(NIL, UNIT)
        for loss, mass, j in step.atoms:
            k = j * parts if parts else math.floor(DOWN.add((loss / h).lo, FAINT))
            share = NIL if parts else (UNIT - (Interval(k) * h - loss)._of("exp")) / gap + Interval(-MARGIN, MARGIN)
            put(k, mass * (UNIT - share._within(NIL, UNIT)))
            put(k + 1, mass * share._within(NIL, UNIT))
        if step.below:
            first, last = (read(end, -MOST_CELLS, MOST_CELLS) for end in ends)
            grown = (Interval(first) * h)._of("exp")
            start = step.below(grown)
            put(first, Interval(0, start[0].hi))  # raised, where it is there
            for k in range(first, last):
                end = step.below(grown * factor)
                mass = (end[0] - start[0])._within(NIL, UNIT)
                up = ((mass - (end[1] - start[1]) * grown) / gap)._within(NIL, mass)
                put(k, mass - up)
                put(k + 1, up)
                grown, start = grown * factor, end
            infinite = infinite + Interval(0, max(start[2].hi, ZERO))
        low, size, total, tilted = min(ideal), read(max(ideal) - min(ideal), 0, MOST_CELLS), NIL, []
        power, exact = (self.base._of("ln") * Interval(low))._of("exp"), parts and not step.below
        for k in range(low, low + size + 1):
            tilted.append(ideal.get(k, NIL) * power)
            power, total = power * self.base, total + tilted[-1]
        unit, offset = UP.scaleb(total.hi, -self.digits), step.offset if exact else NIL
        masses = [int(DOWN.divide(mass.lo, unit)) for mass in tilted]
        return Law(low, masses, Interval(unit), Decimal(10**self.digits), 0 if exact else 1, infinite, offset)
    def _product(self, a: Law, b: Law) -> Law:
        width, size, scale = 2 * self.digits + 4, len(a.masses) + len(b.masses) - 1, Decimal(10**self.digits)
        read(size, 1, MOST_CELLS)
        read(sum(a.masses) * sum(b.masses), 0, 10**width - 1)
        long = (Decimal("".join(f"{m:0{width}d}" for m in reversed(law.masses))) for law in (a, b))
        text = str(WIDE.multiply(*long)).zfill(width * size)
        kept = [int(text[i * width : (i + 1) * width - self.digits]) for i in reversed(range(size))]
        low, high = (next((i for i in ends if kept[i]), 0) for ends in (range(size), range(size - 1, -1, -1)))
        return Law(a.first + b.first + low, kept[low : high + 1], a.unit * b.unit * Interval(scale),
                   UP.divide(UP.multiply(a.total, b.total), scale), a.spread + b.spread,
                   a.infinite + b.infinite - a.infinite * b.infinite, a.offset + b.offset)
    def _power(self, law: Law, count: int) -> Law:
        out = law
        for bit in bin(count)[3:]:
            out = self._product(self._product(out, out), law) if bit == "1" else self._product(out, out)
        return out
    def delta(self, e: Interval) -> tuple[Decimal, Decimal]:
        """Bounds of delta of the grid; the upper one is above the true delta."""
        law, h, back = self.law, self.h, UNIT / self.base
        if not self.sums:  # from each index on: masses times x^-i, and times x^-i e^(-i h), i counted from there
            self.sums, other, state = [(NIL, NIL)], back * (NIL - h)._of("exp"), [ZERO] * 4
            for mass in reversed(law.masses):
                for i, (mode, x) in enumerate(((DOWN, back.lo), (UP, back.hi), (DOWN, other.lo), (UP, other.hi))):
                    state[i] = mode.add(mode.multiply(state[i], x), mass)
                self.sums.append((Interval(*state[:2]), Interval(*state[2:])))
        k = math.floor(((e - law.offset) / h).lo) + 1  # the least index above e, or the one below
        start = max(k, law.first)
        one, two = self.sums[max(len(law.masses) + law.first - start, 0)]
        here, most = (law.unit * (back._of("ln") * Interval(i))._of("exp") for i in (start, k))
        found = here * (one - (e - law.offset - Interval(start) * h)._of("exp") * two)
        missing = Interval(law.total) * Interval(ONE + FAINT) - Interval(sum(law.masses))
        above = found + most * missing + law.infinite
        return DOWN.add(max(found.lo, ZERO), law.infinite.lo), min(above.hi, ONE)
    def lower(self, e: Interval) -> Decimal:
        """Lower bound on the true delta."""
        if not self.law.spread:
            return self.delta(e)[0]
        s = (Interval(EIGHTH_PI) * Interval(self.law.spread))._of("sqrt") * self.h
        nodes = [s * Interval("1.5") * Interval(j) for j in range(-NODES, NODES + 1)]
        places, powers = [NIL - y / s - s * HALF for y in nodes], [y._of("exp") for y in nodes]
        calls = [normal(x + s) - r * normal(x) for x, r in zip(places, powers)]  # E (R - r)+
        chords = [(calls[i] - calls[i + 1]) / (powers[i + 1] - powers[i]) for i in range(len(nodes) - 1)]
        weights = [a - b for a, b in pairwise([normal(places[0]), *chords, NIL])]  # means of hat functions of R
        known = [Interval(self.delta(e + y)[1]) for y in nodes[:NODES] + nodes[NODES + 1 :]]
        means = [weight._within(NIL, UNIT) for weight in weights[:NODES] + weights[NODES + 1 :]]
        others = sum((mean * delta for mean, delta in zip(means, known)), UNIT - normal(places[0]))
        return ((Interval(self.delta(e)[0]) - Interval(others.hi)) / Interval(weights[NODES].hi)).lo

def complaint(certificate: Any) -> str | None:
    """Say why a certificate is not proved; None where it is."""
    try:
        script, claim = certificate["script"], certificate["claim"]
        if certificate["format"] != FORMAT or set(claim) != {"delta", "epsilon"}:
            raise ValueError("this is another format")
        ways = {"add_remove": ["remove", "add"], "replace_one": ["replace"]}[certificate["neighbors"]]
        ways = ways[: 1 + any(event["family"] in LOPSIDED for event in script)]
        if isinstance(claim["epsilon"], list):
            (low, high), least = (read(e, 0.0, 1e4) for e in claim["epsilon"]), read(claim["delta"], 1e-300, 1.0)
            most, trivial = least, low == 0
        else:
            (least, most), low = (read(d, 0.0, 1.0) for d in claim["delta"]), read(claim["epsilon"], 0.0, 1e4)
            high, trivial = low, least == 0
        provers = [Prover(script, certificate["witness"], way) for way in ways]
        if any(not prover.delta(Interval(high))[1] <= most for prover in provers):
            raise ValueError(f"delta at {high} may be above {most}")
        if not trivial and not any(prover.lower(Interval(low)) > least for prover in provers):
            raise ValueError(f"delta at {low} may be no more than {least}")
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
if __name__ == "__main__":
    sys.exit(complaint(json.load(sys.stdin)) or print("verified"))
