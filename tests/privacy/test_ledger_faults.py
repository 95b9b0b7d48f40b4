"""What a ledger in a file does when the world around it fails: the table of docs/budgets.md, row by row.

The law is one: however often, whatever has been answered upon is in the budget, or the ledger refuses.
"""

import dataclasses
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress

import power_cut
import pytest
from ledger_workers import JOURNALS, PROMISE, STEP, answer, killed_after

import skdp
from skdp.datasets import make_census
from skdp.exceptions import BudgetExceeded
from skdp.privacy import Ledger
from skdp.privacy.events import Gaussian
from skdp.privacy.ledger import _file, _place, _state, _store

REFUSED = (ValueError, OSError)
LARGE = ((Gaussian(40.0), 1),)
AFFORDABLE = 87  # of these under the promise
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
quiet = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "budget.db")


def fresh(path, **given):
    """What a process finds that remembers nothing."""
    _store._OPEN.clear()
    return Ledger(*PROMISE, path=path, **given)


def charged(path, times=20):
    """A ledger's file with so many charges, that nobody has open."""
    ledger = fresh(path)
    for _ in range(times):
        ledger.reserve(STEP, "a fit")
    ledger._store._file.close()
    return path


def spend(ledger):
    """How many large charges are admitted until the budget is gone."""
    admitted = 0
    with suppress(BudgetExceeded):
        while True:
            ledger.reserve(LARGE)
            admitted += 1
    return admitted


def found(path):
    """How many charges the file shows, or None if it is refused."""
    try:
        ledger = fresh(path)
        count = len(ledger)
    except REFUSED as refusal:
        assert "\n" not in str(refusal)
        return None
    ledger._store._file.close()
    return count


@contextmanager
def child(work):
    """A forked process that does some work, whose end is waited for; its pipe is given."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            work(write)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as said:
        yield process, said
    os.waitpid(process, 0)


# Kills and damage.


def flip(path, offset, bit):
    """Change one bit."""
    with open(path, "r+b") as file:
        file.seek(offset)
        (byte,) = file.read(1)
        file.seek(offset)
        file.write(bytes([byte ^ (1 << bit)]))


def killed_and_flipped(path, draw):
    """Answers of a process that was killed while it charged; one bit of what it left is changed."""
    answers = killed_after(draw.randrange(1, 4), draw.choice(JOURNALS), path, answer)
    left = [path, *filter(os.path.exists, [path + "-journal", path + "-wal"])]
    damaged = draw.choice(left)
    if os.path.getsize(damaged):
        flip(damaged, draw.randrange(os.path.getsize(damaged)), draw.randrange(8))
    return answers


@forks
@quiet
@pytest.mark.parametrize("kills", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_kill_and_a_flipped_bit_never_refund_in_silence(tmp_path, kills):
    draw, refused = random.Random(kills), 0
    fresh(str(tmp_path / "first.db")).reserve(STEP)  # what is found out once is known to all forks
    for number in range(kills):
        folder = tmp_path / str(number)
        folder.mkdir()
        answers = killed_and_flipped(str(folder / "l.db"), draw)
        count = found(str(folder / "l.db"))
        refused += count is None
        assert count is None or answers <= count <= answers + 1
        shutil.rmtree(folder)
    assert refused > kills // 100


def test_no_bit_of_a_page_header_hides_a_charge(path):
    """The count of lines on a page is there: one bit less, and lines are gone from a page that is sound otherwise."""
    charged(path)
    whole, silent, refused = _bytes_of(path), 0, 0
    for page in range(0, len(whole), 4096):
        start = page + 100 if page == 0 else page
        for offset in range(start, start + 12):
            for bit in range(8):
                flip(path, offset, bit)
                count = found(path)
                silent, refused = silent + (count not in (None, 20)), refused + (count is None)
                _put(path, whole)
    assert (silent, refused > 30) == (0, True)


def test_lines_that_vanish_from_the_end_were_not_seen_without_the_last_line(path):
    """The sabotage of the test above: nobody looks where the lines end."""
    charged(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM lines WHERE position > 5")
        connection.commit()
    assert found(path) is None
    with closing(sqlite3.connect(path)) as connection:
        last = "SELECT position, digest FROM lines ORDER BY position DESC LIMIT 1"
        connection.execute(f"UPDATE head SET (position, digest) = ({last})")
        connection.commit()
    assert found(path) == 4


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_cut_file_is_refused(path, share):
    charged(path, 60)
    os.truncate(path, int(os.path.getsize(path) * share))
    assert found(path) is None


def _bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def _put(path, content):
    """The same file with other content."""
    with open(path, "r+b") as file:
        file.write(content)
        file.truncate()


# Power.


def lost_by_a_cut(tmp_path, synchronous):
    """Cuts after which a charge that was answered upon is gone, and how many cuts there were."""
    made = tmp_path / "made"
    made.mkdir()
    path = str(made / "l.db")
    records = power_cut.recorded(made, tmp_path, "told", path, 4, synchronous)
    lost, seen = [], {}
    for way, keeps in enumerate(power_cut.ways(0)):
        answers = 0
        for number, files in power_cut.cuts(records, keeps):
            answers += records[number][:2] == ("write", f"{path}.told")
            ledger = {os.path.basename(p): c for p, c in files.items() if p.startswith(path)}
            ledger.pop("l.db.told", None)
            key = answers, tuple(sorted(ledger.items()))
            if key not in seen:
                seen[key] = _restored(tmp_path / "cut", ledger, answers)
            if not seen[key]:
                lost.append((way, number))
    return lost, len(seen)


def _restored(folder, files, answers):
    """Whether a folder with such files shows so many charges, or is refused, or was not made yet."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    try:
        ledger = fresh(str(folder / "l.db"), moved=True)
        count = len(ledger)
        ledger._store._file.close()
    except FileNotFoundError:
        return answers == 0
    except REFUSED:
        return False  # nothing was damaged, so a refusal too is a fault
    return answers <= count <= answers + 1


