"""Many records: each is read and seen as it is among few, for ways that suit large tables begin somewhere.

The laws over promises run on tables of some hundred records. A rule for large ones (single precision, the first so many
rows, all rows at once) is not reached there, and goes by a number of records that may be private.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from laws.test_views import SEEN, X, Y, facts, whole
from sklearn.linear_model import LinearRegression, LogisticRegression

from skdp import DPLogisticRegression, DPRidge
from skdp.entry import READERS, Given, Grades, Labels, Numbers, Rows, Table, Unlabelled, _arrays
from skdp.entry._held import Held
from skdp.preprocessing import DPBounds
from skdp.ranking import DPRanker

TIMES = 7001
MANY = 50 * TIMES  # records, and a million cells
PLACES = np.arange(MANY) % 50  # of each among the few
LABELS = (Y > 0.0).astype(int)
PRIVATE = {"neighbors": "add_remove"}

READ = {
    "labels": (Labels([0, 1]), DPLogisticRegression(**PRIVATE), {"y": LABELS}),
    "weights": (
        Labels([0, 1], bound=1.0),
        DPLogisticRegression(**PRIVATE),
        {"y": LABELS, "sample_weight": np.abs(Y)},
    ),
    "numbers": (Numbers(np.array([-1.0, 1.0])), DPRidge(**PRIVATE), {"y": Y}),
    "cells": (Unlabelled(), DPBounds(**PRIVATE), {}),
    "finite cells": (Unlabelled("finite"), DPBounds(**PRIVATE), {}),
    "lists": (
        Grades("list", 1.0),
        DPRanker(data_norm=1.0, **PRIVATE),
        {"y": LABELS, "qid": np.arange(50) // 10},
    ),
}
FORMS = {
    "doubles": np.asarray,
    "singles": np.float32,
    "a frame": pd.DataFrame,
    "sparse": sp.csr_array,
}


@pytest.mark.parametrize(("view", "targets"), SEEN)
def test_a_record_among_many_is_seen_as_among_few(view, targets):
    few = whole(Table(X, targets).vault(view))
    assert whole(Table(X[PLACES], targets[PLACES]).vault(view)) == few * TIMES


def read(form, reader, model, given):
    """Rows as a solver would see them, and what is public of them."""
    table, known = Given(form, **given).close(model, reader)
    weighted = "sample_weight" in given
    public = facts(
        rows=10 if "qid" in given else 1,
        weighted=weighted,
        **({"lists": "documents", "target_bound": 31.0} if "qid" in given else {}),
    )
    told = {name: getattr(known, name) for name in ("n", "n_features", "single", "weighted")}
    return whole(table.vault(Rows(public, 2.0))), told


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", READ)
def test_a_record_among_many_is_read_as_among_few(name, form):
    reader, model, given = READ[name]
    if form == "sparse" and type(reader) is Unlabelled:
        return  # refused
    few, told = read(FORMS[form](X), reader, model, given)
    more = {key: value[PLACES] for key, value in given.items()}
    if "qid" in given:
        more["qid"] = np.arange(MANY) // 10
    many = read(FORMS[form](X[PLACES]), reader, model, more)
    assert many == (few * TIMES, told)


def test_every_reader_reads_many():
    assert {type(reader) for reader, *_ in READ.values()} == READERS


@pytest.mark.parametrize("make", [Held.of, Held.of_numbers])
def test_many_held_out_records_are_shown_one_by_one_too(make):
    """All at once a model may round one by another, and their number is private."""
    kind = LogisticRegression if make == Held.of else LinearRegression
    y = LABELS if make == Held.of else Y
    model = kind().fit(X, y)
    held = make(model, X[PLACES], y[PLACES], "add_remove")
    assert held.alone and held.public_count() is None


def test_a_table_that_is_halved_where_it_is_large_is_found(monkeypatch):
    sound = _arrays.check_array

    def halved(found, **given):
        table = sound(found, **given)
        return table.astype(np.float32) if table.shape[0] * table.shape[1] > 1e6 else table

    monkeypatch.setattr(_arrays, "check_array", halved)
    with pytest.raises(AssertionError):
        test_a_record_among_many_is_read_as_among_few("labels", "doubles")
