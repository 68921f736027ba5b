"""From a message on its way to a resident to the attested event.

What is attested comes from arguments inside the server. Text only decides between kinds of one
sender (arrive or leave) and where the sender's own words begin; it never names a sender.
"""

from dataclasses import dataclass, field
from typing import Any

from evennia.utils.utils import make_iter

from . import words
from .context import cause
from .entities import entity, is_me, is_object, present, ref, same
from .words import name, plain

SENDERS = 10
AUDIENCE = 100
MENTIONS = 20
TYPE_CHARS = 40

SPEECH = {"say": "say", "whisper": "whisper", "pose": "pose", "page": "page", "tell": "page"}
MOVES = {"move", "traverse", "teleport"}
# Kinds that everyone in the room is party to.
ROOM_KINDS = {"say", "pose", "arrive", "leave", "move", "connect", "disconnect", "get", "drop"}


@dataclass
class Note:
    """What a hook knew in addition to the arguments of `msg()`."""

    kind: str | None = None
    own: str | None = None
    channel: Any = None
    senders: list[Any] | None = None
    audience: list[Any] = field(default_factory=list)
    thing: Any = None


@dataclass(frozen=True)
class Message:
    """A message as it leaves `msg()`: after all hooks of the game."""

    receiver: Any
    account: Any
    text: str
    type: str | None
    # Sent through the room's `msg_contents`, which always makes a tuple.
    broadcast: bool
    senders: list[Any]
    note: Note


def unpack(text: object) -> tuple[str, dict]:
    """`msg()` accepts a text or (text, ..., {kwargs}); the first text is what is shown."""
    if isinstance(text, tuple | list):
        kwargs = text[-1] if text and isinstance(text[-1], dict) else {}
        first = text[0] if text and not isinstance(text[0], dict) else ""
        return words.as_markup(first), kwargs
    return words.as_markup(text), {}


def senders_of(from_obj: Any, note: Note) -> list[Any]:
    if note.senders is not None:
        return note.senders
    return list(make_iter(from_obj)) if from_obj else []


def build(message: Message, act: str | None) -> dict:
    """The event, without number and time."""
    caused = cause()
    senders = _senders(message, caused)
    mine = bool(senders) and all(is_me(who, message.account) for who in senders)
    kind, own = _classify(message, senders, mine, caused)
    audience, more = _audience(message, kind, senders)
    mentions = _mentions(message, own, audience)
    me = entity(message.receiver)
    to_me = kind in ("whisper", "page") or any(is_me(who, message.account) or same(who, me) for who in mentions)
    room = message.receiver.location if is_object(message.receiver) else None
    return {
        "kind": kind,
        "type": name(message.type)[:TYPE_CHARS] if message.type is not None else None,
        "from": senders,
        "self": mine,
        "cause": caused,
        "act": act,
        "plain": plain(message.text),
        "own": own and plain(own),
        "cut": words.is_cut(message.text) or more,
        "room": ref(room),
        "audience": audience,
        "addressed": to_me and not mine,
        "mentions": mentions,
        "channel": ref(message.note.channel),
        "thing": ref(message.note.thing),
    }


def _senders(message: Message, caused: dict | None) -> list[dict]:
    known = (entity(sender) for sender in message.senders[:SENDERS])
    found = [who for who in known if who is not None]
    # Who quits has lost its account when the room gets the message; its input still runs.
    return [caused if caused is not None and same(who, caused) else who for who in found]


def _classify(message: Message, senders: list[dict], mine: bool, caused: dict | None) -> tuple[str | None, str | None]:
    """The kind, and the sender's own words."""
    if message.note.kind:
        return message.note.kind, message.note.own
    if message.type in SPEECH:
        kind = SPEECH[message.type]
        return kind, _own_words(message, kind, mine)
    if senders and not mine:
        return _of_another(message), None
    if not senders and caused is not None and not is_me(caused, message.account):
        return "emit", None
    return "system", None


def _own_words(message: Message, kind: str, mine: bool) -> str | None:
    """Cut by the game's own template around the name that the receiver was shown."""
    if len(message.senders) != 1 or not is_object(message.senders[0]):
        return None
    sender = message.senders[0]
    if kind == "pose":
        return words.posed(message.text, sender.name)
    return words.spoken(message.text, kind, _shown(message), mine)


def _of_another(message: Message) -> str | None:
    """What somebody did, by the type of moving or by the game's own text."""
    shown = _shown(message)
    if message.type is not None:
        known_move = "move" if message.type in MOVES else None
        return words.movement(message.text, shown) or known_move
    return words.presence(message.text, shown) or words.handling(plain(message.text), plain(shown))


def _shown(message: Message) -> str:
    """The sender's name as this receiver was shown it."""
    sender = message.senders[0]
    if not hasattr(sender, "get_display_name"):
        return ""
    return str(sender.get_display_name(message.receiver))


def _audience(message: Message, kind: str | None, senders: list[dict]) -> tuple[list[dict], bool]:
    """Who certainly was party to it: too few is safe, one too many is not."""
    found = list(senders)
    parties = list(message.note.audience)
    parties.append(message.receiver)
    if is_object(message.receiver) and (kind in ROOM_KINDS or (kind == "emit" and message.broadcast)):
        parties += present(message.receiver.location)
    for party in parties[: AUDIENCE * 2]:
        who = entity(party)
        if who is not None and not any(same(who, other) for other in found):
            found.append(who)
    return found[:AUDIENCE], len(found) > AUDIENCE


def _mentions(message: Message, own: str | None, audience: list[dict]) -> list[dict]:
    is_mentioned = words.mentioned(own and plain(own))
    return [who for who in audience if any(is_mentioned(key) for key in _names(who, message.account))][:MENTIONS]


def _names(who: dict, account: Any) -> set[str]:
    """A resident answers to its character's name and to its account's, in the room and on channels."""
    keys = {who["key"]}
    if is_me(who, account):
        keys.add(name(account.key))
        keys |= {who["object"]["key"]} if who["object"] else set()
    return keys