@pytest.mark.skipif(not power_cut.compiler(), reason="no C compiler to watch files with")
class TestPower:
    """Files as they are after a cut at every moment of four charges."""

    def test_a_charge_that_was_answered_upon_is_there_after_a_cut(self, tmp_path):
        lost, moments = lost_by_a_cut(tmp_path, "EXTRA")
        assert moments > 50 and lost == []

    @pytest.mark.parametrize("synchronous", ["OFF", "FULL"])
    def test_a_sync_that_is_pulled_out_is_found(self, tmp_path, synchronous):
        """Without one for the folder a deleted journal comes back, and takes the charge with it."""
        assert lost_by_a_cut(tmp_path, synchronous)[0]


def unseen_after_a_cut(folder, scratch, waits=True):
    """Cuts after which a witness has lost a line that was answered upon, and how many moments there were."""
    folder.mkdir()
    path, kept = str(folder / "l.db"), str(folder / "witness")
    records = power_cut.recorded(folder, scratch, "told", path, 4, "EXTRA", kept)
    if not waits:
        records = [record for record in records if record[:2] != ("sync", kept)]
    lost, moments = [], 0
    for way, keeps in enumerate(power_cut.ways(0)):
        answers = 0
        for number, files in power_cut.cuts(records, keeps):
            answers += records[number][:2] == ("write", f"{path}.told")
            seen = re.findall(r"(?m)^\w+ (\d+) [0-9a-f]{64}$", files.get(kept, b"").decode())
            moments += 1
            # The first line is the promise, the second what was there when the file was made.
            if answers and max(map(int, seen), default=0) < 1 + answers:
                lost.append((way, number))
    assert answers == 4
    return lost, moments


@pytest.mark.skipif(not power_cut.compiler(), reason="no C compiler to watch files with")
def test_a_witness_remembers_after_a_cut_what_was_answered_upon(tmp_path):
    lost, moments = unseen_after_a_cut(tmp_path / "made", tmp_path)
    assert moments > 50 and lost == []


