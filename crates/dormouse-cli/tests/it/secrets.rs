//! No key is written to any output or file.

use std::{fs, path::Path, sync::Arc};

use dormouse_contracts::{EntityId, Words};
use dormouse_host::SystemClock;
use dormouse_sandbox::{Act, Character, CharacterKind, Sandbox};

use crate::{
    forget::hits,
    program::{Home, finish},
    server::{Mood, Server, base64, says},
};

/// With characters that JSON escapes and that base64 turns into something else.
const KEY: &str = "sk-proj-Very\"Secret\\Key/0123456789+abcdef";

/// The key in every form in which it could be written by accident.
fn forms() -> Vec<String> {
    let json = serde_json::to_string(KEY).unwrap();
    let json = json.trim_matches('"').to_owned();
    let mut forms = vec![
        KEY.to_owned(),
        json.clone(),
        format!("{KEY:?}").trim_matches('"').to_owned(),
    ];
    // Escaped once more, as JSON within JSON is.
    forms.push(
        serde_json::to_string(&json)
            .unwrap()
            .trim_matches('"')
            .to_owned(),
    );
    // At every offset in the encoded text, without the ends, which depend on the surrounding bytes.
    for shift in 0..3 {
        let encoded = base64(&[b"x".repeat(shift), KEY.as_bytes().to_vec()].concat());
        let inner = encoded.trim_end_matches('=');
        forms.push(inner[4..inner.len() - 4].to_owned());
    }
    forms.push(
        format!("{:?}", KEY.as_bytes())
            .trim_matches(['[', ']'])
            .to_owned(),
    );
    forms
}

fn assert_clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for form in forms() {
        assert!(
            !text.contains(&form),
            "{what} holds the key as {form}: {text}"
        );
    }
}

fn assert_clean_files(folder: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += assert_clean_files(&path);
        } else {
            assert_clean(&path.display().to_string(), &fs::read(&path).unwrap());
            files += 1;
        }
    }
    files
}

#[test]
fn a_key_that_a_server_repeats_is_in_no_output_and_in_no_file() {
    let commands: [&[&str]; 12] = [
        &["record", "recorded.json"],
        &["play", "--replay", "recorded.json"],
        &["play"],
        &["play", "--json"],
        &["log", "show"],
        &["log", "show", "--json"],
        &["log", "replay", "--json"],
        &["doctor", "--probe"],
        &["provider", "list", "--models"],
        &["provider", "list", "--models", "--json"],
        &["provider", "show", "--json"],
        &["provider", "test", "--json"],
    ];
    for mood in [Mood::Unauthorized, Mood::Fine] {
        let (home, server) = (Home::new(), Server::start(mood));
        for args in commands {
            let mut command = home.command(args);
            command
                .current_dir(home.path())
                .env("RUST_LOG", "trace")
                .env("DORMOUSE_BASE_URL", &server.url)
                .env("DORMOUSE_API_KEY", KEY);
            let run = finish(command.spawn().unwrap(), b"Hello!\n");
            assert_clean(&format!("what {args:?} printed"), run.out.as_bytes());
            assert_clean(&format!("what {args:?} logged"), run.err.as_bytes());
        }
        let keys: Vec<_> = server
            .asked()
            .into_iter()
            .map(|request| request.key)
            .collect();
        assert!(
            keys.iter().all(|key| key.as_deref() == Some(KEY)),
            "it was sent"
        );
        assert!(keys.len() >= 4, "{keys:?}");
        assert!(home.file("recorded.json").exists());
        assert!(assert_clean_files(home.path()) >= 3);
    }
}

#[test]
fn the_search_finds_every_form_of_a_key() {
    let line = serde_json::json!({ "said": KEY }).to_string();
    for text in [
        KEY.to_owned(),
        line,
        base64(format!("Bearer {KEY}").as_bytes()),
    ] {
        assert!(forms().iter().any(|form| text.contains(form)), "{text}");
    }
    assert_eq!(base64(b"tea!"), "dGVhIQ==");
}

