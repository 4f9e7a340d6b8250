"""Guidelines and examples: they tell everybody who answers what "belong together" means in one session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from linkwise.constraints.facts import GivenAnswer
from linkwise.session.journal.values import Example, check_example, check_guidelines, drop_repeated
from linkwise.session.view import synchronized
from linkwise.session.writer import SessionWriter


class SessionGuidelines(SessionWriter):
    """The part of `linkwise.Session` that tells what belongs together: a text and examples of pairs."""

    @synchronized
    def set_guidelines(self, text: str) -> None:
        """Write down what "belong together" means here, for everybody who answers.

        Parameters
        ----------
        text : str
            Up to 10 000 characters. An empty text removes the guidelines.

        Raises
        ------
        TypeError
            `text` is not a string.
        SessionError
            `text` is too long, or it is not valid Unicode.
        """
        checked = check_guidelines(text)

        def check_text() -> dict[str, Any] | None:
            return None if checked == self._settings().guidelines else {"value": checked}

        self._write_checked("guidelines", check_text)

    @property
    @synchronized
    def examples(self) -> tuple[Example, ...]:
        """A few pairs that show what belongs together; see `set_examples`."""
        self._catch_up()
        return self._settings().examples

    @synchronized
    def set_examples(self, examples: Iterable[tuple[Any, ...]]) -> None:
        """Give everybody who answers a few pairs that show what belongs together.

        They count neither as answers nor as constraints.

        Parameters
        ----------
        examples : iterable of tuple
            Up to 30 tuples ``(first, second, answer)`` or ``(first, second, answer, reason)``: two row
            positions, "yes", "no" or a bool for whether they belong together, and a reason of up to 2000
            characters. They replace all earlier examples. Of several about one pair the last one counts.

        Raises
        ------
        ConstraintError
            A row does not exist, or both rows of a pair are the same.
        TypeError
            An example is not such a tuple.
        SessionError
            There are too many, or a reason is too long or not valid Unicode.

        Examples
        --------
        >>> import linkwise as lw
        >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]])
        >>> session.set_examples([(0, 1, True, "close to each other"), (1, 2, False)])
        >>> session.examples[0]
        Example(first=0, second=1, answer='yes', reason='close to each other')
        """
        checked = [check_example(example, self.n_rows) for example in examples]
        self._change_examples(lambda _: checked)

    @synchronized
    def add_example(self, first: int, second: int, answer: GivenAnswer, reason: str = "") -> None:
        """Add one example, or replace the one about the same pair; see `set_examples`.

        Parameters
        ----------
        first, second : int
            Positions of the two rows.
        answer : {"yes", "no"} or bool
            Whether they belong together.
        reason : str, default=""
            Why, up to 2000 characters.

        Raises
        ------
        ConstraintError, TypeError, SessionError
            As for `set_examples`.
        """
        example = check_example((first, second, answer, reason), self.n_rows)
        self._change_examples(lambda examples: [*examples, example])

    @synchronized
    def remove_example(self, first: int, second: int) -> None:
        """Remove the example about a pair, if there is one.

        Parameters
        ----------
        first, second : int
            Positions of the two rows.
        """
        pair = {first, second}
        self._change_examples(lambda examples: [each for each in examples if {*each[:2]} != pair])

    def _change_examples(self, change: Callable[[list[Example]], list[Example]]) -> None:
        """Store what `change` makes of the examples that the file holds, whoever else changes them."""

        def check_examples() -> dict[str, Any] | None:
            before = list(self._settings().examples)
            after = drop_repeated(change(before))
            return None if after == before else {"value": [list(each) for each in after]}

        self._write_checked("examples", check_examples)
