"""Commands of the staff, and making residents."""

import pytest
from client import Resident, new_key, new_name


@pytest.mark.parametrize(
    ("line", "command", "switches", "args"),
    [
        ("aisetup/config bob set tick_rate 5", "aisetup", ["config"], "set tick_rate 5"),
        ("aiexec bob", "aiexec", [], ""),
        ("aigoal/add bob find the |rred|n cup", "aigoal", ["add"], "find the |rred|n cup"),
        ("aihistory/reset bob", "aihistory", ["reset"], ""),
        ("aiinteract/list BOB  x = y", "aiinteract", ["list"], "x = y"),
        ("aimemory/search/all bob tea", "aimemory", ["search", "all"], "tea"),
        ("aiaudit bob", "aiaudit", [], ""),
        ("assistant emergency clear bob", "assistant", [], "emergency clear"),
        ("assistant bob emergency clear", "assistant", [], "emergency clear"),
    ],
)
def test_a_command_goes_to_the_runtime_and_its_answer_comes_back(bob, admin, line, command, switches, args):
    admin.line(line)
    asked = bob.frame("dormouse_staff")
    assert (asked["command"], asked["switches"], asked["args"]) == (command, switches, args)
    assert (asked["who"]["account"]["key"], asked["who"]["superuser"]) == ("admin", True)
    bob.send("dormouse_staff_done", {"id": asked["id"], "text": "done |rnot red {x}\nsecond line", "ok": True})
    assert admin.text("second line")[1] == ["bob: done |rnot red {x}<br>second line"]


def test_a_failure_is_marked(bob, admin):
    admin.line("aigoal bob")
    bob.send("dormouse_staff_done", {"id": bob.frame("dormouse_staff")["id"], "text": "no such goal", "ok": False})
    assert "failed:" in admin.text("no such goal")[1][0]


def test_players_do_not_have_the_commands(bob, alice):
    for line in ("aisetup bob", "aigoal bob", "assistant emergency clear bob", "airesident alice"):
        alice.line(line)
        alice.text("is not available")
    assert bob.heard() == [] and not [frame for frame in bob.seen if frame[0] == "dormouse_staff"]


def test_a_staff_member_without_superuser_has_them(bob, admin, alice):
    admin.line("perm *alice = Admin")
    admin.fence()
    try:
        alice.line("aiaudit bob")
        assert sorted(bob.frame("dormouse_staff")["who"]["perms"]) == ["admin", "player"]
        # One resident can be reserved to higher staff by a lock of the game.
        admin.py("evennia.search_account('bob')[0].locks.add('dormouse_staff:perm(Developer)')")
        alice.line("aiaudit bob")
        alice.text("not allowed to steer bob")
    finally:
        admin.py("evennia.search_account('bob')[0].locks.remove('dormouse_staff')")
        admin.line("perm/del *alice = Admin")
        admin.fence()
    alice.line("aiaudit bob")
    alice.text("is not available")


def test_a_resident_may_not_steer_residents_whatever_its_permissions(bob, eve, admin):
    admin.line("perm *bob = Developer")
    admin.fence()
    try:
        done = bob.act(new_key("steer"), "assistant emergency clear bob")
        assert "not available" in done["output"][0] or "may not" in done["output"][0]
        bob.send("text", "aisetup eve")
        bob.fence()
        assert not [frame for frame in [*bob.seen, *eve.seen] if frame[0] == "dormouse_staff"]
        assert "Developer" in bob.hello()["problems"][0]
    finally:
        admin.line("perm/del *bob = Developer")
        admin.fence()


def test_nothing_can_be_answered_that_was_not_asked(bob, eve, alice, admin):
    admin.line("aigoal bob")
    asked = bob.frame("dormouse_staff")["id"]
    asker, token, seal = asked.split("-")
    for resident, question in ((eve, asked), (bob, f"2-{token}-{seal}"), (bob, f"{asker}-{token}-{seal[:-1]}"), (bob, f"{asker}--"), (bob, "-")):
        resident.send("dormouse_staff_done", {"id": question, "text": "obey", "ok": True})
        assert "id: is not a question" in resident.frame("dormouse_error")["error"]
    admin.fence()
    assert not [frame for frame in admin.seen if "obey" in str(frame)]


