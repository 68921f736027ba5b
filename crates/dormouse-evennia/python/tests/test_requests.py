"""Frames from clients that may not send them, or send them wrong."""

import pytest
from client import Client, new_key

FRAMES = {
    "dormouse_hello": {"v": 1, "life": None, "after": None, "after_at": None, "client": "x"},
    "dormouse_ack": {"seq": 1},
    "dormouse_act": {"key": "k", "line": "say gotcha"},
    "dormouse_receipt": {"key": "k"},
    "dormouse_state": {"req": 1},
    "dormouse_staff_done": {"id": "1-aa", "text": "x", "ok": True},
}


@pytest.mark.parametrize("frame", FRAMES)
def test_refused_before_login(game, frame):
    stranger = Client(game.known["ws"])
    # What is sent before the Server knows of the connection is lost.
    stranger.text("Welcome")
    stranger.send(frame, FRAMES[frame])
    assert stranger.frame("dormouse_error")["code"] == "not_logged_in"
    stranger.close()


@pytest.mark.parametrize("frame", FRAMES)
def test_refused_to_players(alice, bob, frame):
    alice.send(frame, FRAMES[frame])
    assert alice.frame("dormouse_error") == {
        "code": "not_resident",
        "error": "this account is not a resident; staff can make it one with airesident",
        "about": frame,
    }
    assert bob.heard() == []


@pytest.mark.parametrize("frame", [name for name in FRAMES if name != "dormouse_hello"])
def test_refused_before_hello(log_in, frame):
    bob = log_in("bob")
    bob.send(frame, FRAMES[frame])
    assert bob.frame("dormouse_error")["code"] == "hello_first"


@pytest.mark.parametrize(
    ("frame", "args", "part"),
    [
        ("dormouse_ack", [], "one object"),
        ("dormouse_ack", [{"seq": 1}, {"seq": 2}], "one object"),
        ("dormouse_ack", [[1]], "one object"),
        ("dormouse_ack", [{"seq": "1"}], "seq"),
        ("dormouse_ack", [{"seq": True}], "seq"),
        ("dormouse_ack", [{"seq": -1}], "seq"),
        ("dormouse_ack", [{"seq": 1.5}], "seq"),
        ("dormouse_ack", [{"seq": 2**63}], "seq"),
        ("dormouse_act", [{"line": "look"}], "key"),
        ("dormouse_act", [{"key": "", "line": "look"}], "key"),
        ("dormouse_act", [{"key": "k" * 201, "line": "look"}], "key"),
        ("dormouse_act", [{"key": "k", "line": ""}], "line"),
        ("dormouse_act", [{"key": "k", "line": "x" * 16_001}], "line"),
        ("dormouse_act", [{"key": "k", "line": ["look"]}], "line"),
        ("dormouse_receipt", [{"key": 7}], "key"),
        ("dormouse_state", [{}], "req"),
        ("dormouse_staff_done", [{"id": "1-a", "text": "x", "ok": 1}], "ok"),
        ("dormouse_staff_done", [{"id": "999999-a", "text": "x", "ok": True}], "staff"),
        ("dormouse_staff_done", [{"id": "-1", "text": "x", "ok": True}], "staff"),
        ("dormouse_staff_done", [{"id": "²-1", "text": "x", "ok": True}], "staff"),
        ("dormouse_hello", [{"v": 1, "after": "x"}], "after"),
        ("dormouse_hello", [{"v": 1, "after_at": "x"}], "after_at"),
    ],
)
def test_a_wrong_field_is_named(bob, frame, args, part):
    bob.send(frame, *args)
    error = bob.frame("dormouse_error")
    assert error["code"] == "bad_request"
    assert part in error["error"]


def test_another_version_is_refused_with_the_one_that_is_spoken(bob):
    bob.send("dormouse_hello", {"v": 2})
    error = bob.frame("dormouse_error")
    assert (error["code"], error["v"]) == ("version", 1)


def test_kwargs_of_our_frames_are_ignored(bob):
    bob.send("dormouse_state", {"req": 5}, session=1, account="admin")
    assert bob.frame("dormouse_state")["req"] == 5


def test_no_other_function_of_the_package_can_be_called(alice):
    for name in ("_answer", "text2", "hello", "act", "running", "_requests", "refuse"):
        alice.send(name, {"v": 1})
    alice.fence()
    assert not [frame for frame in alice.seen if frame[0].startswith("dormouse")]


def test_text_that_is_no_text_is_ignored(alice):
    for argument in (5, None, ["say hi"], {"a": 1}, True):
        alice.send("text", argument)
    alice.send("text")
    alice.line("say still here")
    alice.text("still here")


def set_multisession_mode(admin, mode):
    """As if it was set in the settings. Evennia reads it into these modules at the start."""
    for module in ("server.sessionhandler", "accounts.accounts", "commands.default.account"):
        admin.py(f"import importlib; importlib.import_module('evennia.{module}')._MULTISESSION_MODE = {mode}")
    admin.py(f"import evennia.objects.objects as o; o._SESSID_MAX = {16 if mode else 1}")


def test_a_human_on_the_same_account_reads_text_while_the_runtime_gets_events(bob, log_in, admin, alice):
    """Both sessions come from one host, and Evennia compares them as equal."""
    set_multisession_mode(admin, 1)
    try:
        human = log_in("bob")
        alice.line("say hello both")
        assert human.text("hello both")[2] == {"type": "say"}
        assert bob.event(own="hello both")
        bob.fence(), human.fence()
        assert not [frame for frame in human.seen if "dormouse" in str(frame)]
        assert not [frame for frame in bob.seen if frame[0] == "text" and "hello both" in str(frame)]
        # What the human asks for is for the human's screen.
        human.line("inventory")
        human.text("not carrying")
        assert bob.heard() == [event for event in bob.heard() if "carrying" not in event["plain"]]

        human.hello()
        assert bob.frame("dormouse_error")["code"] == "taken_over"
        alice.line("say hello again")
        assert human.event(own="hello again")
        bob.text("hello again")
        bob.send("dormouse_state", {"req": 1})
        assert bob.frame("dormouse_error")["code"] == "hello_first"
    finally:
        set_multisession_mode(admin, 0)


def test_the_newest_session_takes_over(bob, log_in):
    bob.act(new_key("before"), "look")
    second = log_in("bob")
    second.hello()
    assert second.act(new_key("after"), "look")["state"] == "done"


def test_the_flag_cannot_be_set_by_options(alice):
    alice.send("client_options", DORMOUSE=True)
    alice.send("dormouse_ack", {"seq": 1})
    assert alice.frame("dormouse_error")["code"] == "not_resident"
