"""Checks of what a client sends: who sends it, and each field."""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from django.conf import settings

from . import PROTOCOL
from .delivery import has_greeted, send
from .entities import is_resident

KEY_CHARS = 200
MAX_NUMBER = 2**53 - 1


class BadRequest(Exception):
    """A request that is answered with `dormouse_error`."""

    def __init__(self, error: str, code: str = "bad_request", about: str | None = None) -> None:
        super().__init__(error)
        self.code = code
        self.about = about


class Fields:
    """The one object of a frame, with each field checked when it is read."""

    def __init__(self, args: tuple) -> None:
        if len(args) != 1 or not isinstance(args[0], dict):
            raise BadRequest("expected exactly one object as argument")
        self._fields = args[0]

    def text(self, field: str, longest: int, shortest: int = 0) -> str:
        value = self._fields.get(field)
        if not isinstance(value, str) or not shortest <= len(value) <= longest:
            raise BadRequest(f"{field}: expected a string of {shortest} to {longest} characters")
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise BadRequest(f"{field}: is not valid Unicode")
        return value

    def optional_fields(self, field: str) -> "Fields | None":
        value = self._fields.get(field)
        if value is not None and not isinstance(value, dict):
            raise BadRequest(f"{field}: expected an object")
        return None if value is None else Fields((value,))

    def optional_texts(self, field: str, most: int, longest: int) -> list[str] | None:
        value = self._fields.get(field)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > most or not all(isinstance(one, str) and len(one) <= longest for one in value):
            raise BadRequest(f"{field}: expected at most {most} strings of at most {longest} characters")
        return value

    def optional_text(self, field: str, longest: int) -> str | None:
        return None if self._fields.get(field) is None else self.text(field, longest)

    def number(self, field: str) -> int:
        value = self._fields.get(field)
        # A bool is an int in Python.
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
            raise BadRequest(f"{field}: expected a whole number from 0 to 2^53 - 1")
        return value

    def optional_number(self, field: str) -> int | None:
        return None if self._fields.get(field) is None else self.number(field)

    def optional_time(self, field: str) -> float | None:
        value = self._fields.get(field)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
            raise BadRequest(f"{field}: expected Unix seconds")
        return float(value)

    def flag(self, field: str) -> bool:
        value = self._fields.get(field)
        if not isinstance(value, bool):
            raise BadRequest(f"{field}: expected true or false")
        return value


def refusal(session: Any, greeted: bool) -> tuple[str, str] | None:
    """Why this session may not ask: code and sentence. None: it may."""
    if not session.logged_in or session.account is None:
        return "not_logged_in", "log in first"
    if not is_resident(session.account):
        return "not_resident", "this account is not a resident; staff can make it one with airesident"
    if greeted and not has_greeted(session):
        return "hello_first", "send dormouse_hello first"
    return None


def refuse(session: Any, code: str, error: str, about: str | None) -> None:
    payload = {"code": code, "error": error, "about": about}
    if code == "version":
        payload["v"] = PROTOCOL
    send(session, "dormouse_error", payload)


@lru_cache(maxsize=2)
def of_game(name: str) -> Callable:
    """The inputfunc of this name that the game would use without this package: the last one before it."""
    found = None
    for path in settings.INPUT_FUNC_MODULES:
        if path == f"{__package__}.inputfuncs":
            continue
        module = import_module(path)
        found = getattr(module, name, found)
    if found is None:
        raise LookupError(f"INPUT_FUNC_MODULES names no module with the inputfunc {name}")
    return found
