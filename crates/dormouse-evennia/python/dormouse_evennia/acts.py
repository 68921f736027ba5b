"""What the client of a resident may ask: hello, acknowledge, act, receipt, state."""

from typing import Any

import evennia
from django.conf import settings
from django.db import DatabaseError
from evennia.commands.cmdhandler import cmdhandler
from evennia.utils import logger

from . import PROTOCOL, SESSION_FLAG, __version__, hearers, store
from .context import RunningAct, running
from .delivery import has_greeted, send
from .entities import entity, is_character, is_me, may_hear, ref
from .requests import KEY_CHARS, BadRequest, Fields, refuse
from .typeclasses import ResidentCharacterMixin
from .words import name, plain

LINE_CHARS = 16_000
LISTED = 200
ALIASES = 10

# Acts that run now. Of those that are begun and not here, the game went down in the middle.
_RUNNING: set[tuple[int, str]] = set()
# Acts that others have seen and whose receipts the database did not keep.
_UNWRITTEN: set[tuple[int, str]] = set()


def hello(session: Any, fields: Fields) -> None:
    version = fields.number("v")
    if version != PROTOCOL:
        raise BadRequest(f"v is {version}; this game speaks version {PROTOCOL}", code="version")
    life = fields.optional_text("life", 64)
    after, after_at = fields.optional_number("after"), fields.optional_time("after_at")
    fields.optional_text("client", 80)
    account = session.account
    _take_over(session)
    resumed = store.resume(account.id, life, after, after_at)
    feed = store.feed(account.id)
    answer = {
        "v": PROTOCOL,
        "package": __version__,
        "evennia": str(evennia.__version__).split(" ")[0],
        "game": name(settings.SERVERNAME),
        "you": entity(session.puppet or account),
        "room": ref(session.puppet.location) if session.puppet else None,
        "life": feed.life,
        "seq": feed.seq,
        "restored": resumed.restored,
        "lost": resumed.lost,
        "problems": _problems(session),
    }
    send(session, "dormouse_hello", answer)
    for entry in store.kept(account.id, resumed.after):
        send(session, "dormouse_event", entry)


def _take_over(session: Any) -> None:
    """One session at a time is the resident's; a ghost loses it to the session that is alive."""
    for other in session.account.sessions.all():
        if other.sessid != session.sessid and has_greeted(other):
            other.update_flags(**{SESSION_FLAG: 0})
            refuse(other, "taken_over", "another session of this account said hello", about=None)
    session.update_flags(**{SESSION_FLAG: session.sessid})


def _problems(session: Any) -> list[str]:
    """What an operator should know; each sentence says what to do."""
    account, puppet = session.account, session.puppet
    found = []
    if puppet is None:
        found.append("no character is in the game: nothing in a room is heard; send ic")
    elif not isinstance(puppet, ResidentCharacterMixin):
        found.append(f"{name(puppet.key)} is not a resident's character, nothing it hears is attested: type airesident {name(account.key)} in the game")
    if account.is_superuser:
        found.append("the account is a superuser: every lock is open to it; give it an account of its own")
    else:
        staff = [perm for perm in ("Developer", "Admin", "Builder") if account.check_permstring(perm)]
        if staff:
            found.append(f"the account has the permission {staff[0]}: it can change the game; take it away if it needs none")
    return found


def acknowledge(session: Any, fields: Fields) -> None:
    store.acknowledge(session.account.id, fields.number("seq"))


