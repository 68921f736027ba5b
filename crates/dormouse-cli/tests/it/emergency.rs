//! The emergency stop: messages are kept, and go on once somebody clears it.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use crate::program::{Home, Run};

/// A server that refuses every key. It ends with the test.
fn refusing_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 16 * 1024];
            drop(stream.read(&mut request));
            let body = r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#;
            let head =
                "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close";
            drop(write!(
                stream,
                "{head}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            ));
        }
    });
    format!("http://{address}/v1")
}

fn stopped(home: &Home) -> Run {
    home.run(
        &["play", "--json", "--base-url", &refusing_server()],
        "Hello!\n",
    )
}

#[test]
fn refused_credentials_stop_it_with_a_code_of_its_own_and_the_message_is_kept() {
    let home = Home::new();
    let run = stopped(&home);
    assert_eq!(run.code, Some(5), "{}", run.err);
    assert_eq!(run.end(), ("stopped".to_owned(), 1));

    let still = home.run(&["play"], "");
    assert_eq!(still.code, Some(5));
    assert!(
        still.out.contains("1 message waits and is kept")
            && still
                .out
                .contains("Dormouse is stopped: the provider refused the credentials")
            && still.out.contains(&format!(
                "`dormouse emergency clear --data {}`",
                home.path().display()
            )),
        "{}",
        still.out
    );
    let doctor = home.run(&["doctor"], "");
    assert_eq!(doctor.code, Some(5), "{}", doctor.out);
    assert!(
        doctor.out.contains("fail  dormouse is stopped since")
            && doctor
                .out
                .contains("1 message waits. `dormouse emergency clear"),
        "{}",
        doctor.out
    );

    let unnamed = home.run(&["emergency", "clear", "--by", " "], "");
    assert_eq!(unnamed.code, Some(2), "{}", unnamed.out);

    let cleared = home.run(&["emergency", "clear", "--by", "Alice"], "");
    assert_eq!(cleared.code, Some(0), "{}", cleared.err);
    assert!(cleared.out.contains("cleared by Alice"), "{}", cleared.out);
    assert!(cleared.out.contains("credentials"), "{}", cleared.out);

    let run = home.play("");
    assert_eq!((run.code, run.answers().len()), (Some(0), 1), "{}", run.out);
}

#[test]
fn a_player_can_clear_it_too() {
    let home = Home::new();
    stopped(&home);
    let run = home.play("/clear\n");
    assert_eq!((run.code, run.answers().len()), (Some(0), 1), "{}", run.out);
    let cleared = run
        .of_type("event")
        .into_iter()
        .find(|event| event["kind"] == "emergency_stop_cleared")
        .unwrap();
    assert_eq!(cleared["data"]["cleared_by"], "Visitor");
}

#[test]
fn an_operator_stops_it_sees_why_it_is_stopped_and_lets_it_go_on() {
    let home = Home::new();
    home.play("hello\n");
    let show = |code, said: &str| {
        let run = home.run(&["emergency", "show"], "");
        assert_eq!(run.code, Some(code), "{}{}", run.out, run.err);
        assert!(run.out.contains(said), "{}", run.out);
    };
    show(0, "dormouse is not stopped");
    let unnamed = home.run(&["emergency", "stop", "--by", " "], "");
    assert_eq!(unnamed.code, Some(2), "{}", unnamed.out);

    let stop = [
        "emergency",
        "stop",
        "--by",
        "Carol",
        "--reason",
        "the roof burns",
    ];
    let stop = home.run(&stop, "");
    assert_eq!(stop.code, Some(0), "{}", stop.err);
    assert!(stop.out.contains("stopped by Carol"), "{}", stop.out);
    show(5, "stopped by Carol: the roof burns");
    let again = home.run(&["emergency", "stop", "--by", "Dan"], "");
    assert_eq!(again.code, Some(0));
    assert!(
        again.out.contains("already") && again.out.contains("Carol"),
        "{}",
        again.out
    );

    let run = home.play("are you there?\n");
    assert_eq!(run.code, Some(5), "{}", run.out);
    assert_eq!(run.answers(), [NOTICE], "{}", run.out);
    show(5, "1 message waits");
    let json = home.run(&["emergency", "show", "--json"], "").items();
    assert_eq!(json[0]["type"], "emergency");
    assert_eq!(json[0]["cause"], serde_json::json!({"operator": "Carol"}));
    assert_eq!(json[0]["waiting"], 1);
    assert_eq!(json[0]["reason"], "the roof burns");
    assert_eq!(
        (&json[0]["stops"], &json[0]["max_consecutive_errors"]),
        (&1.into(), &5.into())
    );

    assert_eq!(home.run(&["emergency", "clear"], "").code, Some(0));
    show(0, "dormouse is not stopped");
    let run = home.play("");
    assert_eq!((run.code, run.answers().len()), (Some(0), 1), "{}", run.out);
}

#[test]
fn a_player_stops_the_assistant_at_once_and_messages_are_kept() {
    let home = Home::new();
    let run = home.play("/stop\nhello\n");
    assert_eq!(run.code, Some(5), "{}", run.out);
    assert!(
        run.answers().iter().all(|said| said == NOTICE),
        "{}",
        run.out
    );
    let stops = |event: &serde_json::Value| event["kind"] == "emergency_stop_triggered";
    let stopped = run.of_type("event").into_iter().find(stops).unwrap();
    assert_eq!(
        stopped["data"]["cause"],
        serde_json::json!({"operator": "Visitor"})
    );
    let run = home.play("/stop\n/clear\n");
    assert!(run.out.contains("already on"), "{}", run.out);
    assert_eq!((run.code, run.answers().len()), (Some(0), 1), "{}", run.out);
}

#[test]
fn showing_the_emergency_stop_makes_no_file() {
    let home = Home::new();
    let run = home.run(&["emergency", "show"], "");
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

/// What the assistant says when it is stopped.
const NOTICE: &str = "I have been stopped for now. What you say to me is kept until I may go on.";

#[test]
fn a_stop_is_in_the_log_of_the_program_as_an_error() {
    let home = Home::new();
    let run = home.play("/stop it burns\n");
    assert_eq!(run.code, Some(5), "{}", run.out);
    assert!(
        run.err.contains("ERROR") && run.err.contains("it burns"),
        "{}",
        run.err
    );
    assert_eq!(run.answers(), [NOTICE], "{}", run.out);
    let again = home.play("");
    assert!(again.answers().is_empty(), "{}", again.out);
}

#[test]
fn resetting_the_history_clears_the_stop_and_says_who_did_it() {
    let home = Home::new();
    home.play("hello\n");
    home.play("/stop\n");
    let unnamed = home.run(&["history", "reset", "--by", " "], "");
    assert_eq!(unnamed.code, Some(2), "{}", unnamed.out);
    let reset = home.run(&["history", "reset", "--by", "Carol"], "");
    assert_eq!(reset.code, Some(0), "{}", reset.err);
    assert!(
        reset
            .out
            .contains("reset by Carol: 1 turn left out of prompts; the emergency stop is cleared"),
        "{}",
        reset.out
    );
    assert_eq!(home.run(&["emergency", "show"], "").code, Some(0));
    let log = home.run(&["log", "show"], "");
    assert!(
        log.out.contains("history_reset") && log.out.contains("by Carol"),
        "{}",
        log.out
    );
}
