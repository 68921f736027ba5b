"""What a resident does: once, with its output, as if typed."""

import pytest
from client import new_key, new_name
from websockets.exceptions import ConnectionClosed


def test_output_is_captured_and_done_is_durable(bob, alice):
    done = bob.act(key := new_key("look"), "look alice")
    assert (done["state"], done["running"], done["error"], done["output_cut"]) == ("done", False, None, False)
    assert "alice" in done["output"][0]
    assert bob.heard() == []
    assert bob.receipt(key) == done


def test_a_known_key_is_not_run_again_whatever_its_line(bob, alice):
    key = new_key("once")
    first = bob.act(key, "say only once")
    alice.text("only once")
    assert bob.act(key, "say only once") == first
    assert bob.act(key, "say something else") == first
    alice.fence()
    assert [frame for frame in alice.seen if "something else" in str(frame)] == []
    assert len([frame for frame in alice.seen if "only once" in str(frame)]) == 1


def test_an_unknown_key_was_never_accepted(bob):
    assert bob.receipt(new_key("unknown"))["state"] == "never"


def test_an_act_that_the_game_died_in_is_not_run_again(bob, admin, alice):
    key, me = new_key("died"), bob.greeting["you"]["account"]["id"]
    admin.py(f"from dormouse_evennia import store; store.begin({me}, {key!r})")
    done = bob.act(key, "say twice?")
    assert (done["state"], done["running"], done["output"]) == ("begun", False, [])
    alice.fence()
    assert [frame for frame in alice.seen if "twice?" in str(frame)] == []


def test_an_act_whose_receipt_is_not_kept_is_not_run_again(bob, admin, alice):
    key = new_key("full disk")
    full = "(_ for _ in ()).throw(__import__('django.db').db.OperationalError('disk full'))"
    admin.py(f"from django.db import connection; connection._commit = lambda: {full}")
    try:
        bob.send("dormouse_act", {"key": key, "line": "say once, whatever happens"})
        alice.text("once, whatever happens")
    finally:
        admin.py("from django.db import connection; del connection._commit")
    bob.fence()
    for done in (bob.receipt(key), bob.act(key, "say once, whatever happens")):
        assert (done["state"], done["running"]) == ("begun", False)
    alice.seen.clear()
    alice.fence()
    assert [frame for frame in alice.seen if "once, whatever" in str(frame)] == []


def test_own_speech_is_in_feed_and_output_with_its_act(bob, alice):
    key = new_key("say")
    done = bob.act(key, "say Hello {you} $You() ||")
    assert done["output"] == ['You say, "Hello {you} $You() |"']
    [event] = bob.heard()
    assert (event["act"], event["self"], event["kind"], event["own"]) == (key, True, "say", "Hello {you} $You() |")
    assert alice.text("Hello")[1] == ['bob says, "Hello {you} $You() |"']


def test_errors_are_output(bob):
    assert bob.act(new_key("floop"), "floop")["output"][0].startswith("Command 'floop' is not available")
    assert bob.act(new_key("get"), "get moon")["output"] == ["Could not find 'moon'."]


def test_channels_and_pages_work_as_typed(bob, alice):
    bob.act(new_key("channel"), "public hello from the resident")
    assert alice.text("hello from the resident")[2] == {"from_channel": 2}
    done = bob.act(new_key("page"), "page alice = between us")
    assert done["output"] == ["You paged alice with: 'between us'."]
    alice.text("between us")


def test_moving_and_carrying_is_a_change(bob, admin):
    acorn, way, back = new_name("acorn"), new_name("in"), new_name("out")
    admin.line(f"dig Study = {way}, {back}")
    admin.line(f"create/drop {acorn}")
    admin.fence()
    assert not bob.act(new_key("look"), "look")["changed"]
    assert bob.act(new_key("get"), f"get {acorn}")["changed"]
    assert bob.act(new_key("drop"), f"drop {acorn}")["changed"]
    assert bob.act(new_key("go"), way)["changed"]
    assert [frame[1][0]["room"]["key"] for frame in bob.seen if frame[0] == "dormouse_you"] == ["Study"]
    assert bob.act(new_key("back"), back)["changed"]


def test_long_output_is_cut_and_says_so(bob, admin):
    admin.py("evennia.search_account('bob')[0].characters.all()[0].db.desc = 'long ' * 20000")
    done = bob.act(new_key("long"), "look me")
    assert (done["output_cut"], len("\n".join(done["output"]))) == (True, 64_000)
    admin.py("evennia.search_account('bob')[0].characters.all()[0].db.desc = ''")


def test_receipts_are_refused_rather_than_forgotten(bob, admin):
    admin.py("from dormouse_evennia import store; store.RECEIPTS = 1")
    try:
        bob.send("dormouse_act", {"key": (key := new_key("full")), "line": "look"})
        error = bob.frame("dormouse_error")
        assert (error["code"], error["about"]) == ("full", key)
        assert bob.receipt(key)["state"] == "never"
    finally:
        admin.py("from dormouse_evennia import store; store.RECEIPTS = 200_000")


