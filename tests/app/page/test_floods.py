"""Many pages of one person that send without end and read nothing: others wait for none of it."""

from __future__ import annotations

import asyncio
import json
import socket
from types import SimpleNamespace

import pytest

from linkwise.app.page import server
from linkwise.app.page.hub import MOST_GATHERED, MOST_REQUESTS, Hub, Update
from linkwise.app.page.requests import Reply
from linkwise.app.page.server import MOST_CLIENTS, MOST_OF_PERSON, MOST_UNSENT, has_place
from linkwise.app.page.socket_client import SocketClient
from linkwise.app.page.turns import Turns
from patience import patience, wait_until

N_SOCKETS = 48


def take_all(turns):
    return [turns.get_nowait() for _ in range(turns.qsize())]


@pytest.mark.parametrize("machines", [("", ""), ("10.0.0.1", "10.0.0.2")])
def test_people_take_turns_and_so_do_their_pages(machines):
    people = ("", "") if machines[0] else ("anna", "ben")
    flood = [SocketClient(people[0], machines[0]) for _ in range(N_SOCKETS)]
    ben, turns = SocketClient(people[1], machines[1]), Turns()
    for client in flood:
        for number in range(MOST_REQUESTS):
            turns.put_nowait((client, number))
    for number in range(3):
        turns.put_nowait((ben, number))
    taken = take_all(turns)
    assert [at for at, (client, _) in enumerate(taken) if client is ben] == [1, 3, 5]
    assert {client for client, number in taken[: N_SOCKETS + 3] if client is not ben} == {*flood}
    for client in (flood[7], ben):
        numbers = [number for who, number in taken if who is client]
        assert numbers == sorted(numbers)
    assert len(taken) == N_SOCKETS * MOST_REQUESTS + 3
    assert turns.empty()


class Recorder:
    """A presenter that counts what it does."""

    def __init__(self):
        self.done = []

    def handle(self, request, person):
        self.done.append(person)
        return Reply({"re": request["id"], "ok": True}, changed=True)

    def state(self, people):
        self.done.append("state")
        return {"labels": 0, "event": len(self.done), "two_bytes": False}

    def labels(self):
        return 0, b""

    def look_ahead(self, stop):
        pass


def test_one_person_who_floods_puts_off_neither_the_answer_nor_the_next_question_of_another():
    presenter = Recorder()

    async def run():
        hub = Hub("reading")
        hub.start(presenter, (presenter.state(()), (0, b"")), b"")
        presenter.done.clear()
        flood = [SocketClient("anna") for _ in range(N_SOCKETS)]
        ben = SocketClient("ben")
        for client in flood:
            for number in range(MOST_REQUESTS):
                hub.ask(client, {"id": str(number), "do": "answer"})
        hub.ask(ben, {"id": "b", "do": "answer"})
        work = asyncio.create_task(hub.work())
        async with asyncio.timeout(patience()):
            while presenter.done.count("anna") < N_SOCKETS * MOST_REQUESTS:
                await asyncio.sleep(0.001)
        work.cancel()
        hub.worker.end()

    asyncio.run(run())
    assert presenter.done.index("ben") == 1
    assert presenter.done.index("state") <= MOST_GATHERED


def test_places_are_shared_among_people():
    def hub_of(*people):
        return SimpleNamespace(clients=[SocketClient(person) for person in people])

    assert has_place(hub_of(*["anna"] * (MOST_OF_PERSON - 1)), "anna")
    assert not has_place(hub_of(*["anna"] * MOST_OF_PERSON), "anna")
    full = hub_of(*(f"{n}" for n in range(MOST_CLIENTS)))
    assert has_place(full, "anna")
    assert not has_place(full, "0")
    assert has_place(hub_of(*[""] * (MOST_CLIENTS - 1)), "")
    assert not has_place(hub_of(*[""] * MOST_CLIENTS), "")


def test_a_client_that_takes_no_reply_is_let_go():
    received = []

    class Endless:
        async def receive(self):
            received.append(1)
            return {"type": "websocket.receive", "text": json.dumps({"id": "1", "do": "why"})}

    client = SocketClient()
    asyncio.run(server._listen(Hub("reading"), client, Endless()))
    assert len(received) == client.n_unsent == MOST_UNSENT + 1


def test_listening_to_one_client_lets_others_have_their_turn():
    order = []

    async def listen(name):
        class Web:
            n_left = 20

            async def receive(self):
                order.append(name)
                self.n_left -= 1
                return {"type": "websocket.receive" if self.n_left else "websocket.disconnect", "text": ""}

        await server._listen(Hub("reading"), SocketClient(), Web())

    async def run():
        await asyncio.gather(listen("a"), listen("b"))

    asyncio.run(run())
    assert order == ["a", "b"] * 20


def test_a_connection_that_takes_nothing_ends(pages, monkeypatch):
    page = pages()
    monkeypatch.setattr("linkwise.app.page.socket_client.SEND_S", 0.05)
    monkeypatch.setattr(server, "SHUTDOWN_S", 0)
    head = (
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nOrigin: {page.origin}\r\nCookie: {page.cookie}"
    )
    head += "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
    head += "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    much = bytes(30_000_000)
    with socket.create_connection(("127.0.0.1", page.port), timeout=patience()) as raw:
        raw.sendall(head.encode())
        wait_until(lambda: page.hub.clients)
        (client,) = page.hub.clients
        page._loop.call_soon_threadsafe(
            client.show, Update({"protocol": 1, "loading": "", "two_bytes": False}, places=much)
        )
        wait_until(lambda: not page.hub.clients)
        wait_until(lambda: not any("run_asgi" in repr(task) for task in asyncio.all_tasks(page._loop)))
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01), page._loop).result(patience())
        n_read = 0
        try:
            while part := raw.recv(1 << 20):
                n_read += len(part)
        except ConnectionError:
            pass
    assert n_read < len(much)
