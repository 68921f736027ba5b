//! Assistants in a real Evennia game.
//!
//! One game serves all of these, because starting one takes a quarter of a minute.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test tells what it got wrong by a panic"
)]

mod classified;
mod commanded;
mod conforming;
mod flooded;
mod inhabited;
mod private;
mod restored;
mod rounds;
mod staffed;

use dormouse_testing::effort;
use dormouse_tests::{Game, tell, test_package};

/// Runs a part, and prints how long it took. `DORMOUSE_EVENNIA_PARTS` can name the parts to run.
async fn part(name: &str, part: impl Future<Output = ()>) {
    let named = std::env::var("DORMOUSE_EVENNIA_PARTS");
    if named.is_ok_and(|named| !named.contains(name)) {
        return;
    }
    let start = tokio::time::Instant::now();
    Box::pin(part).await;
    tell(&format!("{name}: {:.1} s", start.elapsed().as_secs_f32()));
}

#[test]
fn the_package_keeps_its_promises_in_a_real_game() {
    // These kill, stop and restore a game, which takes minutes.
    let left_out = match effort(50) < 50 {
        true => "--ignore=tests/test_feed.py",
        false => "--strict-markers",
    };
    test_package(&[left_out]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn assistants_live_in_a_real_game() {
    let Some(game) = Game::start() else { return };
    part(
        "classified",
        classified::what_is_said_is_perceived_as_the_game_attests_it(&game),
    )
    .await;
    part(
        "conforming",
        conforming::a_game_keeps_the_promises_of_a_world(&game),
    )
    .await;
    part(
        "private",
        private::what_is_said_in_private_stays_private(&game),
    )
    .await;
    part("flooded", flooded::one_who_floods_starves_nobody(&game)).await;
    part("commanded", commanded::staff_steer_a_resident(&game)).await;
    part("staffed", staffed::staff_move_and_stop_a_resident(&game)).await;
    part(
        "restored",
        Box::pin(restored::a_program_that_was_started_again_notices_an_older_copy(&game)),
    )
    .await;
    part(
        "rounds",
        rounds::every_message_is_answered_once_whatever_is_killed(&game),
    )
    .await;
}
