//! No key is written to any output or file.

use std::{fs, path::Path};

use crate::{
    program::{Home, finish},
    server::{Mood, Server, base64},
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
