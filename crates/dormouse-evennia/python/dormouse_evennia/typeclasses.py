"""Typeclasses of a resident. They change what it receives, and nothing of any other account or object.

`airesident` gives an account and its characters these classes. A game whose residents have classes
of their own puts the mixins in front of their bases, and `airesident` leaves the classes alone.
"""

import time
from typing import Any

from django.conf import settings
from evennia.comms.models import Msg
from evennia.utils.utils import class_from_module

from . import CATEGORY, store
from .delivery import deliver, notify, notify_you
from .entities import is_account, is_resident, owner
from .events import Note
from .words import plain

# When a resident's character was last left without a client.
LEFT = "left"

# A stored page belongs to a text that follows at once; an old row must not vouch for a later text.
PAGE_SECONDS = 60


class _Hears:
    """What account and character have in common: `msg()` and channels."""

    dormouse_attests = True

    # Set while a hook that knows more calls `msg()`; on the class, because typeclasses have no __init__.
    _dormouse_note: Note | None = None
    _dormouse_words: str | None = None

    def at_pre_channel_msg(self, message, channel, senders=None, **kwargs):
        # The words before prefix and sender are added.
        self._dormouse_words = message
        return super().at_pre_channel_msg(message, channel, senders=senders, **kwargs)

    def channel_msg(self, message, channel, senders=None, **kwargs):
        words, self._dormouse_words = self._dormouse_words, None
        muted = {(who.__class__, who.id) for who in channel.mutelist}
        online = [who for who in channel.subscriptions.online() if (who.__class__, who.id) not in muted]
        self._dormouse_note = Note(
            kind="channel",
            own=_channel_words(words),
            channel=channel,
            senders=list(senders or []),
            audience=online,
        )
        try:
            super().channel_msg(message, channel, senders=senders, **kwargs)
        finally:
            self._dormouse_note = None

    def _dormouse_take_note(self) -> Note | None:
        note, self._dormouse_note = self._dormouse_note, None
        return note


def _channel_words(message: object) -> str | None:
    """Without the mark of a pose."""
    if not isinstance(message, str):
        return None
    stripped = message.lstrip()
    return stripped[1:].lstrip() if stripped.startswith((":", ";")) else message


def _time(seconds: float) -> str:
    """In words, rounded up."""
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds > 2 * unit:
            return f"{int(-(-seconds // unit))} {name}s"
    return f"{max(2, int(-(-seconds // 1)))} seconds"


class ResidentAccountMixin(_Hears):
    """For the account: pages, channels, and what it sees out of character."""

    def msg(self, text=None, from_obj=None, session=None, options=None, **kwargs):
        if not is_resident(self):
            super().msg(text=text, from_obj=from_obj, session=session, options=options, **kwargs)
            return
        note = self._dormouse_take_note() or self._dormouse_page(text, from_obj) or Note()
        deliver(self, self, super().msg, text, from_obj, session, options, kwargs, note)

    def _dormouse_page(self, text: object, from_obj: Any) -> Note | None:
        """The page command stores a row, then sends header and text without a sender.

        The row says who sent it; the text must only be the one that belongs to the row.
        """
        if from_obj is not None or not isinstance(text, str):
            return None
        rows = Msg.objects.get_messages_by_receiver(self).filter(
            db_tags__db_key="page", db_tags__db_category="comms", id__gt=store.last_page(self.id)
        )
        row = rows.order_by("-id").first()
        if row is None or time.time() - row.date_created.timestamp() > PAGE_SECONDS:
            return None
        senders = [who for who in row.senders if is_account(who)]
        if len(senders) != 1 or text != f"|wAccount|n |c{senders[0].key}|n |wpages:|n {row.message}":
            return None
        # Each row vouches for one text.
        store.set_last_page(self.id, row.id)
        return Note(kind="page", own=plain(row.message), senders=senders, audience=list(row.receivers))

    def at_server_reload(self):
        super().at_server_reload()
        notify(self, "dormouse_server", {"event": "reloading"})

    def at_server_shutdown(self):
        notify(self, "dormouse_server", {"event": "stopping"})
        super().at_server_shutdown()


class ResidentCharacterMixin(_Hears):
    """For a character: what happens in the room."""

    # The gift, and when it came: its text follows at once.
    _dormouse_gift: tuple[Note, float] | None = None

    def msg(self, text=None, from_obj=None, session=None, options=None, **kwargs):
        account = owner(self)
        if account is None:
            super().msg(text=text, from_obj=from_obj, session=session, options=options, **kwargs)
            return
        note = self._dormouse_take_note() or self._dormouse_given(text, from_obj) or Note()
        deliver(self, account, super().msg, text, from_obj, session, options, kwargs, note)

    def at_object_receive(self, moved_obj, source_location, move_type="move", **kwargs):
        super().at_object_receive(moved_obj, source_location, move_type=move_type, **kwargs)
        if move_type == "give" and source_location is not None:
            note = Note(kind="give", senders=[source_location], thing=moved_obj)
            self._dormouse_gift = (note, time.monotonic())

    def _dormouse_given(self, text: object, from_obj: Any) -> Note | None:
        """`give` moves the thing, then tells the receiver in a text without a sender."""
        gift, self._dormouse_gift = self._dormouse_gift, None
        if gift is None or from_obj is not None or not isinstance(text, str):
            return None
        note, came_at = gift
        giver = note.senders[0].get_display_name(self)
        return note if time.monotonic() - came_at < 1 and text.startswith(giver) else None

    def at_post_puppet(self, **kwargs):
        self._dormouse_tell_place()
        super().at_post_puppet(**kwargs)
        left = self.attributes.get(LEFT, category=CATEGORY)
        self.attributes.remove(LEFT, category=CATEGORY)
        if left is not None and owner(self) is not None:
            self.msg(f"(You were out of the game for {_time(time.time() - left)}. What was said in rooms and on channels meanwhile is not known.)")

    def at_post_unpuppet(self, account=None, session=None, **kwargs):
        super().at_post_unpuppet(account=account, session=session, **kwargs)
        if is_resident(account) and not self.sessions.count():
            self.attributes.add(LEFT, time.time(), category=CATEGORY)
            notify_you(account, None)

    def at_post_move(self, source_location, move_type="move", **kwargs):
        self._dormouse_tell_place()
        super().at_post_move(source_location, move_type=move_type, **kwargs)

    def _dormouse_tell_place(self) -> None:
        if self.account is not None and is_resident(self.account):
            notify_you(self.account, self)


class ResidentAccount(ResidentAccountMixin, class_from_module(settings.BASE_ACCOUNT_TYPECLASS)):
    """The game's own account class, as a resident."""


class ResidentCharacter(ResidentCharacterMixin, class_from_module(settings.BASE_CHARACTER_TYPECLASS)):
    """The game's own character class, as a resident."""
