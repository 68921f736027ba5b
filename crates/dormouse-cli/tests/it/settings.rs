//! Configuration and environment.

use crate::program::{Home, finish};

#[test]
fn a_configuration_error_names_file_line_column_field_and_expectation() {
    let home = Home::new();
    let path = home.write(
        "dormouse.toml",
        "[limits]\ntick_rate = 5\nmax_history = \"many\"\n",
    );
    let run = home.run(&["play"], "hi\n");
    assert_eq!(run.code, Some(2));
    let expected = format!(
        "dormouse: {}:3:15: limits.max_history is \"many\"; expected a whole number, 0 to 2000\n",
        path.display()
    );
    assert_eq!(run.err, expected);
    assert!(!home.file("log.redb").exists(), "nothing was made");
}

#[test]
fn a_missing_configuration_file_that_was_named_is_an_error() {
    let home = Home::new();
    let run = home.run(&["play", "--config", "/nowhere/dormouse.toml"], "");
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("/nowhere/dormouse.toml could not be read"),
        "{}",
        run.err
    );
}

#[test]
fn a_key_in_the_configuration_is_refused_and_not_repeated() {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        "[provider]\napi_key = \"sk-very-secret\"\n",
    );
    let run = home.run(&["play"], "");
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("OPENAI_API_KEY") && !run.err.contains("very-secret"),
        "{}",
        run.err
    );
}

#[test]
fn configured_rooms_are_used() {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        "[assistant]\nname = \"Pip\"\n[classify]\nrooms = \"ignore\"\n",
    );
    let run = home.play("say anybody?\n");
    assert_eq!(run.of_type("ready")[0]["name"], "Pip");
    let message = run.of_type("message").pop().unwrap();
    assert_eq!(
        (
            message["classification"].as_str(),
            message["rule"].as_str(),
            message["seq"].is_null()
        ),
        (Some("ignore"), Some("7"), true)
    );
}

#[test]
fn a_switched_off_assistant_accepts_messages_and_answers_once_it_is_switched_on() {
    let home = Home::new();
    let path = home.write("dormouse.toml", "[assistant]\nenabled = false\n");
    let run = home.play("Hello!\n");
    assert_eq!(run.code, Some(0));
    assert_eq!(run.end(), ("disabled".to_owned(), 1));
    std::fs::remove_file(path).unwrap();
    let run = home.play("");
    assert_eq!(run.answers().len(), 1, "{}", run.out);
}

#[test]
fn the_provider_is_chosen_from_the_environment_and_printed_with_the_reason() {
    let home = Home::new();
    let mut command = home.command(&["doctor"]);
    command.env("OPENROUTER_API_KEY", "sk-or-1");
    let run = finish(command.spawn().unwrap(), b"");
    assert!(
        run.out.contains("the provider is openrouter")
            && run.out.contains("OPENROUTER_API_KEY is set"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("sk-or-1"));

    let mut command = home.command(&["play", "--json"]);
    command.env("OPENAI_API_KEY", "");
    let ready = finish(command.spawn().unwrap(), b"")
        .of_type("ready")
        .remove(0);
    assert_eq!(
        (ready["provider"].as_str(), ready["why"].as_str()),
        (Some("offline"), Some("no key and no server was found"))
    );
}

#[test]
fn an_unusable_requested_provider_is_an_error() {
    let home = Home::new();
    for (args, said) in [
        (&["play", "--provider", "openai"][..], "set OPENAI_API_KEY"),
        (&["play", "--provider", "local"], "set DORMOUSE_BASE_URL"),
        (
            &[
                "play",
                "--provider",
                "offline",
                "--base-url",
                "http://127.0.0.1:1",
            ],
            "takes no --base-url",
        ),
        (
            &["play", "--base-url", "not a url"],
            "the provider cannot be used",
        ),
    ] {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.err);
        assert!(run.err.contains(said), "{}", run.err);
    }
}
