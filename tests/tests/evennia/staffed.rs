//! Staff move a resident's character, take it away, delete it, and ban its account, while it lives.

use dormouse_contracts::{Outcome, Perform, Presence, Senses, WorldErrorKind};
use dormouse_evennia::{EvenniaWorld, Notice};
use dormouse_tests::{Game, Player};
use serde_json::json;
use tempfile::TempDir;

use crate::{
    classified::{does, effect},
    inhabited::{Noticed, character, open, perceives},
};

const PASSWORD: &str = "tom-pw-of-tests";

async fn presence(world: &EvenniaWorld) -> Presence {
    world.presence(&character("mole")).await.unwrap()
}

async fn place(world: &EvenniaWorld) -> Option<String> {
    presence(world).await.place.map(|place| place.name)
}

async fn says(world: &EvenniaWorld, what: &str) -> Outcome {
    let (key, message) = (what.replace(' ', "-"), format!("this is {what}"));
    does(world, "mole", &key, ("say", json!({ "message": message }))).await
}

fn is_done(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done(_))
}

/// A line of Python in the game.
async fn runs(admin: &mut Player, code: &str) {
    admin.types(&format!("py {code}")).await;
    admin.counts("nothing").await;
}

const TOM: &str = "a = evennia.search_account('tom')[0]; o = a.characters.all()[0]";

pub(crate) async fn staff_move_and_stop_a_resident(game: &Game) {
    let folder = TempDir::new().unwrap();
    let mut admin = game.enter("admin").await;
    let mut alice = game.enter("alice").await;
    admin
        .types(&format!("airesident/create tom = {PASSWORD}"))
        .await;
    admin.sees("is a resident").await;
    admin.types("tel alice = #2").await;
    let accounts = [("mole", "tom", PASSWORD)];
    let (world, noticed) = open(game, folder.path(), &[], &accounts).await;
    noticed
        .times(1, |it| matches!(it, Notice::Ready { .. }))
        .await;
    assert!(is_done(&says(&world, "the beginning").await));
    alice.sees("this is the beginning").await;
    is_moved(&world, &mut admin, &mut alice).await;
    is_taken_away(&world, &noticed, &mut admin, &mut alice).await;
    is_deleted(&world, &noticed, &mut admin, &mut alice).await;
    is_banned(&world, &noticed, &mut admin).await;
    world.game().close().await;
    drop(world);
    // After the ban, a new start is enough.
    admin.types("unban 1").await;
    admin.sees("want to unban").await;
    admin.types("y").await;
    admin.sees("Cleared ban").await;
    let (world, noticed) = open(game, folder.path(), &[], &accounts).await;
    noticed
        .times(1, |it| matches!(it, Notice::Ready { .. }))
        .await;
    world.game().close().await;
    admin.types("airesident/remove tom").await;
    admin.sees("no longer a resident").await;
    // The next part begins where everybody is together.
    admin.types("tel alice = #2").await;
    admin.counts("nothing").await;
}

/// It speaks and hears where it is put, and knows where that is.
async fn is_moved(world: &EvenniaWorld, admin: &mut Player, alice: &mut Player) {
    // A game that is kept has those of earlier runs.
    let cellar = format!("Cellar{}", std::process::id());
    admin.types(&format!("dig {cellar}")).await;
    admin.types(&format!("tel tom = {cellar}")).await;
    admin.counts("nothing").await;
    assert_eq!(place(world).await, Some(cellar.clone()));
    assert!(is_done(&says(world, "the cellar").await));
    admin.types(&format!("tel alice = {cellar}")).await;
    admin.counts("nothing").await;
    alice.types("say I am here, too").await;
    let heard = perceives(world, "mole", "I am here, too").await;
    assert_eq!(heard.attested.place.unwrap().name, cellar);
    assert_eq!(alice.counts("this is the cellar").await, 0);
    assert!(is_done(&says(world, "what she hears").await));
    alice.sees("this is what she hears").await;
}

/// Without a character it is in no room. It hears what goes to accounts, and the operator reads what is wrong.
async fn is_out_of_character(world: &EvenniaWorld, alice: &mut Player, key: &str) {
    assert_eq!(presence(world).await.place, None);
    let refused = says(world, key).await;
    let Outcome::Rejected(why) = &refused else {
        panic!("{refused:?}")
    };
    assert!(why.reason.contains("not in the game"), "{why:?}");
    alice.types(&format!("page tom = are you {key}")).await;
    perceives(world, "mole", &format!("are you {key}")).await;
}

async fn is_taken_away(
    world: &EvenniaWorld,
    noticed: &Noticed,
    admin: &mut Player,
    alice: &mut Player,
) {
    runs(
        admin,
        &format!("{TOM}; a.unpuppet_object(o.sessions.all()[0])"),
    )
    .await;
    let is_problem =
        |it: &Notice| matches!(it, Notice::Problem { problem } if problem.contains("no character"));
    noticed.times(1, is_problem).await;
    is_out_of_character(world, alice, "taken away").await;
    runs(
        admin,
        &format!("{TOM}; a.puppet_object(a.sessions.all()[0], o)"),
    )
    .await;
    assert!(is_done(&says(world, "that it is back").await));
    alice.sees("this is that it is back").await;
}

async fn is_deleted(
    world: &EvenniaWorld,
    noticed: &Noticed,
    admin: &mut Player,
    alice: &mut Player,
) {
    runs(admin, &format!("{TOM}; o.delete()")).await;
    let is_problem =
        |it: &Notice| matches!(it, Notice::Problem { problem } if problem.contains("no character"));
    noticed.times(2, is_problem).await;
    is_out_of_character(world, alice, "deleted").await;
}

/// A ban alone keeps nobody from staying. Who is put out of the game then does not come back, and does not try for ever.
async fn is_banned(world: &EvenniaWorld, noticed: &Noticed, admin: &mut Player) {
    admin.types("ban tom").await;
    admin.sees("Name-ban").await;
    admin.types("y").await;
    admin.sees("was added").await;
    admin.types("boot tom").await;
    noticed
        .times(1, |it| matches!(it, Notice::NotLetIn { .. }))
        .await;
    let say = effect("mole", "banned", ("say", json!({ "message": "still?" })));
    let failed = world.perform(&say).await.unwrap_err();
    assert_eq!(failed.kind(), WorldErrorKind::NotReached);
}