@pytest.mark.skipif(not power_cut.compiler(), reason="no C compiler to watch files with")
def test_a_witness_that_does_not_wait_for_its_disk_is_found(tmp_path):
    assert unseen_after_a_cut(tmp_path / "made", tmp_path, waits=False)[0]


def test_a_charge_waits_for_disk_and_folder(path):
    ledger = fresh(path)
    connection = ledger._store._file._open()
    asked = [connection.execute(f"PRAGMA {name}") for name in ("synchronous", "journal_mode")]
    assert [answer.fetchone()[0] for answer in asked] == [3, "delete"]


@forks
@quiet
def test_a_full_disk_refuses_and_loses_nothing(path):
    resource = pytest.importorskip("resource")
    charged(path, 3)

    def work(write):
        resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + 30_000,) * 2)
        ledger, admitted = fresh(path), 0
        try:
            while True:
                ledger.reserve(STEP, "x" * 500)
                admitted += 1
        except OSError as refusal:
            again = len(ledger) == 3 + admitted
            os.write(write, f"{admitted} {again} {'cannot be used' in str(refusal)}".encode())

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with child(work) as (_, said):
        admitted, *rest = said.read().split()
    assert rest == [b"True", b"True"] and found(path) == 3 + int(admitted) > 3


# Names and places.


def test_a_hard_link_is_one_budget(path, tmp_path):
    ledger = fresh(path)
    other = str(tmp_path / "alias.db")
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(OSError, match=r"has 2 names \(hard links\); nothing was charged"):
            fresh(name)
    with pytest.raises(OSError, match="2 names"):
        ledger.reserve(LARGE)
    os.unlink(other)
    assert spend(ledger) == AFFORDABLE == spend(fresh(path)) + AFFORDABLE


def test_the_name_under_which_a_file_was_made_is_taken_away(path):
    """Its maker was killed between the two."""
    charged(path, 1)
    os.link(path, f"{path}.77.88.new")
    assert found(path) == 1 and not os.path.exists(f"{path}.77.88.new")


def test_a_symbolic_link_is_one_budget(path, tmp_path):
    first = fresh(path)
    os.symlink(path, tmp_path / "alias.db")
    second = Ledger(*PROMISE, path=tmp_path / "alias.db")
    assert first == second and spend(second) == AFFORDABLE and spend(first) == 0


def moves(path, there):
    """Ways in which a file gets to another place: the place, and whether it is a file of its own there."""
    return {
        "copied": lambda: shutil.copy(path, there),
        "renamed": lambda: os.rename(path, there),
        "restored": lambda: (shutil.copy(path, there), os.unlink(path), os.rename(there, path)),
    }


@pytest.mark.parametrize("name", ["other.db", "elsewhere/budget.db", "elsewhere/other.db"])
@pytest.mark.parametrize("way", ["copied", "renamed", "restored"])
def test_a_file_in_another_place_is_refused_until_somebody_answers_for_it(
    path, tmp_path, way, name
):
    """Under another name, in another folder, and both: a journal that is left behind is found in none of them."""
    charged(path, 5)
    (tmp_path / "elsewhere").mkdir()
    there = str(tmp_path / name)
    moves(path, there)[way]()
    place = path if way == "restored" else there
    for _ in range(2):
        with pytest.raises(
            ValueError, match=r"a copy, or was moved.*nothing was charged.*moved=True"
        ):
            fresh(place)
    ledger = fresh(place, moved=True)
    assert len(ledger) == 5 and len(fresh(place)) == 5
    if way == "copied":
        assert len(fresh(path)) == 5


def test_a_live_copy_is_refused(path, tmp_path):
    ledger = fresh(path)
    ledger.reserve(STEP)
    shutil.copy(path, tmp_path / "copy.db")
    assert found(str(tmp_path / "copy.db")) is None and spend(ledger) == AFFORDABLE


