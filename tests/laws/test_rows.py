"""Every engine of rows keeps what the proofs need of it, and each law catches an engine that has one thing wrong."""

import numpy as np
import pytest
from laws import row_laws
from laws.csr_rows import Csr, CsrRows
from laws.long_row_laws import check_long_rows_are_the_same_to_all
from laws.runs import plan_for, run
from threadpoolctl import threadpool_limits

from skdp import NotSupported
from skdp.mechanisms import Records, _engine
from skdp.mechanisms._engine import ENGINES, engine_of
from skdp.mechanisms._mapped import MappedRows
from skdp.mechanisms._rows import DenseRows
from skdp.mechanisms._sparse_rows import SparseRows
from skdp.solvers import SOLVERS

EVERY = (*ENGINES, CsrRows)
LAWS = (
    row_laws.check_scores_belong_to_rows,
    row_laws.check_norms_bound,
    row_laws.check_sums,
    row_laws.check_in_double,
    row_laws.check_nothing_is_lost,
    check_long_rows_are_the_same_to_all,
)
OF_TABLES = (
    row_laws.check_features,
    row_laws.check_long_rows_are_bounded,
    row_laws.check_what_is_left_is_known,
)


def _name(thing):
    return thing.__name__


@pytest.mark.parametrize("law", LAWS + OF_TABLES, ids=_name)
@pytest.mark.parametrize("engine", EVERY, ids=_name)
def test_engines_keep_the_laws(engine, law):
    law(row_laws.table_of(engine, row_laws.form_of(engine)))


@pytest.mark.parametrize("law", LAWS, ids=_name)
@pytest.mark.parametrize("engine", EVERY, ids=_name)
def test_rows_in_other_coordinates_keep_the_laws_over_each_engine(engine, law):
    law(row_laws.mapped_over(engine, row_laws.form_of(engine)))


@pytest.mark.parametrize("engine", EVERY, ids=_name)
def test_threads_change_no_bit_of_a_score(engine):
    X = row_laws.short_rows(np.random.default_rng(0), 3000, 64)
    rows, w = (
        row_laws.table_of(engine, row_laws.form_of(engine)).make(X),
        np.linspace(-1e6, 1e6, 65),
    )
    with threadpool_limits(1):
        alone = rows.dot(w)
    with threadpool_limits(2):
        assert np.array_equal(rows.dot(w), alone)


# -------------------------------------------------------------------------------------- engines that are wrong


class ByPosition(DenseRows):
    """Scores by a product with the whole table, which rounds a row by where it stands."""

    __slots__ = ()

    def dot(self, w):
        self._steady = False
        return super().dot(w)


class ByNeighbour(DenseRows):
    """A score that knows how many stand beside it."""

    __slots__ = ()

    def dot(self, w):
        return super().dot(w) * (1.0 + len(self) * 2.0**-40)


class ByNeighbourWhole(DenseRows):
    """A score of a whole row that knows how many stand beside it."""

    __slots__ = ()

    def whole_dot(self, w):
        return super().whole_dot(w) * (1.0 + len(self) * 2.0**-40)


class LeftForWhole(DenseRows):
    """Scores of what is left, given out as those of whole rows."""

    __slots__ = ()

    def whole_dot(self, w):
        return self.dot(w)


class ConstantLeftForWhole(DenseRows):
    """Scores of whole rows beside what is left of their constants."""

    __slots__ = ()

    def _pull(self, w):
        return self._left_of(super()._pull(w))

    def dot(self, w):
        return DenseRows.take(self, slice(None)).dot(w)


class Unsettled(DenseRows):
    """What is taken has scores by the product."""

    __slots__ = ()

    def take(self, index):
        part = super().take(index)
        return DenseRows(
            part._x, part._scale, part.norms, part.intercept, part.shrink, steady=False
        )


class ARoundingShort(DenseRows):
    """Norms as computed, with nothing for what the root and the squares lose."""

    __slots__ = ()

    @classmethod
    def bounded(cls, X, data_norm, intercept):
        rows = super().bounded(X, data_norm, intercept)
        own = np.sqrt(np.square(rows.to_dense()).sum(axis=1))
        return cls(rows._x, rows._scale, own, intercept, rows.shrink)


