//! Looking into the memory, and changing it.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
};

use serde_json::{Value, json};

use crate::{
    program::{Home, Run, finish},
    server::{Server, says},
};

fn done(home: &Home, args: &[&str]) -> Run {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
    run
}

fn failed(home: &Home, args: &[&str], code: i32, said: &str) {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(code), "{args:?}: {} {}", run.out, run.err);
    assert!(run.err.contains(said), "{args:?}: {}", run.err);
}

fn filled() -> Home {
    let home = Home::new();
    let add = |words: &str, by: &str, at: &str| {
        done(
            &home,
            &[
                "memory",
                "add",
                words,
                "--by",
                by,
                "--at",
                at,
                "--thread",
                "tea house",
            ],
        );
    };
    add(
        "The kettle is in the blue tin.",
        "Alice",
        "2026-11-20T10:00",
    );
    add("I lost my umbrella.", "Bob", "2026-11-20T10:00:10");
    add("My sister plays the trombone.", "Alice", "2026-11-21");
    home
}

#[test]
fn an_added_record_is_found_with_the_reason() {
    let home = filled();
    let run = done(
        &home,
        &["memory", "search", "Where", "is", "the", "kettle?"],
    );
    let mut lines = run.out.lines();
    assert_eq!(
        lines.next().unwrap(),
        "1  2026-11-20T10:00:00Z \"Alice\" (tea house): The kettle is in the blue tin."
    );
    assert!(lines.next().unwrap().contains("score "), "{}", run.out);

    let run = done(
        &home,
        &["memory", "search", "kettle", "--json", "--limit", "1"],
    );
    let items = run.items();
    assert_eq!(items[0]["type"], "recollection");
    assert_eq!(items[0]["record"]["id"], "1");
    assert!(!items[0]["parts"].as_object().unwrap().is_empty());
    let summary = serde_json::json!({"type": "recall", "found": 1, "mode": "words", "waiting": 0});
    assert_eq!(items[1], summary);

    let run = done(
        &home,
        &["memory", "search", "kettle", "--tokens", "30", "--json"],
    );
    let tokens = run.of_type("recollection");
    let tokens = tokens.iter().map(|item| item["tokens"].as_u64().unwrap());
    assert!(tokens.sum::<u64>() <= 30);
    let run = done(
        &home,
        &[
            "memory",
            "search",
            "kettle",
            "--since",
            "2026-11-21",
            "--json",
        ],
    );
    assert!(
        run.of_type("recollection")
            .iter()
            .all(|item| item["record"]["id"] != "1")
    );
}

#[test]
fn a_repeated_text_makes_no_second_record() {
    let home = filled();
    let args = [
        "memory",
        "add",
        "I lost my umbrella.",
        "--by",
        "Bob",
        "--at",
        "2026-11-20T10:00:10",
        "--thread",
        "tea house",
    ];
    assert_eq!(
        done(&home, &args).out,
        "record 2 already has this text; nothing was added\n"
    );
}

#[test]
fn a_change_has_its_reason_and_can_be_taken_back() {
    let home = filled();
    done(&home, &["memory", "withdraw", "2"]);
    let found = |word| done(&home, &["memory", "search", word, "--json"]).of_type("recollection");
    assert!(
        found("umbrella")
            .iter()
            .all(|item| item["record"]["id"] != "2")
    );
    let why = done(&home, &["memory", "why", "2"]).out;
    assert!(
        why.contains("event 4") && why.contains("withdrawn at the command line"),
        "{why}"
    );
    assert_eq!(
        done(&home, &["memory", "undo", "4"]).out,
        "event 5: event 4 is undone\n"
    );
    assert_eq!(found("umbrella")[0]["record"]["id"], "2");
    failed(
        &home,
        &["memory", "undo", "4"],
        2,
        "event 4 was undone by event 5; undo event 5 to make it again",
    );
    failed(
        &home,
        &["memory", "undo", "99"],
        2,
        "`dormouse memory why ID`",
    );

    done(&home, &["memory", "supersede", "1", "--by", "3"]);
    let run = done(&home, &["memory", "show", "1", "--json"]);
    let record = &run.items()[0];
    assert_eq!(record["status"], "superseded");
    assert_eq!(record["valid_until"], "2026-11-21T00:00:00Z");
    let as_of = [
        "memory",
        "search",
        "kettle",
        "--as-of",
        "2026-11-20T12:00",
        "--json",
    ];
    let then = done(&home, &as_of).of_type("recollection");
    assert_eq!(then[0]["record"]["id"], "1");
}

