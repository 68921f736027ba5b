"""What staff do to a resident's character while it plays."""

import pytest
from client import Resident, new_key, new_name


@pytest.fixture
def resident(game, admin):
    """A resident of its own, whose character a test may spoil."""
    name = new_name("r")
    admin.line(f"airesident/create {name} = a-long-password-1")
    admin.text("is a resident")
    client = Resident(game.known["ws"])
    client.login(name, "a-long-password-1")
    client.greeting = client.hello()
    yield client
    client.close()
    admin.line(f"airesident/remove {name}")
    admin.text("no longer a resident")


def test_moved_by_staff(resident, admin):
    place, me = new_name("place"), resident.greeting["you"]["id"]
    admin.line(f"dig {place}")
    admin.line(f"tel #{me} = {place}")
    assert resident.frame("dormouse_you")["room"]["key"] == place
    assert resident.state()["room"]["key"] == place


def test_renamed_by_staff(resident, admin, bob):
    me, name = resident.greeting["you"]["id"], new_name("renamed")
    admin.rename(me, name)
    resident.act(new_key("say"), "say my name is another")
    [sender] = bob.event(own="my name is another")["from"]
    assert (sender["id"], sender["key"], sender["account"]["id"]) == (me, name, resident.greeting["you"]["account"]["id"])
    assert resident.state()["you"]["key"] == name


def test_unpuppeted_by_staff(resident, admin):
    me = resident.greeting["you"]["id"]
    admin.py(f"o = evennia.ObjectDB.objects.get(id={me}); o.account.unpuppet_object(o.sessions.all()[0])")
    notice = resident.frame("dormouse_you")
    assert (notice["you"]["kind"], notice["you"]["object"], notice["room"]) == ("account", None, None)
    assert "no character" in resident.hello()["problems"][0]
    assert resident.act(new_key("ic"), "ic")["changed"]
    assert resident.state()["you"]["id"] == me


def test_deleted_by_staff(resident, admin, alice):
    me = resident.greeting["you"]["id"]
    admin.py(f"evennia.ObjectDB.objects.get(id={me}).delete()")
    assert resident.frame("dormouse_you")["you"]["kind"] == "account"
    state = resident.state()
    assert (state["room"], state["people"], state["you"]["kind"]) == (None, [], "account")
    assert resident.act(new_key("say"), "say am I here?")["state"] == "done"
    # Evennia sends this error below the hooks to who is out of character.
    assert [frame for frame in resident.seen if frame[0] == "text" and "not available" in str(frame[1])]
    # The account still hears what goes to accounts.
    alice.line(f"page {resident.greeting['you']['account']['key']} = are you well?")
    assert resident.event(kind="page")["own"] == "are you well?"


def test_booted_by_staff_it_can_come_back(game, resident, admin):
    account = resident.greeting["you"]["account"]["key"]
    admin.line(f"boot {account}")
    admin.fence()
    again = Resident(game.known["ws"])
    again.login(account, "a-long-password-1")
    assert again.hello()["life"] == resident.greeting["life"]
    again.close()


def test_the_tag_taken_away_ends_it_at_once(resident, admin, alice):
    account = resident.greeting["you"]["account"]["key"]
    admin.py(f"evennia.search_account({account!r})[0].tags.remove('resident', category='dormouse')")
    resident.send("dormouse_act", {"key": new_key("late"), "line": "say still?"})
    assert resident.frame("dormouse_error")["code"] == "not_resident"
    alice.line("say as text")
    resident.text("as text")
    admin.py(f"evennia.search_account({account!r})[0].tags.add('resident', category='dormouse')")
