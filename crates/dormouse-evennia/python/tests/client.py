"""A player's client for tests: Evennia's websocket, frames as they are."""

import html
import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from websockets.sync.client import connect

Frame = list[Any]


class Client:
    """One connection. Frames that were read while waiting for another one stay in `seen`."""

    def __init__(self, url: str) -> None:
        self._open = ExitStack()
        self.socket = self._open.enter_context(connect(url, max_size=None, compression=None))
        self.seen: list[Frame] = []

    def send(self, name: str, /, *args: Any, **kwargs: Any) -> None:
        self.socket.send(json.dumps([name, list(args), kwargs]))

    def raw(self, text: str) -> None:
        self.socket.send(text)

    def line(self, text: str, **kwargs: Any) -> None:
        self.send("text", text, **kwargs)

    def read(self, seconds: float) -> Frame | None:
        try:
            frame = json.loads(self.socket.recv(timeout=seconds))
        except TimeoutError:
            return None
        self.seen.append(frame)
        return frame

    def until(self, wanted: Callable[[Frame], bool], seconds: float = 60) -> Frame:
        """The first frame that is wanted, from now on."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            frame = self.read(left)
            if frame is not None and wanted(frame):
                return frame
        raise AssertionError(f"no such frame in {seconds} s; seen: {self.seen[-8:]}")

    def frame(self, name: str, /, **fields: Any) -> dict:
        """The object of the next frame of this name that has these fields."""

        def wanted(frame: Frame) -> bool:
            return frame[0] == name and all(frame[1][0].get(field) == value for field, value in fields.items())

        return self.until(wanted)[1][0]

    def text(self, part: str) -> Frame:
        return self.until(lambda frame: frame[0] == "text" and part in str(frame[1]))

    def fence(self) -> None:
        """Returns when the game has carried out all that this client sent before."""
        self.send("echo", mark := f"fence {time.monotonic_ns()}")
        self.until(lambda frame: frame[0] == "text" and mark in str(frame[1]))

    def login(self, name: str, password: str) -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            # After a restart the port answers before the Server does, and a login then is lost.
            self.send("login", name=name, password=password)
            try:
                self.until(lambda frame: frame[0] == "logged_in", seconds=3)
                return
            except AssertionError:
                continue
        raise AssertionError(f"{name} could not log in; seen: {self.seen[-4:]}")

    def close(self) -> None:
        """Closes with code 1000, so that the game logs this account out at once."""
        self._open.close()

    def drop(self) -> None:
        """Loses the connection without a close frame: the game keeps a ghost."""
        self.socket.socket.shutdown(socket.SHUT_RDWR)


class Resident(Client):
    """The client of a resident. It acknowledges only when asked to."""

    def hello(self, **position: Any) -> dict:
        self.send("dormouse_hello", {"v": 1, "life": None, "after": None, "after_at": None, "client": "tests", **position})
        return self.frame("dormouse_hello")

    def event(self, **fields: Any) -> dict:
        return self.frame("dormouse_event", **fields)

    def act(self, key: str, line: str, **fields: Any) -> dict:
        self.send("dormouse_act", {"key": key, "line": line, **fields})
        return self.frame("dormouse_done", key=key)

    def receipt(self, key: str) -> dict:
        self.send("dormouse_receipt", {"key": key})
        return self.frame("dormouse_done", key=key)

    def state(self) -> dict:
        self.send("dormouse_state", {"req": 1})
        return self.frame("dormouse_state", req=1)

    def ack_all(self) -> None:
        seqs = [frame[1][0]["seq"] for frame in self.seen if frame[0] == "dormouse_event"]
        if seqs:
            self.send("dormouse_ack", {"seq": max(seqs)})

    def events(self) -> list[dict]:
        """All events read so far, after a fence, so that none is under way."""
        self.fence()
        return [frame[1][0] for frame in self.seen if frame[0] == "dormouse_event"]

    def heard(self) -> list[dict]:
        """The same without who came into the game or left it."""
        return [event for event in self.events() if event["kind"] not in ("connect", "disconnect", "system")]


class Admin(Client):
    """The superuser. `py` runs code inside the Server."""

    def py(self, code: str) -> None:
        self.line(f"py {code}")
        self.fence()

    def value(self, expression: str) -> Any:
        """The value of an expression inside the Server, through JSON."""
        mark = f"value {time.monotonic_ns()} "
        self.line(f"py import json; self.msg({mark!r} + json.dumps({expression}))")
        frame = self.until(lambda frame: frame[0] == "text" and str(frame[1][0]).startswith(mark))
        return json.loads(html.unescape(frame[1][0].removeprefix(mark)))

    def rename(self, character: int, key: str) -> None:
        self.py(f"o = evennia.ObjectDB.objects.get(id={character}); o.key = {key!r}")


def new_key(name: str) -> str:
    """A key that no earlier run with this database used."""
    return f"{name}/{time.time_ns()}"


def new_name(word: str) -> str:
    """A name that nothing in a kept database has."""
    return f"{word}{time.time_ns()}"
