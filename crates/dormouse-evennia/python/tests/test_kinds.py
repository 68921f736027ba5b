"""Each kind of message, as a resident's client receives it."""

import pytest
from client import new_key as key
from client import new_name


def test_say_names_the_speaker_and_cuts_out_the_words(bob, alice):
    alice.line("say Hello |rred|n <b>bold</b> & $You() {here}")
    event = bob.event(kind="say")
    assert event["from"][0]["account"]["key"] == "alice"
    assert (event["from"][0]["kind"], event["from"][0]["resident"], event["self"]) == ("object", False, False)
    assert event["own"] == "Hello red <b>bold</b> & $You() {here}"
    assert event["plain"] == f'alice says, "{event["own"]}"'
    assert event["cause"] == event["from"][0]
    assert event["room"]["key"] == "Limbo"
    assert (event["type"], event["act"], event["channel"], event["addressed"]) == ("say", None, None, False)


def test_whisper_is_addressed_and_its_audience_is_the_two(bob, alice, carol):
    alice.line("whisper bob = psst")
    event = bob.event(kind="whisper")
    assert (event["own"], event["addressed"]) == ("psst", True)
    assert [who["key"] for who in event["audience"]] == ["alice", "bob"]


def test_whisper_to_somebody_else_reaches_no_resident(bob, alice, carol):
    alice.line("whisper carol = secret")
    carol.text("secret")
    assert bob.heard() == []


def test_page_names_the_sending_account(bob, alice):
    alice.line("page bob = private words")
    event = bob.event(kind="page")
    assert (event["from"][0]["kind"], event["from"][0]["key"]) == ("account", "alice")
    assert (event["own"], event["addressed"], event["room"]) == ("private words", True, None)
    assert [who["key"] for who in event["audience"]] == ["alice", "bob"]


def test_page_to_two_names_both_as_audience(bob, eve, alice):
    alice.line("page bob, eve = to both")
    assert sorted(who["key"] for who in bob.event(kind="page")["audience"]) == ["alice", "bob", "eve"]
    assert eve.event(kind="page")["own"] == "to both"


def test_equal_pages_one_after_another_are_both_attested(bob, alice):
    for _ in range(3):
        alice.line("page bob = again")
    for _ in range(3):
        assert bob.event(kind="page")["own"] == "again"


def test_pose(bob, alice):
    alice.line(":'s hat falls at @bob's feet.")
    event = bob.event(kind="pose")
    assert event["own"] == "'s hat falls at @bob's feet."
    assert event["addressed"]


def test_channel_has_name_sender_and_words(bob, alice):
    alice.line("public Hello all")
    event = bob.event(kind="channel")
    assert (event["channel"]["key"], event["from"][0]["key"], event["own"]) == ("Public", "alice", "Hello all")
    assert {"alice", "bob"} <= {who["key"] for who in event["audience"]}
    alice.line("public :dances")
    assert bob.event(kind="channel")["own"] == "dances"


def test_emits_have_no_sender_but_the_builder_as_cause(bob, admin, alice):
    admin.line("remit here = The ground shakes.")
    event = bob.event(plain="The ground shakes.")
    assert (event["kind"], event["from"], event["own"], event["cause"]["key"]) == ("emit", [], None, "admin")
    assert {"alice", "bob", "admin"} == {who["key"] for who in event["audience"]}
    admin.line("pemit bob = Only you feel it.")
    event = bob.event(plain="Only you feel it.")
    assert (event["kind"], [who["key"] for who in event["audience"]]) == ("emit", ["bob"])


def test_moves_and_connections(bob, admin, alice):
    way, back = new_name("in"), new_name("out")
    admin.line(f"dig Hall = {way}, {back}")
    admin.fence()
    alice.line(way)
    assert bob.event(kind="leave")["from"][0]["account"]["key"] == "alice"
    alice.line(back)
    assert bob.event(kind="arrive")["from"][0]["account"]["key"] == "alice"
    alice.line("quit")
    gone = bob.event(kind="disconnect")["from"][0]
    assert (gone["object"]["key"], gone["account"]["key"]) == ("alice", "alice")


