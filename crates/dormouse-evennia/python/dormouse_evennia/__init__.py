"""The game's half of Dormouse: attested messages and durable acts for AI residents of an Evennia game.

Installed by one line in the game's settings,

    INPUT_FUNC_MODULES += ["dormouse_evennia.inputfuncs"]

and by `airesident NAME` in the game. The protocol with the client is written down in PROTOCOL.md.
This module imports nothing of Evennia, so that it can be read before Django is set up.
"""

__version__ = "0.1.0"

# Version of the protocol, not of the package.
PROTOCOL = 1

# Tags carry the category, so that they collide with no tag of the game.
CATEGORY = "dormouse"
# On the account, where it counts, and on its characters, for locks; only staff can set it (`airesident`, or code).
RESIDENT_TAG = "resident"
# On each character of a resident: says whose it is while nobody plays it.
CHARACTER_TAG_PREFIX = "account "
# In a session's protocol flags, which survive a reload and which `client_options` cannot set; its value is the session's number.
SESSION_FLAG = "DORMOUSE"
