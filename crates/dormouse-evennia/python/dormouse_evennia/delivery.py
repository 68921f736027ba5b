"""The receiver's end: what a resident hears goes to its feed instead of to its text."""

from collections.abc import Callable
from typing import Any

from evennia.utils import logger
from evennia.utils.utils import make_iter

from . import SESSION_FLAG, store
from .context import OUTPUT_CHARS, act_of
from .entities import entity, is_resident, ref
from .events import Message, Note, build, senders_of, unpack
from .words import plain

# Text of the game may hold `$function()` calls; what we send is data, and stays as it is.
_DATA = {"raw": True}


def send(session: Any, frame: str, payload: dict) -> None:
    """One object as the only positional argument: kwargs named like parameters break the Portal."""
    session.data_out(**{frame: ((payload,), {}), "options": dict(_DATA)})


def has_greeted(session: Any) -> bool:
    """Whether this session said hello. `option/save` copies flags to later sessions, but not their number."""
    return session.protocol_flags.get(SESSION_FLAG) == session.sessid


def bridge_session(account: Any) -> Any:
    """The session that said hello, if the account is still a resident."""
    if not is_resident(account):
        return None
    flagged = [s for s in account.sessions.all() if has_greeted(s)]
    return flagged[-1] if flagged else None


def notify(account: Any, frame: str, payload: dict) -> None:
    """A notice to the client, if there is one."""
    session = bridge_session(account)
    if session is not None:
        send(session, frame, payload)


def notify_you(account: Any, played: Any) -> None:
    location = played.location if played is not None else None
    you = entity(played or account)
    if played is None:
        # The session lets go of its character only after this.
        you["object"] = None
    notify(account, "dormouse_you", {"you": you, "room": ref(location)})


class FeedSession:
    """Stands for the client among the sessions that `msg()` sends to.

    It is handed to the game's own `msg()`, so that all hooks run once, and nothing is recorded that
    the game's `at_msg_receive` kept back. It is there also while no client is connected.
    """

    sessid = 0
    protocol_key = "dormouse"

    def __init__(self, account: Any, puppet: Any, record: Callable[[object], None], bridge: Any) -> None:
        self.account = account
        self.puppet = puppet
        self.logged_in = True
        self.protocol_flags: dict = {}
        self._record = record
        self._bridge = bridge

    def data_out(self, **kwargs: Any) -> None:
        text = kwargs.pop("text", None)
        # Prompts and frames of the game's own are for the client as they are.
        if self._bridge is not None and any(key != "options" for key in kwargs):
            self._bridge.data_out(**kwargs)
        if text is not None:
            self._record_or_pass_on(text)

    msg = data_out

    def _record_or_pass_on(self, text: object) -> None:
        try:
            self._record(text)
        except Exception:
            # The rest of the room must get its message, and the operator must learn of this.
            logger.log_trace("dormouse_evennia: a message could not be recorded; it is passed on unattested")
            if self._bridge is not None:
                self._bridge.data_out(text=text)


def deliver(
    receiver: Any,
    account: Any,
    game_msg: Callable[..., None],
    text: object,
    from_obj: Any,
    session: Any,
    options: Any,
    kwargs: dict,
    note: Note,
) -> None:
    """Calls the game's `msg()` with the client's session replaced by the feed."""
    bridge = bridge_session(account)
    targets = list(make_iter(session)) if session else receiver.sessions.all()
    # Sessions compare equal by address: two clients on one host would be one.
    others = [s for s in targets if bridge is None or s.sessid != bridge.sessid]
    if session and len(others) == len(targets):
        # Meant for one person's screen alone, such as the answer to what staff typed on this account.
        game_msg(text=text, from_obj=from_obj, session=session, options=options, **kwargs)
        return

    def record(final: object) -> None:
        _record(receiver, account, final, senders_of(from_obj, note), note)

    played = receiver if receiver is not account else None
    feed = FeedSession(account, played, record, bridge)
    game_msg(text=text, from_obj=from_obj, session=[*others, feed], options=options, **kwargs)


def _record(receiver: Any, account: Any, text: object, senders: list, note: Note) -> None:
    shown, kwargs = unpack(text)
    message = Message(
        receiver=receiver,
        account=account,
        text=shown,
        type=str(kwargs["type"]) if kwargs.get("type") is not None else None,
        broadcast=isinstance(text, tuple) and not kwargs,
        senders=senders,
        note=note,
    )
    act = act_of(account.id)
    event = build(message, act.key if act else None)
    if act:
        act.see(plain(shown, limit=OUTPUT_CHARS + 1))
        if event["kind"] == "system":
            return
    entry = store.append(account.id, event)
    notify(account, "dormouse_event", entry)
