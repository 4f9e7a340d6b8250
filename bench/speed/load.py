"""Many clients answer the questions of one served session at the same time.

The server, its sockets and the session file are the real ones. Each client is one of the annotators. It opens
the page by its address, and sends its next answer as soon as the page shows its next question, or `--think`
seconds later. All clients run in a process of their own. `reply`: from sending an answer until the
server confirms that it is stored. `next`: until the client has its next question. A refused answer was not
stored: the question had been settled by another answer meanwhile.

    python -m bench run load
    python -m bench run load --learners KIN --clients 4 --answers 50 --think 1

The session assumes an error rate of 0 by default, and the clients answer by the known classes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from http.client import HTTPConnection
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from bench.harness import add_common_options, format_table, out_folder
from bench.results import write_csv
from bench.served import Served
from websockets.asyncio.client import ClientConnection, connect

from linkwise.app.page.cards import view_numbers
from linkwise.app.page.presenter import Presenter
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session

LEARNERS = {"COBRAS": COBRAS, "KIN": KIN}
CLIENTS, ANSWERS, ROWS, CLASSES = 16, 500, 10_000, 200
AIM_MS = 50.0
FIELDS = (
    "learner", "rows", "clients", "answers", "think_s", "stored", "twice", "lost", "refused",
    "reply_ms", "reply_99_ms", "next_ms", "next_99_ms", "answers_per_s",
)  # fmt: skip


class Sent(NamedTuple):
    """What one client did.

    Attributes
    ----------
    pairs : list of (int, int)
        The pairs whose answers were confirmed.
    replies, nexts : list of float
        Seconds until each confirmation, and until each next question.
    n_refused : int
        Answers that were not stored, by the reply.
    """

    pairs: list[tuple[int, int]]
    replies: list[float]
    nexts: list[float]
    n_refused: int


# ---------------------------------------------------------------- clients
class Client:
    """One page without a browser.

    Parameters
    ----------
    socket : ClientConnection
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._n_asked = 0
        self._state: dict[str, Any] = {}

    async def _hear(self) -> dict[str, Any] | None:
        """Take one frame; return it if it is a reply."""
        frame = await self._socket.recv()
        if not isinstance(frame, str):  # labels and places
            return None
        content: dict[str, Any] = json.loads(frame)
        if "state" not in content:
            return content
        self._state = content["state"]
        return None

    async def wait_for_question(self, answered: set[str]) -> dict[str, Any] | None:
        """The next question that was not answered; None when there is none any more."""
        while True:
            question: dict[str, Any] | None = self._state.get("question")
            if question is not None and question["id"] not in answered:
                return question
            if self._state.get("ended") not in (None, "waiting"):
                return None
            await self._hear()

    async def answer(self, question: str, answer: str) -> bool:
        """Send an answer; return whether it was confirmed."""
        self._n_asked += 1
        name = f"c{self._n_asked}"
        await self._socket.send(
            json.dumps({"id": name, "do": "answer", "question": question, "answer": answer})
        )
        while True:
            reply = await self._hear()
            if reply is not None and reply["re"] == name:
                return bool(reply["ok"])


def run_clients(addresses: Sequence[str], classes: Sequence[int], n_answers: int, think: float) -> list[Sent]:
    """Let all clients answer at the same time."""

    async def run() -> list[Sent]:
        return await asyncio.gather(*(_run_client(each, classes, n_answers, think) for each in addresses))

    return asyncio.run(run())


def wait_for_first_question(address: str) -> bool:
    """Open a page; return, once it knows, whether there is a question."""

    async def run() -> bool:
        async with _connect(address) as socket:
            return await Client(socket).wait_for_question(set()) is not None

    return asyncio.run(run())


async def _run_client(address: str, classes: Sequence[int], n_answers: int, think: float) -> Sent:
    sent, answered = Sent([], [], [], 0), set()
    clock = time.perf_counter
    n_refused = 0
    async with _connect(address) as socket:
        client = Client(socket)
        question = await client.wait_for_question(answered)
        while question is not None and len(sent.pairs) < n_answers:
            pair = question["first"]["row"], question["second"]["row"]
            await asyncio.sleep(think)
            begun = clock()
            is_stored = await client.answer(
                question["id"], "yes" if classes[pair[0]] == classes[pair[1]] else "no"
            )
            answered.add(question["id"])
            if is_stored:
                sent.pairs.append(pair)
                sent.replies.append(clock() - begun)
            else:
                n_refused += 1
            question = await client.wait_for_question(answered)
            if is_stored and question is not None:
                sent.nexts.append(clock() - begun)
    return sent._replace(n_refused=n_refused)


