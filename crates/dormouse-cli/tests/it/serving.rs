//! `dormouse serve`, killed while it carries out requests with keys of idempotency.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStderr},
};

use serde_json::{Value, json};

use crate::program::{Home, Run, watch};

/// A service that listens.
struct Serving {
    child: Child,
    err: BufReader<ChildStderr>,
    address: String,
}

impl Serving {
    fn start(home: &Home) -> Self {
        let mut child = home.spawn(&["serve", "--listen", "127.0.0.1:0"]);
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(err.read_line(&mut line).unwrap() > 0, "it does not listen");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split('/').next().unwrap().trim().to_owned();
            }
        };
        Self {
            child,
            err,
            address,
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        let watched = watch(&self.child);
        self.child.wait().unwrap();
        drop((watched, self.err));
    }

    /// Begins to create an assistant.
    fn begin(&self, secret: &str, key: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = json!({"key": key, "tags": ["new"]}).to_string();
        let request = format!(
            "POST /api/ai/assistants/ HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {secret}\r\nidempotency-key: make {key}\r\n\
            content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// The status, whether it is an earlier answer, and the body.
    fn create(&self, secret: &str, key: &str) -> (u16, bool, Value) {
        let mut text = String::new();
        let mut stream = self.begin(secret, key);
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_replayed = head.to_lowercase().contains("idempotent-replayed: true");
        (status, is_replayed, serde_json::from_str(body).unwrap())
    }
}

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

#[test]
fn a_request_with_a_key_is_carried_out_once_however_often_the_service_is_killed() {
    let home = Home::new();
    let args = [
        "token", "create", "Ann", "--allow", "admin", "--allow", "read",
    ];
    let secret = ok(home.run(&args, "")).out.trim().to_owned();
    let kills = dormouse_testing::effort(16);
    let mut answered: Vec<(String, Value)> = Vec::new();
    for kill in 0..kills {
        let serving = Serving::start(&home);
        // What was answered before is answered in the same way, and nothing is done again.
        for (key, body) in &answered {
            assert_eq!(
                serving.create(&secret, key),
                (201, true, Value::clone(body))
            );
        }
        let key = format!("answered{kill}");
        let (status, is_replayed, body) = serving.create(&secret, &key);
        assert_eq!((status, is_replayed), (201, false), "{body}");
        answered.push((key, body));
        // This one may be at any place on its way, and a part of the answer may be there.
        let mut cut = serving.begin(&secret, &format!("cut{kill}"));
        let mut some = vec![0; 16 * kill as usize + 1];
        let wait = kill % 2 == 1;
        if wait {
            drop(cut.read(&mut some));
        }
        serving.kill();
    }
    let serving = Serving::start(&home);
    for kill in 0..kills {
        let key = format!("cut{kill}");
        let (status, is_replayed, body) = serving.create(&secret, &key);
        let is_right = match status {
            201 => true,
            // It may have been carried out, and is not carried out again.
            409 => !is_replayed && body["code"] == "idempotency_in_use",
            _ => false,
        };
        assert!(is_right, "{status} {body}");
    }
    serving.kill();
    let listed = ok(home.run(&["assistant", "list", "--json"], ""));
    for line in listed.of_type("assistant") {
        let key = line["assistant"].as_str().unwrap();
        let shown = ok(home.run(&["log", "show", "--json", "--assistant", key], ""));
        let created = |event: &&Value| event.pointer("/data/change/created").is_some();
        let times = shown.of_type("event").iter().filter(created).count();
        assert_eq!(times, usize::from(key != "dormouse"), "{key}");
    }
}
