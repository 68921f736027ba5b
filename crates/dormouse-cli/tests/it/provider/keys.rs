//! Keys and certificates of providers, and where they come from.

use std::os::unix::fs::PermissionsExt;

use super::{run_with, tiny};
use crate::{
    program::Home,
    server::{Mood, Server},
};

#[test]
fn a_key_from_a_variable_or_a_file_goes_to_its_server_and_to_no_other() {
    let (server, other) = (Server::start(Mood::Fine), Server::start(Mood::Fine));
    let home = Home::new();
    let key = home.write("key", "sk-from-file\n");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let places = [
        ("env:MY_KEY".to_owned(), "sk-from-env"),
        (format!("file:{}", key.display()), "sk-from-file"),
    ];
    let keys = |server: &Server| -> Vec<_> {
        server
            .asked()
            .into_iter()
            .map(|request| request.key)
            .collect()
    };
    for (place, expected) in &places {
        let url = &server.url;
        home.write(
            "dormouse.toml",
            &format!(
                "[provider]\nkind = \"openai\"\nbase_url = \"{url}\"\nkey_from = \"{place}\"\n"
            ),
        );
        let before = keys(&server).len();
        let variables = [("MY_KEY", "sk-from-env"), ("OPENAI_API_KEY", "sk-usual")];
        let run = run_with(&home, &["provider", "test"], &variables);
        assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
        let sent = keys(&server).split_off(before);
        assert!(
            !sent.is_empty() && sent.iter().all(|key| key.as_deref() == Some(*expected)),
            "{sent:?}"
        );
        let list = run_with(&home, &["provider", "list"], &variables).out;
        assert!(list.contains(&format!("key from {place}")), "{list}");
        for args in [
            &["provider", "test", "--base-url", &other.url][..],
            &[
                "provider",
                "test",
                "--provider",
                "local",
                "--base-url",
                &other.url,
            ],
            &["provider", "test", &tiny(&other)],
        ] {
            run_with(&home, args, &variables[..1]);
        }
    }
    assert!(
        keys(&other).iter().all(Option::is_none),
        "{:?}",
        keys(&other)
    );
}

#[test]
fn a_missing_key_is_an_error_that_names_its_source() {
    let home = Home::new();
    for (field, said) in [
        (
            "key_from = \"sk-very-secret\"",
            "write where the key is, not the key itself",
        ),
        ("key_from = \"env:NO_SUCH_KEY\"", "set kind or base_url"),
        (
            "kind = \"openai\"\nkey_from = \"env:NO_SUCH_KEY\"",
            "NO_SUCH_KEY is not set",
        ),
        (
            "kind = \"openai\"\nkey_from = \"file:/nowhere/key\"",
            "/nowhere/key",
        ),
    ] {
        home.write("dormouse.toml", &format!("[provider]\n{field}\n"));
        let run = home.run(&["play"], "");
        assert_eq!(run.code, Some(2), "{field}: {}", run.err);
        assert!(run.err.contains(said), "{field}: {}", run.err);
        assert!(run.err.contains("provider.key_from"), "{}", run.err);
        assert!(run.err.contains("dormouse.toml:"), "{}", run.err);
        assert!(!run.err.contains("very-secret"), "{}", run.err);
    }
    std::fs::remove_file(home.file("dormouse.toml")).unwrap();
    let key = home.write("key", "sk-very-secret");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let file = ("OPENAI_API_KEY_FILE", key.to_str().unwrap());
    let run = run_with(&home, &["play"], &[file]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("chmod 600"), "{}", run.err);
    let run = run_with(
        &home,
        &["play"],
        &[file, ("OPENAI_API_KEY", "sk-other-secret")],
    );
    assert!(
        run.err
            .contains("both OPENAI_API_KEY and OPENAI_API_KEY_FILE"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("secret"), "{}", run.err);
}

#[test]
fn the_variable_that_a_key_comes_from_is_named_and_no_other() {
    let home = Home::new();
    let list = |variables: &[(&str, &str)]| {
        let args = ["provider", "list", "--base-url", "http://127.0.0.1:1/v1"];
        let run = run_with(&home, &args, variables);
        let mut lines = run.out.lines();
        let line = lines.find(|line| line.starts_with("local"));
        line.expect(&run.out).to_owned()
    };
    let line = list(&[("DORMOUSE_API_KEY", "sk-very-secret")]);
    assert!(line.ends_with("key from DORMOUSE_API_KEY"), "{line}");
    let key = home.write("key", "sk-very-secret");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let line = list(&[("DORMOUSE_API_KEY_FILE", key.to_str().unwrap())]);
    assert!(line.ends_with("key from DORMOUSE_API_KEY_FILE"), "{line}");
}

#[test]
fn certificates_that_cannot_be_read_are_named_with_their_place() {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        "[provider]\ncertificates = \"/nowhere/ca.pem\"\n",
    );
    let run = home.run(&["provider", "show", "offline"], "");
    assert_eq!(run.code, Some(2), "{}", run.out);
    let said = "dormouse.toml:2:16: provider.certificates is \"/nowhere/ca.pem\"; expected a readable file";
    assert!(run.err.contains(said), "{}", run.err);
}
