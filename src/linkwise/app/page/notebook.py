"""The page in a notebook: the same module, hosted by anywidget.

The hub runs on a thread of its own, so that the notebook stays responsive. What it sends goes through the
event loop on which the widget was created, because that loop speaks to the browser.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError(
        f'The widget needs {error.name}, which is not installed. Run pip install "linkwise[notebook]".'
    ) from None

from linkwise.app.page.hub import Hub, News, Update, read_news
from linkwise.app.page.presented_items import present_session
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.requests import Reply
from linkwise.errors import SessionError
from linkwise.session.session import Session

STATIC = Path(__file__).with_name("static")


def widget(
    session: Any, *, items: Any = None, places: ArrayLike | None = None, title: str | None = None
) -> Page:
    """Return the page on which you answer questions, as a widget for Jupyter, marimo, VS Code and Colab.

    Needs ``pip install "linkwise[notebook]"``.

    Parameters
    ----------
    session : Session, DataFrame, Rows or array-like
        A session opened with its data. Other cells may read it and answer, too. It stays open when the widget
        closes. Of data, ``Session(data)`` is begun, which is then the `session` of the widget.
    items : table, list of str or Path, ndarray or linkwise.data.Items, optional
        The items to show, one for each row: a table (of pandas, polars or `linkwise.data.read_table`), texts,
        paths of pictures, pictures of shape (n_rows, height, width) or (n_rows, height, width, 3), or of any
        sizes in a list, or curves of shape (n_rows, n_samples). By default the items of the
        session, else the columns of X.
    places : array-like of shape (n_rows, 2), optional
        Coordinates of the rows in the plot. By default the first two principal components of X.
    title : str, optional
        The title of the page. By default the name of the data file.

    Returns
    -------
    anywidget.AnyWidget
        Displayed when it is the last line of a cell.

    Raises
    ------
    SessionError
        If the session was opened without its data.
    DataError
        If `items` or `places` do not fit the rows.

    Examples
    --------
    >>> import linkwise as lw
    >>> session = lw.Session([[0.0], [0.1], [5.0], [5.1]], lw.COBRAS(random_state=0))
    >>> page = lw.widget(session, items=["a pea", "a bean", "a pumpkin", "a melon"])
    >>> page.state["question"]["first"]["text"]
    'a pea'
    >>> page.close()
    """
    if not isinstance(session, Session):
        session = Session(session)
    return Page(present_session(session, items, places=places, title=title))


class Page(anywidget.AnyWidget):
    """The widget that `linkwise.widget` returns: a client of a hub that runs on a thread of its own."""

    _esm = STATIC / "widget.js"
    _css = STATIC / "style.css"
    state = traitlets.Dict().tag(sync=True)
    labels = traitlets.Bytes().tag(sync=True)
    places = traitlets.Bytes().tag(sync=True)

    def __init__(self, presenter: Presenter) -> None:
        news, places = read_news(presenter), presenter.places()
        super().__init__(state=news[0], labels=news[1][1], places=places)
        self.n_open = 0
        self.person = self.owner = ""
        self.is_sending = False  # traits are set at once
        self._presenter = presenter
        self._hub = Hub("", tolerated=SessionError)  # closed in another cell, or held by another program
        self._hub.presenter = presenter  # a request may come before the thread of the hub runs
        self._has_ended = threading.Event()
        self._notebook_loop = _running_loop()
        self._hub_loop, self._stop = asyncio.new_event_loop(), asyncio.Event()
        self.on_msg(self._receive)
        work = functools.partial(self._run, news, places)
        threading.Thread(target=work, name="linkwise widget", daemon=True).start()

    @property
    def session(self) -> Session:
        """The session that the page is about."""
        return self._presenter.session

    def close(self) -> None:
        """Take the page away; the session stays open."""
        self._has_ended.set()
        with suppress(RuntimeError):  # it was closed before
            self._hub_loop.call_soon_threadsafe(self._stop.set)
        super().close()

    # ------------------------------------------------------------ on the thread of the hub
    def _run(self, news: News, places: bytes) -> None:
        with asyncio.Runner(loop_factory=lambda: self._hub_loop) as runner:
            runner.run(self._work(news, places))

    async def _work(self, news: News, places: bytes) -> None:
        self._hub.clients.add(self)  # it shows the news already
        self._hub.start(self._presenter, news, places)
        work = asyncio.create_task(self._hub.work())
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait([work, stop], return_when=asyncio.FIRST_COMPLETED)
        for task in (work, stop):
            task.cancel()
        self._hub.worker.end()
        with suppress(asyncio.CancelledError):
            await work

    def show(self, update: Update) -> None:
        """Show an update, all of it in one message."""
        traits = {"labels": update.labels, "places": update.places, "state": update.state}
        self._call_soon(lambda: self._set_traits({k: v for k, v in traits.items() if v is not None}))

    def reply(self, reply: Reply) -> None:
        """Send a reply, after all updates before it."""
        buffers = None if reply.file is None else [reply.file]
        self._call_soon(lambda: self.send(reply.body, buffers=buffers))

    def _call_soon(self, function: Callable[[], object]) -> None:
        """Call on the loop that speaks to the browser; here where there is none."""
        if self._has_ended.is_set():
            return
        loop = self._notebook_loop
        if loop is None or loop.is_closed():
            function()
        else:
            loop.call_soon_threadsafe(function)

    # ------------------------------------------------------------ on the loop of the notebook
    def _receive(self, _: Any, request: Any, buffers: Any) -> None:
        with suppress(RuntimeError):  # closed meanwhile
            self._hub_loop.call_soon_threadsafe(self._hub.ask, self, request)

    def _set_traits(self, traits: dict[str, Any]) -> None:
        with self.hold_sync():
            for name, value in traits.items():
                setattr(self, name, value)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
