"""Text of the game as plain words, bounded, and the sender's own words cut out of it."""

import re
import unicodedata
from collections.abc import Callable

from django.utils.translation import gettext as _
from evennia.utils.ansi import ANSIString, strip_ansi

TEXT_CHARS = 8_000
NAME_CHARS = 80
OPEN_LINKS = 50

# Control and format characters, surrogates, private use, unassigned; line and paragraph separators.
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def name(key: object) -> str:
    """A name as it may be shown: without characters that hide, reorder or break lines."""
    # A name is short; a long one is cut before it is looked at, so that it costs nothing.
    shown = str(key)[: NAME_CHARS * 4]
    return "".join(c for c in shown if unicodedata.category(c) not in _INVISIBLE)[:NAME_CHARS]


def plain(text: object, limit: int = TEXT_CHARS) -> str:
    """Text without markup and without control characters but line breaks and tabs."""
    if not isinstance(text, str):
        return ""
    # Markup is stripped from a bounded part: half a megabyte of `|` must not stop the game.
    # An escaped character takes two, a colour up to five; what is cut off too early is cut off anyway.
    stripped = strip_ansi(_without_links(_encodable(text[: limit * 5])))
    stripped = stripped.replace("\r\n", "\n").replace("\r", "\n")
    visible = (c for c in stripped if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))
    return "".join(visible)[:limit]


def _without_links(text: str) -> str:
    """`|lcCOMMAND|ltTEXT|le` as its text and `|luURL|ltTEXT|le` as its address, as Evennia strips them.

    Evennia's own functions try anew at each opening mark, which takes minutes for 150 KB of them. Marks that
    nothing closes are therefore shown only if they are few.
    """
    text = _replace_links(_replace_links(text, "|lc", keep_second=True), "|lu", keep_second=False)
    if text.count("|lc") + text.count("|lu") > OPEN_LINKS:
        text = text.replace("|lc", " ").replace("|lu", " ")
    return text


def _replace_links(text: str, mark: str, keep_second: bool) -> str:
    kept: list[str] = []
    at = 0
    while True:
        start = text.find(mark, at)
        middle = text.find("|lt", start + 3) if start >= 0 else -1
        end = text.find("|le", middle + 3) if middle >= 0 else -1
        if end < 0:
            # No later mark can be closed either.
            return "".join([*kept, text[at:]])
        kept += [text[at:start], text[middle + 3 : end] if keep_second else text[start + 3 : middle]]
        at = end + 3


def as_markup(text: object) -> str:
    """Any text that a game sends: a string, a coloured ANSIString, a table."""
    if isinstance(text, ANSIString):
        return shown(text.clean())
    return text if isinstance(text, str) else str(text)


def is_cut(text: object, limit: int = TEXT_CHARS) -> bool:
    """Whether `plain` may have left something out."""
    return isinstance(text, str) and (len(text) > limit * 5 or len(plain(text, limit + 1)) > limit)


def _encodable(text: str) -> str:
    """Lone surrogates come in JSON as \\ud800 and cannot be written to a database."""
    return text.encode("utf-8", "ignore").decode("utf-8")


def between(text: str, template: str, field: str, **names: str) -> str | None:
    """What stands for `field` in `text` if it was made from `template`, with `names` filled in."""
    before, found, after = template.partition("{" + field + "}")
    if not found:
        return None
    try:
        before, after = before.format(**names), after.format(**names)
    except (IndexError, KeyError, ValueError):
        # A translation that names other fields: then the words cannot be cut with certainty.
        return None
    whole = len(text) >= len(before) + len(after)
    if whole and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)]
    return None


def spoken(text: str, kind: str, sender: str, own: bool) -> str | None:
    """The words of a say or whisper. The templates are the game's own, in its language."""
    if kind == "say" and own:
        return between(text, _('{self} say, "|n{speech}|n"'), "speech", self=_("You"))
    if kind == "say":
        return between(text, _('{object} says, "{speech}"'), "speech", object=sender)
    if kind == "whisper" and not own:
        return between(text, _('{object} whispers: "|n{speech}|n"'), "speech", object=sender)
    return None


def posed(text: str, sender: str) -> str | None:
    """What follows the name in a pose. The rest of a pose is the poser's, whatever it says."""
    return text[len(sender) :].strip() if sender and text.startswith(sender) else None


def movement(text: str, sender: str) -> str | None:
    """Which way an announced move goes; None if the game has its own words for it."""
    leaving = _("{object} is leaving {origin}, heading for {destination}.").partition("{origin}")[0]
    arriving = (_("{object} arrives to {destination} from {origin}."), _("{object} arrives to {destination}."))
    starts: list[tuple[str, str]] = [("leave", leaving)]
    starts += [("arrive", template.partition("{destination}")[0]) for template in arriving]
    for kind, start in starts:
        if _fill(start, object=sender) and text.startswith(_fill(start, object=sender)):
            return kind
    return None


def presence(text: str, sender: str) -> str | None:
    """Whether a character enters or leaves the game."""
    if text == _fill(_("{name} has entered the game."), name=sender):
        return "connect"
    if between(text, _("{name} has left the game{reason}."), "reason", name=sender) is not None:
        return "disconnect"
    return None


def _fill(template: str, **names: str) -> str:
    try:
        return template.format(**names)
    except (IndexError, KeyError, ValueError):
        return ""


def handling(text: str, sender: str) -> str | None:
    """`get` and `drop` as the game's commands report them. Evennia does not translate these."""
    folded, who = text.casefold(), sender.casefold()
    if folded.startswith(who + " picks up "):
        return "get"
    if folded.startswith(who + " drops "):
        return "drop"
    return None


def mentioned(own: str | None) -> Callable[[str], bool]:
    """Tells which names follow an `@` in the words: any case, as whole words."""
    folded = (own or "").casefold()

    def is_mentioned(key: str) -> bool:
        if not key or "@" not in folded:
            return False
        return re.search(r"(?<!\w)@" + re.escape(key.casefold()) + r"(?!\w)", folded) is not None

    return is_mentioned


def shown(text: str) -> str:
    """Text that Evennia shows as it is. Its own `raw` also doubles braces, which are no markup."""
    return text.replace("|", "||")