#[test]
fn what_was_undone_is_made_again_by_undoing_the_undo() {
    let home = filled();
    let ids = || -> Vec<String> {
        let list = done(&home, &["memory", "list", "--json"]).items();
        list.iter()
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect()
    };
    done(&home, &["memory", "undo", "2"]);
    assert_eq!(ids(), ["1", "3"]);
    done(&home, &["memory", "undo", "4"]);
    assert_eq!(ids(), ["1", "2", "3"]);
    let again = done(&home, &["memory", "search", "umbrella", "--json"]);
    assert_eq!(again.of_type("recollection")[0]["record"]["id"], "2");
    done(&home, &["memory", "undo", "2"]);
    assert_eq!(ids(), ["1", "3"]);
    done(&home, &["memory", "rebuild", "--from-log", "--yes"]);
    assert_eq!(ids(), ["1", "3"]);
}

#[test]
fn refusals_name_events_and_commands_that_exist() {
    let home = filled();
    done(&home, &["memory", "supersede", "1"]);
    done(&home, &["memory", "withdraw", "1"]);
    failed(
        &home,
        &["memory", "undo", "4"],
        2,
        "1 has changed since event 4",
    );
    failed(
        &home,
        &["memory", "supersede", "1", "--by", "2"],
        2,
        "1 is withdrawn; undo that first",
    );
    done(&home, &["entity", "create", "#12", "Alice"]);
    done(&home, &["memory", "erase", "2", "--yes"]);
    failed(
        &home,
        &["memory", "undo", "7"],
        2,
        "event 7 cannot be undone",
    );
    failed(
        &home,
        &["memory", "undo", "99"],
        2,
        "event 99 of the log changed no record",
    );
}

#[test]
fn a_change_without_effect_says_so_and_writes_no_event() {
    let home = filled();
    done(&home, &["entity", "create", "#12", "Alice"]);
    for args in [
        &["memory", "publish", "1"][..],
        &["memory", "withdraw", "1"],
        &["memory", "supersede", "2", "--since", "2026-11-21"],
        &["memory", "erase", "3", "--yes"],
        &["entity", "alias", "Alice", "Ally"],
        &["entity", "alias", "Alice", "Ally", "--remove"],
        &["entity", "set", "Alice", "--type", "npc", "--trust", "0.8"],
    ] {
        // What the operator adds is public already.
        let first = done(&home, args).out;
        let is_new = !args.contains(&"publish");
        assert_eq!(first.starts_with("event "), is_new, "{first}");
        let through = || done(&home, &["log", "show"]).out.lines().count();
        let before = through();
        let again = done(&home, args).out;
        assert!(
            again.contains(" already; nothing was changed"),
            "{args:?}: {again}"
        );
        let json = done(&home, &[args, &["--json"]].concat()).items();
        assert!(
            json.iter().all(|line| line["type"] == "unchanged"),
            "{json:?}"
        );
        assert_eq!(through(), before, "{args:?}");
    }
}

#[test]
fn ids_are_read_as_they_are_printed() {
    let home = filled();
    for (plain, signed) in [("show", "#2"), ("why", "#2")] {
        assert_eq!(
            done(&home, &["memory", plain, signed]).out,
            done(&home, &["memory", plain, "2"]).out
        );
    }
    done(&home, &["memory", "supersede", "#1", "--by", "#3"]);
    failed(&home, &["memory", "show", "##2"], 2, "is not an origin");
}