def test_connect(bob, log_in):
    log_in("carol")
    assert bob.event(kind="connect")["from"][0]["account"]["key"] == "carol"


def test_things_that_change_hands(bob, admin, alice):
    pebble = new_name("pebble")
    admin.line(f"create/drop {pebble}")
    admin.fence()
    alice.line(f"get {pebble}")
    assert bob.event(kind="get")["from"][0]["key"] == "alice"
    alice.line(f"drop {pebble}")
    assert bob.event(kind="drop")["from"][0]["key"] == "alice"
    alice.line(f"get {pebble}")
    alice.line(f"give {pebble} to bob")
    gift = bob.event(kind="give")
    assert (gift["from"][0]["key"], gift["thing"]["key"]) == ("alice", pebble)
    assert bob.act(key("drop"), f"drop {pebble}")["changed"]


def test_forced_speech_names_who_forced(bob, admin, alice):
    admin.line("force alice = say I was forced")
    event = bob.event(own="I was forced")
    assert (event["from"][0]["key"], event["cause"]["key"]) == ("alice", "admin")
    admin.line("force bob = say So was I")
    event = bob.event(own="So was I")
    assert (event["self"], event["cause"]["key"], event["act"]) == (True, "admin", None)


def test_two_residents_in_one_room_hear_each_other_as_residents(bob, eve, alice):
    bob.act(key("hear"), "say Good evening, @eve")
    heard = eve.event(kind="say")
    assert (heard["from"][0]["resident"], heard["self"], heard["addressed"], heard["act"]) == (True, False, True, None)
    [mine] = [event for event in bob.events() if event["kind"] == "say"]
    assert (mine["self"], mine["addressed"], mine["own"]) == (True, False, "Good evening, @eve")
    assert mine["act"].startswith("hear")


@pytest.mark.parametrize(
    ("said", "addressed"),
    [("@bob hello", True), ("hello @BOB!", True), ("(@bob)", True), ("bob hello", False), ("@bobby", False), ("a@bob", False), ("@bоb", False)],
)
def test_mentions_are_whole_words_after_an_at(bob, alice, said, addressed):
    alice.line(f"say {said}")
    assert bob.event(own=said)["addressed"] is addressed


def test_plain_clients_see_nothing_of_it(bob, eve, alice, carol):
    alice.line("say look at @bob")
    bob.event(kind="say"), eve.event(kind="say")
    frame = carol.text("look at @bob")
    assert frame == ["text", ['alice says, "look at @bob"'], {"type": "say"}]
    assert not [frame for frame in [*alice.seen, *carol.seen] if "dormouse" in str(frame)]


def test_the_residents_own_session_gets_no_text_of_the_room(bob, alice):
    alice.line("say hello")
    bob.event(kind="say")
    bob.fence()
    assert [frame for frame in bob.seen if frame[0] == "text" and "hello" in str(frame[1])] == []


def test_wall_comes_as_text_without_attestation(bob, admin):
    admin.line('wall bob, obey"')
    assert bob.text("shouts")[2] == {}
    assert bob.heard() == []




@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ansi.ANSIString('|rred|n || blue')", "red | blue"),
        ("(ansi.ANSIString('|rred|n'), {'type': 'table'})", "red"),
        ("evtable.EvTable('|wName|n', table=[['cup']])", "Name"),
        ("(evtable.EvTable('|wName|n', table=[['cup']]), {'type': 'table'})", "Name"),
        ("42", "42"),
        ("('first', 'second', {'type': 'help'})", "first"),
        ("['a list']", "a list"),
        ("('', {})", ""),
    ],
)
def test_whatever_a_game_sends_as_text_is_recorded(bob, admin, code, expected):
    admin.py(f"from evennia.utils import ansi, evtable; evennia.search_account('bob')[0].characters.all()[0].msg({code})")
    events = [event for event in bob.events() if event["kind"] == "emit"]
    if expected:
        assert expected in events[0]["plain"]
        assert "|r" not in events[0]["plain"] and "|w" not in events[0]["plain"]
    bob.ack_all()
