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
    assert_eq!(
        run.items().pop().unwrap(),
        serde_json::json!({"type": "end", "reason": "stopped", "waiting": 1})
    );

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
