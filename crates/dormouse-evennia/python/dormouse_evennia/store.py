"""What must survive a crash: each resident's feed, and the receipts of its acts.

Three tables in the game's own database, so that a copy of the database restored by the staff is
consistent in itself. They are created on first use: the package is no Django app, because one
line of settings is all that an installation should need. Only the Server process writes, from one thread.
"""

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from django.db import IntegrityError, connection, models, transaction
from django.db.models.functions import Length

FEED_ENTRIES = 2_000
FEED_CHARS = 16 * 1024 * 1024
RECEIPT_SECONDS = timedelta(days=7).total_seconds()
RECEIPTS = 200_000
# The output of older receipts is dropped; their state is what protects from running twice.
OUTPUTS = 500
# Receipts are checked against the bounds above once in this many acts.
SWEEP_EVERY = 100
# Client and game both keep `at` in milliseconds; floating point may differ in the last place.
SAME_AT = 0.0005


class Resident(models.Model):
    account_id = models.BigIntegerField(primary_key=True)
    life = models.CharField(max_length=32)
    acked = models.BigIntegerField(default=0)
    last_page = models.BigIntegerField(default=0)

    class Meta:
        app_label = "dormouse_evennia"


class Entry(models.Model):
    id = models.BigAutoField(primary_key=True)
    account_id = models.BigIntegerField()
    seq = models.BigIntegerField()
    at = models.FloatField()
    body = models.TextField()

    class Meta:
        app_label = "dormouse_evennia"
        unique_together = [("account_id", "seq")]


class Act(models.Model):
    id = models.BigAutoField(primary_key=True)
    account_id = models.BigIntegerField()
    key = models.CharField(max_length=200)
    state = models.CharField(max_length=10)
    begun_at = models.FloatField()
    result = models.TextField(default="{}")

    class Meta:
        app_label = "dormouse_evennia"
        unique_together = [("account_id", "key")]


class ReceiptsFull(Exception):
    """No receipt may be forgotten yet, and there is no room for another one."""


@dataclass
class Feed:
    """Numbers of one resident's feed, held in memory: the Server is the only writer."""

    life: str
    acked: int
    seq: int
    at: float
    entries: int
    chars: int


@lru_cache(maxsize=1)
def prepare() -> None:
    """Creates the tables that are missing."""
    present = set(connection.introspection.table_names())
    missing = [model for model in (Resident, Entry, Act) if model._meta.db_table not in present]
    if missing:
        with connection.schema_editor() as editor:
            for model in missing:
                editor.create_model(model)


_FEEDS: dict[int, Feed] = {}


def feed(account_id: int) -> Feed:
    """The feed of a resident; a new one starts a new life."""
    if account_id not in _FEEDS:
        prepare()
        row, _ = Resident.objects.get_or_create(
            account_id=account_id, defaults={"life": uuid.uuid4().hex}
        )
        kept = Entry.objects.filter(account_id=account_id)
        newest = kept.order_by("-seq").first()
        sizes = kept.aggregate(chars=models.Sum(Length("body")))
        _FEEDS[account_id] = Feed(
            life=row.life,
            acked=row.acked,
            seq=max(row.acked, newest.seq if newest else 0),
            at=newest.at if newest else 0.0,
            entries=kept.count(),
            chars=sizes["chars"] or 0,
        )
    return _FEEDS[account_id]


def append(account_id: int, event: dict) -> dict:
    """Stores an event under the next number, and returns the entry as it is sent."""
    state = feed(account_id)
    # Milliseconds, and strictly increasing: two entries of one number can be told apart by time.
    at = round(max(time.time(), state.at + 0.001), 3)
    body = json.dumps(event, separators=(",", ":"))
    Entry.objects.create(account_id=account_id, seq=state.seq + 1, at=at, body=body)
    state.seq += 1
    state.at = at
    state.entries += 1
    state.chars += len(body)
    while state.entries > FEED_ENTRIES or (state.chars > FEED_CHARS and state.entries > 1):
        _drop_oldest(account_id, state)
    return {"seq": state.seq, "at": at, **event}


def _drop_oldest(account_id: int, state: Feed) -> None:
    oldest = Entry.objects.filter(account_id=account_id).order_by("seq").first()
    if oldest is None:
        return
    state.entries -= 1
    state.chars -= len(oldest.body)
    oldest.delete()


def kept(account_id: int, after: int = 0) -> Iterator[dict]:
    """The entries above a number, oldest first."""
    rows = Entry.objects.filter(account_id=account_id, seq__gt=after).order_by("seq")
    for seq, at, body in rows.values_list("seq", "at", "body"):
        yield {"seq": seq, "at": at, **json.loads(body)}


def acknowledge(account_id: int, seq: int) -> None:
    """Forgets all entries up to a number. A number that the game has not reached is ignored."""
    state = feed(account_id)
    if not state.acked < seq <= state.seq:
        return
    with transaction.atomic():
        Resident.objects.filter(account_id=account_id).update(acked=seq)
        Entry.objects.filter(account_id=account_id, seq__lte=seq).delete()
    # Counted anew: entries differ in size.
    del _FEEDS[account_id]
    feed(account_id).at = state.at