def act(session: Any, fields: Fields) -> None:
    key = fields.text("key", KEY_CHARS, shortest=1)
    line = fields.text("line", LINE_CHARS, shortest=1)
    account_id = session.account.id
    # What was done stays done, whoever is there when its receipt is asked for.
    if not hearers.check(session, fields.optional_fields("only")) and store.receipt(account_id, key) is None:
        raise BadRequest("others than those named would hear it now; nothing was done", code="changed", about=key)
    begun = False
    try:
        with store.at_once():
            begun = (account_id, key) not in _UNWRITTEN and store.begin(account_id, key)
            if begun:
                _run(session, RunningAct(account_id, key), line)
            else:
                _send_receipt(session, account_id, key)
        lost = begun and store.receipt(account_id, key) is None
    except store.ReceiptsFull:
        days = int(store.RECEIPT_SECONDS // 86_400)
        error = f"{store.RECEIPTS} receipts are younger than {days} days; no act is accepted until one is older"
        raise BadRequest(error, code="full", about=key) from None
    except DatabaseError:
        lost = begun
        logger.log_trace(f"dormouse_evennia: act {key} could not be written")
    if lost:
        _UNWRITTEN.add((account_id, key))


def _run(session: Any, current: RunningAct, line: str) -> None:
    """Carries the line out as if it was typed, and writes the end when the command's Deferred fires."""
    account = session.account
    before = _belongings(session)
    _RUNNING.add((current.account_id, current.key))

    def ended(failure: Any) -> None:
        _RUNNING.discard((current.account_id, current.key))
        broke = failure is not None
        result = {
            "output": current.output,
            "output_cut": current.output_cut,
            "changed": _belongings(session) != before,
            "error": name(failure) if broke else None,
        }
        store.finish(account.id, current.key, "failed" if broke else "done", result)
        _send_receipt(session, account.id, current.key)

    try:
        with running(session, current):
            nicked = _replace_nicks(session, line)
            deferred = cmdhandler(session, nicked, callertype="session", session=session)
    except Exception as error:
        logger.log_trace(f"dormouse_evennia: act {current.key} broke")
        ended(f"{type(error).__name__}: {error}")
        return
    session.update_session_counters()
    deferred.addCallbacks(lambda _: ended(None), lambda failure: ended(failure.getErrorMessage()))
    deferred.addErrback(lambda failure: logger.log_err(f"dormouse_evennia: {failure.getTraceback()}"))


def _replace_nicks(session: Any, line: str) -> str:
    """Channel names are nicks in Evennia: without this, `public hello` would not be a command."""
    played = session.puppet or session.account
    return played.nicks.nickreplace(line, categories=("inputline",), include_account=played is session.puppet)


def _belongings(session: Any) -> tuple | None:
    puppet = session.puppet
    if puppet is None:
        return None
    location = puppet.location
    return (puppet.id, location.id if location else None, tuple(sorted(thing.id for thing in puppet.contents)))


def receipt(session: Any, fields: Fields) -> None:
    _send_receipt(session, session.account.id, fields.text("key", KEY_CHARS, shortest=1))


def _send_receipt(session: Any, account_id: int, key: str) -> None:
    never = {"state": "begun" if (account_id, key) in _UNWRITTEN else "never"}
    known = store.receipt(account_id, key) or never
    answer = {
        "key": key,
        "state": known["state"],
        "running": (account_id, key) in _RUNNING,
        "output": known.get("output", []),
        "output_cut": known.get("output_cut", False),
        "changed": known.get("changed", False),
        "error": known.get("error"),
    }
    send(session, "dormouse_done", answer)


def state(session: Any, fields: Fields) -> None:
    me = session.puppet
    room = me.location if me else None
    seen = _visible(me, [thing for thing in room.contents if thing is not me]) if room else []
    people = [thing for thing in seen if is_character(thing) or thing.has_account]
    exits = [thing for thing in seen if thing.destination]
    rest = [thing for thing in seen if thing not in people and thing not in exits]
    carried = list(me.contents) if me else []
    answer = {
        "req": fields.number("req"),
        "you": entity(me or session.account),
        "room": room and {**ref(room), "desc": plain(_description(room, me))},
        "people": [_somebody(thing, session.account) for thing in people[:LISTED]],
        "things": [_thing(thing) for thing in rest[:LISTED]],
        "exits": [_exit(thing) for thing in exits[:LISTED]],
        "carried": [_thing(thing) for thing in carried[:LISTED]],
        "cut": max(len(people), len(rest), len(exits), len(carried)) > LISTED,
        "unseen": _has_unseen_listeners(me, people),
    }
    send(session, "dormouse_state", answer)


def _somebody(thing: Any, account: Any) -> dict:
    who = entity(thing)
    # Another character of the resident itself is no stranger.
    return {**who, "hears": may_hear(thing) and not is_me(who, account)}


def _has_unseen_listeners(me: Any, people: list[Any]) -> bool:
    """Whether somebody may hear what is said here who is not among those people. The resident learns no more than that."""
    room = me.location if me else None
    return bool(room) and any(may_hear(thing) and thing is not me and thing not in people for thing in room.contents)


def _visible(me: Any, things: list[Any]) -> list[Any]:
    """By the game's own rule, so that nothing is reported that `look` would hide."""
    return list(me.location.filter_visible(things, me))


def _description(room: Any, me: Any) -> str:
    described = room.get_display_desc(me) if hasattr(room, "get_display_desc") else room.db.desc
    return described if isinstance(described, str) else ""


def _thing(thing: Any) -> dict:
    return {**ref(thing), "kind": "object", "resident": False}


def _exit(thing: Any) -> dict:
    aliases = [name(alias) for alias in thing.aliases.all()[:ALIASES]]
    return {**ref(thing), "aliases": aliases, "to": ref(thing.destination)}
