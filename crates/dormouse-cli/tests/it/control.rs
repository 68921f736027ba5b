//! Commands while `dormouse run` has the data open.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    process::{Child, Output},
    sync::mpsc,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::{
    program::{Home, Run, finish, watch},
    server::{Server, http, says},
};

/// The visitors.
const NAMES: [&str; 3] = ["Alice", "Bob", "Carol"];

/// `dormouse run`, which listens.
pub(crate) struct Running {
    child: Child,
    _err: BufReader<std::process::ChildStderr>,
}

impl Running {
    pub(crate) fn start(home: &Home) -> Self {
        let mut child = home.spawn(&["run"]);
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        err.read_line(&mut line).unwrap();
        assert!(line.contains("the model is"), "{line}");
        Self { child, _err: err }
    }

    pub(crate) fn end(mut self, with: Signal) -> Option<i32> {
        let id = Pid::from_raw(self.child.id().try_into().unwrap());
        let watched = watch(&self.child);
        kill(id, with).unwrap();
        let code = self.child.wait().unwrap().code();
        drop(watched);
        code
    }
}

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

/// How often the assistant heard each text that begins like this, by what `log show --json` prints.
pub(crate) fn heard(shown: &Run, beginning: &str) -> BTreeMap<String, u32> {
    let mut heard = BTreeMap::new();
    for event in shown.of_type("event") {
        let words = event.pointer("/data/perception/words");
        let text = words.and_then(Value::as_str).unwrap_or_default();
        if event.get("kind").is_some_and(|kind| kind == "perceived") && text.starts_with(beginning)
        {
            *heard.entry(text.to_owned()).or_default() += 1;
        }
    }
    heard
}

/// How many acts were carried out. A refused act is tried again, if somebody has come who may not hear it.
fn said(home: &Home) -> usize {
    let events = home.run(&["log", "show", "--json"], "").of_type("event");
    let done = |event: &&Value| event.pointer("/data/outcome/done").is_some();
    events.iter().filter(done).count()
}

#[test]
fn commands_reach_the_assistants_that_run_and_change_what_these_remember() {
    let home = Home::new();
    let running = Running::start(&home);
    ok(home.run(&["memory", "add", "The key is under the blue pot"], ""));
    let found = ok(home.run(&["memory", "search", "where is the key"], ""));
    assert!(found.out.contains("under the blue pot"), "{}", found.out);
    assert_eq!(
        found.err, "",
        "it is what the assistant knows now, not an older view"
    );
    let asked = ok(home.play("where is the key?"));
    assert!(
        asked.answers().last().unwrap().contains("blue pot"),
        "{}",
        asked.out
    );

    ok(home.run(&["entity", "set", "player:visitor", "--trust", "0.9"], ""));
    let known = ok(home.run(&["entity", "show", "player:visitor"], ""));
    assert!(known.out.contains("0.9"), "{}", known.out);
    ok(home.run(&["log", "verify"], ""));
    let doctor = ok(home.run(&["doctor"], ""));
    assert!(!doctor.out.contains("fail"), "{}", doctor.out);
    // The health from the last calls of the running assistants.
    for well in ["circuit closed", "dormouse: no trouble with the world"] {
        assert!(doctor.out.contains(well), "{}", doctor.out);
    }
    assert_eq!(running.end(Signal::SIGTERM), Some(143));
    assert!(!home.file("control.sock").exists());
    let alone = ok(home.run(&["doctor"], ""));
    assert!(
        !alone.out.contains("no trouble with the world"),
        "nobody runs"
    );
}

#[test]
fn a_memory_is_consolidated_while_its_assistant_lives() {
    let home = Home::new();
    let running = Running::start(&home);
    ok(home.play("remember that I live in Berlin"));
    let first = ok(home.run(&["memory", "consolidate"], ""));
    assert!(first.out.contains(" added"), "{}", first.out);
    let again = ok(home.run(&["memory", "consolidate"], ""));
    assert!(!again.out.contains(" added"), "{}", again.out);
    let asked = ok(home.play("where do I live?"));
    assert!(
        asked.answers().last().unwrap().contains("Berlin"),
        "{}",
        asked.out
    );
    assert_eq!(running.end(Signal::SIGTERM), Some(143));
    ok(home.run(&["log", "replay", "--decide"], ""));
}

