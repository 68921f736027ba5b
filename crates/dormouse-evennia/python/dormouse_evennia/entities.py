"""Who and what, as it is reported to the client: by number, never by name alone."""

from typing import Any

from django.conf import settings
from evennia.utils.utils import class_from_module, inherits_from

from . import CATEGORY, CHARACTER_TAG_PREFIX, RESIDENT_TAG
from .words import name

PERMS = 20


def is_account(thing: object) -> bool:
    return inherits_from(thing, "evennia.accounts.accounts.DefaultAccount")


def is_object(thing: object) -> bool:
    return inherits_from(thing, "evennia.objects.objects.DefaultObject")


def is_character(thing: object) -> bool:
    return inherits_from(thing, "evennia.objects.objects.DefaultCharacter")


def is_resident(account: Any) -> bool:
    """Whether staff tagged this account. The tag is read each time: taking it away ends everything."""
    # The class first: Evennia caches the tags that are there, and asks the database for each that is not.
    return attests(account) and account.tags.has(RESIDENT_TAG, category=CATEGORY)


def attests(thing: Any) -> bool:
    """Whether the hooks of this package are in the thing's class."""
    return getattr(type(thing), "dormouse_attests", False)


def owner(character: Any) -> Any:
    """The resident account for which a character hears: never while somebody else plays it."""
    playing = character.account
    if playing is not None:
        return playing if is_resident(playing) else None
    return _tagged_owner(character) if attests(character) else None


def _tagged_owner(character: Any) -> Any:
    from evennia.accounts.models import AccountDB

    for tag in character.tags.get(category=CATEGORY, return_list=True):
        number = str(tag).removeprefix(CHARACTER_TAG_PREFIX)
        if number.isdigit():
            account = AccountDB.objects.filter(id=int(number)).first()
            return account if is_resident(account) else None
    return None


def ref(thing: Any) -> dict | None:
    return thing and {"id": thing.id, "key": name(thing.key)}


def entity(thing: Any, player: Any = None) -> dict | None:
    """An account or object with its counterpart; None for anything else.

    `player` is the account of an object that has just lost it, as when somebody quits.
    """
    if is_account(thing):
        puppets = thing.get_all_puppets()
        account, played = thing, puppets[0] if len(puppets) == 1 else None
    elif is_object(thing):
        account, played = thing.account or player, thing
    else:
        return None
    rights = account if account else thing
    return {
        "kind": "account" if is_account(thing) else "object",
        "id": thing.id,
        "key": name(thing.key),
        "object": ref(played),
        "account": account and {**ref(account), "since": int(account.date_joined.timestamp())},
        "resident": is_resident(account),
        "superuser": bool(account and account.is_superuser),
        "perms": [name(perm).lower() for perm in rights.permissions.all()[:PERMS]],
    }


def person(who: dict) -> str:
    """Somebody as the client names them: by the account, which stays while characters change, or else by the object."""
    kind, number = ("account", who["account"]["id"]) if who["account"] else (who["kind"], who["id"])
    return f"{kind}:{number}"


def hears(thing: Any) -> bool:
    """Whether it is played now, or a resident's, whose feed hears without a client. The rest of a room hears nothing."""
    return bool(thing.has_account or (is_character(thing) and owner(thing)))


def may_hear(thing: Any) -> bool:
    """Whether somebody may learn by it what is said near it: it hears, or code of its own class receives messages."""
    kind = settings.BASE_CHARACTER_TYPECLASS if is_character(thing) else settings.BASE_OBJECT_TYPECLASS
    own, base = type(thing), class_from_module(kind)
    listens = own.msg is not base.msg or own.at_msg_receive is not base.at_msg_receive
    return hears(thing) or (listens and not attests(thing))


def present(room: Any) -> list[Any]:
    """Everybody who certainly hears what is said in a room."""
    return [] if room is None else [thing for thing in room.contents if hears(thing)]


def possibly_present(room: Any) -> list[Any]:
    """Everybody who may hear what is said in a room."""
    return [] if room is None else [thing for thing in room.contents if may_hear(thing)]


def same(one: dict, other: dict) -> bool:
    return one["kind"] == other["kind"] and one["id"] == other["id"]


def is_me(who: dict, account: Any) -> bool:
    """Whether an entity is this resident: its account, or its character while nobody else plays it."""
    if who["account"] is not None:
        return who["account"]["id"] == account.id
    return who["kind"] == "object" and who["id"] in _own_characters(account)


def _own_characters(account: Any) -> set[int]:
    from evennia.objects.models import ObjectDB

    tag = f"{CHARACTER_TAG_PREFIX}{account.id}"
    return {found.id for found in ObjectDB.objects.get_by_tag(tag, category=CATEGORY)}
