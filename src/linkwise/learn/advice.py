"""The advice of a learner: how many rows are probably in a wrong cluster, and whether to stop."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral


@dataclass(frozen=True, slots=True)
class StopAdvice:
    """What a learner advises after an answer.

    Attributes
    ----------
    stop : bool
        Whether further answers will probably change almost nothing.
    wrong : float or None
        The expected share of the rows that are in a wrong cluster, from 0 to 1. None while it is too early to
        tell.
    most_wrong : float or None, default=None
        A share that the true one probably does not exceed. None if there is none.
    n_open : int, default=0
        How many pairs of shown clusters may be one, so that questions about them are still worth asking.

    Raises
    ------
    ValueError
        `wrong` or `most_wrong` is not from 0 to 1, `most_wrong` is below `wrong`, or `n_open` is not an
        integer of at least 0.
    """

    stop: bool
    wrong: float | None
    most_wrong: float | None = None
    n_open: int = 0

    def __post_init__(self) -> None:
        wrong, most = (None if share is None else float(share) for share in (self.wrong, self.most_wrong))
        for name, share in (("wrong", wrong), ("most_wrong", most)):
            if share is not None and not 0 <= share <= 1:
                raise ValueError(f"`{name}` is {share!r}. Set it to a share of the rows from 0 to 1.")
        if wrong is not None and most is not None and most < wrong:
            raise ValueError(
                f"`most_wrong` is {most!r}, and `wrong` is {wrong!r}. Set `most_wrong` to at least `wrong`."
            )
        if not isinstance(self.n_open, Integral) or self.n_open < 0:
            raise ValueError(f"`n_open` is {self.n_open!r}. Set it to an integer of at least 0.")
        object.__setattr__(self, "stop", bool(self.stop))  # numbers of NumPy cannot be stored as JSON
        object.__setattr__(self, "wrong", wrong)
        object.__setattr__(self, "most_wrong", most)
        object.__setattr__(self, "n_open", int(self.n_open))
