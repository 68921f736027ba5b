"""The feed: kept until acknowledged, through lost connections, restarts and restored databases."""

import shutil
from itertools import pairwise

import pytest
from client import new_key


def position(entry: dict, greeting: dict) -> dict:
    return {"life": greeting["life"], "after": entry["seq"], "after_at": entry["at"]}


def test_numbers_and_times_increase_without_gap(bob, alice):
    for number in range(20):
        alice.line(f"say line {number}")
    alice.fence()
    events = bob.heard()
    assert [event["own"] for event in events] == [f"line {number}" for number in range(20)]
    seqs = [event["seq"] for event in events]
    assert seqs == list(range(seqs[0], seqs[0] + 20))
    assert all(one["at"] < other["at"] for one, other in pairwise(events))


def test_unacknowledged_entries_come_again_and_acknowledged_ones_do_not(bob, alice):
    for word in ("one", "two", "three"):
        alice.line(f"say {word}")
    events = [bob.event(own=word) for word in ("one", "two", "three")]
    bob.seen.clear()
    greeting = bob.hello()
    assert (greeting["seq"], greeting["restored"], greeting["lost"]) == (events[-1]["seq"], False, 0)
    assert bob.heard() == events
    bob.send("dormouse_ack", {"seq": events[0]["seq"]})
    bob.seen.clear()
    bob.hello()
    assert bob.heard() == events[1:]
    bob.seen.clear()
    bob.hello(**position(events[1], greeting))
    assert bob.heard() == events[2:]
    # A position that is older than what was acknowledged asks for nothing back.
    bob.seen.clear()
    assert bob.hello(**position(events[0], greeting))["restored"] is False
    assert bob.heard() == events[2:]


def test_an_acknowledgement_of_the_future_is_ignored(bob, alice):
    bob.send("dormouse_ack", {"seq": 2**52})
    alice.line("say kept")
    event = bob.event(own="kept")
    bob.seen.clear()
    bob.hello()
    assert bob.heard() == [event]


def test_pages_are_kept_while_nobody_is_connected(bob, alice, log_in):
    bob.close()
    alice.line("page bob = are you there?")
    alice.text("offline")
    again = log_in("bob")
    again.hello()
    event = again.event(kind="page")
    assert (event["own"], event["from"][0]["key"], event["addressed"]) == ("are you there?", "alice", True)
    # What was said in the room meanwhile is not kept, and that is known.
    assert [text for text in map(words_of, again.events()) if "You were out of the game for" in text]


def words_of(event: dict) -> str:
    return str(event["plain"])


def test_what_a_ghost_hears_is_kept(bob, alice, log_in):
    bob.drop()
    alice.line("say can you hear me, @bob?")
    alice.line("whisper bob = and this?")
    alice.fence()
    again = log_in("bob")
    again.hello()
    assert again.event(kind="say")["own"] == "can you hear me, @bob?"
    # The game may have noticed meanwhile that the connection is lost, and have taken the character away. Then alice was told.
    is_gone = any("Could not find" in str(frame) for frame in alice.seen)
    assert is_gone or again.event(kind="whisper")["own"] == "and this?"


def test_a_full_feed_drops_the_oldest_and_counts_them(bob, admin, alice):
    admin.py("from dormouse_evennia import store; store.FEED_ENTRIES = 5")
    try:
        for number in range(12):
            alice.line(f"say {number}")
        alice.fence()
        first = bob.heard()[0]
        bob.seen.clear()
        greeting = bob.hello(life=bob.greeting["life"], after=first["seq"] - 1, after_at=None)
        assert greeting["lost"] == 7
        assert [event["own"] for event in bob.heard()] == ["7", "8", "9", "10", "11"]
    finally:
        admin.py("from dormouse_evennia import store; store.FEED_ENTRIES = 2000")


def test_a_feed_of_long_texts_is_bounded_too(bob, admin, alice):
    admin.py("from dormouse_evennia import store; store.FEED_CHARS = 50_000")
    try:
        for _ in range(10):
            alice.line("say " + "long " * 1600)
        alice.fence()
        assert len(bob.heard()) == 10
        bob.seen.clear()
        bob.hello()
        assert 0 < len(bob.heard()) <= 4
    finally:
        admin.py("from dormouse_evennia import store; store.FEED_CHARS = 16 * 1024 * 1024")