def test_a_folder_that_is_renamed_keeps_its_budget(tmp_path):
    (tmp_path / "old").mkdir()
    charged(str(tmp_path / "old" / "l.db"), 3)
    os.rename(tmp_path / "old", tmp_path / "new")
    assert found(str(tmp_path / "new" / "l.db")) == 3


def unfinished(path):
    """A file whose process died while it wrote a charge: the file is half new, the journal can undo it."""

    def work(write):
        ledger = fresh(path)
        connection = ledger._store._file._open()
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("BEGIN IMMEDIATE")
        # So much is written that not all of it can wait for the end.
        connection.execute("CREATE TABLE more (text TEXT)")
        connection.executemany("INSERT INTO more VALUES (?)", [("x" * 4000,)] * 60)
        connection.execute("UPDATE head SET position = 99")
        os.kill(os.getpid(), signal.SIGKILL)

    with child(work) as (_, said):
        said.read()
    assert os.path.getsize(path + "-journal")


@forks
@quiet
def test_a_file_that_was_renamed_in_the_middle_of_a_charge_gets_its_name_back_first(path, tmp_path):
    charged(path, 5)
    unfinished(path)
    there = str(tmp_path / "other.db")
    os.rename(path, there)
    assert found(there) is None
    with pytest.raises(REFUSED):
        fresh(there, moved=True)
    with pytest.raises(OSError, match=r"is missing but its journal .*-journal' is there"):
        fresh(path)
    os.rename(there, path)
    assert found(path) == 5


@contextmanager
def bound(source, target):
    """A file or folder that is mounted at a second place, where this process may."""
    if subprocess.run(["mount", "--bind", source, target], capture_output=True).returncode:
        pytest.skip("this process may not mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", target], check=True)


@pytest.mark.skipif(not shutil.which("mount"), reason="no mounts on this platform")
def test_a_file_that_is_mounted_by_itself_is_refused(path, tmp_path):
    ledger = fresh(path)
    inside = str(tmp_path / "inside.db")
    open(inside, "w").close()
    with bound(path, inside):
        with pytest.raises(OSError, match=r"mounted as a single file.*mount its folder"):
            Ledger(*PROMISE, path=inside)
        assert spend(ledger) == AFFORDABLE


@pytest.mark.skipif(not shutil.which("mount"), reason="no mounts on this platform")
def test_a_folder_that_is_mounted_twice_is_one_budget(tmp_path):
    for name in ("outside", "inside"):
        (tmp_path / name).mkdir()
    ledger = fresh(str(tmp_path / "outside" / "l.db"))
    with bound(str(tmp_path / "outside"), str(tmp_path / "inside")):
        other = Ledger(*PROMISE, path=tmp_path / "inside" / "l.db")
        assert (spend(other), spend(ledger)) == (AFFORDABLE, 0)
        other._store._file.close()


MOUNTS = """\
22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw
27 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw
40 27 0:33 / {folder} rw,relatime - {kind} server:/export rw,vers=4.2
41 27 8:2 / /elsewhere rw - nfs4 server:/other rw
"""


@pytest.mark.parametrize("kind", ["nfs4", "nfs", "cifs", "9p", "virtiofs", "fuse.sshfs", "lustre"])
def test_a_disk_that_two_hosts_see_is_refused(tmp_path, monkeypatch, kind):
    folder = tmp_path / "with blank"
    folder.mkdir()
    text = MOUNTS.format(folder=str(folder).replace(" ", "\\040"), kind=kind)
    read = _place.mounts
    monkeypatch.setattr(_place, "mounts", lambda: read(text))
    with pytest.raises(
        OSError, match=f"lies on {kind}, where two hosts can spend one budget twice"
    ):
        Ledger(*PROMISE, path=folder / "l.db")
    assert os.listdir(folder) == []
    Ledger(*PROMISE, path=tmp_path / "l.db")


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs"])
def test_a_local_disk_is_not_accused(tmp_path, monkeypatch, kind):
    read = _place.mounts
    monkeypatch.setattr(_place, "mounts", lambda: read(MOUNTS.format(folder=tmp_path, kind=kind)))
    Ledger(*PROMISE, path=tmp_path / "l.db")