class Loose(DenseRows):
    """All norms are the bound's."""

    __slots__ = ()

    @classmethod
    def bounded(cls, X, data_norm, intercept):
        rows = super().bounded(X, data_norm, intercept)
        return cls(rows._x, rows._scale, np.full(len(X), np.hypot(1.0, intercept)), intercept)


class SumsInSingle(DenseRows):
    """Sums in the rows' own precision."""

    __slots__ = ()

    def tdot(self, u):
        return super().tdot(u).astype(np.float32).astype(np.float64)


class OneByOne(DenseRows):
    """Sums of weights rounded to single precision first: near, but not near enough."""

    __slots__ = ()

    def tdot(self, u):
        return super().tdot(u.astype(np.float32))


class StaysSingle(DenseRows):
    """No method of its own for double precision."""

    __slots__ = ()

    def in_double(self):
        return self


class SaysDouble(DenseRows):
    """Says that it is double, and makes products of single numbers."""

    __slots__ = ()

    def in_double(self):
        whole = self._x, self._scale, self.norms, self.intercept, self.shrink
        return SaysDouble(*whole, steady=False, widened=True)

    def _product(self, features):
        single = self._x @ features.astype(self._x.dtype)
        return single.astype(np.float64)


class CarelessInDouble(DenseRows):
    """Careful products that are the quick ones."""

    __slots__ = ()

    def in_double(self):
        rows = super().in_double()
        return CarelessInDouble(rows._x, rows._scale, rows.norms, rows.intercept, None, False)

    def careful_dot(self, high, low):
        return self.dot(high) + self.dot(low)


class CarelessSums(CarelessInDouble):
    """Careful sums that are the quick ones."""

    __slots__ = ()

    def careful_dot(self, high, low):
        return DenseRows.careful_dot(self, high, low)

    def careful_tdot(self, u):
        total = self.tdot(u)
        return total, np.zeros_like(total)


