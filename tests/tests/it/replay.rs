//! The program's log, folded outside the program.

use dormouse_contracts::Seq;
use dormouse_engine::replay;
use dormouse_tests::Program;

use crate::{
    account::{Account, every_decision_is_the_same_again},
    host::{Host, key},
};

const LINES: [&str; 4] = [
    "hello",
    "remember that Alice prefers tea",
    "\"nobody in particular is meant",
    "what does Alice prefer?",
];

#[tokio::test]
async fn a_life_can_be_looked_at_as_it_was_after_any_event() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = Program::over(folder.path());
    let mut child = program.start(&["play", "--provider", "offline", "--json"]);
    for line in LINES {
        child.write(line).await;
    }
    let (printed, status) = child.finish().await;
    assert!(status.success(), "{}", program.complaints());
    let mut events = printed.iter().filter(|line| line["type"] == "event");
    let last = events.next_back().expect("something happened")["seq"].clone();
    let last = last.as_u64().unwrap();

    let mut hashes = Vec::new();
    for at in [0, 1, last / 2, last] {
        let at = at.to_string();
        let asked = ["log", "replay", "--json", "--at", &at];
        let (printed, status) = program.start(&asked).finish().await;
        assert!(status.success(), "{}", program.complaints());
        hashes.push((at.parse().unwrap(), printed[0]["hash"].clone()));
    }
    let host = Host::open(folder.path());
    for (at, hash) in hashes {
        let state = replay(&host.log, &key("dormouse"), Seq(at)).await;
        assert_eq!(hash, state.unwrap().hash().unwrap(), "at event {at}");
    }
    every_decision_is_the_same_again(&host, &key("dormouse")).await;
    let account = Account::of(&host, &key("dormouse")).await;
    account.every_message_is_answered_once();
    assert_eq!(account.events as u64, last, "every event was printed");
    assert!(account.triggers().last().unwrap().answers()[0].contains("tea"));
}
