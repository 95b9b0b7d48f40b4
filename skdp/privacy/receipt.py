"""Receipts: the guarantee of a fit and what it spent, in a form that a sceptic can read and re-price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from ..exceptions import NotSupported
from ._arithmetic import round_down, round_up
from ._receipts import _plain, _words
from ._receipts._check import complaints, known_risk, priced, proof_page, risk_of
from ._risk import Risk
from .events import Script
from .spec import Spec

if TYPE_CHECKING:
    from ._receipts._card import Check
    from ._risk import Share

__all__ = ["Receipt", "proof_page"]


@dataclass(frozen=True, eq=False)
class Receipt:
    """The privacy statement of one fit (or, from ``quote``, of one that was not made).

    Parameters
    ----------
    epsilon, delta : float
        What the fit costs: at most what was asked for.
    neighbors : str
        "replace_one" or "add_remove".
    accountant : str
        Which theorem priced the script, or which filter guarded an adaptive solver.
    script : tuple of (Event, int)
        What was released, in order.
    solver : str
        The algorithm, with its hyper-parameters.
    proofs : tuple of str
        Pages of docs/proofs/ that the guarantee rests on; `proof_page` shows them.
    declared : dict
        What was taken as public.
    seeded : bool
        Whether the noise came from a fixed seed: then the guarantee does not hold against whoever knows it.
    unspent : float or None
        For adaptive solvers: what the filter had left, in its currency.
    notes : tuple of str
        What a reader should know besides.
    order : int or None
        For adaptive solvers whose filter counts in Renyi divergence: its order.
    unit : str
        What is protected as one: a row, a person, a household.
    rows : int
        How many rows of a unit count at most.
    version, date : str
        Of the library, and when the fit was made (UTC); empty for a quote. How long it took is not said, since that
        may depend on the records.
    ledger : dict or None
        Where a shared ledger stood just before and just after it paid for this fit; of one in a file, also its
        ``identity`` and the ``position`` and digest (``head``) of the line that paid, for `Ledger.audit`.
    model : dict
        SHA-256 of all that the fit has left, by the attribute's name, with the version of the hash in front: what the
        receipt belongs to. Of a search also that of the search itself, and of each step that has paid.
    tuning : str
        How hyper-parameters were chosen and who paid for it, as declared by `stating`.
    releases : str
        Other releases from the same data, as declared by `stating`.
    around : tuple of str or None
        Steps around the fit that learn from the data without a receipt, such as a scaler before it or a search; empty
        where the pipeline, made by `skdp.make_pipeline`, has none. None where no pipeline told what it holds. Receipts
        from before pipelines told are empty where nothing was seen.
    standard_error : dict
        How far noise moves the ``"score"`` of a typical row and the ``"coefficient"`` of a column, in its ``"unit"``,
        nominally: by public numbers alone, among them the share of one of two labels that a quote was told as its
        ``"base_rate"``. Calibration, which multiplies scores by a noisy slope, is not in it. Empty where these do
        not tell.
    certificate : dict or None
        Of the script's price, if `certified` made one; `verify` has it checked.

    See Also
    --------
    risk : The numbers behind its first line.
    Ledger : A budget that several fits share.

    Examples
    --------
    >>> from skdp.privacy import Receipt
    >>> from skdp.privacy.events import Gaussian
    >>> script = ((Gaussian(9.0), 1),)
    >>> receipt = Receipt(0.5, 1e-6, "replace_one", "gdp", script, "GD()", proofs=("sums",))
    >>> print(receipt)  # doctest: +ELLIPSIS
    An attacker who is wrong about 5 of 100 people outside the data can be right about at most 6.26 of 100 people ...
    guarantee   epsilon = 0.5, delta = 1e-06, replace_one
    accountant  gdp
    solver      GD()
    released    1 x Gaussian(multiplier=9.0)
    proofs      sums
    not covered Steps before this fit are not covered by this receipt; ...
    >>> Receipt.from_dict(receipt.to_dict()) == receipt, receipt.verify()
    (True, True)
    """

    epsilon: float
    delta: float
    neighbors: str
    accountant: str
    script: Script
    solver: str
    proofs: tuple[str, ...] = ()
    declared: dict[str, Any] = field(default_factory=dict)
    seeded: bool = False
    unspent: float | None = None
    notes: tuple[str, ...] = ()
    order: int | None = None
    unit: str = "row"
    rows: int = 1
    version: str = ""
    date: str = ""
    ledger: dict[str, Any] | None = None
    model: dict[str, str] = field(default_factory=dict)
    tuning: str = "not known"
    releases: str = "not known"
    around: tuple[str, ...] | None = None
    standard_error: dict[str, Any] = field(default_factory=dict)
    certificate: dict[str, Any] | None = None

    def lines(self) -> list[tuple[str, str]]:
        """The statement as (what, value) pairs."""
        promise = f"epsilon = {round_up(self.epsilon)}, delta = {round_up(self.delta, 3)}, {self.neighbors}"
        if math.isinf(self.epsilon):
            promise = "NONE: epsilon is infinite, no noise was added"
        rows = [("covers", _words.covers(self))] if self.around else []
        rows += [("guarantee", promise), ("accountant", self.accountant), ("solver", self.solver)]
        rows += [("released", str(fold)) for fold in _words.folded(self.script)]
        if self.unspent is not None:
            rows.append(("unspent", round_down(self.unspent)))
        rows += [("public", f"{name} = {value}") for name, value in self.declared.items()]
        rows.append(("proofs", ", ".join(self.proofs)))
        rows += _words.circumstances(self)
        if self.around is None:
            rows.append(("not covered", _words.UNTOLD))
        if self.seeded:
            rows.append(
                (
                    "seed",
                    "FIXED: whoever knows it, or sees two fits that share it, can subtract the noise",
                )
            )
        rows += [("note", note) for note in self.notes]
        return rows

    def statement(self) -> str:
        """The promise in plain words: what a test can find out, and how far beliefs may move."""
        found = known_risk(self)
        told = [_words.promise(self, found), _words.odds(self, found)]
        return "\n".join([*told, _words.UNTOLD] if self.around is None else told)

    @property
    def priced(self) -> Script:
        """Script that the price is for: its own, or all that an adaptive fit's filter might have let pass."""
        return priced(self)

    def risk(self) -> Risk:
        """Bound what the fit allows against one unit, from the exact trade-off curve where there is one.

        See Also
        --------
        skdp.privacy.risk : The same for any script.
        """
        return risk_of(self)

    def breakdown(self) -> tuple[Share, ...]:
        """Split the price of the script among its events, the costliest first."""
        from ._risk import breakdown

        return breakdown(self.script, self.delta, self.neighbors)

    def complaints(self, model: Any = None) -> list[str]:
        """Check the receipt and return one sentence for each claim that does not hold.

        Parameters
        ----------
        model : estimator, optional
            The fitted model that the receipt is said to belong to.

        """
        return complaints(self, model)

    def verify(self, model: Any = None) -> bool:
        """Price the script again, and compare the model, if it is given, with the one that was fitted.

        A model that holds anything which the receipt does not name is another one.

        Parameters
        ----------
        model : estimator, optional
            The fitted model that the receipt is said to belong to.

        Returns
        -------
        bool
            Whether all holds; `complaints` says what does not.
        """
        return not self.complaints(model)

    def stating(
        self,
        *,
        tuning: str | None = None,
        releases: str | None = None,
        unit: str | None = None,
    ) -> Self:
        """Return a copy of the receipt with the facts that only a person can know.

        Parameters
        ----------
        tuning : str, optional
            How hyper-parameters were chosen, and whether that was paid for.
        releases : str, optional
            What else was released from the same data.
        unit : str, optional
            What a row stands for: a person, a visit.
        """
        return replace(
            self,
            tuning=self.tuning if tuning is None else str(tuning),
            releases=self.releases if releases is None else str(releases),
            unit=self.unit if unit is None else str(unit),
        )

    def certified(self) -> Self:
        """Return a copy of the receipt that carries a certificate of its script's price.

        See Also
        --------
        skdp.privacy.certificate : What it is, and which scripts have one.
        """
        from ._certificate import certificate

        told = certificate(self.priced, delta=self.delta, neighbors=self.neighbors)
        return replace(self, certificate=told)

    def same_fit(self, other: Receipt) -> bool:
        """Tell whether another receipt is this one, but for what `stating` says.

        Parameters
        ----------
        other : Receipt
            Perhaps with other statements of a person.
        """
        mine, others = (
            receipt.stating(tuning="", releases="", unit="").to_dict() for receipt in (self, other)
        )
        return mine == others

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for json, with a digest over all of them."""
        data = {name: _plain.plain(getattr(self, name)) for name in self.__dataclass_fields__}
        if self.certificate is None:  # a receipt without one is written as before there were any
            del data["certificate"]
        return _plain.sealed(data | {"script": _plain.plain_script(self.script)})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; refuse what was changed since.

        Parameters
        ----------
        data : dict
            Plain data, also after a way through json.

        Returns
        -------
        Receipt
        """
        return cls(**_plain.receipt_fields(data, cls))

    def sign(self, key: Any) -> str:
        """Sign the receipt as `to_dict` writes it, with Ed25519; it needs the extra ``skdp[sign]``.

        Parameters
        ----------
        key : cryptography.hazmat.primitives.asymmetric.ed25519.Ed25519PrivateKey or bytes
            Of the signer, or its PEM text without a password.

        Returns
        -------
        str
            A detached signature in hexadecimal, to be kept beside the file.

        See Also
        --------
        verify_signature : Whether it is that of a file.
        """
        from ._receipts._plain import signature_of

        return signature_of(self.to_dict(), key)

    @classmethod
    def verify_signature(cls, data: Mapping[str, Any], signature: str, key: Any) -> bool:
        """Check that a receipt is as its signer has filed it; whether it holds, `verify` says.

        Parameters
        ----------
        data : dict
            Of the file, as `to_dict` wrote it: also of an older version.
        signature : str
            What `sign` returned.
        key : cryptography.hazmat.primitives.asymmetric.ed25519.Ed25519PublicKey or bytes
            Of the signer, or its PEM text.

        Returns
        -------
        bool
            False where the data were changed, or somebody else signed them.
        """
        from ._receipts._plain import is_signed

        try:
            cls.from_dict(data)
        except ValueError:
            return False
        return is_signed(data, signature, key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Receipt) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_dict()["digest"])

    def to_registry(self, **answers: Any) -> dict[str, Any]:
        """A record for the public registry of deployments (registry.opendp.org), checked against its fields.

        Parameters
        ----------
        **answers : str or list of str
            What only a person can know: ``name``, ``curators``, ``intended_use``, ``region``, ``description`` and
            ``authors``; and where wanted ``sector``, ``actors``, ``justification``, ``preprocessing``, ``sources``,
            ``notes``, ``slug`` and ``status``.

        Returns
        -------
        dict
            To be written as yaml or json.
        """
        from ._receipts._card import record

        return record(self, answers)

    def to_model_card(self, name: str = "A private model", license: str = "other") -> str:
        """A model card in markdown, with the tags that model hubs read.

        Parameters
        ----------
        name : str
            Of the model.
        license : str
            As hubs spell it.
        """
        from ._receipts._card import model_card

        return model_card(self, name, license)

    def nist_checklist(self) -> tuple[Check, ...]:
        """Return the answers to NIST SP 800-226's questions on a privacy claim; some are left to a person."""
        from ._receipts._card import checklist

        return checklist(self)

    def for_rows(self, k: int) -> Spec:
        """Return the guarantee for any k rows that follows from the guarantee for one.

        Parameters
        ----------
        k : int
            How many rows; see `skdp.privacy.for_rows` for what that means under each relation. Where
            a fit declared units of several rows, k counts units.

        Returns
        -------
        Spec
            The same delta and relation, with the epsilon that holds for k rows.

        See Also
        --------
        skdp.privacy.for_rows : The same for any script, with what is refused.
        """
        if self.unspent is not None:
            raise NotSupported(
                "A filter's script was not fixed beforehand and proves nothing for several rows; "
                "use a solver whose script is fixed, or declare units."
            )
        from .groups import for_rows

        return for_rows(self.script, Spec(self.epsilon, self.delta, self.neighbors), k)

    def to_dp_event(self) -> Any:
        """The script as an event of Google's dp-accounting, which must be installed, to re-price it there."""
        from .dp_event import to_dp_event

        return to_dp_event(self.script, self.neighbors)

    def __str__(self) -> str:
        told = (f"{what:<11} {value}" for what, value in self.lines())
        return "\n".join((_words.promise(self, known_risk(self)), *told))

    def _repr_html_(self) -> str:
        from ._receipts._card import page

        return page(self)