def _connect(address: str) -> connect:
    """Open the page by its address, and its socket as a browser does."""
    parts = urlsplit(address)
    page = HTTPConnection(parts.netloc)
    page.request("GET", f"{parts.path or '/'}?{parts.query}")
    cookie = (page.getresponse().getheader("Set-Cookie") or "").partition(";")[0]
    page.close()
    headers = {"Origin": f"http://{parts.netloc}", "Cookie": cookie}
    return connect(
        f"ws://{parts.netloc}/ws",
        additional_headers=headers,
        max_size=None,
        compression=None,
        proxy=None,
        open_timeout=None,
        ping_timeout=None,
    )


# ---------------------------------------------------------------- one measurement
def measure(
    learner: str, n_rows: int, n_clients: int, n_answers: int, think: float, error_rate: float | None
) -> dict[str, Any]:
    """Serve a session, let the clients answer, and compare what they sent with what the file holds."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, n_rows)
    X = rng.uniform(0, 1, (CLASSES, 10))[y] + rng.normal(0, 0.1, (n_rows, 10))
    people = tuple(f"client-{number}" for number in range(1, n_clients + 1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "load.linkwise"

        def begin() -> Presenter:
            session = Session.open(path, X, LEARNERS[learner](random_state=0), error_rate=error_rate)
            return Presenter(session, X, view_numbers(X, [f"x{j}" for j in range(10)]), title="load")

        server = Served(begin, people=people)
        try:
            server.wait()
            addresses = list(server.addresses().values())
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                begun = time.perf_counter()
                sent = pool.submit(run_clients, addresses, y.tolist(), n_answers, think).result()
                seconds = time.perf_counter() - begun
        finally:
            server.close()
        with Session.open(path) as session:
            stored = {
                person: [(e.first, e.second) for e in session.history if e.source == person]
                for person in people
            }
    return {
        "learner": learner, "rows": n_rows, "clients": n_clients, "answers": n_answers,
        "think_s": f"{think:g}",
        **count_stored(dict(zip(people, sent, strict=True)), stored),
        **describe_times(sent, seconds),
    }  # fmt: skip


def count_stored(
    sent: Mapping[str, Sent], stored: Mapping[str, Sequence[tuple[int | None, int | None]]]
) -> dict[str, int]:
    """Compare the confirmed answers of each client with those in the file."""
    n_twice = n_lost = 0
    for person, one in sent.items():
        confirmed, kept = ([frozenset(pair) for pair in pairs] for pairs in (one.pairs, stored[person]))
        n_lost += sum(pair not in kept for pair in confirmed)
        n_twice += max(0, len(kept) - len(confirmed))
    return {
        "stored": sum(map(len, stored.values())),
        "twice": n_twice,
        "lost": n_lost,
        "refused": sum(one.n_refused for one in sent.values()),
    }


def describe_times(sent: Sequence[Sent], seconds: float) -> dict[str, str]:
    """The median and the 99th percentile of all clients, in milliseconds."""
    found = {}
    for name, times in (
        ("reply", [each for one in sent for each in one.replies]),
        ("next", [each for one in sent for each in one.nexts]),
    ):
        middle, late = np.percentile(times, [50, 99]) * 1000 if times else (np.nan, np.nan)
        found |= {f"{name}_ms": f"{middle:.0f}", f"{name}_99_ms": f"{late:.0f}"}
    return {**found, "answers_per_s": f"{sum(len(one.pairs) for one in sent) / seconds:.1f}"}


def read_rate(text: str) -> float | None:
    """A share of wrong answers, or None for the word that estimates it."""
    return None if text == "estimate" else float(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each learner, and write the table; 1 if an answer is lost or counted twice."""
    parser = argparse.ArgumentParser(
        prog="python -m bench run load",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--learners", nargs="+", default=["COBRAS"], choices=LEARNERS)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--answers", type=int, default=ANSWERS, help="of each client")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--think", type=float, nargs="+", default=[0.0], help="seconds before each answer")
    parser.add_argument("--error-rate", type=read_rate, default=0.0, help="a share, or estimate")
    add_common_options(parser)
    options = parser.parse_args(arguments)
    work = partial(measure, n_rows=options.rows, n_clients=options.clients, n_answers=options.answers)
    rows = [
        work(learner, think=think, error_rate=options.error_rate)
        for learner in options.learners
        for think in options.think
    ]
    lines = [tuple(str(row[field]) for field in FIELDS) for row in rows]
    write_csv(out_folder(options, "load") / "load.csv", FIELDS, lines)
    print(format_table(FIELDS, lines))
    print(f"The aim is a median reply of {AIM_MS:.0f} ms or less.")
    return int(any(row["lost"] or row["twice"] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