class ForgetsTheRest(DenseRows):
    """Parts of whole pieces, and nothing after the last whole one."""

    __slots__ = ()

    def chunks(self, least):
        for part in super().chunks(least):
            yield slice(part.start, part.start + (part.stop - part.start) // 256 * 256)


class KeepsNorms(DenseRows):
    """Norms of the first rows for any rows that are taken."""

    __slots__ = ()

    def take(self, index):
        part = super().take(index)
        norms = self.norms[: len(part)]
        return DenseRows(part._x, part._scale, norms, part.intercept, part.shrink, part._steady)


class Unscaled(DenseRows):
    """The largest entry of the row as it was given."""

    __slots__ = ()

    def max_abs(self):
        return np.abs(self._x).max(axis=1, initial=0.0).astype(np.float64)


class MomentWithoutConstant(DenseRows):
    """The second moment of the features alone."""

    __slots__ = ()

    def moment(self):
        moment = super().moment()
        moment[-1] = moment[:, -1] = 0.0
        return moment


class Unbounded(DenseRows):
    """Divides by the declared bound, whatever the row."""

    __slots__ = ()

    @classmethod
    def bounded(cls, X, data_norm, intercept):
        rows = super().bounded(X, data_norm, intercept)
        return cls(rows._x, np.full(len(X), 1.0 / data_norm), rows.norms, intercept)


BROKEN = {
    row_laws.check_scores_belong_to_rows: (ByPosition, ByNeighbour, ByNeighbourWhole, Unsettled),
    row_laws.check_norms_bound: (ARoundingShort, Loose),
    row_laws.check_sums: (SumsInSingle, OneByOne),
    row_laws.check_in_double: (StaysSingle, SaysDouble, CarelessInDouble, CarelessSums),
    row_laws.check_nothing_is_lost: (ForgetsTheRest, KeepsNorms),
    row_laws.check_features: (Unscaled, MomentWithoutConstant),
    row_laws.check_long_rows_are_bounded: (Unbounded,),
    row_laws.check_what_is_left_is_known: (LeftForWhole, ConstantLeftForWhole),
}


@pytest.mark.parametrize(
    "law, engine", [(law, twin) for law, twins in BROKEN.items() for twin in twins]
)
def test_each_law_catches_what_it_is_there_for(law, engine):
    with pytest.raises(AssertionError):
        law(row_laws.table_of(engine))


FORGETFUL = (
    "dot",
    "tdot",
    "careful_dot",
    "careful_tdot",
    "gram",
    "moment",
    "image_norms",
    "to_dense",
)


def forgets_what_is_left(engine, method):
    """The engine, of which one method takes the constant column of rows that were scaled down as if it were whole."""

    def forgot(self, *given):
        whole = self.take(slice(None))
        whole.shrink = None
        return getattr(whole, method)(*given)

    def in_double(self):
        rows = engine.in_double(self)
        rows.__class__ = twin
        return rows

    body = {"__slots__": (), "in_double": in_double, method: forgot}
    twin = type(f"{engine.__name__}{method}", (engine,), body)
    return twin


@pytest.mark.parametrize("method", FORGETFUL)
@pytest.mark.parametrize("engine", ENGINES, ids=_name)
def test_constants_of_shortened_rows_that_are_forgotten_are_caught(engine, method):
    with pytest.raises(AssertionError, match="other rows"):
        check_long_rows_are_the_same_to_all(
            row_laws.table_of(forgets_what_is_left(engine, method), row_laws.form_of(engine))
        )


class LongerThanTheyAre(MappedRows):
    """Shrinks by the norm of the image as if the map had been applied twice as far."""

    __slots__ = ()

    def __init__(self, rows, matrix, images, twofold=False):
        super().__init__(rows, matrix, images, twofold)
        self.norms = 0.5 * self.norms


class MapsInOrdinaryProducts(MappedRows):
    """Parameters mapped in ordinary precision inside a release, as if its units said so."""

    __slots__ = ()

    def careful_dot(self, high, low):
        return self.dot(high) + self.dot(low)

    def in_double(self):
        rows = super().in_double()
        return MapsInOrdinaryProducts(rows._rows, rows._matrix, rows._images, twofold=True)


class DoublesNothingBelow(MappedRows):
    """Leaves the rows below in the precision that they have."""

    __slots__ = ()

    def in_double(self):
        return MappedRows(self._rows, self._matrix, self._images, twofold=True)


@pytest.mark.parametrize(
    "law, view",
    [
        (row_laws.check_norms_bound, LongerThanTheyAre),
        (row_laws.check_in_double, MapsInOrdinaryProducts),
        (row_laws.check_in_double, DoublesNothingBelow),
    ],
)
def test_each_law_catches_wrong_rows_in_other_coordinates(law, view):
    with pytest.raises(AssertionError):
        law(row_laws.mapped_over(DenseRows, view=view))


# ------------------------------------------------------------------------------------------- one more engine


def test_an_engine_that_the_laws_can_give_no_table_says_what_is_missing():
    class Unreachable(CsrRows):
        """Admits what nobody can make."""

        from_dense = staticmethod(np.asarray)

    assert row_laws.form_of(CsrRows) is CsrRows.from_dense
    with pytest.raises(
        AssertionError, match="Unreachable admits no dense table: give it from_dense"
    ):
        row_laws.form_of(Unreachable)


def test_a_table_that_no_engine_knows_is_refused_by_its_type():
    assert engine_of(np.zeros((2, 2))) is DenseRows
    with pytest.raises(NotSupported, match="no engine holds a table of type Csr"):
        engine_of(Csr.of(np.eye(3)))


@pytest.mark.parametrize("kind", [CsrRows, SparseRows], ids=_name)
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_solver_ends_in_the_same_model_on_another_engine(name, kind, monkeypatch):
    """With one seed the noise is the same, and a lattice takes most roundings away: what is left is far below it.

    A sum next to the middle between two points of the lattice may be rounded to the other one: then models differ by
    that step, a millionth of a millionth of the noise, and by what a solver makes of it.
    """
    monkeypatch.setattr(_engine, "ENGINES", (*ENGINES, CsrRows))
    plan, rng = plan_for(name, "replace_one"), np.random.default_rng(0)
    X = rng.normal(size=(60, plan.public.n_features)) * (rng.random((60, 3)) < 0.7)
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    forms = np.asarray, row_laws.form_of(kind)
    dense, sparse = (Records.admit(form(X), y, plan.public, 2.0) for form in forms)
    assert type(sparse.rows) is kind
    w, again = (run(plan, records)[0] for records in (dense, sparse))
    np.testing.assert_allclose(again, w, rtol=1e-10, atol=1e-10 * np.abs(w).max())
