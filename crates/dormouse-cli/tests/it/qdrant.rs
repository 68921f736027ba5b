//! Vectors on a Qdrant server, as a person configures, checks and mends them.

use std::{path::Path, process::Command};

use dormouse_qdrant_double::QdrantDouble;

use crate::program::{Home, Run, finish};

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
