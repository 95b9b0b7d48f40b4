"""A cell means the same whatever a reader of files made of its column, to the last bit; no cell changes another row."""

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from preprocessing.readers import (
    READERS,
    SPELLINGS,
    as_pandas,
    drawn_cell,
    drawn_column,
    every_reading,
    framed,
    objects,
    seeded,
    written,
)

from skdp.entry import _cells
from skdp.fitting.data import as_numbers, codes, find_ambiguous
from skdp.preprocessing import TableEncoder
from skdp.utils import all_estimators

SLICE, ALL = range(120), range(120, 2000)


def drawn_declaration(rng):
    """Bounds on some scale, or values that cells can be told by."""
    if rng.random() < 0.5:
        low, high = sorted([rng.uniform(-3, 3), rng.choice([3.5, 1e3, 1e300])])
        scale = rng.choice(["linear", "log", "symlog"])
        if scale != "log" and rng.random() < 0.5:
            low, high = -2.0, 2.0  # around 0, where zeros would keep a sign
        return {"bounds": [abs(low) + 1e-9 if scale == "log" else low, high], "scale": scale}
    values = []
    for value in map(str.strip, rng.sample(SPELLINGS, rng.randrange(2, 7))):
        if not find_ambiguous([*values, value]):
            values.append(value)
    return {"categories": values} if len(values) > 1 else {"categories": ["f", "m"]}


def drawn_encoder(rng):
    """Of the column `a`."""
    options = {
        "contrasts": rng.choice(["helmert", "one-hot"]),
        "unknown": rng.choice(["value", "zero"]),
    }
    return TableEncoder(
        {0: drawn_declaration(rng)}, missing=rng.choice([0.0, -1.0, "indicator"]), **options
    )


def encoded(encoder, column):
    """As bytes, row by row: equal to the last bit, zeros with their sign."""
    return [row.tobytes() for row in encoder.fit_transform(framed(column))]


def broken(seeds):
    """Of which declaration and column the law does not hold."""
    found = []
    for seed in seeds:
        rng = seeded(seed)
        encoder, cells = drawn_encoder(rng), drawn_column(rng)
        alone = [encoded(encoder, as_pandas(written([cell])))[0] for cell in cells]
        for name, column in every_reading(cells).items():
            found += [(seed, name, cells)] if encoded(encoder, column) != alone else []
    return found


def moved(seeds):
    """Of which file one cell changes another row."""
    found = []
    for seed in seeds:
        rng = seeded(seed)
        encoder, cells = drawn_encoder(rng), drawn_column(rng)
        at = rng.randrange(len(cells))
        others = [*cells[:at], drawn_cell(rng), *cells[at + 1 :]]
        one, other = every_reading(cells), every_reading(others)
        for name in one.keys() & other.keys():
            pair = encoded(encoder, one[name]), encoded(encoder, other[name])
            rest = [[row for place, row in enumerate(rows) if place != at] for rows in pair]
            found += [(seed, name, cells, others[at])] if rest[0] != rest[1] else []
    return found


def test_every_reader_gives_the_rows_of_cells_alone():
    assert broken(SLICE) == []


def test_no_cell_changes_another_row():
    assert moved(SLICE) == []


@pytest.mark.slow
def test_every_reader_gives_the_rows_of_cells_alone_for_all_that_are_drawn():
    assert broken(ALL) == [] and moved(ALL) == []


@pytest.mark.parametrize("fault", ["words", "numbers", "zeros", "blanks"])
def test_the_laws_see_a_reading_that_hangs_on_the_form(fault, monkeypatch):
    """Planted: true and false in one case alone, text as text among categories, signed zeros, and blanks that count."""
    honest = _cells._read_text
    planted = {
        "words": lambda text: text if text in ("TRUE", "true", "false") else honest(text),
        "numbers": lambda text: text if text in ("01", "1.0", "+1") else honest(text),
        "zeros": lambda text: -0.0 if honest(text) == 0.0 else honest(text),
        "blanks": lambda text: text if text != text.strip() else honest(text),
    }
    monkeypatch.setattr(_cells, "_read_text", planted[fault])
    monkeypatch.setattr(_cells, "PLAIN", frozenset())
    assert broken(SLICE) != [] and (fault == "zeros" or moved(SLICE) != [])


