"""The key that leaves out columns that the answers do not depend on, and takes them in again."""

from __future__ import annotations

from rich.console import Console

from linkwise.errors import DataError, SessionError
from linkwise.terminal.keys import COLUMNS_KEY
from linkwise.wording import join_names, strip_controls
from linkwise.workspace.column_offer import ColumnOffer
from linkwise.workspace.project import Project


class ColumnKey:
    """Shows on a terminal which columns seem not to matter, and acts when the key is pressed.

    Attributes
    ----------
    project : Project
        The session and its rows by the columns that are compared now.
    """

    def __init__(self, project: Project, console: Console) -> None:
        self.project = project
        self._offer, self._console = ColumnOffer(project), console
        self._is_first = True

    def announce(self) -> None:
        """Show a proposal that is new, and at first the columns that may come back."""
        found = self._offer.describe()
        if self._is_first and found is not None and found["left_out"]:
            names = join_names(found["left_out"])
            self._say(f"The comparison leaves out: {names}. {COLUMNS_KEY} takes them in again.")
        self._is_first = False
        self._offer.update()
        found = self._offer.describe()
        if self._offer.is_new and found is not None and found["drop"]:
            names = join_names(found["drop"])
            self._say(f"Your answers seem not to depend on: {names}. {COLUMNS_KEY} leaves them out.")
        self._offer.is_new = False

    def press(self) -> None:
        """Leave out the columns that are proposed, else take in all that were left out."""
        found = self._offer.describe()
        if found is None:
            self._say("There is no proposal for columns.")
            return
        columns = found["drop"] or found["left_out"]
        names = join_names(columns)
        try:
            recoded = self._offer.accept(columns) if found["drop"] else self._offer.restore(columns)
        except (DataError, SessionError) as error:
            self._say(f"Nothing has changed. {error}")
            return
        self.project = recoded.project
        again = f" {COLUMNS_KEY} takes them in again." if found["drop"] else ""
        done = "The comparison leaves out:" if found["drop"] else "Rows are compared again by:"
        self._say(f"{done} {names}. All answers are replayed, and {recoded.backup.name} is a copy.{again}")
        if recoded.changed:
            self._say(recoded.changed)

    def _say(self, words: str) -> None:
        self._console.print(strip_controls(words), style="yellow", highlight=False, markup=False)