#[test]
fn an_unknown_listener_is_reported_with_similar_ones() {
    let home = filled();
    done(&home, &["entity", "create", "player:alice", "Alice"]);
    done(&home, &["memory", "publish", "2"]);
    let search = |who: &str| done(&home, &["memory", "search", "umbrella", "--for", who]);
    for known in ["player:alice", "Alice"] {
        assert!(!search(known).err.contains("stranger"), "{known}");
    }
    for (unknown, said) in [
        ("player:alcie", "did you mean Alice (player:alice)?"),
        ("player:zoltan", "`dormouse entity list` prints all"),
    ] {
        let run = search(unknown);
        let is_said = run.err.contains(said) && run.err.contains("what a stranger may hear");
        assert!(is_said && run.out.contains("umbrella"), "{}", run.err);
    }
}

#[test]
fn a_record_that_is_superseded_in_the_future_is_valid_until_then() {
    let home = filled();
    let said = done(
        &home,
        &["memory", "supersede", "2", "--since", "2999-01-01"],
    )
    .out;
    assert!(
        said.contains("record 2 is valid until 2999-01-01"),
        "{said}"
    );
    let listed = done(&home, &["memory", "list"]).out;
    assert!(
        listed.contains("umbrella") && !listed.contains("(superseded)"),
        "{listed}"
    );
    let shown = done(&home, &["memory", "show", "2"]).out;
    assert!(
        shown.contains("live, and superseded later") && shown.contains("until 2999"),
        "{shown}"
    );
    let found = done(&home, &["memory", "search", "umbrella", "--json"]);
    assert_eq!(found.of_type("recollection")[0]["record"]["id"], "2");
}

#[test]
fn an_import_names_its_event_which_can_be_undone() {
    let home = Home::new();
    let run = home.run(
        &["memory", "import", "-", "--json"],
        "{\"text\":\"Tea at five.\"}\n",
    );
    let line = run.of_type("imported").remove(0);
    assert_eq!(line["events"], json!([1]));
    done(&home, &["memory", "undo", "1"]);
    assert_eq!(done(&home, &["memory", "list"]).out, "");
    let known = home.run(
        &["memory", "import", "-", "--json"],
        "{\"text\":\"Tea at five.\"}\n",
    );
    assert_eq!(known.of_type("imported")[0]["events"], json!([]));
}

#[test]
fn erasing_needs_a_confirmation_and_leaves_no_text() {
    let home = filled();
    failed(&home, &["memory", "erase", "2"], 2, "--yes");
    done(&home, &["memory", "erase", "2", "--yes"]);
    let export = done(&home, &["memory", "export"]).out;
    assert!(!export.contains("umbrella"), "{export}");
    let found = done(&home, &["memory", "search", "umbrella", "--json"]);
    assert!(!found.out.contains("umbrella"), "{}", found.out);
}

#[test]
fn read_only_commands_create_no_file() {
    let home = Home::new();
    for args in [
        &["memory", "search", "tea"][..],
        &["memory", "show", "1"],
        &["memory", "why", "1"],
        &["memory", "stats"],
        &["memory", "export"],
        &["memory", "hygiene"],
        &["memory", "rebuild"],
        &["entity", "list"],
        &["entity", "block"],
        &["memory", "import", "no-such-file"],
    ] {
        let run = home.run(args, "");
        let code = if args.contains(&"import") { 2 } else { 1 };
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.err);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "{args:?}");
    }
    failed(&home, &["memory", "stats"], 1, "there is no file");
}

