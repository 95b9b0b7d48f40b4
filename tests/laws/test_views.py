"""Tables are closed, and looked at through registered views alone, which map each record by itself."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from skdp import DPLogisticRegression, DPRidge, NotSupported
from skdp.entry import (
    VIEWS,
    ClassCodes,
    ColumnPlaces,
    RowLengths,
    Rows,
    ScoreCells,
    ScorePairs,
    Table,
    View,
    affine_of,
    middle_and_half,
    onto_unit,
    to_columns,
)
from skdp.mechanisms import Public, Records
from skdp.models import Perceptron

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 3)), RNG.normal(size=50)
CODES = RNG.integers(0, 3, 50).astype(float)
BOUNDS = np.array([[-1.0, 2.0], [0.0, 0.0], [0.5, 4.0]])
OCTAVES = np.array([0.125, 0.0, 0.0])


def facts(columns=3, **given):
    """Public facts of a vault under add/remove: nothing may depend on how many records there are."""
    return Public(n=None, n_features=columns, intercept=0.0, neighbors="add_remove", **given)


def whole(vault):
    """All that a vault keeps of each row, as bytes."""
    vaults = vault if isinstance(vault, tuple) else (vault,)
    parts = [np.column_stack([one.rows.to_dense(), one.rows.norms, one.y]) for one in vaults]
    if vaults[0].units is not None:
        parts.append(np.reshape(vaults[0].units.weights, (len(parts[0]), -1)))
    rows = np.ascontiguousarray(np.hstack(parts))
    return [row.tobytes() for row in rows]


SIGNS, EDGES = np.sign(Y), (-0.5, 0.0, 0.75)
SLOPES, THREE = np.array([1.0, -2.0, 0.5]), RNG.normal(size=(3, 3))
CELLS, UNITS = facts(1, target_bound=9.0), Perceptron((4,))
WEIGHTS = RNG.normal(size=UNITS.shape(facts(model=UNITS)))
TWO = np.column_stack([Y, -Y])
SEEN = [
    (Rows(facts(), 2.0), np.clip(Y, -1.0, 1.0)),
    (Rows(facts(), 2.0, y_bounds=np.array([[-0.5, 0.7]])), Y),
    (Rows(facts(), 2.0, several=True, y_bounds=np.array([[-0.5, 0.7]])), TWO),
    (Rows(facts(), 2.0, several=True), np.clip(TWO, -1.0, 1.0)),
    (Rows(facts(), 1.5, bounds=BOUNDS), np.clip(Y, -1.0, 1.0)),
    (Rows(facts(), 1.5, bounds=BOUNDS, units=OCTAVES), np.clip(Y, -1.0, 1.0)),
    (Rows(facts(), 1.5, several=True, bounds=BOUNDS, y_bounds=BOUNDS[[0, 2]], centred=False), TWO),
    (ColumnPlaces(facts(), 2.0), Y),
    (ColumnPlaces(facts(4), 2.5, targets=True), Y),
    (ColumnPlaces(facts(1), 1.5, rows=False, targets=True), Y),
    (RowLengths(facts(1), BOUNDS, np.sqrt(3.0)), Y),
    (RowLengths(facts(1), BOUNDS, np.sqrt(3.0), OCTAVES), Y),
    (ClassCodes(facts(1, target_bound=2.0)), CODES),
    (ScoreCells(Rows(facts(), 2.0), facts(1, target_bound=9.0), SLOPES, 0.5, EDGES), SIGNS),
    (
        ScoreCells(Rows(facts(target_bound=2.0), 1.5, bounds=BOUNDS), CELLS, THREE, 2.0, EDGES),
        CODES,
    ),
    (ScoreCells(Rows(facts(model=UNITS), 2.0), CELLS, WEIGHTS, 1.0, EDGES), SIGNS),
    (Rows(facts(2), 0.5, first=2), np.clip(Y, -1.0, 1.0)),
    (
        ScorePairs(
            (Rows(facts(), 2.0), Rows(facts(2, model=UNITS), 0.5, first=2)),
            facts(1, target_bound=31.0),
            (SLOPES, RNG.normal(size=UNITS.shape(facts(2, model=UNITS)))),
            (0.5, 1.0),
            EDGES,
        ),
        SIGNS,
    ),
]


@pytest.mark.parametrize(("view", "targets"), SEEN)
def test_a_record_is_seen_by_itself_wherever_it_stands(view, targets):
    seen = whole(Table(X, targets).vault(view))
    for kept in (np.arange(1, 50), np.arange(49), np.r_[0:20, 21:50], RNG.permutation(50)):
        assert whole(Table(X[kept], targets[kept]).vault(view)) == [seen[i] for i in kept]


def test_every_view_is_looked_through():
    listed = {kind.__name__ for kind in VIEWS} - {type(view).__name__ for view, _ in SEEN}
    assert listed == {"ListLabels"}  # in tests/ranking: its documents are public


def test_weights_of_classes_are_those_of_each_record():
    public = facts(target_bound=2.0, weighted=True)
    of_class = np.array([0.25, 1.0, 0.5])
    table = Table(X, CODES, weights=np.full(50, 0.5))
    for several in (False, True):
        targets = np.column_stack([CODES, CODES]) if several else CODES
        table = Table(X, targets, weights=np.full(50, 0.5))
        vaults = table.vault(Rows(public, 2.0, several, of_class=of_class))
        for vault in vaults if several else (vaults,):
            assert_allclose(np.ravel(vault.units.weights), 0.5 * of_class[CODES.astype(int)])


def test_what_is_checked_before_it_is_paid_is_what_is_asked():
    table, view = Table(X, Y), ColumnPlaces(facts(), 2.0)
    table.check(view)
    first = table.vault(view)
    assert isinstance(first, Records) and table.vault(view) is not first
    table.check(
        Rows(facts(), 2.0, y_bounds=np.zeros((1, 2)))
    )  # bounds of targets are not known yet
    known = table.vault(Rows(facts(), 2.0, y_bounds=np.array([[-1.0, 1.0]])))
    assert_allclose(known.y, np.clip(Y, -1.0, 1.0))


def test_another_view_of_the_same_kind_is_not_mistaken_for_the_one_that_was_checked():
    table = Table(X, Y)
    table.check(ColumnPlaces(facts(), 2.0))
    both = table.vault(ColumnPlaces(facts(4), 2.5, targets=True))
    assert both.public.n_features == 4
    assert table.vault(ColumnPlaces(facts(), 2.0)).public.n_features == 3


def test_what_another_process_may_write_is_copied_when_a_table_is_closed(tmp_path):
    """Views read it more than once: bounds of one reading must not meet rows of another."""
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r+")
    table = Table(mapped, Y)
    before = whole(table.vault(RowLengths(facts(1), BOUNDS, np.sqrt(3.0))))
    mapped[:] = 1e3
    mapped.flush()
    assert whole(table.vault(RowLengths(facts(1), BOUNDS, np.sqrt(3.0)))) == before


@pytest.mark.parametrize("targets", [TWO, CODES], ids=["targets", "classes"])
def test_fits_that_share_a_view_share_its_vault(targets, monkeypatch):
    admitted, sound = [], Rows.admit

    def counting(self, parts, kept):
        admitted.append(self)
        return sound(self, parts, kept)

    monkeypatch.setattr(Rows, "admit", counting)
    given = {"epsilon": 2.0, "solver": "gd", "random_state": 0}
    if targets is TWO:
        model = DPRidge(data_norm=None, y_bounds=[(-3.0, 3.0)] * 2, **given)
    else:
        model = DPLogisticRegression(classes=[0.0, 1.0, 2.0], multi_class="ovr", **given)
    model.fit(X, targets)
    assert len(admitted) == 1


@dataclass(frozen=True, eq=False)
class ByTheLongest(Rows):
    """Maps one record by another."""

    def admit(self, parts, kept):
        """Divide all rows by the longest."""
        return Records.admit(parts.rows / abs(parts.rows).max(), parts.targets, self.public, 1.0)


@dataclass(frozen=True, eq=False)
class Unregistered(View):
    """Shows the table as it is."""

    def admit(self, parts, kept):
        """Show it."""
        return parts


@pytest.mark.parametrize("view", [ByTheLongest(facts(), 1.0), Unregistered()])
def test_a_view_of_no_registered_type_is_refused(view):
    table = Table(X, Y)
    for look in (table.vault, table.check):
        with pytest.raises(TypeError, match="is no registered view"):
            look(view)


def test_a_table_shows_nothing():
    table = Table(X, Y)
    assert not hasattr(table, "__dict__") and "0." not in repr(table)
    assert [name for name in dir(table) if not name.startswith("_")] == ["check", "vault"]


def test_columns_of_sparse_tables_are_refused():
    with pytest.raises(NotSupported, match="X is sparse; declare data_norm"):
        Table(sp.csr_array(X), Y).check(ColumnPlaces(facts(), 2.0))


def test_numbers_between_bounds_are_on_the_unit_scale():
    seen = to_columns(X, BOUNDS)
    assert np.abs(seen).max() <= 1.0
    assert_allclose(seen[:, 1], np.sign(X[:, 1]))
    slope, shift = affine_of(BOUNDS[[0, 2]])
    inside = np.clip(X[:, [0, 2]], *BOUNDS[[0, 2]].T)
    assert_allclose(seen[:, [0, 2]], inside * slope + shift, atol=1e-12)
    with pytest.raises(NotSupported, match="hidden the scale of a column"):
        affine_of(BOUNDS)
    with pytest.raises(NotSupported, match="seen by octaves"):
        affine_of(BOUNDS[[0, 2]], OCTAVES[[0, 2]])


def test_targets_are_cut_to_bounds_and_centred():
    assert middle_and_half((2.0, 6.0), True)[0] == 4.0
    assert middle_and_half((2.0, 6.0), False)[0] == 0.0
    found = onto_unit(np.array([-9.0, 2.0, 4.0, 6.0, 99.0]), (2.0, 6.0), True)
    assert_allclose(found, [-1.0, -1.0, 0.0, 1.0, 1.0])
