"""Making an account a resident, and undoing it. For `airesident`, and for `evennia shell`:

    evennia shell -c 'from dormouse_evennia.residents import create; print(create("bob", "PASSWORD"))'
"""

from typing import Any

from django.conf import settings
from evennia.accounts.models import AccountDB
from evennia.utils.utils import class_from_module

from . import CATEGORY, CHARACTER_TAG_PREFIX, RESIDENT_TAG, SESSION_FLAG, store
from .entities import is_resident
from .typeclasses import (
    ResidentAccount,
    ResidentAccountMixin,
    ResidentCharacter,
    ResidentCharacterMixin,
)

_CLASS_BEFORE = "class_before"


class NotPossible(Exception):
    """Why an account cannot be made a resident; the sentence says what to do."""


def all_residents() -> list[Any]:
    return list(AccountDB.objects.get_by_tag(RESIDENT_TAG, category=CATEGORY))


def find(account_name: str) -> Any:
    """The account of exactly this name; the case of letters does not matter."""
    return AccountDB.objects.filter(username__iexact=account_name.strip()).first()


def create(account_name: str, password: str) -> str:
    """Makes a new account with a character, and the account a resident."""
    account_class = class_from_module(settings.BASE_ACCOUNT_TYPECLASS)
    account, errors = account_class.create(username=account_name, password=password)
    if account is None:
        raise NotPossible(" ".join(str(error) for error in errors))
    return make(account)


def make(account: Any) -> str:
    """Tags the account, and gives it and its characters the classes that attest."""
    if account.is_superuser:
        raise NotPossible(f"{account.key} is a superuser, to whom every lock is open; make an account of its own for the resident")
    characters = list(account.characters)
    _check_class(account, ResidentAccountMixin, settings.BASE_ACCOUNT_TYPECLASS)
    for character in characters:
        _check_class(character, ResidentCharacterMixin, settings.BASE_CHARACTER_TYPECLASS)
    _swap(account, ResidentAccountMixin, ResidentAccount)
    for character in characters:
        _swap(character, ResidentCharacterMixin, ResidentCharacter)
        character.tags.add(f"{CHARACTER_TAG_PREFIX}{account.id}", category=CATEGORY)
        # For locks of the game: `not tag(resident, dormouse)`.
        character.tags.add(RESIDENT_TAG, category=CATEGORY)
    account.tags.add(RESIDENT_TAG, category=CATEGORY)
    store.feed(account.id)
    names = ", ".join(f"{character.key} (#{character.id})" for character in characters) or "no character yet"
    return f"{account.key} (account #{account.id}) is a resident, with {names}."


def remove(account: Any) -> str:
    """Makes a resident an ordinary account again, and deletes what was kept for it."""
    if not is_resident(account):
        raise NotPossible(f"{account.key} is not a resident")
    account.tags.remove(RESIDENT_TAG, category=CATEGORY)
    for session in account.sessions.all():
        session.update_flags(**{SESSION_FLAG: 0})
    for character in account.characters:
        character.tags.remove(f"{CHARACTER_TAG_PREFIX}{account.id}", category=CATEGORY)
        character.tags.remove(RESIDENT_TAG, category=CATEGORY)
        _swap_back(character)
    _swap_back(account)
    store.forget(account.id)
    return f"{account.key} (account #{account.id}) is no longer a resident; its feed and receipts are deleted."


def _check_class(thing: Any, mixin: type, base: str) -> None:
    """A class of the game's own would lose its behaviour in a swap."""
    if isinstance(thing, mixin) or thing.typeclass_path == class_from_module(base).path:
        return
    raise NotPossible(
        f"{thing.key} has the class {thing.typeclass_path}, not the game's base class {base}. Put "
        f"dormouse_evennia.typeclasses.{mixin.__name__} in front of the bases of a class of its own, give it that class, and try again."
    )


def _swap(thing: Any, mixin: type, new: type) -> None:
    if isinstance(thing, mixin):
        return
    thing.attributes.add(_CLASS_BEFORE, thing.typeclass_path, category=CATEGORY)
    # No start hooks: they would reset descriptions, locks and command sets.
    thing.swap_typeclass(new, run_start_hooks=None)
    thing.save()


def _swap_back(thing: Any) -> None:
    before = thing.attributes.get(_CLASS_BEFORE, category=CATEGORY)
    if before:
        thing.swap_typeclass(before, run_start_hooks=None)
        thing.save()
        thing.attributes.remove(_CLASS_BEFORE, category=CATEGORY)