@dataclass(frozen=True)
class Resumed:
    """How a client's position fits this game's feed."""

    after: int
    restored: bool
    lost: int


def resume(account_id: int, life: str | None, after: int | None, after_at: float | None) -> Resumed:
    """Takes up the feed where the client says that it stopped, and forgets what it has."""
    state = feed(account_id)
    if after is None or (life is not None and life != state.life):
        after = state.acked
        return Resumed(after, restored=False, lost=_lost(account_id, after))
    restored = after > state.seq or _another_entry(account_id, state, after, after_at)
    if restored:
        _number_anew(account_id, max(after, state.seq), after_at)
        after = feed(account_id).acked
    else:
        acknowledge(account_id, after)
    return Resumed(after, restored, _lost(account_id, after))


def _another_entry(account_id: int, state: Feed, after: int, after_at: float | None) -> bool:
    """Whether the client knows another entry under its number than the game has.

    A database that was restored and has passed the client's number again shows only here: what
    was acknowledged after the copy was made is unacknowledged in it.
    """
    if after_at is None or after <= state.acked:
        return False
    entry = Entry.objects.filter(account_id=account_id, seq=after).first()
    return entry is not None and abs(entry.at - after_at) > SAME_AT


def _number_anew(account_id: int, base: int, known_at: float | None) -> None:
    """Moves what the client does not have above `base`. The clock tells: it has all up to `known_at`."""
    rows = Entry.objects.filter(account_id=account_id)
    with transaction.atomic():
        if known_at is not None:
            rows.filter(at__lte=known_at + SAME_AT).delete()
        # From the newest down, and upward: no two rows have one number at any time.
        fresh = list(rows.order_by("seq"))
        for place, row in reversed(list(enumerate(fresh, start=1))):
            Entry.objects.filter(id=row.id).update(seq=base + place)
        Resident.objects.filter(account_id=account_id).update(acked=base)
    del _FEEDS[account_id]


def _lost(account_id: int, after: int) -> int:
    """Every number is acknowledged, kept, or was dropped."""
    oldest = Entry.objects.filter(account_id=account_id, seq__gt=after).order_by("seq").first()
    first = oldest.seq if oldest else feed(account_id).seq + 1
    return first - after - 1


def last_page(account_id: int) -> int:
    feed(account_id)
    return Resident.objects.values_list("last_page", flat=True).get(account_id=account_id)


def set_last_page(account_id: int, page_id: int) -> None:
    feed(account_id)
    Resident.objects.filter(account_id=account_id).update(last_page=page_id)


@contextmanager
def at_once() -> Iterator[None]:
    """What is written in here is written at once: a game that is killed has all of it, or nothing.

    Then nobody has seen anything of it either: nothing leaves the process before control goes back to Twisted.
    """
    prepare()
    raised = None
    with transaction.atomic():
        try:
            yield
        except Exception as error:
            raised = error
        # A caught error of the database does not take back what others were told meanwhile.
        transaction.set_rollback(False)
    if raised is not None:
        raise raised


def receipt(account_id: int, key: str) -> dict | None:
    """What is known of an act: its state and what it led to. None: its key was never accepted."""
    prepare()
    row = Act.objects.filter(account_id=account_id, key=key).first()
    return row and {"state": row.state, **json.loads(row.result)}


def begin(account_id: int, key: str) -> bool:
    """Writes that an act begins. False: its key is known, and it must not run.

    Raises ReceiptsFull rather than forget a receipt early.
    """
    prepare()
    now = time.time()
    try:
        # The database decides, so that a key cannot pass twice.
        with transaction.atomic():
            row = Act.objects.create(account_id=account_id, key=key, state="begun", begun_at=now)
    except IntegrityError:
        return False
    acts = Act.objects.filter(account_id=account_id)
    known = acts.count()
    if known % SWEEP_EVERY == 0 or known > RECEIPTS:
        _sweep(account_id, now)
    if known > RECEIPTS and acts.count() > RECEIPTS:
        row.delete()
        raise ReceiptsFull
    return True


def finish(account_id: int, key: str, state: str, result: dict) -> None:
    Act.objects.filter(account_id=account_id, key=key).update(
        state=state, result=json.dumps(result, separators=(",", ":"))
    )


def _sweep(account_id: int, now: float) -> None:
    acts = Act.objects.filter(account_id=account_id)
    acts.filter(begun_at__lt=now - RECEIPT_SECONDS).delete()
    oldest_with_output = acts.order_by("-id").values_list("id", flat=True)[OUTPUTS : OUTPUTS + 1]
    for limit in list(oldest_with_output):
        for row in acts.filter(id__lte=limit).exclude(result__contains='"output":[]'):
            result = json.loads(row.result)
            result.update(output=[], output_cut=True)
            acts.filter(id=row.id).update(result=json.dumps(result, separators=(",", ":")))


def forget(account_id: int) -> None:
    """Deletes all that is kept for an account. If it becomes a resident again, it starts a new life."""
    prepare()
    with transaction.atomic():
        for model in (Entry, Act, Resident):
            model.objects.filter(account_id=account_id).delete()
    _FEEDS.pop(account_id, None)