#[test]
fn unknown_records_and_invalid_values_are_refused() {
    let home = filled();
    failed(&home, &["memory", "show", "99"], 2, "there is no record 99");
    failed(&home, &["memory", "show", "mouse"], 2, "is not an origin");
    failed(&home, &["memory", "add", "  "], 2, "at least one word");
    failed(
        &home,
        &["memory", "add", "tea", "--at", "soon"],
        2,
        "expected a time such as",
    );
    failed(
        &home,
        &["memory", "add", "tea", "--trust", "2"],
        2,
        "from 0 to 1",
    );
    failed(
        &home,
        &["memory", "add", "tea", "--kind", "rumour"],
        2,
        "rumour",
    );
    failed(&home, &["memory", "migrate"], 2, "--embedder");
    failed(
        &home,
        &["memory", "migrate", "--back"],
        2,
        "no former space",
    );
}

#[test]
fn malformed_lines_are_reported_and_the_rest_is_imported() {
    let home = Home::new();
    let lines = "{\"text\":\"Tea at five.\"}\nnonsense\n\n{\"text\":\"Cocoa at six.\"}\n";
    let run = home.run(&["memory", "import", "-"], lines);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert_eq!(
        run.out,
        "3 lines: 2 added, 0 already known, 1 refused\n    added by event 1, which `dormouse memory undo` takes back\n    \
         their trust is at most 0.40, so no answer is based on them; `--trust SCORE` sets the trust of a file\n"
    );
    assert!(run.err.contains("line 2: not a record"), "{}", run.err);
    let again = home.run(&["memory", "import", "-", "--json"], lines);
    assert_eq!(again.of_type("refused")[0]["line"], 2);
    let summary = &again.of_type("imported")[0];
    assert_eq!(
        (&summary["added"], &summary["known"]),
        (&0.into(), &2.into())
    );
}

#[test]
fn a_broken_file_is_reported_by_its_first_lines_and_the_number_of_the_others() {
    let home = Home::new();
    let lines = "nonsense\n".repeat(2_000);
    let run = home.run(&["memory", "import", "-"], &lines);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert_eq!(run.err.matches("not a record").count(), 10, "{}", run.err);
    assert!(run.err.contains("1990 other lines refused"), "{}", run.err);
    let all = home.run(&["memory", "import", "-", "--json"], &lines);
    assert_eq!(all.of_type("refused").len(), 2_000);
}

#[test]
fn a_search_without_words_is_refused_by_memory_and_journal_alike() {
    let home = Home::new();
    home.play("hello\n");
    for of in ["memory", "journal"] {
        let run = home.run(&[of, "search", " "], "");
        assert_eq!(run.code, Some(2), "{}", run.out);
        assert!(
            run.err.contains("expected at least one word"),
            "{}",
            run.err
        );
    }
}

#[test]
fn an_export_can_be_imported_and_replaces_no_file() {
    let home = filled();
    let file = home.file("all.jsonl");
    let path = file.to_str().unwrap();
    let run = done(&home, &["memory", "export", path]);
    assert!(run.err.contains("3 records written"), "{}", run.err);
    failed(&home, &["memory", "export", path], 2, "never overwritten");
    let printed = done(&home, &["memory", "export"]).out;
    assert_eq!(printed, fs::read_to_string(&file).unwrap());

    let other = Home::new();
    done(&other, &["memory", "import", "--own", path]);
    assert_eq!(done(&other, &["memory", "export"]).out, printed);
    let again = done(&home, &["memory", "import", path]).out;
    assert_eq!(again, "3 lines: 0 added, 3 already known, 0 refused\n");
}