def test_where_the_system_names_no_mounts_nothing_is_refused(path, monkeypatch):
    monkeypatch.setattr(_place, "_MOUNTS", "/nowhere/mountinfo")
    assert _place.mounts() == [] and len(fresh(path)) == 0


# Older copies and deletion.


def rolled_back(path, charges=5):
    """The file as it was a few charges ago, at its own place: what no name and no number shows."""
    charged(path, 5)
    old = _bytes_of(path)
    charged(path, charges)
    _put(path, old)


def test_a_rollback_is_noticed_by_whoever_saw_the_newer_file(path):
    ledger = fresh(path)
    ledger.reserve(STEP)
    old = _bytes_of(path)
    ledger.reserve(STEP)
    ledger._store._file.close()
    _put(path, old)
    with pytest.raises(ValueError, match="lines that were there are gone"):
        ledger.reserve(STEP)


def test_a_rollback_at_its_own_place_is_seen_by_nobody_else(path):
    """What the table says of it: without a witness or receipts the file looks like any other."""
    rolled_back(path)
    assert found(path) == 5


class TestWitness:
    """A second memory of the last line."""

    def test_a_rollback_beside_it_is_refused(self, path, tmp_path):
        witness = tmp_path / "witness"
        ledger = fresh(path, witness=witness)
        ledger.reserve(STEP)
        old = _bytes_of(path)
        ledger.reserve(STEP)
        ledger._store._file.close()
        assert len(fresh(path, witness=witness)) == 2
        _put(path, old)
        with pytest.raises(ValueError, match="lacks line 3, which its witness has seen"):
            fresh(path, witness=witness)

    def test_charges_after_a_rollback_do_not_hide_it(self, path, tmp_path):
        witness = tmp_path / "witness"
        ledger = fresh(path, witness=witness)
        old = _bytes_of(path)
        ledger.reserve(STEP)
        ledger._store._file.close()
        _put(path, old)
        charged(path, 3)  # without the witness
        with pytest.raises(ValueError, match="lacks line 2"):
            fresh(path, witness=witness)

    def test_a_deleted_ledger_is_missed(self, path, tmp_path):
        fresh(path, witness=tmp_path / "witness").reserve(STEP)
        os.unlink(path)
        with pytest.raises(FileNotFoundError, match="is missing but its witness has seen charges"):
            fresh(path, witness=tmp_path / "witness")
        assert not os.path.exists(path)
        fresh(path)._store._file.close()
        with pytest.raises(ValueError, match="knows another ledger"):
            fresh(path, witness=tmp_path / "witness")

    def test_half_a_line_at_its_end_is_not_held_against_the_ledger(self, path, tmp_path):
        witness = tmp_path / "witness"
        fresh(path, witness=witness).reserve(STEP)
        with open(witness, "a") as file:
            file.write("\n5f0c 17 ab")
        fresh(path, witness=witness).reserve(STEP)
        assert len(fresh(path, witness=witness)) == 2

    def test_a_function_is_told_each_line_before_the_charge_counts(self, path):
        told = []
        ledger = fresh(path, witness=told.append)
        ledger.reserve(STEP)
        assert [head.position for head in told] == [1, 2] and told[-1] == ledger.head

        def refuses(head):
            raise RuntimeError("no")

        with pytest.raises(RuntimeError):
            fresh(path, witness=refuses)

    def test_a_charge_whose_witness_fails_is_paid_and_not_answered(self, path):
        fails = []

        def witness(head):
            if fails:
                raise OSError("the other disk is full")

        ledger = fresh(path, witness=witness)
        fails.append(1)
        with pytest.raises(OSError, match="other disk"):
            ledger.reserve(STEP)
        assert found(path) == 1

    def test_it_is_of_a_file(self):
        with pytest.raises(ValueError, match="give it a path"):
            Ledger(*PROMISE, witness=print)


