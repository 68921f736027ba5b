"""Who may hear an act. It is checked when the act runs, because people come and go between a look and a word."""

from typing import Any

from .entities import entity, is_me, is_object, person, possibly_present
from .requests import BadRequest, Fields

PEOPLE = 256
PERSON_CHARS = 40
NAME_CHARS = 80
KINDS = ("object", "account")


def check(session: Any, only: Fields | None) -> bool:
    """Whether those who would hear an act now are those that the client named. Without names, everybody may."""
    if only is None:
        return True
    to = only.optional_fields("to")
    if to is not None:
        return _is_person(session, to)
    people = only.optional_texts("within", PEOPLE, PERSON_CHARS)
    return people is None or _are_among(session, set(people))


def _are_among(session: Any, people: set[str]) -> bool:
    me = session.puppet
    listening = [entity(thing) for thing in possibly_present(me.location if me else None)]
    return all(person(who) in people for who in listening if not is_me(who, session.account))


def _is_person(session: Any, to: Fields) -> bool:
    """Whether the game's own search finds this person alone under the name. The command searches in the same way."""
    kind, name, expected = to.text("kind", 10), to.text("name", NAME_CHARS, shortest=1), to.text("person", PERSON_CHARS)
    if kind not in KINDS:
        raise BadRequest(f"kind: expected one of {', '.join(KINDS)}")
    searching = session.puppet if kind == "object" else session.account
    found = searching.search(name, quiet=True) if searching else []
    if len(found) != 1 or is_object(found[0]) != (kind == "object"):
        return False
    return person(entity(found[0])) == expected
