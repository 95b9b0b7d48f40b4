"""Stand-ins that write down in which order an oracle does things."""

from skdp import BudgetExceeded
from skdp.mechanisms import Noise, Records


class Broke:
    """An account without a penny."""

    def charge(self, event):
        """Refuse."""
        raise BudgetExceeded(f"{event} cannot be paid.")

    def affords(self, *wanted):
        """Nothing is affordable."""
        return False


class _Account:
    def __init__(self, log):
        self.log = log

    def charge(self, event):
        self.log.append("charge")

    def affords(self, *wanted):
        return True


class _Noise(Noise):
    """Draws as its parent does, and says so."""

    def __init__(self, log):
        super().__init__(0)
        self.log = log

    def bytes(self, count):
        """Fresh uniform bytes, and a note that they were drawn."""
        self.log.append("draw")
        return super().bytes(count)


class Watched(Records):
    """Records that say when they are looked at."""

    def __getattribute__(self, name):
        if name in ("rows", "y", "take", "__len__"):
            # A copy that a mechanism makes of the records was touched when it was made.
            object.__getattribute__(self, "__dict__").get("log", []).append("touch")
        return super().__getattribute__(name)

    def __len__(self):
        return len(self.rows)


class Order:
    """A log, and an account, a noise source and a vault that write to it."""

    def __init__(self, log):
        self.log = log
        self.account, self.noise = _Account(log), _Noise(log)

    def vault(self, records):
        """The same records, watched."""
        watched = Watched(records.rows, records.y, records.public, units=records.units)
        object.__setattr__(watched, "log", self.log)
        self.log.clear()
        return watched


def asked_order(oracle_type, question, records):
    """What happened when a question was asked, in order."""
    order = Order([])
    oracle_type(order.vault(records), order.account, order.noise).ask(question)
    return order.log


def check_broke_touches_nothing(oracle_type, question, records):
    """A charge that fails leaves records untouched and draws nothing."""
    order = Order([])
    oracle = oracle_type(order.vault(records), Broke(), order.noise)
    try:
        oracle.ask(question)
    except BudgetExceeded:
        assert order.log == [], f"before it was refused: {order.log}"
    else:
        raise AssertionError("an account without a penny paid")
