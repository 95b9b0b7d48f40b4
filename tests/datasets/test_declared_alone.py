"""A table of a file shows what was declared of it, and maps each line by itself: whatever the other lines hold."""

from dataclasses import fields, replace

import numpy as np
import pytest

from skdp.datasets import load_csv

DECLARATION = {
    "age": [0, 100],
    "wage": [1, 1e6, "log"],
    "shop": ["north", "east", "west"],
    "zone": {"categories": [1, 2]},
    "bought": ["no", "yes"],
}
HEADER = ",".join(DECLARATION)
CELLS = [
    ("0", "41", "200", "-7", "?", ""),
    ("1", "1e4", "1e9", "0.5", "much"),
    ("north", "east", "west", "south", ""),
    ("1", "2", "01", "3"),
    ("no", "yes"),
]
KEPT = "41,1e4,west,2,yes"  # a line of every file
HELD = {"columns", "target", "split"}  # records; all else of a table is public


def lines_of(seed):
    """Lines of which each file has its own favourites, so that no two agree on what is frequent, or occurs."""
    rng = np.random.default_rng(seed)
    odds = [rng.dirichlet(np.full(len(cells), 0.3)) for cells in CELLS]
    drawn = zip(*(rng.choice(cells, 12, p=p) for cells, p in zip(CELLS, odds)))
    return [KEPT, *map(",".join, drawn)]


def shown_of(load, path, lines):
    """All that a table shows but its records, and the row of the line that every file has."""
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    table = load(path, target="bought", bounds=DECLARATION)
    public = {field.name: getattr(table, field.name) for field in fields(table)}
    told = {name: value for name, value in public.items() if name not in HELD}
    properties = (table.encoded_names, table.feature_names, table.reading(), repr(table))
    return repr((told, table.declaration, properties)), table.encode()[0].tobytes()


def complaints(load, path):
    """What differs among files of other records."""
    shown = [shown_of(load, path, lines_of(seed)) for seed in range(8)]
    for name, each in zip(("what a table shows", "the row of a line"), zip(*shown)):
        if len(set(each)) > 1:
            yield name


def test_files_of_other_records_show_the_same(tmp_path):
    assert list(complaints(load_csv, tmp_path / "shop.csv")) == []


def blanked():
    """Lines of which one has an empty cell, for each column."""
    lines = lines_of(0)
    for column in range(len(CELLS)):
        cells = lines[4].split(",")
        cells[column] = ""
        yield [*lines[:4], ",".join(cells), *lines[5:]]


def miscounted(load, path):
    """Files whose tables have fewer rows than they have lines, which one record decides; a refusal shows no number."""
    for lines in blanked():
        path.write_text("\n".join([HEADER, *lines]) + "\n")
        try:
            table = load(path, target="bought", bounds=DECLARATION)
        except ValueError:
            continue
        if {len(table), len(table.encode())} != {len(lines)}:
            yield lines[4]


def test_no_record_decides_how_many_there_are(tmp_path):
    assert list(miscounted(load_csv, tmp_path / "shop.csv")) == []


def without_label(path, **given):
    """Lines without a label are left out before the file is read."""
    lines = [line for line in path.read_text().splitlines() if not line.endswith(",")]
    path.write_text("\n".join(lines) + "\n")
    return load_csv(path, **given)


def where_all_is_known(path, **given):
    table = load_csv(path, **given)
    return table.take(np.isfinite(table.columns["age"]))


@pytest.mark.parametrize("load", [without_label, where_all_is_known])
def test_a_table_that_leaves_lines_out_is_found(load, tmp_path):
    assert list(miscounted(load, tmp_path / "shop.csv"))


def by_frequency(path, **given):
    table = load_csv(path, **given)
    often = {name: list(table.columns[name]).count for name in table.categories}
    return replace(
        table,
        categories={
            name: tuple(sorted(values, key=lambda value: -often[name](value)))
            for name, values in table.categories.items()
        },
    )


def those_that_occur(path, **given):
    table = load_csv(path, **given)
    shops = tuple(s for s in table.categories["shop"] if s in table.columns["shop"])
    return replace(table, categories={**table.categories, "shop": shops})


def widened(path, **given):
    table = load_csv(path, **given)
    low, high = table.bounds["age"]
    seen = np.nan_to_num(table.columns["age"])
    ends = (min(low, float(seen.min())), max(high, float(seen.max())))
    return replace(table, bounds={**table.bounds, "age": ends})


def on_a_scale_by_the_cells(path, **given):
    table = load_csv(path, **given)
    far = np.nanmax(table.columns["age"]) > 100
    return replace(table, symlog=frozenset({"age"} if far else ()))


@pytest.mark.parametrize("load", [by_frequency, those_that_occur, widened, on_a_scale_by_the_cells])
def test_the_law_finds_a_declaration_that_follows_the_file(load, tmp_path):
    assert "what a table shows" in list(complaints(load, tmp_path / "shop.csv"))
