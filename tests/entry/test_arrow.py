"""Parquet and Arrow files: columns of numbers, decoded once."""

import numpy as np
import pytest

from skdp import DPLogisticRegression, NotSupported
from skdp.engines import open_arrow, open_parquet
from skdp.mechanisms import _shared_memory
from skdp.mechanisms._shards import ShardRows

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (X[:, 0] > 0).astype(int)
OPEN = {".parquet": open_parquet, ".arrow": open_arrow}


def write(table, path):
    if path.suffix == ".parquet":
        return parquet.write_table(table, path, row_group_size=70)
    with arrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=70)


def table_of(columns, **more):
    return arrow.table({f"x{j}": column for j, column in enumerate(columns.T)} | more)


@pytest.fixture(params=list(OPEN))
def ending(request, monkeypatch):
    monkeypatch.setattr(_shared_memory, "LARGE", 0)
    monkeypatch.setattr("skdp.entry._arrow.ROWS", 50)
    return request.param


def saved(folder, ending, columns=X, **more):
    for k, part in enumerate((slice(0, 200), slice(200, 300))):
        beside = {name: values[part] for name, values in more.items()}
        write(table_of(columns[part], **beside), folder / f"{k}{ending}")
    return folder


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_a_fit_of_files_is_that_of_the_table(tmp_path, ending, dtype):
    table = (10 * X).astype(dtype)
    folder = saved(tmp_path, ending, table, label=Y, word=Y.astype(str))
    shards = OPEN[ending](folder, ["x0", "x1", "x2"])
    found = ShardRows.read(shards)
    assert found.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert np.array_equal(found, table)
    assert np.array_equal(ShardRows.read(OPEN[ending](folder, ["x2", "label"]))[:, 1], Y)
    model = DPLogisticRegression(epsilon=1.0, classes=[0, 1], data_norm=30.0, random_state=0)
    one = model.fit(table, Y).coef_
    assert np.array_equal(one, model.fit(shards, Y).coef_)


def test_nulls_are_no_numbers_and_booleans_are(tmp_path, ending):
    flags = RNG.random(300) < 0.5
    folder = saved(tmp_path, ending, flag=flags)
    shards = OPEN[ending](folder)
    assert np.array_equal(ShardRows.read(shards)[:, 3], flags)
    empty = arrow.table({"x": arrow.array([1, None, 3])})
    write(empty, tmp_path / f"2{ending}")
    with pytest.raises(ValueError, match="contains NaN"):
        DPLogisticRegression(classes=[0, 1]).fit(OPEN[ending](tmp_path / f"2{ending}"), [0, 1, 0])


def test_what_is_no_table_of_numbers_is_refused(tmp_path, ending):
    folder = saved(tmp_path, ending, word=Y.astype(str))
    with pytest.raises(ValueError, match="neither numbers nor booleans"):
        OPEN[ending](folder)
    for columns in (["x0", "x9"], ["x0", "x0"]):
        with pytest.raises(ValueError, match="columns must be in every file"):
            OPEN[ending](folder, columns)
    shards = OPEN[ending](folder, ["x0"])
    write(arrow.table({"z": Y}), folder / f"1{ending}")
    with pytest.raises(NotSupported, match="open it again"):
        DPLogisticRegression(classes=[0, 1], data_norm=1.0).fit(shards, Y)
