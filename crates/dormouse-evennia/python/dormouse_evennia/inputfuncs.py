"""Frames from clients. Named in INPUT_FUNC_MODULES.

Every public function here can be called by every client, logged in or not: each checks first who calls,
then each field. Imports start with an underscore, so that none of them becomes an inputfunc.
"""

from . import acts as _acts
from . import requests as _requests
from . import staff as _staff
from .context import running as _running
from .requests import BadRequest as _BadRequest


def text(session, /, *args, **kwargs):
    """A line that a client typed, carried out by the game's own inputfunc.

    Kwargs of the client would become attributes of the Command, `caller` among them. Only the id
    that errors are answered with is passed on.
    """
    cmdid = kwargs.get("cmdid")
    known = isinstance(cmdid, int) or (isinstance(cmdid, str) and len(cmdid) <= 80)
    if args and not isinstance(args[0], str):
        return
    _staff.offer(session)
    with _running(session):
        _requests.of_game("text")(session, *args, **({"cmdid": cmdid} if known else {}))


def bot_data_in(session, /, *args, **kwargs):
    """Lines of the game's own bots. From anybody else, its extra fields would become attributes of the Command."""
    if getattr(session.account, "is_bot", False):
        _requests.of_game("bot_data_in")(session, *args, **kwargs)


def dormouse_hello(session, /, *args, **kwargs):
    """Makes this the session of the resident, and sends what it missed."""
    _answer(session, "dormouse_hello", args, _acts.hello, greeted=False)


def dormouse_ack(session, /, *args, **kwargs):
    """The client stored all entries up to a number."""
    _answer(session, "dormouse_ack", args, _acts.acknowledge)


def dormouse_act(session, /, *args, **kwargs):
    """Carries out one command line, once."""
    _answer(session, "dormouse_act", args, _acts.act)


def dormouse_receipt(session, /, *args, **kwargs):
    """What became of an act."""
    _answer(session, "dormouse_receipt", args, _acts.receipt)


def dormouse_state(session, /, *args, **kwargs):
    """What is around the resident."""
    _answer(session, "dormouse_state", args, _acts.state)


def dormouse_staff_done(session, /, *args, **kwargs):
    """The answer to a staff command."""
    _answer(session, "dormouse_staff_done", args, _staff.answered)


def _answer(session, frame, args, handle, greeted=True):
    refusal = _requests.refusal(session, greeted)
    if refusal is not None:
        _requests.refuse(session, *refusal, about=frame)
        return
    try:
        handle(session, _requests.Fields(args))
    except _BadRequest as bad:
        _requests.refuse(session, bad.code, str(bad), about=bad.about or frame)