#[test]
fn an_emergency_stop_holds_a_running_assistant_until_it_is_cleared() {
    let home = Home::new();
    let running = Running::start(&home);
    ok(home.run(&["emergency", "stop", "--by", "Ada"], ""));
    let shown = home.run(&["emergency", "show"], "");
    assert_eq!(shown.code, Some(5), "{}", shown.err);
    assert!(shown.out.contains("Ada"), "{}", shown.out);
    let stopped = home.play("remember that the pot is blue");
    assert_eq!(stopped.code, Some(5), "{}", stopped.out);
    assert_eq!(stopped.end(), ("stopped".to_owned(), 1));
    let cleared = ok(home.run(&["emergency", "clear"], ""));
    assert!(cleared.out.contains("answered now: 1"), "{}", cleared.out);
    let asked = ok(home.play("what colour is the pot?"));
    assert!(
        asked.answers().last().unwrap().contains("blue"),
        "{}",
        asked.out
    );
    running.end(Signal::SIGTERM);
}

#[test]
fn a_setting_that_is_changed_while_the_assistants_run_holds_for_the_next_message() {
    let home = Home::new();
    let running = Running::start(&home);
    assert_eq!(ok(home.play("say anybody?")).answers().len(), 0);
    let set = ["config", "set", "classify.rooms", "trigger", "--by", "Ada"];
    ok(home.run(&set, ""));
    let shown = ok(home.run(&["config", "show", "classify.rooms"], ""));
    assert!(
        shown.out.contains("= \"trigger\"") && shown.out.contains("by Ada"),
        "{}",
        shown.out
    );
    ok(home.run(&["config", "check"], ""));
    let asked = ok(home.play("say anybody?"));
    assert_eq!(asked.answers().len(), 1, "{}", asked.out);
    running.end(Signal::SIGTERM);
    ok(home.run(&["log", "replay", "--decide"], ""));
}

