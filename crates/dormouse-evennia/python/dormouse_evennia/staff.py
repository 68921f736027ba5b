"""Commands with which the staff of a game steer its residents.

The game checks the permission. The command itself is carried out by the resident's runtime, and
its answer is shown to who typed it.
"""

import secrets
from typing import Any

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac
from evennia.accounts.models import AccountDB
from evennia.commands.cmdset import CmdSet
from evennia.utils.utils import class_from_module, delay

from . import residents
from .delivery import bridge_session, send
from .entities import entity, is_resident
from .requests import BadRequest, Fields
from .words import name, plain, shown

ANSWER_SECONDS = 30
ANSWER_CHARS = 32_000
ARGS_CHARS = 8_000
SWITCHES = 8

# Who may use these commands. A lock of Evennia; set it in the game's settings to choose otherwise.
LOCK = getattr(settings, "DORMOUSE_STAFF_LOCK", "perm(Admin)")
# Access type on a resident's account: `lock *bob = dormouse_staff:perm(Developer)` narrows one resident.
ACCESS = "dormouse_staff"

# Questions without an answer yet. Only for the notice that none came: a question's id names the asker itself.
_WAITING: set[str] = set()

_Command = class_from_module(settings.COMMAND_DEFAULT_CLASS)


def may_use(account: Any) -> bool:
    """A resident may not steer residents, whatever its permissions: it could clear its own stop."""
    return not is_resident(account) and account.locks.check_lockstring(account, f"dummy:{LOCK}")


def offer(session: Any) -> None:
    """Gives the commands to a staff member at the first line, so that no command set must be edited."""
    account = session.account
    if account is not None and not account.cmdset.has(StaffCmdSet) and may_use(account):
        account.cmdset.add(StaffCmdSet)


class _StaffCommand(_Command):
    """A command for one resident, named first; its name may be left out if there is only one."""

    locks = f"cmd:{LOCK}"
    help_category = "AI residents"
    account_caller = True

    def func(self) -> None:
        if not may_use(self.caller):
            self.msg("Residents may not use staff commands.")
            return
        found = residents.all_residents()
        resident, args = self.split(found)
        if resident is None:
            names = ", ".join(account.key for account in found) or "none; make one with airesident"
            self.msg(f"Which resident? Usage: {self.key}[/switch] RESIDENT [...]. Residents: {shown(names)}.")
        elif not resident.access(self.caller, ACCESS, default=True):
            self.msg(f"You are not allowed to steer {shown(resident.key)}.")
        else:
            self.ask(resident, args)

    def split(self, found: list[Any]) -> tuple[Any, str]:
        """The resident, and the arguments without its name."""
        args = self.args.strip()
        # Names may hold spaces, and one may begin with another: the longest that fits is meant.
        for account in sorted(found, key=lambda each: -len(each.key)):
            rest = args[len(account.key) :]
            if args.lower().startswith(account.key.lower()) and (not rest or rest[0].isspace()):
                return account, rest.strip()
        return (found[0], args) if len(found) == 1 else (None, args)

    def ask(self, resident: Any, args: str) -> None:
        session = bridge_session(resident)
        if session is None:
            self.msg(f"{shown(resident.key)}: no runtime is connected. Start dormouse, then try again.")
            return
        if len(args) > ARGS_CHARS:
            self.msg(f"At most {ARGS_CHARS} characters are possible.")
            return
        question = new_question(self.caller.id, resident.id)
        _WAITING.add(question)
        payload = {
            "id": question,
            "command": self.key,
            "switches": [name(switch).lower() for switch in self.switches[:SWITCHES]],
            "args": plain(args.replace("|", "||"), ARGS_CHARS),
            "who": entity(self.caller),
        }
        send(session, "dormouse_staff", payload)
        delay(ANSWER_SECONDS, _no_answer, question, resident.key, self.caller)


def new_question(asker: int, resident: int) -> str:
    """An id that names the asker, so that an answer after a reload of the game still finds its way.

    It is sealed for the resident: nobody who was not asked can write to the screens of the staff.
    """
    numbered = f"{asker}-{secrets.token_hex(4)}"
    return f"{numbered}-{_seal(numbered, resident)}"


def asker_of(question: str, resident: int) -> int | None:
    numbered, _, seal = question.rpartition("-")
    if not constant_time_compare(seal, _seal(numbered, resident)):
        return None
    return int(numbered.partition("-")[0])


def _seal(numbered: str, resident: int) -> str:
    return salted_hmac("dormouse_evennia.staff", f"{numbered} {resident}").hexdigest()[:16]


def _no_answer(question: str, resident: str, asker: Any) -> None:
    if question in _WAITING:
        _WAITING.discard(question)
        asker.msg(f"{shown(resident)}: no answer in {ANSWER_SECONDS} seconds. If one comes later, it is shown.")