def test_another_life_is_answered_with_all_that_is_kept(bob, alice):
    alice.line("say hello")
    event = bob.event(own="hello")
    bob.seen.clear()
    greeting = bob.hello(life="0" * 32, after=2**40, after_at=1.0)
    assert (greeting["restored"], greeting["life"]) == (False, bob.greeting["life"])
    assert bob.heard() == [event]


def test_kill_in_the_middle_loses_nothing_that_was_sent(game, bob, alice, log_in):
    key = new_key("kill")
    bob.act(key, "say before the crash")
    alice.line("say I said this")
    said = bob.event(own="I said this")
    game.script("kill")
    game.start()
    again = log_in("bob")
    greeting = again.hello()
    assert greeting["life"] == bob.greeting["life"]
    assert [event for event in again.heard() if event["seq"] == said["seq"]] == [said]
    assert again.act(key, "say before the crash")["state"] == "done"
    assert [event for event in again.heard() if event["seq"] > said["seq"] and event["kind"] == "say"] == []


def test_an_act_in_which_the_game_is_killed_was_seen_by_nobody_and_runs_again(game, bob, alice, admin, log_in):
    key, line, said = new_key("killed"), "say with my last breath", game.folder / "said"
    # By then the command has run.
    dies = f"(open({str(said)!r}, 'w').close(), __import__('os').abort())"
    admin.py(f"from dormouse_evennia import store; store.finish = lambda *_: {dies}")
    bob.send("dormouse_act", {"key": key, "line": line})
    # What the Server has sent by then, the Portal still passes on.
    with pytest.raises(AssertionError, match="no such frame"):
        alice.until(lambda frame: "last breath" in str(frame), seconds=2)
    assert said.exists()
    game.script("kill")
    game.start()
    again, witness = log_in("bob"), log_in("eve")
    again.hello(), witness.hello()
    assert again.receipt(key)["state"] == "never"
    assert [event for event in witness.events() + again.events() if "last breath" in str(event)] == []
    assert again.act(key, line)["state"] == "done"
    witness.event(own="with my last breath")


def test_a_restored_database_is_noticed_and_numbers_go_on(game, bob, alice, log_in):
    """Yesterday's copy: the client is ahead of the game, first plainly, then hidden by new entries."""
    alice.line("say in the copy")
    in_copy = bob.event(own="in the copy")
    game.script("stop")
    copy = game.folder / "yesterday.db3"
    shutil.copy(game.database, copy)
    game.start()
    bob, alice = log_in("bob"), log_in("alice")
    greeting = bob.hello()
    for word in ("first", "second", "third"):
        alice.line(f"say {word} after the copy")
        newest = bob.event(own=f"{word} after the copy")
    bob.ack_all()
    act = new_key("lost with the copy")
    bob.act(act, "look")

    restore(game, copy)
    bob, alice = log_in("bob"), log_in("alice")
    again = bob.hello(**position(newest, greeting))
    assert (again["life"], again["restored"], again["lost"]) == (greeting["life"], True, 0)
    assert [event["own"] for event in bob.heard()] == []
    assert bob.receipt(act)["state"] == "never"
    alice.line("say a new day")
    fresh = bob.event(own="a new day")
    assert fresh["seq"] > newest["seq"] > in_copy["seq"]

    restore(game, copy)
    alice = log_in("alice")
    for number in range(12):
        alice.line(f"page bob = new {number}")
    alice.fence()
    bob = log_in("bob")
    again = bob.hello(**position(newest, greeting))
    assert again["restored"] is True
    told = [event for event in bob.events() if event["kind"] == "page"]
    # All that was said since, once, above every number that the client knows; nothing that it has.
    assert [event["own"] for event in told] == [f"new {number}" for number in range(12)]
    assert all(event["seq"] > newest["seq"] for event in told)
    assert "in the copy" not in [event["own"] for event in bob.events()]


def restore(game, copy) -> None:
    game.script("stop")
    shutil.copy(copy, game.database)
    game.start()


@pytest.mark.parametrize("command", ["reload"])
def test_a_reload_is_announced_and_the_session_goes_on(game, bob, alice, command):
    game.script(command)
    bob.frame("dormouse_server", event="reloading")
    greeting = bob.hello()
    assert greeting["life"] == bob.greeting["life"]
    assert bob.act(new_key("after"), "look")["state"] == "done"
    alice.line("say still together")
    assert bob.event(kind="say")["own"] == "still together"


def test_a_stop_is_announced(game, bob, log_in):
    game.script("stop")
    assert bob.frame("dormouse_server")["event"] == "stopping"
    game.start()
    again = log_in("bob")
    assert again.hello()["seq"] >= bob.greeting["seq"]