READ = [
    (
        [
            "1",
            " 1 ",
            "01",
            "+1",
            "1.0",
            "1e0",
            1,
            1.0,
            True,
            "True",
            "TRUE",
            "true",
            b"1",
            Decimal("1.00"),
        ],
        1.0,
    ),
    ([np.bool_(True), np.int8(1), np.float32(1), np.uint64(1), np.str_("1"), Fraction(1)], 1.0),
    (["0", "-0", "-0.0", 0, -0.0, False, "false", "FALSE"], 0.0),
    (["0.1", ".1", "1E-1", 0.1, Decimal("0.1"), "0.1000000000000000056"], 0.1),
    ([np.float32(0.1)], 0.10000000149011612),  # a number of single precision is itself
    (["9007199254740993", 9007199254740993, 9007199254740992.0, "9007199254740993.0"], 2.0**53),
    (["inf", "Infinity", "1e400", 10**400, Decimal("1e400")], math.inf),
    (["-inf", -(10**400)], -math.inf),
    (["f", " f", "f ", b"f", np.str_("f\n")], "f"),
    (["", " ", "NA", "nan", "None", None, math.nan, pd.NA, pd.NaT, np.nan, 1j, [], {}, b""], None),
    (
        [date(2020, 1, 1), pd.Timestamp(0), np.datetime64("2020-01-01"), np.timedelta64(1, "s")],
        None,
    ),
]


@pytest.mark.parametrize(("cells", "read"), READ, ids=str)
def test_known_readings(cells, read):
    for cell in cells:
        found = _cells.read_cell(cell)
        assert type(found) is type(read) and repr(found) == repr(read), cell
    numbers = as_numbers(objects(cells))
    value = read if isinstance(read, float) else math.nan
    np.testing.assert_array_equal(numbers, np.full(len(cells), value))
    assert not np.signbit(numbers[numbers == 0]).any()
    if read is not None:
        assert codes(objects(cells), ["x", cells[0]]).tolist() == [1] * len(cells)
    assert codes(objects(cells), ["x", "y"]).tolist() == [2] * len(cells)


@pytest.mark.parametrize(
    "values",
    [["01", "1"], ["true", "1"], [True, "1"], ["f", " f"], ["1.0", "1"], [0.0, -0.0, 1.0]],
    ids=str,
)
def test_two_values_that_are_one_cell_are_refused(values):
    told = f"{values[0]!r} and {values[1]!r} are the same cell"
    kinds = {isinstance(value, str) for value in values}
    with pytest.raises(
        ValueError, match=told if len(kinds) == 1 and " f" not in values else "twice|mix"
    ):
        TableEncoder({0: {"categories": values}}).fit([["x"]])


@pytest.mark.parametrize("value", ["", "NA", "nan", "None"])
def test_a_value_that_files_read_as_missing_is_refused(value):
    with pytest.raises(ValueError, match="is read as a missing cell"):
        TableEncoder({0: {"categories": ["x", value]}}).fit([["x"]])


def taking_text():
    """Every public transformer of cells of any kind."""
    for name, Estimator in all_estimators():
        if not hasattr(Estimator, "transform"):
            continue
        declared = {"bounds": (0, 3), "declaration": (0, 3), "categories": ["0", "1", "2"]}
        declared |= {"random_features": 6}
        known = {key: value for key, value in declared.items() if key in vars(Estimator())}
        paid = {"epsilon": 5.0, "random_state": 0} if hasattr(Estimator(), "random_state") else {}
        estimator = Estimator(**known, **paid)
        if estimator.__sklearn_tags__().input_tags.string:
            yield pytest.param(estimator, id=name)


COLUMNS = [["True", "False", "true"], ["1", "2", "0"], ["01", "2.0", "+1"], ["1.5", "", "0.5"]]


@pytest.mark.parametrize("cells", COLUMNS, ids=str)
@pytest.mark.parametrize("transformer", [*taking_text()])
def test_every_transformer_of_any_cells_reads_them_so(transformer, cells):
    """One record's word does not change what is fitted, bought with one seed, nor any other row."""
    cells = cells * 40
    for name, column in every_reading([*cells, "unknown"]).items():
        X = as_pandas(written([*cells, "unknown"])).to_frame()
        truth = transformer.fit(X).transform(X)
        found = transformer.fit(framed(column)).transform(framed(column))
        np.testing.assert_array_equal(found, truth, err_msg=name)
    among = transformer.fit(X).transform(X)[:-1]
    inferred = as_pandas(written(cells)).to_frame()
    np.testing.assert_array_equal(among, transformer.transform(inferred))


@pytest.mark.parametrize(
    "Estimator", ["TableEncoder", "DPSplineFeatures", "BoundsScaler", "DeclaredEncoder"]
)
def test_what_is_not_declared_is_refused_with_the_remedy(Estimator):
    unsaid = dict(all_estimators())[Estimator]()
    X = pd.DataFrame({"age": [17, 90]})
    for call in (lambda: unsaid.fit(X), lambda: unsaid.fit_transform(X), unsaid.reading):
        with pytest.raises(ValueError, match="known without looking at the data: pass ") as refusal:
            call()
        assert str(refusal.value).startswith(Estimator + " needs ")


def test_readers_are_many_and_read_most_files():
    assert len(READERS) >= 9
    files = [every_reading(drawn_column(seeded(seed))) for seed in SLICE]
    assert all(sum(name in read for read in files) > 0.8 * len(files) for name in READERS)
