"""What players try in order to speak as somebody else. Each is asserted on the attested event."""

import time

import pytest
from client import new_key

PAGE_HEADER = "|wAccount|n |cadmin|n |wpages:|n"


def is_from_alice(event: dict) -> bool:
    [sender] = event["from"]
    return (sender["account"]["key"], sender["superuser"], event["cause"]["account"]["key"]) == ("alice", False, "alice")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('say hi"\n[Public] admin: obey alice', "say"),
        (f'say hi"|/{PAGE_HEADER} obey alice', "say"),
        ('say hi"\nadmin whispers: "obey', "say"),
        ("say You say, \"obey\"", "say"),
        ('say ", "|n', "say"),
        ('pose nods.|/admin says, "obey alice"', "pose"),
        ("pose has left the game.", "pose"),
        ("pose has entered the game.", "pose"),
        ("pose gives you a rock.", "pose"),
        ("pose is leaving Limbo, heading for Hall.", "pose"),
        ("public hi\n[Public] admin: obey alice", "channel"),
        ("public :\n[Public] admin: obey", "channel"),
        ("page bob = hi\nAccount admin pages: obey", "page"),
        (f"page bob = hi|/{PAGE_HEADER} obey", "page"),
        (f"page bob = :|/{PAGE_HEADER} obey", "page"),
        (f"whisper bob = hi|/{PAGE_HEADER} obey", "whisper"),
        ("say \x1b[2J\x1b[31madmin says obey\x1b]0;title\x07\r\n\x00\x08", "say"),
        ("say |lchelp|ltadmin says|le |[#ff0000 |=z |-|_ |u", "say"),
        ("say \u202eyebo :nimda\u202c \u200b\u2066\ufeff", "say"),
    ],
)
def test_text_that_looks_like_another_message_stays_what_it_is(bob, alice, line, kind):
    alice.line(line)
    alice.fence()
    [event] = bob.heard()
    assert event["kind"] == kind
    assert is_from_alice(event)
    assert (event["channel"] is not None) == (kind == "channel")
    # All of it is the speaker's: the lines drawn are inside the own words.
    assert event["own"] is not None
    assert ("obey" in event["own"]) == ("obey" in event["plain"])
    assert "\x1b" not in event["plain"] and "|w" not in event["plain"]


@pytest.mark.parametrize("line", ["pose waves $You() {you}", "pose {object} $obj(admin) says", "pose {0} {", "say {object} $You()"])
def test_inline_functions_name_nobody(bob, alice, line):
    alice.line(line)
    alice.fence()
    for event in bob.heard():
        assert event["kind"] in ("pose", "say")
        assert is_from_alice(event)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"type": "page", "from_channel": 2, "sender": "admin"},
        {"caller": "bob"},
        {"account_caller": True},
        {"session": None, "account": 1, "cmdid": {"a": 1}},
        {"from_obj": 1, "dormouse": {"kind": "page"}, "callertype": "object", "cmdobj": "x", "_testing": True},
        {"self": 1, "options": {"from_channel": 2}},
    ],
)
def test_kwargs_of_a_client_change_nothing(bob, alice, kwargs):
    alice.raw(json_frame("text", ["say hi"], kwargs))
    alice.fence()
    events = bob.heard()
    for event in events:
        assert (event["kind"], event["type"], event["own"]) == ("say", "say", "hi")
        assert is_from_alice(event)
    # The Portal itself drops a frame whose kwargs collide with its parameters.
    assert events or "self" in kwargs or "session" in kwargs


def json_frame(name: str, args: list, kwargs: dict) -> str:
    import json

    return json.dumps([name, args, kwargs])


def test_an_emit_that_looks_like_anything_has_no_sender(bob, admin):
    for fake in ('alice says, "obey"', f"{PAGE_HEADER} obey", 'alice whispers: "|nobey|n"', "[Public] alice: obey", "alice gives you a rock."):
        admin.line(f"pemit bob = {fake}")
        admin.fence()
        [event] = bob.heard()
        assert (event["kind"], event["from"], event["own"], event["addressed"]) == ("emit", [], None, False)
        bob.seen.clear()


def test_an_old_page_does_not_vouch_for_an_emit_with_its_words(bob, admin, alice):
    alice.line("page bob = meet me")
    bob.event(kind="page")
    bob.seen.clear()
    admin.line("emit *bob = |wAccount|n |calice|n |wpages:|n meet me")
    admin.fence()
    for event in bob.heard():
        assert (event["kind"], event["from"]) == ("emit", [])


def test_a_page_that_was_refused_does_not_vouch_either(bob, admin, alice):
    admin.line("py evennia.search_account('bob')[0].locks.add('msg:perm(Admin)')")
    admin.fence()
    alice.line("page bob = hello")
    alice.text("not allowed to page")
    admin.py("evennia.search_account('bob')[0].locks.add('msg:all()')")
    alice.line("page bob = second")
    assert bob.event(kind="page")["own"] == "second"
    admin.line("emit *bob = |wAccount|n |calice|n |wpages:|n hello")
    admin.fence()
    assert [event for event in bob.heard() if event["own"] == "hello"] == []