def answered(session: Any, fields: Fields) -> None:
    """Shows a runtime's answer to who asked, if that account may still ask."""
    question = fields.text("id", 40, shortest=1)
    text, ok = fields.text("text", ANSWER_CHARS), fields.flag("ok")
    number = asker_of(question, session.account.id)
    asker = number and AccountDB.objects.filter(id=number).first()
    if not asker or not may_use(asker):
        raise BadRequest("id: is not a question that a staff member asked this resident")
    _WAITING.discard(question)
    mark = "" if ok else "|rfailed:|n "
    asker.msg(f"{shown(session.account.key)}: {mark}{shown(text)}")


class CmdAiSetup(_StaffCommand):
    """
    set up a resident

    Usage:
      aisetup[/switch] RESIDENT [...]

    Switches: init, clone, start, stop, delete, config, rag, messaging, template, context, component

      aisetup/config RESIDENT show FIELD
      aisetup/config RESIDENT set FIELD VALUE
    """

    key = "aisetup"
    switch_options = (
        "init", "clone", "start", "stop", "delete", "config", "rag", "messaging", "template", "context", "component",
    )  # fmt: skip


class CmdAiExec(_StaffCommand):
    """
    see what a resident does and did

    Usage:
      aiexec[/switch] RESIDENT [...]
    """

    key = "aiexec"


class CmdAiGoal(_StaffCommand):
    """
    see and set a resident's goals

    Usage:
      aigoal RESIDENT
      aigoal/add RESIDENT TEXT
      aigoal/done RESIDENT ID
      aigoal/drop RESIDENT ID
    """

    key = "aigoal"


class CmdAiHistory(_StaffCommand):
    """
    see or reset a resident's history

    Usage:
      aihistory RESIDENT
      aihistory/reset RESIDENT

    A reset also clears an emergency stop.
    """

    key = "aihistory"


class CmdAiInteract(_StaffCommand):
    """
    see and change how a resident meets people

    Usage:
      aiinteract[/switch] RESIDENT [...]
    """

    key = "aiinteract"


class CmdAiMemory(_StaffCommand):
    """
    see and change what a resident remembers

    Usage:
      aimemory[/switch] RESIDENT [...]
    """

    key = "aimemory"


class CmdAiAudit(_StaffCommand):
    """
    see the event log of a resident

    Usage:
      aiaudit RESIDENT FROM TO

    FROM and TO are numbers of events.
    """

    key = "aiaudit"


class CmdAssistant(_StaffCommand):
    """
    let a resident continue after an emergency stop

    Usage:
      assistant emergency clear [RESIDENT]
    """

    key = "assistant"

    def split(self, found: list[Any]) -> tuple[Any, str]:
        """Here the name comes last."""
        words = self.args.split(None, 2)
        if [word.lower() for word in words[:2]] != ["emergency", "clear"]:
            return super().split(found)
        if len(words) == 2:
            return (found[0] if len(found) == 1 else None), "emergency clear"
        named = [account for account in found if account.key.lower() == words[2].strip().lower()]
        return (named[0] if named else None), "emergency clear"


class CmdAiResident(_Command):
    """
    make an account an AI resident, or an ordinary account again

    Usage:
      airesident                           list the residents
      airesident ACCOUNT                   make it a resident (again after it got a new character)
      airesident/create NAME = PASSWORD    make a new account, and it a resident
      airesident/remove ACCOUNT            make it an ordinary account; deletes its feed and receipts

    The game itself reports to a resident's client who speaks. Give the account no permissions of staff.
    """

    key = "airesident"
    locks = f"cmd:{LOCK}"
    help_category = "AI residents"
    switch_options = ("create", "remove")
    account_caller = True

    def func(self) -> None:
        try:
            self.msg(shown(self.carry_out()))
        except residents.NotPossible as why:
            self.msg(shown(str(why)))

    def carry_out(self) -> str:
        if not may_use(self.caller):
            raise residents.NotPossible("Residents may not use staff commands.")
        if "create" in self.switches:
            if not self.lhs or not self.rhs:
                raise residents.NotPossible("Usage: airesident/create NAME = PASSWORD")
            return residents.create(self.lhs.strip(), self.rhs.strip())
        if not self.args.strip():
            return self.listing()
        account = residents.find(self.args)
        if account is None:
            raise residents.NotPossible(f"No account is named {self.args.strip()}.")
        return residents.remove(account) if "remove" in self.switches else residents.make(account)

    def listing(self) -> str:
        found = residents.all_residents()
        lines = [f"{account.key} (account #{account.id}): {_connection(account)}" for account in found]
        return "\n".join(lines) or "No account is a resident. Make one with airesident ACCOUNT."


def _connection(account: Any) -> str:
    return "runtime connected" if bridge_session(account) else "no runtime connected"


class StaffCmdSet(CmdSet):
    """All commands above. `offer` adds it; a game may also add it to a command set of its own."""

    key = "DormouseStaff"

    def at_cmdset_creation(self) -> None:
        for command in (
            CmdAiSetup, CmdAiExec, CmdAiGoal, CmdAiHistory, CmdAiInteract, CmdAiMemory, CmdAiAudit,
            CmdAssistant, CmdAiResident,
        ):  # fmt: skip
            self.add(command())
