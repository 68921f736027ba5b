//! Recalling by similarity, with vectors of a server.

use dormouse_testing::embedding_server;
use serde_json::{Value, json};

use crate::program::{Home, Run, finish};

fn done(home: &Home, args: &[&str]) -> Run {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(0), "{args:?}: {} {}", run.out, run.err);
    run
}

fn filled() -> Home {
    let home = Home::new();
    for text in [
        "Alice keeps the peppermint tea in the blue tin on the shelf",
        "Bob sails the old boat to the harbour every single Sunday",
        "the key of the cellar hangs behind the clock in the hall",
    ] {
        done(&home, &["memory", "add", text]);
    }
    home
}

fn mode(home: &Home, embedder: &str) -> Value {
    let args = [
        "memory",
        "search",
        "peppermint",
        "--json",
        "--embedder",
        embedder,
    ];
    let summary = done(home, &args).of_type("recall").remove(0);
    summary.get("mode").unwrap().clone()
}

#[test]
fn vectors_are_computed_once_and_used_by_recall() {
    let home = filled();
    let small = format!("ollama:small@{}", embedding_server());
    let rebuilt = ["memory", "rebuild", "--json", "--embedder", &small];
    assert_eq!(done(&home, &rebuilt).items()[0]["embedded"], 3);
    assert_eq!(done(&home, &rebuilt).items()[0]["embedded"], 0);
    assert_eq!(mode(&home, &small), "words_and_vectors");
    assert_eq!(mode(&home, "none"), "words");
    let stats = done(&home, &["memory", "stats"]).out;
    assert!(stats.contains("vectors of small: in use"), "{stats}");
}

#[test]
fn memories_are_compared_by_the_providers_embedder_unless_it_is_turned_off() {
    let home = filled();
    let server = embedding_server();
    let by_ollama = |args: &[&str]| {
        let mut command = home.command(args);
        command.env_remove("DORMOUSE_MEMORY__EMBEDDER");
        let run = finish(command.env("OLLAMA_HOST", &server).spawn().unwrap(), b"");
        assert_eq!(run.code, Some(0), "{args:?}: {} {}", run.out, run.err);
        run
    };
    let search = ["memory", "search", "peppermint", "--json"];
    let mode = || by_ollama(&search).of_type("recall").remove(0)["mode"].clone();
    let told = "memories are also compared by nomic-embed-text of ollama, which the provider has";
    let rebuilt = by_ollama(&["memory", "rebuild", "--json"]);
    assert_eq!(rebuilt.items()[0]["embedded"], 3);
    assert_eq!(mode(), "words_and_vectors");
    let doctor = by_ollama(&["doctor"]).out;
    assert!(doctor.contains(told), "{doctor}");
    let ready = by_ollama(&["play", "--json"]).of_type("ready").remove(0);
    assert!(
        ready["embedder"].as_str().unwrap().starts_with(told),
        "{ready}"
    );
    let offline = by_ollama(&["play", "--json", "--provider", "offline"]);
    assert_eq!(offline.of_type("ready").remove(0)["embedder"], Value::Null);

    home.write("dormouse.toml", "[memory]\nembedder = \"none\"\n");
    assert_eq!(mode(), "words");
    let doctor = by_ollama(&["doctor"]).out;
    assert!(
        doctor.contains("memories are found by words (asked for)"),
        "{doctor}"
    );
}

#[test]
fn a_server_that_is_gone_leaves_recall_by_words() {
    let home = filled();
    let small = "ollama:small@http://127.0.0.1:9";
    let run = done(
        &home,
        &["memory", "search", "peppermint", "--embedder", small],
    );
    assert!(run.out.starts_with("1  "), "{}", run.out);
    assert!(run.err.contains("searched by words alone"), "{}", run.err);
    let run = home.run(&["memory", "rebuild", "--embedder", small], "");
    assert_eq!(run.code, Some(1), "{}", run.out);
    let said = "because the encoder could not be used";
    assert!(run.err.contains(said), "{}", run.err);
}

#[test]
fn unindexed_records_are_reported_in_plain_output() {
    let home = filled();
    let url = embedding_server();
    let small = format!("ollama:small@{url}");
    let search = ["memory", "search", "peppermint", "--embedder"];
    let run = done(
        &home,
        &[&search[..], &["ollama:small@http://127.0.0.1:9"]].concat(),
    );
    let said = "3 changes have no vectors yet";
    assert!(run.err.contains(said), "{}", run.err);
    let run = done(&home, &[&search[..], &[small.as_str()]].concat());
    assert!(!run.err.contains("no vectors yet"), "{}", run.err);
}

#[test]
fn recall_changes_to_another_encoder_and_back() {
    let home = filled();
    let url = embedding_server();
    let (small, large) = (format!("ollama:small@{url}"), format!("ollama:large@{url}"));
    done(&home, &["memory", "rebuild", "--embedder", &small]);
    let changed = json!({"words_because": "encoder_changed"});
    assert_eq!(mode(&home, &large), changed);
    let rebuilt = home.run(&["memory", "rebuild", "--embedder", &large], "");
    assert_eq!(rebuilt.code, Some(1), "{}", rebuilt.out);
    let said = "because the vectors were made by another encoder: `dormouse memory migrate";
    assert!(rebuilt.err.contains(said), "{}", rebuilt.err);

    let migrate = [
        "memory",
        "migrate",
        "--json",
        "--embedder",
        &large,
        "--former",
        &small,
    ];
    let compared = done(&home, &[&migrate[..], &["--compare"]].concat());
    assert_eq!(compared.items()[0]["switched"], false);
    assert_eq!(mode(&home, &small), "words_and_vectors");

    let migrated = done(&home, &[&migrate[..], &["--force"]].concat());
    assert_eq!(migrated.items()[0]["switched"], true);
    assert_eq!(mode(&home, &large), "words_and_vectors");
    let again = home.run(&migrate, "");
    assert_eq!(again.code, Some(2), "{}", again.out);
    assert!(
        again.err.contains("recall already uses large"),
        "{}",
        again.err
    );

    let back = done(&home, &["memory", "migrate", "--back"]).out;
    assert!(back.starts_with("recall uses small"), "{back}");
    assert_eq!(mode(&home, &small), "words_and_vectors");
}

#[test]
fn entries_of_the_journal_are_also_compared_by_the_configured_encoder() {
    let home = Home::new();
    done(&home, &["play"]);
    for text in [
        "the red gate was shut after the storm",
        "pear trees grow by the well",
    ] {
        done(&home, &["journal", "add", text]);
    }
    let run = |embedder: &str, args: &[&str]| {
        let mut command = home.command(args);
        command.env("DORMOUSE_MEMORY__EMBEDDER", embedder);
        let run = finish(command.spawn().unwrap(), b"");
        assert_eq!(run.code, Some(0), "{args:?}: {} {}", run.out, run.err);
        run
    };
    let search = ["journal", "search", "the gate and the storm", "--json"];
    let why = |embedder: &str| run(embedder, &search).items()[0]["why"].to_string();
    assert!(!why("none").contains("dense"));
    let small = format!("ollama:small@{}", embedding_server());
    run(&small, &["memory", "rebuild"]);
    assert!(why(&small).contains("dense"), "{}", why(&small));
    // Words are enough.
    assert!(!why("ollama:small@http://127.0.0.1:9").contains("dense"));
}