#[test]
fn a_visit_ends_when_its_own_lines_are_answered_although_somebody_else_is_not() {
    let home = Home::new();
    let (heard, alices_request) = mpsc::channel();
    let (answer, answers) = mpsc::channel::<()>();
    let server = Server::scripted(move |request| {
        if !request.path.ends_with("/completions") {
            return http("404 Not Found", "text/plain", "");
        }
        heard.send(()).ok();
        // The reply to Bob comes only when the test is over.
        answers.recv().ok();
        says("Good day.")
    });
    let provider = format!(
        "[provider]\nkind = \"local\"\nbase_url = \"{}\"\n[memory]\nembedder = \"none\"\nprivacy = \"shared\"\n",
        server.url
    );
    home.write("dormouse.toml", &provider);
    let running = Running::start(&home);
    let alice = home.spawn(&["play", "--json", "--as", "Alice"]);
    let alice = std::thread::spawn(move || finish(alice, b"hello\n"));
    alices_request.recv().unwrap();
    let mut bob = home.spawn(&["play", "--json", "--as", "Bob"]);
    let watched = watch(&bob);
    let mut input = bob.stdin.take().unwrap();
    input.write_all(b"are you there?\n").unwrap();
    let lines = BufReader::new(bob.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert!(lines.any(|line| line["type"] == "message" && line["text"] == "are you there?"));
    answer.send(()).unwrap();
    let visit = ok(alice.join().unwrap());
    assert_eq!(visit.end(), ("settled".to_owned(), 0));
    assert_eq!(visit.answers().len(), 1, "{}", visit.out);
    assert_eq!(running.end(Signal::SIGTERM), Some(143));
    drop(watched);
    bob.wait().unwrap();
}

#[test]
fn what_needs_the_data_alone_is_refused_and_says_how_to_get_it() {
    let home = Home::new();
    let running = Running::start(&home);
    let id = running.child.id().to_string();
    for command in [
        &["forget", "--text", "tea", "--yes"] as &[_],
        &["memory", "rebuild"],
        &["log", "salvage", "--into", "new.redb"],
        &["play", "--provider", "offline"],
        &["run"],
    ] {
        let refused = home.run(command, "hello");
        assert_eq!(refused.code, Some(3), "{command:?}: {}", refused.err);
        assert!(
            refused.err.contains(&format!("`kill {id}`")),
            "{}",
            refused.err
        );
    }
    let usage = home.run(&["memory", "show", "999"], "");
    assert_eq!(usage.code, Some(2), "{}", usage.err);
    running.end(Signal::SIGTERM);
}

#[test]
fn visitors_talk_at_once_while_somebody_searches_and_each_word_is_heard_once() {
    let home = Home::new();
    let running = Running::start(&home);
    let visits: Vec<_> = NAMES
        .map(|name| {
            let child = home.spawn(&["play", "--json", "--as", name]);
            let lines = (1..=4).map(move |n| format!("remember that {name} counts {n}\n"));
            let lines: String = lines.collect();
            std::thread::spawn(move || finish(child, lines.as_bytes()))
        })
        .into();
    for number in 0..3 {
        ok(home.run(&["memory", "search", "counts"], ""));
        ok(home.run(
            &["memory", "add", &format!("a note with number {number}")],
            "",
        ));
    }
    for (visit, name) in visits.into_iter().zip(NAMES) {
        let visit = ok(visit.join().unwrap());
        assert_eq!(visit.end(), ("settled".to_owned(), 0));
        for number in 1..=4 {
            let kept = format!("{name} counts {number}");
            assert!(
                visit.answers().iter().any(|said| said.contains(&kept)),
                "{kept}"
            );
        }
    }
    assert_eq!(running.end(Signal::SIGTERM), Some(143));

    let once = heard(&home.run(&["log", "show", "--json"], ""), "remember that");
    assert_eq!(once.len(), 12);
    assert!(once.values().all(|times| *times == 1), "{once:?}");
    let said = said(&home);
    let running = Running::start(&home);
    let found = ok(home.run(&["memory", "search", "note with number"], ""));
    for number in 0..3 {
        assert!(
            found.out.contains(&format!("number {number}")),
            "{}",
            found.out
        );
    }
    running.end(Signal::SIGTERM);
    assert_eq!(
        heard(&home.run(&["log", "show", "--json"], ""), "remember that"),
        once
    );
    assert_eq!(self::said(&home), said, "the next start says nothing again");
}

#[test]
fn a_program_that_is_killed_loses_nothing_that_it_confirmed_and_the_next_one_takes_its_place() {
    let home = Home::new();
    let running = Running::start(&home);
    let mut visit = home.spawn(&["play", "--json"]);
    let mut out = BufReader::new(visit.stdout.take().unwrap());
    let mut input = visit.stdin.take().unwrap();
    input
        .write_all(b"remember that Alice prefers tea\n")
        .unwrap();
    let mut line = String::new();
    while !line.contains("\"tick_ended\"") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0);
    }
    assert_eq!(running.end(Signal::SIGKILL), None);
    let watched = watch(&visit);
    let Output { status, stderr, .. } = visit.wait_with_output().unwrap();
    drop((input, watched));
    let err = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{err}");
    assert!(
        err.contains("Lines of the input up to 1 were carried out"),
        "{err}"
    );

    let running = Running::start(&home);
    let asked = ok(home.play("what does Alice prefer?"));
    assert!(asked.answers().last().unwrap().contains("tea"));
    running.end(Signal::SIGTERM);
    let heard = heard(
        &home.run(&["log", "show", "--json"], ""),
        "remember that Alice",
    );
    assert_eq!(heard.into_values().collect::<Vec<_>>(), [1]);
}