/// What somebody says, and the secret that no output and no file of the assistant may contain.
const SAID: [(&str, &str); 4] = [
    ("remember that my password is hunter2-Blue.", "hunter2-Blue"),
    (
        "my key is sk-proj-4fT9xQzLm28KpWvR7nYc3HdB6sJg1Ue0",
        "4fT9xQzLm28KpWvR7nYc3HdB6sJg1Ue0",
    ),
    (
        "the token is ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "16C7e42F292c6912E7710c838347Ae178B4a",
    ),
    ("I pay with 4111 1111 1111 1111.", "4111 1111 1111 1111"),
];

fn holds(home: &Home, file: &str, secret: &str) -> bool {
    let bytes = fs::read(home.file(file)).unwrap();
    bytes
        .windows(secret.len())
        .any(|part| part == secret.as_bytes())
}

#[test]
fn what_a_player_gives_away_is_neither_logged_nor_repeated() {
    let home = Home::new();
    let lines: String = SAID.iter().map(|(line, _)| format!("{line}\n")).collect();
    let run = home.run(
        &["play", "--json", "--provider", "offline"],
        format!("{lines}What did I say about my password?\nwhat do you remember?\n"),
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    let added = "My api key is sk-proj-4fT9xQzLm28KpWvR7nYc3HdB6sJg1Ue0";
    home.run(&["memory", "add", added], "");
    home.run(&["entity", "create", "#12", "Alice"], "");
    home.run(
        &["entity", "observe", "#12", "Her password is hunter2-Blue."],
        "",
    );
    let import = format!("{{\"text\":\"{}\"}}\n", SAID[0].0);
    home.run(&["memory", "import", "-"], import);
    let log = home.run(&["log", "show", "--json"], "").out;
    assert!(
        log.contains("[secret: password]") && log.contains("[secret: card number]"),
        "{log}"
    );
    for (_, secret) in SAID {
        assert!(!log.contains(secret), "{secret}");
        assert!(
            !run.answers().iter().any(|answer| answer.contains(secret)),
            "{secret}"
        );
        for file in ["log.redb", "memory-dormouse.redb"] {
            assert!(!holds(&home, file, secret), "{file} holds {secret}");
        }
    }
    let doctor = home.run(&["doctor"], "").out;
    assert!(!doctor.contains("the log holds"), "{doctor}");
}

#[test]
fn a_model_that_writes_a_secret_neither_logs_it_nor_says_it() {
    let home = Home::new();
    let secret = SAID[1].1;
    let server =
        Server::scripted(move |_| says(&format!("Your key is sk-proj-{secret}, I believe.")));
    let args = [
        "play",
        "--json",
        "--model",
        "tiny",
        "--base-url",
        &server.url,
    ];
    let run = home.run(&args, "What is my key?\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(!run.out.contains(secret), "{}", run.out);
    assert!(
        run.answers()
            .iter()
            .any(|answer| answer.contains("[secret: api key]")),
        "{:?}",
        run.answers()
    );
    assert!(!holds(&home, "log.redb", secret));
}

#[test]
fn a_log_that_keeps_secrets_is_counted_by_kind_and_never_printed() {
    let home = Home::new();
    home.write("dormouse.toml", "[memory]\nsecrets_in_log = \"kept\"\n");
    let lines: String = SAID.iter().map(|(line, _)| format!("{line}\n")).collect();
    let run = home.run(&["play", "--json", "--provider", "offline"], lines);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(holds(&home, "log.redb", SAID[0].1));
    for (_, secret) in SAID {
        assert!(!holds(&home, "memory-dormouse.redb", secret), "{secret}");
    }
    let doctor = home.run(&["doctor"], "");
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
    for kind in ["password", "api key", "token", "card number"] {
        assert!(doctor.out.contains(kind), "{kind}: {}", doctor.out);
    }
    assert!(doctor.out.contains("warn  the log holds"), "{}", doctor.out);
    for (_, secret) in SAID {
        assert!(!doctor.out.contains(secret), "{secret}");
    }
}

/// What is said in the room stays in the world until the assistant is awake again.
fn say_while_nobody_is_awake(home: &Home, line: &str) {
    let world = Sandbox::open(&home.file("world.redb"), Arc::new(SystemClock)).unwrap();
    let bob = Character {
        id: EntityId::try_new("player:bob").unwrap(),
        name: "Bob".to_owned(),
        kind: CharacterKind::Player,
    };
    let say = Act::Say(Words::try_new(line).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        world.join(bob.clone()).await.unwrap();
        world.act(&bob.id, say).await.unwrap();
    });
}

#[test]
fn secrets_that_a_log_and_a_world_hold_are_masked_in_every_file_and_the_other_words_stay() {
    let secrets = SAID.map(|(_, secret)| secret);
    let home = Home::new();
    home.write("dormouse.toml", "[memory]\nsecrets_in_log = \"kept\"\n");
    let lines: String = SAID.iter().map(|(line, _)| format!("{line}\n")).collect();
    let lines = format!("{lines}The heron nests behind the mill.\nWhat is my password?\n");
    let run = home.run(&["play", "--json", "--provider", "offline"], lines);
    assert_eq!(run.code, Some(0), "{}", run.err);
    say_while_nobody_is_awake(&home, SAID[0].0);
    home.write("history.txt", &format!("#V2\nlook\n{}\n", SAID[0].0));
    let before = hits(home.path(), &secrets);
    assert_eq!(before.len(), secrets.len(), "{before:?}");
    for file in ["log.redb", "world.redb"] {
        let is_held = |found: &Vec<String>| found.iter().any(|held| held == file);
        assert!(before.values().any(is_held), "{file}: {before:?}");
    }
    let doctor = home.run(&["doctor"], "").out;
    assert!(
        doctor.contains("`dormouse forget --secrets --data "),
        "{doctor}"
    );

    let shown = home.run(&["forget", "--secrets", "--dry-run", "--verbose"], "");
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    for secret in secrets {
        assert!(!shown.out.contains(secret), "{}", shown.out);
    }
    assert_eq!(hits(home.path(), &secrets), before, "it only looked");
    let world = fs::read(home.file("world.redb")).unwrap();
    let done = home.run(&["forget", "--secrets", "--yes", "--by", "florian"], "");
    assert_eq!(done.code, Some(0), "{}", done.err);
    let left = hits(home.path(), &secrets);
    assert!(left.is_empty(), "{left:?}");
    let kept = hits(home.path(), &["nests behind the mill"]);
    assert!(kept.values().any(|files| files.len() >= 2), "{kept:?}");
    assert_eq!(
        fs::read_to_string(home.file("history.txt")).unwrap(),
        "#V2\nlook\n"
    );
    let log = home.run(&["log", "show", "--json"], "").out;
    for masked in [
        "remember that my password is [secret: password]",
        "I pay with [secret: card number].",
    ] {
        assert!(log.contains(masked), "{log}");
    }

    for args in [
        &["log", "verify"][..],
        &["log", "replay"],
        &["log", "replay", "--decide"],
        &["memory", "list"],
    ] {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(0), "{args:?}: {}{}", run.out, run.err);
    }
    let doctor = home.run(&["doctor", "--provider", "offline"], "");
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
    assert!(!doctor.out.contains("the log holds"), "{}", doctor.out);
    let again = home.run(&["forget", "--secrets", "--yes"], "");
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert_eq!(again.out, "nothing to remove; nothing was changed\n");

    // A world that was restored from a backup is the only one that holds some.
    fs::write(home.file("world.redb"), world).unwrap();
    let again = home.run(&["forget", "--secrets", "--yes", "--json"], "");
    assert_eq!(again.code, Some(0), "{}", again.err);
    let rewritten = &again.of_type("forget")[0]["rewritten"];
    assert_eq!(*rewritten, serde_json::json!(["world.redb"]));
    assert!(hits(home.path(), &secrets).is_empty());
}
