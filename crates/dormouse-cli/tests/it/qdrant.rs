//! Vectors on a Qdrant server: configuring, checking and repairing them.

use std::{path::Path, process::Command};

use dormouse_qdrant_double::{QdrantDouble, QdrantFault};

use crate::{
    forget::hits,
    program::{Home, Run, finish},
};

/// A memory of two records, with this way to say where its vectors are.
fn home(vectors: &str) -> Home {
    let home = Home::new();
    let embedder = format!("ollama:small@{}", dormouse_testing::embedding_server());
    let config = format!("[memory]\nembedder = \"{embedder}\"\n{vectors}\n");
    home.write("dormouse.toml", &config);
    for text in ["Alice keeps the peppermint tea", "Bob sails the old boat"] {
        assert_eq!(home.run(&["memory", "add", text], "").code, Some(0));
    }
    home
}

fn at(server: &QdrantDouble) -> String {
    format!("vectors = \"{}\"", server.url())
}

fn with_key(home: &Home, key: &str, args: &[&str]) -> Run {
    let child = home.command(args).env("QDRANT_API_KEY", key).spawn();
    finish(child.unwrap(), b"")
}

fn rebuilt(home: &Home) {
    let run = home.run(&["memory", "rebuild"], "");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
}

const SEARCH: [&str; 3] = ["memory", "search", "peppermint"];

#[test]
fn a_wrong_qdrant_key_is_reported_in_the_servers_words_and_not_as_an_encoder_error() {
    let server = QdrantDouble::start_with_keys("full", "read").unwrap();
    let home = home(&at(&server));
    let built = with_key(&home, "full", &["memory", "rebuild"]);
    assert_eq!(built.code, Some(0), "{}", built.err);
    let searched = with_key(&home, "wrong", &SEARCH);
    assert_eq!(searched.code, Some(0), "words are enough");
    assert!(searched.err.contains("Invalid API key"), "{}", searched.err);
    assert!(searched.err.contains("refuses the key"), "{}", searched.err);
    assert!(!searched.err.contains("encoder"), "{}", searched.err);
    let built = with_key(&home, "read", &["memory", "rebuild"]);
    assert_eq!(built.code, Some(1), "{}", built.out);
    let said = "Global manage access is required";
    assert!(built.err.contains(said), "{}", built.err);
}

#[test]
fn rebuild_mends_a_collection_of_another_dimension_and_feeds_once() {
    let server = QdrantDouble::start().unwrap();
    let home = home(&at(&server));
    rebuilt(&home);
    let sizes = server.collections();
    server.wipe();
    server.make(&sizes[0].0, 3);
    let fed = server.upserts().len();
    rebuilt(&home);
    assert_eq!(server.collections(), sizes);
    assert_eq!(server.upserts().len(), fed + 1, "fed once");
}

const FORGET: [&str; 4] = ["forget", "--text", "peppermint", "--yes"];