#[test]
fn a_visitor_who_is_cut_off_ends_neither_the_assistant_nor_another_visit() {
    let home = Home::new();
    let running = Running::start(&home);
    let mut visit = home.spawn(&["play", "--json"]);
    let mut out = BufReader::new(visit.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    let second = home.run(&["play", "--as", "VISITOR"], "hello");
    assert_eq!(second.code, Some(2));
    assert!(
        second.err.contains("choose another name with --as"),
        "{}",
        second.err
    );
    visit.kill().unwrap();
    visit.wait().unwrap();
    // The name is free as soon as the running program has noticed.
    let again = loop {
        let again = home.play("hello");
        if again.code != Some(2) {
            break ok(again);
        }
    };
    assert!(!again.answers().is_empty());
    running.end(Signal::SIGTERM);
}

#[test]
fn a_visitor_hears_that_the_program_ends() {
    let home = Home::new();
    let running = Running::start(&home);
    let mut visit = home.spawn(&["play", "--json"]);
    let mut out = BufReader::new(visit.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    assert_eq!(running.end(Signal::SIGTERM), Some(143));
    let watched = watch(&visit);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("Messages are kept"), "{rest}");
    assert!(
        rest.lines()
            .last()
            .unwrap()
            .contains("\"reason\":\"interrupted\""),
        "{rest}"
    );
    assert_eq!(visit.wait().unwrap().code(), Some(1));
    drop(watched);
}

/// How many lines each visitor has.
const LINES: usize = 40;

/// The lines of a visitor from this number on.
fn lines(name: &str, from: usize) -> String {
    (from..=LINES)
        .map(|number| format!("remember that {name} counts {number}\n"))
        .collect()
}

/// Up to which line of the input a visit was carried out, as a text says.
fn carried_out(text: &str) -> usize {
    let (_, rest) = text.split_once("Lines of the input up to ").unwrap();
    let number = rest.split(' ').next().unwrap();
    number.parse().unwrap()
}

/// Runs three visitors, ends the program with this signal in the middle of their input, and returns what each of them
/// printed.
fn interrupted(home: &Home, with: Signal) -> Vec<Run> {
    let running = Running::start(home);
    let visits: Vec<_> = NAMES
        .map(|name| {
            let mut child = home.spawn(&["play", "--json", "--as", name]);
            let mut input = child.stdin.take().unwrap();
            // The program may end before it has read everything.
            let writing = std::thread::spawn(move || {
                input.write_all(lines(name, 1).as_bytes()).ok();
                // The input stays open, so no visitor leaves before the signal.
                input
            });
            let mut out = BufReader::new(child.stdout.take().unwrap());
            let (answered, first) = std::sync::mpsc::channel();
            let reading = std::thread::spawn(move || {
                let mut all = String::new();
                while out.read_line(&mut all).unwrap() > 0 {
                    // Once the second line of this visitor is under way, the first one was confirmed.
                    let own = all.matches("\"act\":\"say_to\"").count();
                    if own > 1 && all.contains("\"effect_settled\"") {
                        answered.send(()).ok();
                    }
                }
                all
            });
            (child, writing, reading, first)
        })
        .into();
    for (_, _, _, first) in &visits {
        first.recv().unwrap();
    }
    running.end(with);
    let ended = visits.into_iter().map(|(mut child, writing, reading, _)| {
        let mut err = String::new();
        let mut errors = child.stderr.take().unwrap();
        errors.read_to_string(&mut err).unwrap();
        let out = reading.join().unwrap();
        drop(writing.join().unwrap());
        let code = child.wait().unwrap().code();
        Run { code, out, err }
    });
    ended.collect()
}

#[test]
fn visitors_who_are_interrupted_send_the_rest_again_and_each_line_is_heard_and_answered_once() {
    let home = Home::new();
    let ended = interrupted(&home, Signal::SIGTERM);
    let running = Running::start(&home);
    let visits: Vec<_> = NAMES
        .into_iter()
        .zip(ended)
        .map(|(name, ended)| {
            assert_eq!(ended.code, Some(1), "{}", ended.err);
            let rest = lines(name, carried_out(&ended.out) + 1);
            let child = home.spawn(&["play", "--json", "--as", name]);
            std::thread::spawn(move || finish(child, rest.as_bytes()))
        })
        .collect();
    for visit in visits {
        assert_eq!(ok(visit.join().unwrap()).end(), ("settled".to_owned(), 0));
    }
    running.end(Signal::SIGTERM);
    let heard = heard(&home.run(&["log", "show", "--json"], ""), "remember that");
    assert_eq!(heard.len(), NAMES.len() * LINES);
    assert!(heard.values().all(|times| *times == 1), "{heard:?}");
    assert_eq!(said(&home), heard.len());
}

#[test]
fn a_program_that_is_killed_with_its_visitors_answers_each_line_that_it_confirmed_once() {
    let home = Home::new();
    let ended = interrupted(&home, Signal::SIGKILL);
    // A program of its own waits until everybody is answered.
    ok(home.play(""));
    let heard = heard(&home.run(&["log", "show", "--json"], ""), "remember that");
    assert!(heard.values().all(|times| *times == 1), "{heard:?}");
    assert_eq!(said(&home), heard.len());
    for (name, ended) in NAMES.into_iter().zip(ended) {
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        let confirmed = carried_out(&ended.err);
        assert!((1..=LINES).contains(&confirmed), "{}", ended.err);
        for number in 1..=confirmed {
            assert!(heard.contains_key(&format!("remember that {name} counts {number}")));
        }
    }
}

#[test]
fn a_client_that_reads_nothing_or_hangs_up_delays_nobody() {
    let home = Home::new();
    let running = Running::start(&home);
    let request = |args: &str| {
        let mut stream = UnixStream::connect(home.file("control.sock")).unwrap();
        let line = format!("{{\"dormouse\":1,\"args\":{args},\"folder\":\"/\"}}\n");
        stream.write_all(line.as_bytes()).unwrap();
        stream
    };
    let mut silent = request("[\"play\",\"--as\",\"Silent\"]");
    // More than the socket and the print queue can hold. The write blocks once nothing more is accepted.
    let flood = std::thread::spawn(move || {
        for number in 1..=2_000 {
            let line = format!("{{\"line\":{{\"number\":{number},\"text\":\"/help\"}}}}\n");
            if silent.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    for _ in 0..10 {
        drop(request("[\"log\",\"show\",\"--json\"]"));
        drop(request("[\"memory\",\"add\",\"The pot is blue\"]"));
    }
    let asked = ok(home.play("is the pot blue?"));
    assert!(!asked.answers().is_empty(), "{}", asked.out);
    assert_eq!(running.end(Signal::SIGTERM), Some(143));
    flood.join().unwrap();
}

/// What the running program answers to these bytes, after its greeting.
fn answer(home: &Home, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(home.file("control.sock")).unwrap();
    let mut source = BufReader::new(stream.try_clone().unwrap());
    let mut greeting = String::new();
    source.read_line(&mut greeting).unwrap();
    assert!(greeting.starts_with("{\"dormouse\":1,"), "{greeting}");
    // It may end the connection before it has read everything.
    stream.write_all(bytes).ok();
    stream.shutdown(Shutdown::Write).ok();
    let mut answer = String::new();
    source.read_line(&mut answer).ok();
    answer
}

#[test]
fn garbage_on_the_socket_is_answered_with_what_is_wrong() {
    let home = Home::new();
    let running = Running::start(&home);
    for (bytes, why) in [
        (b"garbage\n".to_vec(), "not a message of this protocol"),
        (b"{\"dormouse\"".to_vec(), "in the middle of a line"),
        (vec![b'x'; (1 << 20) + 1], "longer than 1048576 bytes"),
        (vec![0xff, b'\n'], "not a message of this protocol"),
        (
            b"{\"dormouse\":2,\"args\":[],\"folder\":\"/\"}\n".to_vec(),
            "expected 1",
        ),
        (
            b"{\"dormouse\":1,\"args\":[\"memry\"],\"folder\":\"/\"}\n".to_vec(),
            "memory",
        ),
        (
            b"{\"dormouse\":1,\"args\":[\"forget\",\"--text\",\"a\",\"--yes\"],\"folder\":\"/\"}\n"
                .to_vec(),
            "forgetting must rewrite every file",
        ),
    ] {
        let answer = answer(&home, &bytes);
        assert!(
            answer.starts_with("{\"refused\":") && answer.contains(why),
            "{why}: {answer}"
        );
    }
    let mut all = Vec::new();
    while all.len() < 32 {
        let stream = UnixStream::connect(home.file("control.sock")).unwrap();
        let mut first = String::new();
        let mut source = BufReader::new(stream);
        source.read_line(&mut first).unwrap();
        // The place of a connection that has ended is free a moment later.
        if first.contains("version") {
            all.push(source);
        }
    }
    let one_too_many = home.run(&["memory", "stats"], "");
    assert_eq!(one_too_many.code, Some(1));
    assert!(
        one_too_many.err.contains("32 others are connected"),
        "{}",
        one_too_many.err
    );
    drop(all);
    running.end(Signal::SIGTERM);
}