def one_fit(ledger, epsilon=0.05):
    """Receipt of a fit that a ledger has paid for."""
    X, y = make_census(n_samples=200, return_X_y=True)
    model = skdp.DPLogisticRegression(
        epsilon=epsilon, delta=1e-7, ledger=ledger, data_norm=1.0, classes=[0, 1], solver="gd"
    )
    return model.fit(X, y).privacy_


def fits(path, times, epsilon=0.01):
    """Receipts of fits that a ledger has paid for."""
    ledger = fresh(path)
    receipts = [one_fit(ledger, epsilon) for _ in range(times)]
    ledger._store._file.close()
    return receipts


class TestAudit:
    """Receipts that were kept elsewhere, held against the file."""

    def test_lost_replaced_and_foreign_lines_are_told_apart(self, path, tmp_path):
        receipts = fits(path, 3)
        old = _bytes_of(path)
        receipts += fits(path, 2)
        assert fresh(path).audit(receipts).sound
        _put(path, old)
        rolled = fresh(path).audit(receipts)
        assert (rolled.matched, rolled.lost, rolled.sound) == ((0, 1, 2), (3, 4), False)
        assert "has lost charges: receipts [3, 4]" in str(rolled)
        fits(path, 1, epsilon=0.02)
        again = fresh(path).audit(receipts)
        assert (again.replaced, again.lost, again.unclaimed) == ((3,), (4,), 1)
        other = fits(str(tmp_path / "other.db"), 1)
        known = fresh(path).audit([*receipts[:3], *other])
        assert (known.foreign, known.sound) == ((3,), True)

    def test_a_line_pays_for_one_receipt(self, path):
        first, second = fits(path, 2)
        forged = dataclasses.replace(second, ledger=first.ledger)
        found = fresh(path).audit([first, forged])
        assert (found.matched, found.doubled, found.unclaimed) == ((0,), (1,), 1)
        assert not found.sound and "receipts [1] name lines that earlier ones name" in str(found)
        counted_backwards = {**first.ledger, "position": first.ledger["position"] - 3}
        forged = dataclasses.replace(second, ledger=counted_backwards)
        assert not fresh(path).audit([first, forged]).sound

    def test_a_receipt_may_be_given_again(self, path):
        (receipt,) = fits(path, 1)
        again = type(receipt).from_dict(receipt.to_dict())
        found = fresh(path).audit([receipt, again, receipt.stating(tuning="on public data")])
        assert (found.matched, found.repeated, found.doubled) == ((0,), (1, 2), ())
        assert found.sound and found.unclaimed == 0 and "[1, 2] were given before" in str(found)

    def test_fits_of_two_threads_name_a_line_each(self, path, monkeypatch):
        """Both charge before either of them looks at the ledger again."""
        ledger, both = fresh(path), threading.Barrier(2)
        reserve = Ledger.reserve

        def together(self, *given):
            line = reserve(self, *given)
            both.wait(60)
            return line

        monkeypatch.setattr(Ledger, "reserve", together)
        with ThreadPoolExecutor(2) as pool:
            receipts = list(pool.map(lambda _: one_fit(ledger), range(2)))
        found = ledger.audit(receipts)
        assert found.matched == (0, 1)
        assert len({receipt.ledger["position"] for receipt in receipts}) == 2

    def test_receipts_without_a_line_are_named(self, path):
        X, y = make_census(n_samples=200, return_X_y=True)
        model = skdp.DPLogisticRegression(
            epsilon=0.1, delta=1e-7, data_norm=1.0, classes=[0, 1], solver="gd"
        ).fit(X, y)
        assert fresh(path).audit([model.privacy_]).silent == (0,)

    def test_a_receipt_names_its_line_and_survives_its_way_through_json(self, path):
        (receipt,) = fits(path, 1)
        head = fresh(path).head
        stood = receipt.ledger["identity"], receipt.ledger["position"], receipt.ledger["head"]
        assert stood == tuple(head) and type(receipt).from_dict(receipt.to_dict()) == receipt


