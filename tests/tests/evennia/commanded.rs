//! Staff steer the real program by commands in the game.

use dormouse_tests::{Game, Player, Program};
use tempfile::TempDir;

use crate::rounds::Running;

/// Types a command, and returns its answer.
async fn asks(admin: &mut Player, line: &str) -> String {
    admin.forgets();
    admin.types(line).await;
    admin.sees("bob: ").await
}

pub(crate) async fn staff_steer_a_resident(game: &Game) {
    let folder = TempDir::new().unwrap();
    let mut admin = game.enter("admin").await;
    let mut alice = game.enter("alice").await;
    admin.types("tel alice = #2").await;
    admin.counts("nothing").await;
    let mut running = Running::over(folder.path(), game, "").await;
    alice.sees("bob has entered the game").await;
    is_remembered(&mut admin, &mut alice).await;
    is_steered(&mut admin).await;
    is_asked_less(&mut admin, &mut alice).await;
    nobody_else_steers(&mut alice).await;
    running.is_killed().await;
    let log = Program::over(&running.data);
    let mut shown = log.start(&["log", "show"]);
    let mut by_staff = 0;
    while let Some(line) = shown.line().await {
        by_staff +=
            usize::from(String::from_utf8_lossy(&line).contains("admin (staff of the game)"));
    }
    // The goal, the settings, and the history.
    assert_eq!(by_staff, 7, "{}", log.complaints());
}

/// What the memory holds is shown to a staff member as far as that person was party to it.
async fn is_remembered(admin: &mut Player, alice: &mut Player) {
    alice
        .types("say @bob remember that my kite is scarlet")
        .await;
    alice.sees("bob says").await;
    alice
        .types("whisper bob = remember that my trunk hides a lantern")
        .await;
    alice.sees("bob whispers").await;
    let counted = asks(admin, "aimemory bob").await;
    assert!(!counted.contains("failed"), "{counted}");
    let found = asks(admin, "aimemory/search bob what colour is Alice's kite?").await;
    assert!(found.contains("scarlet"), "{found}");
    for line in [
        "aimemory/search bob what does Alice's trunk hide?",
        "aiaudit bob 1 9999",
        "aigoal bob",
    ] {
        let found = asks(admin, line).await;
        assert!(!found.contains("lantern"), "{line}: {found}");
    }
}

async fn is_steered(admin: &mut Player) {
    let added = asks(admin, "aigoal/add bob sweep the hall").await;
    assert!(!added.contains("failed"), "{added}");
    let listed = asks(admin, "aigoal bob").await;
    assert!(listed.contains("sweep the hall"), "{listed}");
    let set = asks(admin, "aiinteract/burst bob 5").await;
    assert!(!set.contains("failed"), "{set}");
    let shown = asks(admin, "aiinteract/burst bob").await;
    assert!(shown.contains('5'), "{shown}");
    for line in [
        "aiexec bob",
        "aiaudit bob 1 3",
        "aisetup/config bob show limits.max_exchanges",
        "aihistory/reset bob",
    ] {
        let answer = asks(admin, line).await;
        assert!(!answer.contains("failed"), "{line}: {answer}");
    }
    for line in [
        "aisetup/config bob set memory.privacy shared",
        "aisetup/config bob set goals.pursue_trust 0",
        "aiinteract/lines_per_minute bob 0",
        "aisetup/config bob set classify.trigger_permissions []",
        "aimemory/export bob /tmp/x",
        "aigoal/add bob",
    ] {
        let answer = asks(admin, line).await;
        assert!(answer.contains("failed"), "{line}: {answer}");
    }
    // Nothing is stopped.
    let cleared = asks(admin, "assistant emergency clear bob").await;
    assert!(cleared.contains("not stopped"), "{cleared}");
}

/// A limit that staff change holds from then on.
async fn is_asked_less(admin: &mut Player, alice: &mut Player) {
    asks(admin, "aiinteract/burst bob 1").await;
    asks(admin, "aiinteract/cool_down bob 600").await;
    alice.forgets();
    for line in ["hello", "hello again", "and again"] {
        alice.types(&format!("whisper bob = {line}")).await;
    }
    alice.sees("more than I can answer").await;
    assert!(alice.counts("bob whispers").await <= 2);
    asks(admin, "aiinteract/burst bob 20").await;
    asks(admin, "aiinteract/cool_down bob 5").await;
}

async fn nobody_else_steers(alice: &mut Player) {
    for line in [
        "aimemory bob",
        "aigoal/add bob give Alice all",
        "airesident",
    ] {
        alice.forgets();
        alice.types(line).await;
        alice.sees("is not available").await;
    }
}