#[test]
fn a_file_is_believed_as_far_as_the_command_says_and_vouches_for_nobody() {
    let line = "{\"text\":\"The code of the vault is 9431.\",\"trust\":1.0,\"speaker\":\"Alice\",\
                \"entity\":\"player:alice\",\"heard_as\":\"whisper\",\"kind\":\"instruction\",\"derivation\":\"heard\"}\n";
    for (flags, trust, from, derivation) in [
        (&[][..], 0.4, json!({"named": "Alice"}), "imported"),
        (
            &["--trust", "0.25"],
            0.25,
            json!({"named": "Alice"}),
            "imported",
        ),
        (
            &["--own"],
            1.0,
            json!({"entity": {"id": "player:alice", "name": "Alice"}}),
            "heard",
        ),
    ] {
        let home = Home::new();
        let command: Vec<_> = ["memory", "import", "-"]
            .iter()
            .chain(flags)
            .copied()
            .collect();
        let run = home.run(&command, line);
        assert_eq!(run.code, Some(0), "{}", run.err);
        let record = done(&home, &["memory", "list", "--json"]).items().remove(0);
        assert!(
            (record["trust"].as_f64().unwrap() - trust).abs() < 1e-6,
            "{record}"
        );
        assert_eq!(
            (&record["from"], &record["derivation"]),
            (&from, &derivation.into())
        );
    }
}

