"""Whose input is running, and which act of a resident.

Twisted copies the context into each inlineCallbacks, so both also hold for a command that waits for
a Deferred. They do not hold for what a command schedules for later.
"""

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from .entities import entity

OUTPUT_CHARS = 64_000


@dataclass
class RunningAct:
    """An act that runs now, and what the resident sees of it."""

    account_id: int
    key: str
    output: list[str] = field(default_factory=list)
    chars: int = 0
    output_cut: bool = False

    def see(self, text: str) -> None:
        room = OUTPUT_CHARS - self.chars
        if len(text) > room:
            self.output_cut = True
        if room > 0:
            self.output += text[:room].split("\n")
            self.chars += len(text)


_SESSION: ContextVar[Any] = ContextVar("dormouse_session", default=None)
_ACT: ContextVar[RunningAct | None] = ContextVar("dormouse_act", default=None)


@contextmanager
def running(session: Any, act: RunningAct | None = None):
    """While the input of a session is carried out. A forced command keeps the one who forces."""
    cause, current = _SESSION.set(session), _ACT.set(act)
    try:
        yield
    finally:
        _SESSION.reset(cause)
        _ACT.reset(current)


def cause() -> dict | None:
    """Whose input is running, as they are now."""
    session = _SESSION.get()
    if session is None or session.account is None:
        return None
    return entity(session.puppet or session.account, player=session.account)


def act_of(account_id: int) -> RunningAct | None:
    """The running act, if it is one of this resident's."""
    act = _ACT.get()
    return act if act and act.account_id == account_id else None