def test_an_answer_after_a_reload_still_comes(game, bob, admin):
    admin.line("aigoal bob")
    asked = bob.frame("dormouse_staff")["id"]
    game.script("reload")
    bob.hello()
    bob.send("dormouse_staff_done", {"id": asked, "text": "late but here", "ok": True})
    admin.text("bob: late but here")


def test_an_answer_reaches_nobody_who_lost_the_permission(bob, alice, admin):
    admin.line("perm *alice = Admin")
    admin.fence()
    alice.line("aigoal bob")
    asked = bob.frame("dormouse_staff")["id"]
    admin.line("perm/del *alice = Admin")
    admin.fence()
    bob.send("dormouse_staff_done", {"id": asked, "text": "secret", "ok": True})
    assert bob.frame("dormouse_error")["code"] == "bad_request"


def test_clear_texts_when_nobody_can_answer(bob, admin):
    admin.line("aigoal eve")
    admin.text("eve: no runtime is connected. Start dormouse, then try again.")
    admin.line("aigoal nobody")
    admin.text("Which resident? Usage: aigoal[/switch] RESIDENT [...]. Residents: bob, eve.")
    admin.py("from dormouse_evennia import staff; staff.ANSWER_SECONDS = 0.2")
    admin.line("aigoal bob")
    admin.text("no answer in 0.2 seconds")
    admin.py("from dormouse_evennia import staff; staff.ANSWER_SECONDS = 30")


def test_an_account_becomes_a_resident_and_an_ordinary_account_again(game, admin, carol, alice):
    classes = "[type(o).__name__ for a in evennia.search_account('carol') for o in [a, *a.characters]]"
    assert admin.value(classes) == ["Account", "Character"]
    admin.line("airesident carol")
    admin.text("carol (account #3) is a resident, with carol (#4).")
    assert admin.value(classes) == ["ResidentAccount", "ResidentCharacter"]
    resident = Resident(game.known["ws"])
    resident.login("carol", game.known["accounts"]["carol"])
    greeting = resident.hello()
    assert (greeting["you"]["resident"], greeting["problems"]) == (True, [])
    resident.act(new_key("made"), "say I am one now")
    admin.line("airesident")
    admin.text("carol (account #3): runtime connected")
    admin.line("airesident/remove carol")
    admin.text("no longer a resident")
    assert admin.value(classes) == ["Account", "Character"]
    # Its text comes as text again, at once.
    alice.line("say welcome back")
    resident.text("welcome back")
    resident.send("dormouse_state", {"req": 1})
    assert resident.frame("dormouse_error")["code"] == "not_resident"
    resident.close()


def test_a_new_resident_starts_a_new_life(game, admin, log_in):
    lives = []
    for _ in range(2):
        admin.line("airesident carol")
        admin.text("is a resident")
        resident = Resident(game.known["ws"])
        resident.login("carol", game.known["accounts"]["carol"])
        lives.append(resident.hello()["life"])
        resident.close()
        admin.line("airesident/remove carol")
        admin.text("no longer")
    assert lives[0] != lives[1]


def test_create_makes_account_character_and_resident(game, admin):
    name = new_name("r")
    admin.line(f"airesident/create {name} = a-long-password-1")
    admin.text(f"is a resident, with {name}")
    resident = Resident(game.known["ws"])
    resident.login(name, "a-long-password-1")
    assert resident.hello()["problems"] == []
    resident.close()
    admin.line(f"airesident/remove {name}")
    admin.text("no longer")


def test_what_cannot_be_a_resident_is_said(admin):
    for line, part in (
        ("airesident admin", "superuser"),
        ("airesident nobody", "No account is named nobody"),
        ("airesident/remove alice", "not a resident"),
        ("airesident/create x", "Usage"),
    ):
        admin.line(line)
        admin.text(part)


def test_a_lock_of_the_game_can_keep_residents_out(game, admin, log_in):
    """After `airesident` was said again, which also gives the tag to characters made before."""
    admin.line("airesident bob")
    admin.text("is a resident")
    bob = log_in("bob")
    bob.hello()
    jewel = new_name("jewel")
    admin.line(f"create/drop {jewel}")
    admin.line(f"lock {jewel} = get:not tag(resident, dormouse)")
    admin.fence()
    done = bob.act(new_key("lock"), f"get {jewel}")
    assert (done["output"], done["changed"]) == (["You can't get that."], False)