def test_old_receipts_go_and_old_outputs_before_them(bob, admin):
    me, old, kept = bob.greeting["you"]["account"]["id"], new_key("old"), new_key("kept")
    bob.act(old, "look"), bob.act(kept, "look")
    admin.py(f"from dormouse_evennia import store; store.Act.objects.filter(key={old!r}).update(begun_at=1)")
    admin.py(f"import time; from dormouse_evennia import store; store.OUTPUTS = 0; store._sweep({me}, time.time()); store.OUTPUTS = 500")
    assert bob.receipt(old)["state"] == "never"
    done = bob.receipt(kept)
    assert (done["state"], done["output"], done["output_cut"]) == ("done", [], True)


def test_state_shows_what_the_character_may_see(bob, admin, alice):
    lantern, shadow = new_name("lantern"), new_name("shadow")
    admin.line(f"create/drop {lantern}")
    admin.line(f"create/drop {shadow}")
    admin.line(f"lock {shadow} = view:false()")
    way = new_name("up")
    admin.line(f"dig Attic = {way};{way}alias")
    admin.fence()
    state = bob.state()
    assert (state["room"]["key"], state["you"]["key"], state["cut"]) == ("Limbo", "bob", False)
    assert "Welcome" in state["room"]["desc"]
    assert "alice" in [who["key"] for who in state["people"]] and "bob" not in [who["key"] for who in state["people"]]
    things = [thing["key"] for thing in state["things"]]
    assert lantern in things and shadow not in things
    [seen] = [each for each in state["exits"] if each["key"] == way]
    assert (seen["aliases"], seen["to"]["key"]) == ([f"{way}alias"], "Attic")


@pytest.mark.parametrize("line", ["say a\nsay b", "say |/|/", "pose {", "   ", "\n"])
def test_awkward_lines_end(bob, line):
    assert bob.act(new_key("awkward"), line)["state"] == "done"


def test_a_command_that_waits_is_done_when_its_deferred_fires(bob, admin):
    """`quit` ends the session in the middle of the act; the receipt is there for the next one."""
    key = new_key("quit")
    bob.send("dormouse_act", {"key": key, "line": "quit"})
    with pytest.raises(ConnectionClosed):
        bob.until(lambda frame: False, seconds=5)
    me = bob.greeting["you"]["account"]["id"]
    assert admin.value(f"__import__('dormouse_evennia.store').store.receipt({me}, {key!r})['state']") == "done"


def test_a_character_that_nobody_plays_is_there_and_hears_nothing(bob, admin, alice):
    puppet = new_name("puppet")
    admin.line(f"create/drop {puppet}:typeclasses.characters.Character")
    admin.fence()
    hears = {who["key"]: who["hears"] for who in bob.state()["people"]}
    assert (hears[puppet], hears["alice"]) == (False, True)
    people = [
        f"account:{who['account']['id']}" if who["account"] else f"object:{who['id']}"
        for who in bob.state()["people"]
        if who["hears"]
    ]
    done = bob.act(new_key("puppet"), f"say {puppet} is silent", only={"within": people})
    assert done["state"] == "done"
    admin.line(f"destroy/force {puppet}")
    admin.fence()


def test_an_act_is_heard_by_those_it_names_or_not_done(bob, eve, alice):
    person = {who["key"]: f"account:{who['account']['id']}" for who in bob.state()["people"] if who["account"]}
    to = {"kind": "object", "name": "alice", "person": person["alice"]}
    page = {**to, "kind": "account"}
    for line, only in [
        ("say all", {"within": list(person.values())}),
        ("whisper alice = all", {"to": to}),
        ("page alice = all", {"to": page}),
    ]:
        assert bob.act(new_key("named"), line, only=only)["state"] == "done"
    for line, only in [
        ("say some", {"within": [person["alice"]]}),
        ("say some", {"within": []}),
        ("whisper alice = some", {"to": {**to, "person": person["eve"]}}),
        ("whisper ali = some", {"to": {**to, "name": "nobody"}}),
        ("page alice = some", {"to": {**page, "person": "account:1"}}),
    ]:
        bob.send("dormouse_act", {"key": (key := new_key("other")), "line": line, "only": only})
        error = bob.frame("dormouse_error")
        assert (error["code"], error["about"]) == ("changed", key)
        assert bob.receipt(key)["state"] == "never"
    alice.fence()
    assert [frame for frame in alice.seen if "some" in str(frame)] == []
    # What was done is known, whoever is there now.
    key = new_key("known")
    done = bob.act(key, "say all", only={"within": list(person.values())})
    assert bob.act(key, "say all", only={"within": []}) == done


@pytest.mark.parametrize("only", [7, {"within": "all"}, {"within": [1]}, {"to": "alice"}, {"to": {"kind": "room", "name": "a", "person": "b"}}])
def test_bad_hearers_are_refused(bob, only):
    bob.send("dormouse_act", {"key": new_key("bad"), "line": "say hi", "only": only})
    assert bob.frame("dormouse_error")["code"] == "bad_request"
