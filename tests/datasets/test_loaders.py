"""What the loaders return is what the data's own documentation counts."""

import gzip
import os

import numpy as np
import pytest

from skdp import datasets
from skdp.datasets import Matrix, Table

needs_data = pytest.mark.skipif(
    not os.environ.get("SKDP_DATA"), reason="set SKDP_DATA to a folder with the public data"
)

# name, options, rows, encoded columns, positives
BINARY = [
    ("load_adult", {}, 48_842, 105, 11_687),
    ("load_bank", {}, 45_211, 51, 5_289),
    ("load_bank", {"encoding": "dpagd"}, 45_211, 32, 5_289),
    ("load_ipums_br", {}, 38_000, 52, 19_240),
]


def inside(data):
    """Does every value lie in its declaration?"""
    if isinstance(data, Matrix):
        return bool(((data.lower <= data.X) & (data.upper >= data.X)).all())
    return all(
        low <= data.columns[name].min() and data.columns[name].max() <= high
        for name, (low, high) in data.bounds.items()
    )


def undeclared(table):
    """Number of values outside the declared categories, by column."""
    counts = {c: (~np.isin(table.columns[c], k)).sum() for c, k in table.categories.items()}
    return {name: int(count) for name, count in counts.items() if count}


@needs_data
@pytest.mark.parametrize(("name", "options", "n", "d", "positives"), BINARY)
def test_binary_sets(name, options, n, d, positives):
    data = getattr(datasets, name)(**options)
    X, y = getattr(datasets, name)(**options, return_X_y=True)
    assert len(data) == n and X.shape == (n, d)
    assert y.sum() == positives and set(y) == {0, 1}
    assert inside(data)
    assert np.linalg.norm(X, axis=1).max() <= 1


@needs_data
def test_adult_parts_and_missing_values():
    table = datasets.load_adult()
    assert (table.split == "train").sum() == 32_561 and (table.split == "test").sum() == 16_281
    assert undeclared(table) == {"workclass": 2_799, "occupation": 2_809, "native_country": 857}
    assert table.target[table.split == "train"].sum() == 7_841


@needs_data
def test_bank_categories_are_all_declared():
    assert undeclared(datasets.load_bank()) == {}


@needs_data
def test_wine():
    table = datasets.load_wine()
    assert len(table) == 6_497 and (table.columns["color"] == "red").sum() == 1_599
    assert (table.target.min(), table.target.max()) == (3, 9)
    assert inside(table) and undeclared(table) == {}


@needs_data
def test_bike():
    table = datasets.load_bike()
    assert len(table) == 17_379 and table.target.sum() == 3_292_679
    assert inside(table) and undeclared(table) == {}
    assert not {"casual", "registered"} & set(table.columns)


@needs_data
def test_mnist():
    data = datasets.load_mnist()
    train = data.split == "train"
    counts = np.bincount(data.target[train])
    assert data.X.shape == (70_000, 784) and train.sum() == 60_000
    assert (counts.min(), counts.max()) == (5_421, 6_742)
    np.testing.assert_allclose(data.X[train].mean() / 255, 0.1307, atol=1e-4)


@needs_data
@pytest.mark.slow
def test_kddcup99():
    table = datasets.load_kddcup99(binary=False)
    names = np.array(table.target_names)[table.target]
    assert len(table) == 494_021 and len(table.columns) == 41
    assert (names == "normal").sum() == 97_278 and (names == "smurf").sum() == 280_790
    assert inside(table) and undeclared(table) == {}


LOADERS = [f"load_{s}" for s in ["adult", "bank", "bike", "ipums_br", "kddcup99", "mnist", "wine"]]


@pytest.mark.parametrize("name", LOADERS)
def test_without_a_folder_the_usual_one_and_the_remedy_are_named(name, monkeypatch, tmp_path):
    monkeypatch.delenv("SKDP_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"skdp_data.*data_home='\.\.\.' or SKDP_DATA"):
        getattr(datasets, name)()


@pytest.mark.parametrize("name", LOADERS)
def test_a_missing_file_is_named_with_its_remedy(name, tmp_path):
    remedy = "IPUMS restricts" if name == "load_ipums_br" else "download=True"
    with pytest.raises(FileNotFoundError, match=rf"{tmp_path}.*is missing: .*{remedy}"):
        getattr(datasets, name)(tmp_path)


def test_bank_encoding_refused():
    with pytest.raises(ValueError, match="'raw' or 'dpagd', got 'other'"):
        datasets.load_bank(encoding="other")


def test_a_folder_without_network_reads_a_small_file(tmp_path):
    (tmp_path / "wine_quality").mkdir()
    header = [*datasets._uci.WINE_BOUNDS, "quality", "color"]
    lines = [",".join(header), ",".join(["1"] * 11 + ["6", "red"]), ",".join("?" * 13)]
    content = gzip.compress("\n".join(lines).encode())
    (tmp_path / "wine_quality" / "wine_quality.csv.gz").write_bytes(content)
    table = datasets.load_wine(tmp_path)
    assert isinstance(table, Table) and len(table) == 2
    assert np.isnan(table.columns["pH"][1]) and np.isfinite(table.encode()).all()
