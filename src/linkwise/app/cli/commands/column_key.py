"""The key that lets columns follow the answers, weighs them, and takes the weights back."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from linkwise.app.project.column_offer import MOST_NAMES, ColumnOffer, describe_fit, describe_proposal
from linkwise.app.project.project import Project
from linkwise.app.terminal.keys import COLUMNS_KEY
from linkwise.errors import DataError, SessionError
from linkwise.wording import join_names, strip_controls

TAKE_BACK = f"{COLUMNS_KEY} takes the weights back."
TAKE_TASK_BACK = f"{COLUMNS_KEY} takes it back."


class ColumnKey:
    """Shows on a terminal which columns the answers depend on, and acts when the key is pressed."""

    def __init__(self, project: Project, console: Console) -> None:
        self.project = project
        self._offer, self._console = ColumnOffer(project), console
        self._is_first = True
        self._offer.update()

    def update(self) -> None:
        """Compute what the answers say, while the person reads the question."""
        self._offer.update()

    def announce(self) -> None:
        """Show a proposal that is new, and at first the columns whose weights may be taken back."""
        found = self._offer.describe() or {"less": [], "more": [], "weighed": []}
        has_proposal = bool(found["less"] or found["more"])
        if self._is_first and found["weighed"]:
            self._say(_describe_weighed(found["weighed"]) + ("" if has_proposal else f" {TAKE_BACK}"))
        if self._is_first and found.get("task") and not has_proposal and self._offer.fit is None:
            self._say(f"The columns are those of a task: {found['task']}. {TAKE_TASK_BACK}")
        self._is_first = False
        if self._offer.is_new and self._offer.fit is not None:
            self._say(
                f"{describe_fit(self._offer.fit)} {COLUMNS_KEY} compares rows by"
                f" {join_names(self._offer.fit.names, MOST_NAMES)} instead."
            )
        if self._offer.is_new and has_proposal:
            offered = describe_proposal(found["less"], found["more"])
            self._say(f"{offered} {COLUMNS_KEY} applies these weights.")
        self._offer.is_new = False

    def press(self) -> None:
        """Apply the weights that are proposed, else take back all that were applied."""
        found, fit = self._offer.describe(), self._offer.fit
        if found is None:
            self._say("There is no proposal for columns.")
            return
        shown = [*found["less"], *found["more"]]
        try:
            if fit is not None:
                recoded = self._offer.follow_answers(fit.names)
            else:
                back = found["weighed"] or [found["task"]]
                recoded = self._offer.accept(shown) if shown else self._offer.restore(back)
        except (DataError, SessionError) as error:
            self._say(f"Nothing has changed. {error}")
            return
        self.project = recoded.project
        weighed = (self._offer.describe() or {}).get("weighed", [])
        done = _describe_weighed(weighed) if shown else "Columns have their earlier weights again."
        again = f" {TAKE_BACK}" if shown else ""
        if fit is None and not shown and found["task"]:
            done = "Rows are read as before the task."
        if fit is not None:
            again = f" {TAKE_TASK_BACK}"
            done = f"Rows are compared by {join_names(fit.names, MOST_NAMES)} from now on."
        copy = (
            ""
            if recoded.backup is None
            else f" All answers are replayed, and {recoded.backup.name} is a copy."
        )
        self._say(f"{done}{copy}{again}")
        if recoded.changed:
            self._say(recoded.changed)

    def _say(self, words: str) -> None:
        self._console.print(strip_controls(words), style="yellow", highlight=False, markup=False)


def _describe_weighed(columns: Sequence[str]) -> str:
    return f"Your answers weigh these columns: {join_names(columns, MOST_NAMES)}."
