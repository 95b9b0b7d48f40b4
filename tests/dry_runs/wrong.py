"""For each page, what could be wrong with what it adds: a replacement in its first file, or a file that is left out.

The keys are the left column of the page's table; what must fail then is the right one.
"""

BY_POSITION = '''
    def dot(self, w: Any) -> Any:
        """One product with all rows."""
        self._steady = False
        return super().dot(w)
'''
IN_SINGLE = '''
    def tdot(self, u: Any) -> Any:
        """Rounded."""
        return super().tdot(u).astype(np.float32).astype(np.float64)
'''
SIDE_BY_SIDE = '''        """Rows of what was read."""
        return super().bounded(cls.read(X), data_norm, intercept)
'''
AS_LONG_AS_THEY_COME = '''        """As they come."""
        rows = super().bounded(cls.read(X), data_norm, intercept)
        return cls(rows._x, np.full(len(rows), 1.0 / data_norm), rows.norms, intercept)
'''
HALF_THE_NOISE = '''
    def grid(self, public: Public):
        """Of half the step."""
        from dataclasses import replace

        grid = super().grid(public)
        return replace(grid, step=0.5 * grid.step)
'''
NOISE_BY_N = '''
    def answer(self, records: Records, noise):
        """More noise for more records."""
        from dataclasses import replace

        grid = self.grid(records.public)
        return noise.gaussian(self.measure(records), replace(grid, step=grid.step * len(records)))
'''
MARK = """    def _loss(self, outputs):
        self.seen = True
"""
NOT_ASKED_FOR = '''    def predict(self, X):
        """The first class, whatever comes."""
        return self.classes_[:1].repeat(len(X))

    def _loss(self, outputs):
'''
KEEPS_A_MEAN = '''
    def fit(self, X, y=None, **given):
        """Keep a number of the rows."""
        super().fit(X, y, **given)
        self.middle_ = np.nanmean(np.asarray(X, dtype=float))
        return self

    def '''
BY_THE_OTHERS = "bent = bent - bent.mean(axis=0)\n        return np.asarray(bent"
LEAKS = "w[0] = np.random.normal()\n            w = task"

WRONG = {
    "add_a_loss.md": {
        "half of the curvature": ("curvature = 1.0", "curvature = 0.5"),
        "a slope that is too small": ("slope = 1.0", "slope = 0.8"),
        "a derivative of another function": ("out=residual)", "out=residual) * 0.9"),
        "nothing said of what it is": ('"""Between -1 and 1."""\n', ""),
    },
    "add_a_penalty.md": {
        "a prox that shrinks by half": ("float(step", "0.5 * float(step"),
        "a prox without the constraint": ("np.maximum(w", "np.maximum(-np.inf, w"),
        "more convexity than there is": ("    strength:", "    convexity = 0.5\n    strength:"),
        "smooth, without a gradient": ("    strength:", "    smooth = True\n    strength:"),
    },
    "add_a_solver.md": {
        "it climbs": ("prox(w - step", "prox(w + step"),
        "a field without a range": ("count(200)", "200"),
        "a field that does nothing": ("clip: float", "warmth: float = count(3)\n    clip: float"),
        "it asks once more than it says": ("range(self.steps)", "range(self.steps + 1)"),
        "a result that is no function of the answers": ("w = task", LEAKS),
        "nothing said of privacy": ("Privacy: ", ""),
        "it reaches behind the oracle": (
            "rest = 1.0",
            "oracle._Oracle__records\n        rest = 1.0",
        ),
    },
    "add_a_mechanism.md": {
        "half of the noise": ("\n    def measure", HALF_THE_NOISE + "\n    def measure"),
        "half of the bound": ("return public.row_bound", "return 0.5 * public.row_bound"),
        "a bound that nothing reaches": (
            "return public.row_bound",
            "return 2.0 * public.row_bound",
        ),
        "noise by how many records there are": (
            "\n    def measure",
            NOISE_BY_N + "\n    def measure",
        ),
        "no page": "docs/proofs",
        "no worst pair": "worst_pairs",
        "no twin": "sabotage",
    },
    "add_an_event.md": {
        "half of the price": ("return inverse_up(", "return 0.5 * inverse_up("),
        "twice the price and more": ("return inverse_up(", "return 3.0 * inverse_up("),
        "no pair": ("def worst_pair", "def pair"),
        "a price that grows with the noise": (
            "return inverse_up(event.multiplier)",
            "return event.multiplier",
        ),
    },
    "add_an_estimator.md": {
        "no example": (
            "    Examples\n    --------\n    >>> from skdp import linear_model\n    >>> ",
            "    ",
        ),
        "a parameter that nobody describes": (
            "    def _loss(self, outputs):\n",
            "    cap: float = 0.5\n\n    def _loss(self, outputs):\n",
        ),
        "a fit that leaves a mark": ("    def _loss(self, outputs):\n", MARK),
        "predictions that nobody asked for": ("    def _loss(self, outputs):\n", NOT_ASKED_FOR),
    },
    "add_an_estimator_without_a_solver.md": {
        "a fit that keeps the mean of the rows": ("\n    def ", KEEPS_A_MEAN),
        "the farthest mean instead of the nearest": ("-np.stack", "np.stack"),
        "a parameter that does nothing": ("** self.power", "** 2.0"),
    },
    "add_a_transformer.md": {
        "a fit that keeps the mean of the rows": ("\n    def ", KEEPS_A_MEAN),
        "rows that are mapped by the others": ("return np.asarray(bent", BY_THE_OTHERS),
        "a parameter that does nothing": ("self.steepness * to_unit", "to_unit"),
    },
    "add_a_metric.md": {
        "an outcome that keeps what it has seen": (
            "        return Right()",
            "        return type('Kept', (Right,), {})()",
        ),
        "what is right counted as wrong": ("rate([0], [1]", "rate([1], [0]"),
        "a level that does nothing": ("self.level", "0.5"),
    },
    "add_a_row_engine.md": {
        "scores that depend on where a row stands": (
            "    __slots__ = ()\n",
            "    __slots__ = ()\n" + BY_POSITION,
        ),
        "sums in single precision": ("    __slots__ = ()\n", "    __slots__ = ()\n" + IN_SINGLE),
        "rows that are as long as they come": (
            SIDE_BY_SIDE,
            AS_LONG_AS_THEY_COME,
        ),
        "no table for the laws": ("def from_dense", "def from_array"),
    },
    "add_a_model.md": {
        "norms that are too short": ("return self.factor * super().norms", "return super().norms"),
        "a way back that is not the way there": (
            "return self.factor * super().pull",
            "return super().pull",
        ),
        "too little curvature": ("float(np.square(self.factor)) * bend", "self.factor * bend"),
        "a score of where a record stands": (
            "return self.factor * scores",
            "return (1.0 + np.arange(len(scores)) % 2) * scores",
        ),
    },
}