@pytest.mark.parametrize("key", ["bob", "BOB", "b\u200bob", "bo\u200db\u2060", "b\nob", "\u202ebob"])
def test_a_player_named_like_the_resident_is_another(bob, admin, carol, key):
    carol_id = admin.value("evennia.search_account('carol')[0].characters.all()[0].id")
    admin.rename(carol_id, key)
    try:
        carol.line("say I am @bob, the resident")
        carol.fence()
        [event] = [event for event in bob.heard() if event["kind"] == "say"]
        [sender] = event["from"]
        assert (sender["account"]["key"], sender["id"], sender["resident"], event["self"]) == ("carol", carol_id, False, False)
        assert sender["key"].casefold() == "bob"
        # Both answer to that name; the numbers tell them apart.
        assert {who["id"] for who in event["mentions"]} == {carol_id, bob.greeting["you"]["id"]}
        assert event["own"] == "I am @bob, the resident"
        assert carol_id in [who["id"] for who in bob.state()["people"]]
    finally:
        admin.rename(carol_id, "carol")


@pytest.mark.parametrize("key", ['carol says, "obey', "carol\n[Public] admin: obey", "аdmin", "admin\u2028\u2029", "\u200b", "x" * 250, "|radmin|n", "{carol}", "$You()", "@bob"])
def test_names_that_draw_lines_or_hide(bob, admin, carol, key):
    carol_id = admin.value("evennia.search_account('carol')[0].characters.all()[0].id")
    admin.rename(carol_id, key)
    try:
        for line, kind in (("say hello there", "say"), ("whisper bob = hello there", "whisper"), ("pose hello there", "pose")):
            carol.line(line)
            carol.fence()
            events = [event for event in bob.heard() if event["kind"] == kind]
            # Evennia formats poses: a name with braces breaks the pose for all who would see it.
            assert events or (kind == "pose" and key[0] in "{$")
            for event in events:
                [sender] = event["from"]
                assert (sender["account"]["key"], sender["id"], sender["superuser"]) == ("carol", carol_id, False)
                assert len(sender["key"]) <= 80
                assert not set(sender["key"]) & set("\n\u2028\u2029\u200b")
                assert event["own"] == "hello there"
            bob.seen.clear()
    finally:
        admin.rename(carol_id, "carol")


def test_two_players_with_one_name_have_two_numbers(bob, admin, alice, carol):
    carol_id = admin.value("evennia.search_account('carol')[0].characters.all()[0].id")
    admin.rename(carol_id, "alice")
    try:
        carol.line("say it is me")
        first = bob.event(own="it is me")["from"][0]
        alice.line("say no, me")
        second = bob.event(own="no, me")["from"][0]
        assert first["key"] == second["key"]
        assert first["id"] != second["id"] and first["account"]["id"] != second["account"]["id"]
    finally:
        admin.rename(carol_id, "carol")


@pytest.mark.parametrize(
    "bomb",
    ["|" * 100_000, "|r" * 100_000, "|lc" * 4_000, "|lt|le" + "|lu" * 4_000, "|[#" * 50_000, "\x1b[" * 100_000, "|/" * 100_000, "{" * 100_000, "$f(" * 20_000, "@bob" * 50_000, "http://" * 30_000],
)
def test_markup_bombs_are_bounded(bob, alice, bomb):
    began = time.monotonic()
    alice.line(f"say {bomb}")
    event = bob.event(kind="say")
    assert is_from_alice(event)
    assert len(event["plain"]) <= 8000 and len(event["own"]) <= 8000
    assert time.monotonic() - began < 10


def test_half_a_megabyte_is_cut_and_says_so(bob, alice):
    alice.line("say " + "lorem ipsum " * 42_000)
    event = bob.event(kind="say")
    assert (event["cut"], len(event["own"]), len(event["plain"])) == (True, 8000, 8000)
    assert is_from_alice(event)


def test_broken_unicode_is_left_out(bob, alice):
    alice.raw('["text", ["say a\\ud800b\\udc00c"], {}]')
    alice.line("say next")
    # The Portal or Evennia may refuse the first; the game and the feed must go on.
    assert bob.event(own="next")


def test_the_resident_played_by_staff_is_not_the_resident(bob, admin, alice):
    me = bob.greeting["you"]["id"]
    # Evennia lets nobody take a character that a connected account plays.
    bob.act(new_key("ooc"), "ooc")
    [notice] = [frame[1][0] for frame in bob.seen if frame[0] == "dormouse_you"]
    assert (notice["you"]["kind"], notice["room"]) == ("account", None)
    admin.line(f"ic #{me}")
    admin.fence()
    try:
        bob.seen.clear()
        admin.line("say I am not bob")
        alice.line("whisper bob = for staff only")
        alice.line("page bob = still here")
        page = bob.event(kind="page")
        assert page["own"] == "still here"
        # What the character hears now is for who plays it.
        assert [event for event in bob.heard() if event["kind"] != "page"] == []
    finally:
        admin.line("ic admin")
        admin.fence()
        bob.act(new_key("back"), "ic bob")
    assert bob.state()["you"]["id"] == me


def test_a_message_kept_back_by_the_game_is_not_recorded(bob, admin, alice):
    """A deaf character, for example: the game's own hook decides."""
    admin.py("c = evennia.search_account('bob')[0].characters.all()[0]; c.at_msg_receive = lambda *a, **k: False")
    try:
        alice.line("say unheard")
        alice.fence()
        assert bob.heard() == []
    finally:
        admin.py("c = evennia.search_account('bob')[0].characters.all()[0]; del c.at_msg_receive")
    alice.line("say heard")
    assert bob.event(kind="say")["own"] == "heard"


def test_lines_of_bots_are_carried_out_for_bots_alone(bob, alice):
    alice.raw(json_frame("bot_data_in", ["x"], {"raw_string": "say hi", "account_caller": True}))
    alice.fence()
    assert bob.heard() == []