#[test]
fn a_forgetting_killed_before_the_vectors_are_removed_changes_nothing_and_works_again() {
    let server = QdrantDouble::start().unwrap();
    let home = home(&at(&server));
    rebuilt(&home);
    let points = |server: &QdrantDouble| {
        let sizes = server.collections();
        sizes.into_iter().map(|(_, points)| points).sum::<u64>()
    };
    assert_eq!(points(&server), 2);

    // It waits for the server, with all new files written.
    server.fail(QdrantFault::Hang);
    let before = server.calls();
    let mut child = home.spawn(&FORGET);
    while server.calls() == before {
        assert!(child.try_wait().unwrap().is_none(), "it asks the server");
        std::thread::yield_now();
    }
    assert!(home.file("log.redb.forgetting").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    server.fail(QdrantFault::None);
    assert!(!home.file("forget.json").exists());

    // The next start of any command.
    let next = home.run(&["log", "verify"], "");
    assert_eq!(next.code, Some(0), "{}", next.err);
    let said = "a forgetting was interrupted before its commit point: nothing was forgotten";
    assert!(next.err.contains(said), "{}", next.err);
    assert!(!home.file("log.redb.forgetting").exists());
    assert!(hits(home.path(), &["peppermint"])["peppermint"].contains(&"log.redb".to_owned()));
    assert_eq!(points(&server), 2);

    let done = home.run(&FORGET, "");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(points(&server), 0);
    assert!(hits(home.path(), &["peppermint"]).is_empty());
    // The vectors of the other assistant are made again.
    rebuilt(&home);
    assert_eq!(points(&server), 1);
}

#[test]
fn a_forgetting_without_the_memory_says_that_its_vectors_stay_on_the_server() {
    let server = QdrantDouble::start().unwrap();
    let home = home(&at(&server));
    rebuilt(&home);
    let [(collection, 2)] = &server.collections()[..] else {
        panic!("{:?}", server.collections());
    };
    assert!(collection.contains("_dormouse_"), "{collection}");
    for file in ["memory-dormouse.redb", "memory-dormouse.redb.index"] {
        std::fs::remove_file(home.file(file)).ok();
    }
    let said = "so these stay: remove the collections with `_dormouse_` in their names";
    let shown = home.run(&["forget", "--text", "peppermint", "--dry-run"], "");
    assert!(shown.err.contains(said), "{}", shown.err);
    let done = home.run(&[&FORGET[..], &["--json"]].concat(), "");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(done.of_type("forget")[0]["vectors_left"][0], "dormouse");
    assert_eq!(server.collections(), [(collection.clone(), 2)]);
    // The rebuilt memory knows its own collections.
    let add = ["memory", "add", "Carol bakes the rye bread"];
    assert_eq!(home.run(&add, "").code, Some(0));
    let next = home.run(&["forget", "--text", "boat", "--yes"], "");
    assert_eq!(next.code, Some(0), "{}", next.err);
    assert!(!next.err.contains(said), "{}", next.err);
    // A damaged memory does not know them.
    home.write("memory-dormouse.redb", "no database");
    let third = home.run(&["forget", "--text", "rye", "--yes", "--everything"], "");
    assert_eq!(third.code, Some(0), "{}", third.err);
    assert!(third.err.contains(said), "{}", third.err);
}

#[test]
fn nothing_is_forgotten_while_another_program_may_put_vectors_back() {
    let server = QdrantDouble::start().unwrap();
    let home = home(&at(&server));
    rebuilt(&home);
    // A search that waits for the server has the memory open.
    server.fail(QdrantFault::Hang);
    let before = server.calls();
    let mut search = home.spawn(&["memory", "rebuild"]);
    while server.calls() == before {
        assert!(search.try_wait().unwrap().is_none(), "it asks the server");
        std::thread::yield_now();
    }
    let refused = home.run(&FORGET, "");
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    search.kill().unwrap();
    search.wait().unwrap();
    server.fail(QdrantFault::None);
    assert!(!hits(home.path(), &["peppermint"]).is_empty());
    let done = home.run(&FORGET, "");
    assert_eq!(done.code, Some(0), "{}", done.err);
}

#[test]
fn killed_at_any_call_that_empties_a_server_nothing_is_forgotten_and_the_next_attempt_works() {
    let server = QdrantDouble::start().unwrap();
    let home = home(&at(&server));
    let config = std::fs::read_to_string(home.file("dormouse.toml")).unwrap();
    home.write(
        "dormouse.toml",
        &format!("[assistant]\nkey = \"vole\"\n{config}"),
    );
    let add = ["memory", "add", "Carol hides the peppermint tea"];
    assert_eq!(home.run(&add, "").code, Some(0));
    rebuilt(&home);
    home.write("dormouse.toml", &config);
    rebuilt(&home);
    let args = [&FORGET[..], &["--everything"]].concat();
    let names = |server: &QdrantDouble| {
        let sizes = server.collections().into_iter();
        sizes.map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(&server).len(), 2, "one of each assistant");
    let mut kills = 0;
    for calls in 0.. {
        let before = server.calls();
        server.fail(QdrantFault::HangAfter { calls });
        let mut child = home.spawn(&args);
        let is_killed = loop {
            if server.calls() > before + usize::try_from(calls).unwrap() {
                break true;
            }
            if child.try_wait().unwrap().is_some() {
                break false;
            }
            std::thread::yield_now();
        };
        if !is_killed {
            server.fail(QdrantFault::None);
            break;
        }
        kills += 1;
        assert!(!home.file("forget.json").exists());
        child.kill().unwrap();
        child.wait().unwrap();
        server.fail(QdrantFault::None);
        let next = home.run(&["log", "verify"], "");
        assert!(next.err.contains("nothing was forgotten"), "{}", next.err);
        assert!(hits(home.path(), &["peppermint"])["peppermint"].contains(&"log.redb".to_owned()));
        rebuilt(&home);
    }
    assert!(kills > 2, "{kills} kills");
    assert!(hits(home.path(), &["peppermint"]).is_empty());
    assert!(
        !names(&server).iter().any(|name| name.contains("_vole_")),
        "{:?}",
        server.collections()
    );
}

#[test]
fn the_doctor_asks_the_server() {
    let server = QdrantDouble::start_with_keys("full", "read").unwrap();
    let home = home(&at(&server));
    let built = with_key(&home, "full", &["memory", "rebuild"]);
    assert_eq!(built.code, Some(0), "{}", built.err);
    let asked = |key| with_key(&home, key, &["doctor"]).out;
    let well = asked("full");
    assert!(well.contains("ok    the vector index"), "{well}");
    assert!(well.contains("2 points"), "{well}");
    let refused = asked("wrong");
    assert!(refused.contains("fail  the vector index"), "{refused}");
    assert!(refused.contains("Invalid API key"), "{refused}");
    server.lose_points(1);
    let lacking = asked("full");
    assert!(lacking.contains("1 of 2 points"), "{lacking}");
    drop(server);
    let gone = asked("full");
    assert!(gone.contains("fail  the vector index"), "{gone}");
    assert!(gone.contains("refused"), "{gone}");
}

#[test]
fn prefix_shards_replicas_and_write_consistency_are_settings() {
    let server = QdrantDouble::start().unwrap();
    let home = home(&format!(
        "[memory.vectors]\naddresses = [\"{}\"]\nprefix = \"tea-house\"\nshards = 3\nreplicas = 2\n\
         write_consistency = 1\n",
        server.url()
    ));
    rebuilt(&home);
    let sizes = server.collections();
    let [(name, 2)] = &sizes[..] else {
        panic!("{sizes:?}");
    };
    assert!(name.starts_with("tea-house~memories_dormouse_"), "{name}");
    assert_eq!(server.layout(name), [Some(3), Some(2), Some(1)]);
}

#[test]
fn the_next_address_is_used_when_a_server_is_gone() {
    let server = QdrantDouble::start().unwrap();
    let home = home(&format!(
        "[memory.vectors]\naddresses = [\"http://127.0.0.1:9\", \"{}\"]\n",
        server.url()
    ));
    rebuilt(&home);
    let run = home.run(&SEARCH, "");
    assert!(!run.err.contains("words alone"), "{}", run.err);
}

#[test]
fn an_encrypted_server_is_trusted_only_with_its_configured_authority() {
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path()) {
        println!("skipped: openssl is not there");
        return;
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let server = QdrantDouble::start_encrypted(&read("server.pem"), &read("server.key")).unwrap();
    let authority = folder.path().join("ca.pem");
    let table = format!("[memory.vectors]\naddresses = [\"{}\"]\n", server.url());
    let trusting = home(&format!("{table}authority = {authority:?}\n"));
    rebuilt(&trusting);
    let doubting = home(&table);
    let run = doubting.run(&["memory", "rebuild"], "");
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(run.err.contains("certificate"), "{}", run.err);
}

/// An authority, and a server's certificate that it signed; `false` without the program that makes them.
fn certificates(folder: &Path) -> bool {
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    [
        format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"),
        format!("req {key} -keyout server.key -out server.csr -subj /CN=server"),
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names \
         -out server.pem"
            .to_owned(),
    ]
    .iter()
    .all(|line| {
        let made = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(folder)
            .output();
        made.is_ok_and(|made| made.status.success())
    })
}
