"""Questions asked in other coordinates, which a solver has chosen from earlier answers.

`Mapped` asks another question there, `RowNorms` for the noisy sum of the rows' norms there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..privacy import events
from ._bounds import refuse_unless_linear
from ._engine import Rows
from ._mapped import Images, MappedRows
from ._mechanism import Additive, Array, Mechanism, freeze_fields
from ._noise import Noise
from ._public import Public
from ._records import Records

__all__ = ["Coordinates", "Mapped", "RowNorms", "check_coordinates", "images_of"]


_LARGEST = 1e30


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A public linear map of rows: x, the constant column included, becomes ``matrix @ x``.

    Parameters
    ----------
    matrix : ndarray of shape (k, width)
        Numbers of size up to 1e30.

    Attributes
    ----------
    norm : float
        Frobenius norm of the matrix: by how much a row may be stretched.

    See Also
    --------
    Mapped : Asks a question in them.
    RowNorms : How long rows are in them.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import Coordinates, Public
    >>> whitening = Coordinates(np.diag([10.0, 0.5, 1.0]))
    >>> seen = whitening.seen(Public(n=1000, n_features=2, intercept=0.25, neighbors="replace_one"))
    >>> seen.width, seen.row_bound  # the constant column is mixed in, and rows are bounded anew
    (3, 1.0)
    """

    matrix: Any
    norm: float = field(init=False)

    def __post_init__(self) -> None:
        freeze_fields(self, arrays=("matrix",))
        self.matrix.setflags(write=False)
        if self.matrix.ndim != 2 or not len(self.matrix):
            raise ValueError(
                f"Coordinates was given a matrix of shape {self.matrix.shape}; it must have two dimensions."
            )
        if np.abs(self.matrix).max(initial=0.0) > _LARGEST:
            raise ValueError(
                f"Coordinates was given a number beyond {_LARGEST:g}, so images would overflow for some records; "
                "rescale the matrix."
            )
        object.__setattr__(self, "norm", float(np.linalg.norm(self.matrix)))

    @classmethod
    def of_width(cls, width: int) -> Coordinates:
        """Coordinates that stand for all others where a price is asked for: zeros that take no memory."""
        stand_in = object.__new__(cls)
        object.__setattr__(stand_in, "matrix", np.broadcast_to(0.0, (width, width)))
        object.__setattr__(stand_in, "norm", 0.0)
        return stand_in

    def seen(self, public: Public) -> Public:
        """Public facts about the new rows: bound 1, no constant column. Refuses other widths and other models."""
        refuse_unless_linear(public)
        if self.matrix.shape[1] != public.width:
            raise ValueError(
                f"Coordinates of {self.matrix.shape[1]} columns do not fit rows of width {public.width}; "
                "give a matrix with one column for each, the constant one included."
            )
        return replace(public, n_features=len(self.matrix), intercept=0.0)


def check_coordinates(coordinates: Any) -> None:
    """Refuse what is not exactly a `Coordinates`: its numbers were copied when it was made."""
    if type(coordinates) is not Coordinates or vars(coordinates).keys() != {"matrix", "norm"}:
        raise NotSupported(
            f"coordinates must be a plain Coordinates, not {type(coordinates).__name__}."
        )


def images_of(records: Records, coordinates: Coordinates) -> Images:
    """The images of all rows, worked out once for the same coordinates."""
    images = records.images
    if images is None or images.coordinates is not coordinates:
        matrix = coordinates.matrix.copy()
        norms = records.rows.image_norms(matrix, records.in_place)
        images = records.keep(Images(coordinates, matrix, norms))
    return images


