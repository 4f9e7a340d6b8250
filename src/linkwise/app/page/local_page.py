"""The page of a session in Python, served to a browser on this machine."""

from __future__ import annotations

import asyncio
import threading
import webbrowser
from contextlib import suppress
from numbers import Integral
from typing import Any

from numpy.typing import ArrayLike

try:
    from linkwise.app.page.auth import AccessControl
    from linkwise.app.page.hub import Hub
    from linkwise.app.page.server import open_socket, serve_hub
except ImportError as error:
    raise ImportError(
        f'The page needs {error.name}, which is not installed. Run pip install "linkwise[page]".'
    ) from None

from linkwise.app.page.presented_items import present_session
from linkwise.app.page.presenter import Presenter
from linkwise.errors import DataError, SessionError, short_repr
from linkwise.session.session import Session

HOST = "127.0.0.1"
LARGEST_PORT = 65_535


def serve(
    session: Session,
    *,
    items: Any = None,
    places: ArrayLike | None = None,
    title: str | None = None,
    port: int = 0,
    browser: bool = True,
) -> None:
    """Serve the page on which you answer, until Ctrl-C.

    Needs ``pip install "linkwise[page]"``. In a notebook use `linkwise.widget`. The address is printed; it
    works once, and on this machine only.

    Parameters
    ----------
    session : Session
        A session opened with its data. It stays open when the page ends, so you can read the answers then.
    items : table, list of str or Path, ndarray or linkwise.data.Items, optional
        The items to show, one for each row, as for `linkwise.widget`. By default the items of the session,
        else the columns of X.
    places : array-like of shape (n_rows, 2), optional
        Coordinates of the rows in the plot. By default the first two principal components of X.
    title : str, optional
        The title of the page. By default the name of the data file.
    port : int, default=0
        The port; 0 takes a free one.
    browser : bool, default=True
        Whether a browser is opened.

    Raises
    ------
    SessionError
        The session was opened without its data.
    DataError
        `items` or `places` do not fit the rows, or `port` is not a port number.
    OSError
        The port is taken.
    """
    if isinstance(port, bool) or not isinstance(port, Integral) or not 0 <= port <= LARGEST_PORT:
        raise DataError(
            f"port is {short_repr(port)}. Pass a whole number from 0 to {LARGEST_PORT}, where 0 takes a free"
            " port."
        )
    presenter = present_session(session, items, places=places, title=title)
    with open_socket(HOST, int(port)) as sock, suppress(KeyboardInterrupt):
        asyncio.run(_serve(presenter, sock, browser=browser))


async def _serve(presenter: Presenter, sock: Any, *, browser: bool) -> None:
    access = AccessControl(HOST, sock.getsockname()[1])
    address = access.new_address()
    print(address, flush=True)
    print("This address works once. Ctrl-C ends.", flush=True)
    if browser:  # some browsers hold up whoever opens them
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    hub = Hub("", tolerated=SessionError)
    try:
        await serve_hub(hub, access, sock, lambda: presenter, asyncio.Event())
    finally:
        hub.worker.end()
