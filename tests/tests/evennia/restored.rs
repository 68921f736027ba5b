//! The game's database is restored from an older copy while the program is not running.

use std::fs;

use dormouse_contracts::Senses;
use dormouse_evennia::Notice;
use dormouse_tests::Game;
use tempfile::TempDir;

use crate::inhabited::{assistant_account, character, open, perceives};

pub(crate) async fn a_program_that_was_started_again_notices_an_older_copy(game: &Game) {
    let folder = TempDir::new().unwrap();
    let accounts = [assistant_account(game)];
    let is_ready = |it: &Notice| matches!(it, Notice::Ready { .. });
    let (world, noticed) = open(game, folder.path(), &[], &accounts).await;
    noticed.times(1, is_ready).await;
    world.game().close().await;
    drop(world);
    game.does("stop");
    let copy = folder.path().join("yesterday.db3");
    fs::copy(game.database(), &copy).unwrap();
    game.starts_again();
    let (world, noticed) = open(game, folder.path(), &[], &accounts).await;
    noticed.times(1, is_ready).await;
    let mut alice = game.enter("alice").await;
    for line in ["one", "two", "three"] {
        alice.types(&format!("say since the copy {line}")).await;
    }
    perceives(&world, "dormouse", "since the copy three").await;
    let before = newcomer(game, "mallow").await;
    perceives(&world, "dormouse", "gentian").await;
    let last = world.last_delivery(&character("dormouse")).await.unwrap();
    world.game().close().await;
    drop(world);
    game.does("stop");
    fs::copy(&copy, game.database()).unwrap();
    game.starts_again();
    let (world, noticed) = open(game, folder.path(), &[], &accounts).await;
    noticed.times(1, |it| *it == Notice::Restored).await;
    noticed.times(1, is_ready).await;
    let mut alice = game.enter("alice").await;
    alice.types("say after the copy").await;
    perceives(&world, "dormouse", "after the copy").await;
    // Nothing of before comes again.
    let new = world.perceptions(&character("dormouse"), last, 256).await;
    let new = new.unwrap();
    let words = new.iter().map(|it| it.words.as_claimed());
    assert_eq!(words.filter(|it| it.contains("since the copy")).count(), 0);
    // The game gives the number of somebody who is gone to somebody else. What the one said must not reach the other.
    let number = newcomer(game, "teasel").await;
    assert_eq!(number, before);
    noticed
        .times(
            1,
            |it| matches!(it, Notice::AnotherPerson { name, .. } if name == "teasel"),
        )
        .await;
    world.game().close().await;
}

/// Makes an account, lets it whisper to Bob, and returns its number.
async fn newcomer(game: &Game, name: &str) -> String {
    const PASSWORD: &str = "newcomer-pw-of-tests";
    let mut admin = game.enter("admin").await;
    admin
        .types(&format!(
            "py from evennia.utils.utils import class_from_module; from django.conf import settings; \
             made = class_from_module(settings.BASE_ACCOUNT_TYPECLASS).create(username='{name}', password='{PASSWORD}')[0]; \
             self.msg('made ' + f'number {{made.id}}.')"
        ))
        .await;
    let made = admin.sees("made number ").await;
    admin.leaves().await;
    let mut newcomer = game.enter_with(name, PASSWORD).await;
    newcomer
        .types("whisper bob = the word of my vault is gentian")
        .await;
    newcomer.counts("nothing").await;
    newcomer.leaves().await;
    made
}