@dataclass(frozen=True, eq=False, kw_only=True)
class Mapped(Mechanism):
    """A question about rows ``A x / scale``, each shrunk to norm at most 1; parameters are those of the new rows.

    Parameters
    ----------
    question : Mechanism
        What is asked of the new rows, which have no constant column of their own; it says itself whether it has a proof
        there.
    coordinates : Coordinates
        A.
    scale : float
        What the images are divided by before they are shrunk.
    whole : float
        From 0 to 1: how much of the shrinking is undone in the score that a record's loss is of. 1 keeps parameters
        unbiased; below, long rows say more beside the noise.

    See Also
    --------
    Coordinates : The map.
    RowNorms : Finds a scale.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import Coordinates, Gradient, Mapped, Noise, Public, Records
    >>> public = Public(n=1, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> vault = Records.admit(np.array([[1.0, 0.0]]), np.ones(1), public, data_norm=1.0)
    >>> inner = Gradient(at=np.zeros(2), loss=Logistic(), clip=1.0, multiplier=0.0)
    >>> turned = Mapped(question=inner, coordinates=Coordinates([[0.0, 1.0], [5.0, 0.0]]))
    >>> turned.answer(vault, Noise(seed=0))  # the image (0, 5), a fifth of which is left, times -1/2 of that
    array([ 0. , -0.1])
    """

    proof: ClassVar[str] = "mapped"
    covers_units: ClassVar[bool] = True
    question: Mechanism
    coordinates: Coordinates
    scale: float = 1.0
    whole: float = 1.0

    def __post_init__(self) -> None:
        self._settle()
        check_coordinates(self.coordinates)

    def _settle(self) -> None:
        """Freeze the fields and check those that no price follows: scale and whole are checked whenever they count."""
        freeze_fields(self, bounds=("scale",), scales=("whole",))
        if self.whole > 1.0:
            raise ValueError(f"Mapped was given whole={self.whole:g}; it must be from 0 to 1.")

    def proofs(self) -> tuple[str, ...]:
        """Its own page and the question's."""
        return (self.proof, *self.question.proofs())

    def notes(self, public: Public) -> tuple[str, ...]:
        """The question's own."""
        return self.question.notes(self._seen(public))

    def _seen(self, public: Public, matrix: Array | None = None) -> Public:
        """Public facts about the new rows, and how long they are in memory: their sums are made there."""
        norm = self.coordinates.norm if matrix is None else float(np.linalg.norm(matrix))
        longest = norm / self.scale * public.row_bound
        return replace(self.coordinates.seen(public), stretch=longest, depth=public.width)

    def event(self, public: Public) -> events.Event:
        """The question's own: a neighbour's new rows differ in one record, too."""
        self._settle()
        seen = self._seen(public)
        self.question.refuse_in(seen)
        return self.question.event(seen)

    def answer(self, records: Records, noise: Noise) -> Any:
        """The question's answer about the new rows."""
        self._settle()
        images = images_of(records, self.coordinates)
        seen = self._seen(records.public, images.matrix)
        self.question.refuse_in(seen)  # the copy may be older than what was priced
        given = images.matrix / self.scale, images.norms / self.scale
        rows: Rows = MappedRows(records.rows, *given, whole=self.whole)
        return self.question.answer(Records(rows, records.y, seen, units=records.units), noise)


@dataclass(frozen=True, eq=False, kw_only=True)
class RowNorms(Additive):
    """Sum over records of the norms of their rows in other coordinates, each cut at `cap`, plus Gaussian noise.

    Parameters
    ----------
    coordinates : Coordinates
        Where rows are measured.
    cap : float
        Largest norm that counts.

    See Also
    --------
    Coordinates : Where rows are measured.
    Mapped : What the mean norm is the scale of.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import Coordinates, Public, RowNorms
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> RowNorms(coordinates=Coordinates(np.diag([2.0, 1.0])), cap=1.5, multiplier=10.0).sensitivity(public)
    1.5
    """

    proof: ClassVar[str] = "row_norms"
    covers_units: ClassVar[bool] = True
    coordinates: Coordinates
    cap: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("cap",))
        check_coordinates(self.coordinates)

    def bound(self, public: Public) -> float:
        """The cap."""
        return self.cap

    def size(self, public: Public) -> int:
        """Return 1, the number of entries."""
        return 1

    def sensitivity(self, public: Public) -> float:
        """Norms are not negative, so a replaced one moves the sum by no more than one that comes or goes."""
        self.coordinates.seen(public)
        return self.cap

    def measure(self, records: Records) -> Array:
        """The sum of the cut norms."""
        norms = images_of(records, self.coordinates).norms
        # Pairwise, as numpy sums along a contiguous axis.
        return np.array(records.shared(np.minimum(norms, self.cap)).sum())