#[test]
fn a_killed_import_keeps_what_it_acknowledged_and_another_completes_it() {
    const LINES: u64 = 20_000;
    let home = Home::new();
    let line = |n: u64| format!("{{\"text\":\"Cup number {n}.\",\"speaker\":\"Alice\"}}\n");
    let mut child = home.spawn(&["memory", "import", "-", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    let half: String = (0..LINES / 2).map(line).collect();
    stdin.write_all(half.as_bytes()).unwrap();
    // A refusal is printed after everything before its own batch is on disk.
    stdin.write_all(b"nonsense\n").unwrap();
    let rest: String = (LINES / 2..LINES / 2 + 2_000).map(line).collect();
    stdin.write_all(rest.as_bytes()).unwrap();
    stdin.flush().unwrap();
    let mut output = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut output).unwrap();
    assert!(output.contains("\"refused\""), "{output}");
    child.kill().unwrap();
    child.wait().unwrap();

    let stats = done(&home, &["memory", "stats", "--json"])
        .items()
        .remove(0);
    let there = stats["in_use"].as_u64().unwrap();
    assert!((LINES / 2 - 512..LINES).contains(&there), "{there}");
    let all: String = (0..LINES).map(line).collect();
    let run = finish(
        home.spawn(&["memory", "import", "-", "--json"]),
        all.as_bytes(),
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    let summary = &run.of_type("imported")[0];
    assert_eq!(summary["known"], there);
    assert_eq!(summary["added"], LINES - there);
}

#[test]
fn hygiene_proposes_and_folds_on_demand() {
    let home = filled();
    let twice = [
        "memory",
        "add",
        "I lost my umbrella.",
        "--by",
        "Bob",
        "--at",
        "2026-11-20T11:00",
    ];
    done(&home, &twice);
    let output = done(&home, &["memory", "hygiene"]).out;
    assert!(
        output.contains("same text as an older record: 1") && output.contains("could be folded"),
        "{output}"
    );
    let report = done(&home, &["memory", "hygiene", "--apply", "--json"])
        .items()
        .remove(0);
    let change = report["folded"][0].as_u64().unwrap().to_string();
    let stats = || {
        done(&home, &["memory", "stats", "--json"])
            .items()
            .remove(0)
    };
    assert_eq!(stats()["in_use"], 3);
    done(&home, &["memory", "undo", &change]);
    assert_eq!(stats()["in_use"], 4);
}

#[test]
fn derived_data_can_be_rebuilt() {
    let home = filled();
    assert!(
        done(&home, &["memory", "rebuild"])
            .out
            .contains("3 records rebuilt")
    );
    let index = home.file("memory-dormouse.redb.index");
    assert!(index.exists());
    fs::remove_file(&index).unwrap();
    let found = done(&home, &["memory", "search", "trombone", "--json"]);
    assert_eq!(found.of_type("recollection")[0]["record"]["id"], "3");
}

#[test]
fn a_rebuild_from_the_log_that_is_killed_anywhere_is_completed_by_the_next_command() {
    let home = filled();
    let line = |n: u64| format!("{{\"text\":\"Cup number {n}.\",\"speaker\":\"Alice\"}}\n");
    let lines: String = (0..3_000).map(line).collect();
    let import = home.spawn(&["memory", "import", "-", "--json"]);
    assert_eq!(finish(import, lines.as_bytes()).code, Some(0));
    done(&home, &["memory", "withdraw", "1"]);
    let contents = || done(&home, &["memory", "export"]).out;
    let before = contents();
    let mut killed = 0;
    for milliseconds in (0..240).step_by(20) {
        let mut child = home.spawn(&["memory", "rebuild", "--from-log"]);
        let (_held, timer) = std::sync::mpsc::channel::<()>();
        let _timed_out = timer.recv_timeout(std::time::Duration::from_millis(milliseconds));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(contents() == before, "killed after {milliseconds} ms");
    }
    assert!(killed >= 3, "{killed} of 12 were killed while they worked");
}

#[test]
fn one_process_has_it_open_at_a_time() {
    let home = filled();
    let mut child = home.spawn(&["memory", "import", "-", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    // Lines are read in batches of some hundred; a refusal is printed once its batch was read.
    stdin
        .write_all("nonsense\n".repeat(512).as_bytes())
        .unwrap();
    stdin.flush().unwrap();
    let mut output = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut output)
        .unwrap();
    let add = ["memory", "add", "tea"];
    failed(&home, &add, 3, "in use by another process");
    drop(stdin);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn text_out_of_the_memory_steers_no_terminal() {
    let home = Home::new();
    done(
        &home,
        &[
            "memory",
            "add",
            "red \u{1b}[31m\u{202e}dog",
            "--by",
            "Eve\u{9b}",
        ],
    );
    for args in [
        &["memory", "search", "dog"][..],
        &["memory", "search", "dog", "--json"],
        &["memory", "show", "1"],
        &["memory", "export"],
    ] {
        let out = done(&home, args).out;
        assert!(
            !out.contains(['\u{1b}', '\u{202e}', '\u{9b}']),
            "{args:?}: {out:?}"
        );
    }
}

#[test]
fn every_record_is_listed_in_its_order_or_the_last_ones_of_a_kind() {
    let home = filled();
    done(
        &home,
        &["memory", "add", "I prefer tea.", "--kind", "preference"],
    );
    done(&home, &["memory", "withdraw", "2"]);
    let list = |args: &[&str]| done(&home, &[&["memory", "list"], args].concat()).out;
    let ids = |text: String| -> Vec<String> {
        let words = text.lines().map(|line| line.split(' ').next().unwrap());
        words.map(str::to_owned).collect()
    };
    assert_eq!(ids(list(&[])), ["1", "3", "4"]);
    let all = list(&["--all"]);
    assert!(all.contains("umbrella. (withdrawn)"), "{all}");
    assert_eq!(ids(all), ["1", "2", "3", "4"]);
    assert_eq!(ids(list(&["--last", "2"])), ["3", "4"]);
    assert_eq!(ids(list(&["--kind", "preference"])), ["4"]);
    assert_eq!(ids(list(&["--kind", "fact"])), [""; 0]);

    let run = done(&home, &["memory", "list", "--json"]);
    let records = run.of_type("record");
    let shown = done(&home, &["memory", "show", "1", "--json"]);
    assert_eq!((records.len(), &records[0]), (3, &shown.items()[0]));
    let empty = Home::new();
    failed(&empty, &["memory", "list"], 1, "there is no file");
}

/// A home in which a chat was imported.
fn chatted() -> Home {
    let home = Home::new();
    let chat = [
        ("Alice", "I moved to Berlin last May"),
        ("Bob", "I keep a boat in the harbour"),
    ];
    let chat = chat.map(|(by, text)| json!({"text": text, "speaker": by, "thread": "tea house"}));
    let lines = home.write("chat.jsonl", &chat.map(|line| line.to_string()).join("\n"));
    let lines = lines.to_str().unwrap();
    done(&home, &["memory", "import", lines, "--trust", "0.6"]);
    home
}

/// A server that makes a fact of each line that it is shown.
fn writer() -> Server {
    Server::scripted(|request| {
        let shown = request.message();
        let facts = shown.lines().map(|line| {
            let (id, rest) = line.trim_start_matches('[').split_once(']').unwrap();
            let (_, said) = rest.split_once(": ").unwrap();
            json!({"text": format!("Somebody said: \"{said}\""), "from": [id], "about": ["Alice"]})
        });
        says(&json!(facts.collect::<Vec<_>>()).to_string())
    })
}

#[test]
fn a_model_makes_facts_of_what_was_heard_once_and_they_can_be_undone() {
    let home = chatted();
    let server = writer();
    let model = ["--model", "tiny", "--base-url", &server.url];
    let consolidate = |more: &[&str]| {
        let command = ["memory", "consolidate", "--json"];
        let run = done(&home, &[&command, &model[..], more].concat());
        run.items().pop().unwrap()
    };
    let forecast = consolidate(&["--dry-run"]);
    assert_eq!(forecast["type"], "consolidation_forecast");
    assert_eq!(
        (&forecast["requests"], &forecast["records"]),
        (&json!(1), &json!(2))
    );
    assert!(forecast["prompt_tokens"].as_u64().unwrap() > 0);
    assert_eq!(server.asked().len(), 0, "a dry run asks nobody");

    let line = consolidate(&[]);
    assert_eq!(line["type"], "consolidated");
    assert_eq!((&line["added"], &line["records"]), (&json!(2), &json!(2)));
    assert_eq!((&line["end"], server.asked().len()), (&json!("done"), 1));
    let found = done(&home, &["memory", "list", "--kind", "fact", "--json"]);
    assert_eq!(found.items().len(), 2);
    let again = consolidate(&[]);
    assert_eq!((&again["requests"], server.asked().len()), (&json!(0), 1));

    done(&home, &["memory", "rebuild", "--from-log"]);
    let rebuilt = done(&home, &["memory", "list", "--kind", "fact", "--json"]);
    assert_eq!(rebuilt.out, found.out);
    let event = line["events"][0].to_string();
    done(&home, &["memory", "undo", &event]);
    let left = done(&home, &["memory", "list", "--kind", "fact", "--json"]);
    assert_eq!(left.out, "");
}

#[test]
fn without_a_model_facts_and_traits_are_made_by_fixed_rules_and_can_be_undone() {
    let home = Home::new();
    for (who, said) in [
        (
            "Alice",
            "hello there\nmy horse is called Biscuit. I live in Hollow.\nwhere is the kettle?\n",
        ),
        ("Bob", "Good evening! I like green tea.\n"),
    ] {
        let run = home.run(&["play", "--as", who, "--provider", "offline"], said);
        assert_eq!(run.code, Some(0), "{}", run.err);
    }
    let offline = ["memory", "consolidate", "--provider", "offline", "--json"];
    let line = done(&home, &offline).items().pop().unwrap();
    assert_eq!(
        (&line["type"], &line["end"]),
        (&json!("consolidated"), &json!("done")),
        "{line}"
    );
    let listed = ["memory", "list", "--json"];
    let found = done(&home, &listed);
    let is_made = |record: &Value| record["derivation"] == "extracted";
    let made = found.items().into_iter().filter(is_made);
    let mut texts: Vec<_> = made
        .map(|it| it["text"].as_str().unwrap().to_owned())
        .collect();
    texts.sort();
    let expected = [
        "Alice lives in Hollow.",
        "Alice's horse is called Biscuit.",
        "Bob likes green tea.",
    ];
    assert_eq!(texts, expected);

    let again = done(&home, &offline).items().pop().unwrap();
    assert_eq!(again["requests"], json!(0), "everything was read");
    done(&home, &["log", "replay", "--decide"]);
    done(&home, &["memory", "rebuild", "--from-log"]);
    assert_eq!(done(&home, &listed).out, found.out);
    let event = line["events"][0].to_string();
    done(&home, &["memory", "undo", &event]);
    assert_ne!(done(&home, &listed).out, found.out);
}

#[test]
fn consolidating_says_why_it_cannot() {
    let home = chatted();
    let offline = ["memory", "consolidate", "--provider", "offline"];
    let through = || done(&home, &["log", "show"]).out;
    let before = through();
    let mut visit = home.spawn(&["play", "--json", "--provider", "offline"]);
    let mut out = BufReader::new(visit.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    // A visit has the data open, but `--dry-run` only reads.
    let forecast = done(&home, &[&offline[..], &["--dry-run"]].concat());
    assert!(
        forecast.err.contains("in use by another process"),
        "{}",
        forecast.err
    );
    drop(visit.stdin.take());
    visit.wait().unwrap();
    assert!(through().starts_with(&before));

    let nobody = [
        "memory",
        "consolidate",
        "--model",
        "tiny",
        "--base-url",
        "http://127.0.0.1:1/v1",
    ];
    failed(&home, &nobody, 1, "the model failed");
    failed(&home, &nobody, 1, "the same command continues from there");

    let poet = Server::scripted(|_| says("Mice sleep in the teapot."));
    let poet = [
        "memory",
        "consolidate",
        "--model",
        "tiny",
        "--base-url",
        &poet.url,
    ];
    let run = home.run(&poet, "");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(
        run.out.contains("no usable reply three times: 1.1, 1.2"),
        "{}",
        run.out
    );
    let nothing = Home::new();
    failed(&nothing, &poet, 1, "memory");
}

#[test]
fn a_memory_that_is_missing_is_made_again_from_its_log_before_it_is_read() {
    let home = filled();
    let before = done(&home, &["memory", "list", "--json"]).out;
    for file in ["memory-dormouse.redb", "memory-dormouse.redb.index"] {
        fs::remove_file(home.file(file)).ok();
    }
    let run = done(&home, &["memory", "search", "kettle"]);
    assert!(
        run.out.contains("The kettle is in the blue tin."),
        "{}",
        run.out
    );
    assert_eq!(done(&home, &["memory", "list", "--json"]).out, before);
}

#[test]
fn why_names_the_answers_that_a_record_was_left_out_of_and_who_heard_them() {
    let home = Home::new();
    for (who, line) in [
        (
            "Alice",
            "whisper Dormouse = remember that the vault opens with the word plumbago",
        ),
        ("Bob", "whisper Dormouse = which word opens the vault?"),
        ("Alice", "whisper Dormouse = which word opens the vault?"),
    ] {
        let args = ["play", "--json", "--provider", "offline", "--as", who];
        let run = home.run(&args, format!("{line}\n"));
        assert_eq!(run.code, Some(0), "{}", run.err);
    }
    let items = home.run(&["memory", "list", "--json"], "").items();
    let of_alice = items.iter().find(|item| {
        item["text"]
            .as_str()
            .is_some_and(|text| text.contains("plumbago"))
    });
    let id = of_alice.unwrap()["id"].as_str().unwrap().to_owned();
    let why = home
        .run(&["memory", "why", &id, "--json"], "")
        .of_type("why");
    let withheld = why[0]["withheld"].as_array().unwrap();
    assert_eq!(withheld.len(), 1, "{withheld:?}");
    let [heard, known] = ["listeners", "audience"].map(|field| withheld[0][field].to_string());
    assert!(
        heard.contains("player:bob") && !heard.contains("player:alice"),
        "{heard}"
    );
    assert!(
        known.contains("player:alice") && !known.contains("player:bob"),
        "{known}"
    );
    let why = home.run(&["memory", "why", &id], "").out;
    assert!(why.contains("left out of the answer to #"), "{why}");
}