def test_a_deleted_file_is_a_fresh_budget_unless_it_must_exist(path):
    charged(path, 3)
    os.unlink(path)
    with pytest.raises(FileNotFoundError, match=r"There is no ledger at .*must_exist"):
        fresh(path, must_exist=True)
    assert not os.path.exists(path) and len(fresh(path)) == 0
    assert len(fresh(path, must_exist=True)) == 0


@pytest.mark.skipif(os.name == "nt", reason="modes of files are those of other systems")
def test_nobody_else_reads_who_charged_what(path):
    before = os.umask(0)
    try:
        charged(path, 1)
    finally:
        os.umask(before)
    assert os.stat(path).st_mode & 0o777 == 0o600


# Clocks and processes.


@pytest.mark.parametrize("seconds", [-1e12, -1.0, 0.0, 4e9, 1e12, 1e15])
def test_no_clock_refuses_a_charge(path, monkeypatch, seconds):
    ledger = fresh(path)
    with monkeypatch.context() as patched:
        patched.setattr(_state.time, "time", lambda: seconds)
        ledger.reserve(STEP)
    assert len(fresh(path)) == 1 and fresh(path)._state.entries[0].when


def test_a_day_is_the_one_that_calendars_say(monkeypatch):
    monkeypatch.setattr(_state.time, "time", lambda: 1_767_225_600.0)
    assert _state.today() == "2026-01-01"


def _open_files(path):
    """Descriptors of this process for the files of a ledger."""
    out = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            out.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [name for name in out if name.startswith(path)]


def _in_a_fork(path, ledger):
    """What a child finds open, and whether its charge and the parent's are both there."""

    def work(write):
        left = len(_open_files(path))
        ledger.reserve(STEP)
        os.write(write, b"%d" % left)

    with child(work) as (_, said):
        left = int(said.read())
    ledger.reserve(STEP)
    return left, len(ledger)


@forks
@quiet
@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed by /proc")
class TestFork:
    """A connection must not cross a fork: SQLite forbids it."""

    def test_nothing_is_open_in_a_child(self, path):
        ledger = fresh(path)
        ledger.reserve(STEP)
        assert _open_files(path) and _in_a_fork(path, ledger) == (0, 3)

    def test_a_connection_that_is_kept_is_found(self, path, monkeypatch):
        ledger = fresh(path)
        ledger.reserve(STEP)
        monkeypatch.setattr(_file.LedgerFile, "close", lambda self: None)
        assert _in_a_fork(path, ledger)[0] > 0

    def test_a_child_that_was_not_announced_opens_the_file_anew(self, path, monkeypatch):
        """Forks that Python does not hear of: the number of the process has changed, and that is looked at."""
        ledger = fresh(path)
        ledger.reserve(STEP)
        file = ledger._store._file
        inherited = file._connection
        monkeypatch.setattr(file, "_process", -1)
        ledger.reserve(STEP)
        assert file._connection is not inherited and inherited in _file.INHERITED
        inherited.execute("SELECT 1")  # not closed: that too is forbidden


@forks
@quiet
def test_eight_processes_spend_one_budget(path):
    charged(path, 0)

    read, write = os.pipe()
    workers = []
    for _ in range(8):
        process = os.fork()
        if process == 0:
            try:
                admitted = spend(fresh(path))
                os.write(write, b"%d\n" % admitted)
            finally:
                os._exit(0)
        workers.append(process)
    os.close(write)
    with os.fdopen(read) as said:
        total = sum(map(int, said.read().split()))
    for process in workers:
        os.waitpid(process, 0)
    assert total == len(fresh(path)) == AFFORDABLE
