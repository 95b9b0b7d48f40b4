"""Downloads: from a server on the loopback, checked, converted, and kept only when whole."""

import gzip
import hashlib
import http.server
import io
import os
import threading
import zipfile

import numpy as np
import pytest

from skdp import datasets
from skdp.datasets import _fetch, _uci

ADULT_ROW = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
    "2174, 0, 40, United-States, {}"
)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *arguments):
        """Silence."""


@pytest.fixture
def publish(monkeypatch):
    """Serve bytes as the sources of the given names; checksums and counts follow them."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files = {}
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()

    def serve(name, content, *, md5=None, rows=None):
        server.files[f"/{name}"] = content
        monkeypatch.setitem(_fetch.URLS, name, f"http://127.0.0.1:{server.server_port}/{name}")
        if md5 is not None:
            monkeypatch.setitem(_fetch.MD5, name, hashlib.md5(md5).hexdigest())
        if rows is not None:
            monkeypatch.setitem(_fetch.ROWS, name, rows)

    yield serve
    server.shutdown()
    server.server_close()
    thread.join()


def zipped(name, text):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, text)
    return buffer.getvalue()


def test_adult(publish, tmp_path):
    train = "\n".join(ADULT_ROW.format(label) for label in ("<=50K", ">50K")).encode() + b"\n\n"
    test = b"|1x3 Cross validator\n" + ADULT_ROW.format(">50K.").encode() + b"\n"
    publish("adult.data", train, md5=train)
    publish("adult.test", test, md5=test)
    table = datasets.load_adult(tmp_path, download=True)
    assert table.target.tolist() == [0, 1, 1]
    assert table.split.tolist() == ["train", "train", "test"]
    assert table.columns["occupation"].tolist() == ["Adm-clerical"] * 3
    # The second time nothing is fetched.
    assert len(datasets.load_adult(tmp_path)) == 3


def test_bank(publish, tmp_path):
    names = [*_uci.BANK_BOUNDS, *_uci.BANK_CATEGORIES, "y"]
    fields = dict.fromkeys(names, '"unknown"') | {"age": "58", "balance": "2143", "y": '"yes"'}
    text = ";".join(f'"{name}"' for name in names) + "\n" + ";".join(fields.values())
    publish("bank", zipped("bank-full.csv", text), rows=1)
    table = datasets.load_bank(tmp_path, download=True)
    assert table.target.tolist() == [1] and table.columns["balance"].tolist() == [2143.0]


def test_bike(publish, tmp_path):
    names = "instant dteday season yr mnth hr holiday weekday workingday weathersit temp atemp hum"
    header = ",".join([*names.split(), *["windspeed", "casual", "registered", "cnt"]])
    text = header + "\r\n1,2011-01-01,1,0,1,0,0,6,0,1,0.24,0.2879,0.81,0,3,13,16\r\n"
    publish("bike", zipped("hour.csv", text), rows=1)
    table = datasets.load_bike(tmp_path, download=True)
    assert table.target.tolist() == [16.0] and table.columns["weekday"].tolist() == ["6"]


def test_wine(publish, tmp_path):
    for color, rows in (("red", 2), ("white", 1)):
        text = '"fixed acidity";"x"\n' + "7.4;0.7;0;1.9;0.076;11;34;0.9978;3.51;0.56;9.4;5\n" * rows
        publish(f"wine-{color}", text.encode(), rows=rows)
    table = datasets.load_wine(tmp_path, download=True)
    assert table.columns["color"].tolist() == ["red", "red", "white"]
    assert table.columns["alcohol"].tolist() == [9.4] * 3


def test_kddcup99(publish, tmp_path):
    fields = ["0", "tcp", "http", "SF", "181"] + ["0"] * 36
    text = ",".join([*fields, "normal."]) + "\n" + ",".join([*fields, "smurf."]) + "\n"
    publish("kddcup99", gzip.compress(text.encode()), rows=2)
    table = datasets.load_kddcup99(tmp_path, download=True)
    assert table.target.tolist() == [0, 1] and table.columns["src_bytes"].tolist() == [181.0] * 2


def idx(array):
    shape = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + shape + array.tobytes()


def test_mnist(publish, tmp_path):
    images = np.arange(2 * 784, dtype=np.uint8).reshape(2, 28, 28)
    labels = np.array([3, 7], np.uint8)
    for name in ("X_train", "y_train", "X_test", "y_test"):
        raw = idx(images if name[0] == "X" else labels)
        publish(name, gzip.compress(raw), md5=raw)
    data = datasets.load_mnist(tmp_path, download=True)
    assert data.target.tolist() == [3, 7, 3, 7]
    assert (data.X[:2] == images.reshape(2, 784)).all()


def test_a_wrong_checksum_keeps_nothing(publish, tmp_path):
    publish("adult.data", b"cut")
    with pytest.raises(OSError, match=r"has MD5 .* instead of 5d7c39d7b8804f071cdd1f2a7c460872"):
        datasets.load_adult(tmp_path, download=True)
    assert not list(tmp_path.rglob("*.*"))


def test_a_wrong_count_keeps_nothing(publish, tmp_path):
    publish("kddcup99", gzip.compress(b"0,tcp,normal.\n"))
    with pytest.raises(OSError, match="has 1 rows instead of 494021"):
        datasets.load_kddcup99(tmp_path, download=True)
    assert not list(tmp_path.rglob("*.*"))


def test_an_absent_source_is_named(publish, tmp_path, monkeypatch):
    publish("bike", b"")
    monkeypatch.setitem(_fetch.URLS, "bike", _fetch.URLS["bike"] + "-gone")
    with pytest.raises(OSError, match=r"Could not download http://127.*-gone.*by hand"):
        datasets.load_bike(tmp_path, download=True)


@pytest.mark.skipif(not os.environ.get("SKDP_DATA"), reason="set SKDP_DATA to rebuild the source")
def test_adult_conversion_is_the_inverse_of_the_published_files(publish, tmp_path):
    """Rebuilt from the table, the sources have the published checksums; and back."""
    with gzip.open(os.path.join(os.environ["SKDP_DATA"], "adult/adult.csv.gz"), "rt") as file:
        lines = file.read().splitlines()[1:]
    parts = {"train": [], "test": []}
    for line in lines:
        row, part = line.rsplit(",", 1)
        parts[part].append(row.replace(",", ", "))
    train = "\n".join(parts["train"]) + "\n\n"
    test = "|1x3 Cross validator\n" + "".join(row + ".\n" for row in parts["test"]) + "\n"
    publish("adult.data", train.encode())
    publish("adult.test", test.encode())
    rebuilt = datasets.load_adult(tmp_path, download=True)
    original = datasets.load_adult()
    assert (rebuilt.encode() == original.encode()).all()
    assert (rebuilt.target == original.target).all()
