//! Forgetting: the words are in no byte of any file any more, everything else is kept, and the assistant continues to
//! work.

use std::{collections::BTreeMap, fs, path::Path};

use dormouse_contracts::{Append, AppendRequest, Clock, NewEvent, ReadEvents, Seq, Timestamp};
use dormouse_engine::Event;
use dormouse_host::SystemClock;
use dormouse_store::RedbLog;

use crate::{
    full_disk::may_mount,
    program::{Home, Run, finish},
    server::{Mood, Server, says},
};

const SECRETS: [&str; 6] = [
    "my blue parrot lives in the attic wardrobe",
    "the ferryman owes me eleven copper coins",
    "I buried a tin of letters under the third willow",
    "my sister paints boats in the old harbour",
    "never serve me anything with walnuts again",
    "the cellar key hangs behind the copper kettle",
];
const BOBS: [&str; 3] = [
    "my garden has seven beds of yellow tulips",
    "I repair clocks for the whole northern valley",
    "call me at noon when the bread is ready",
];

fn play(home: &Home, who: &str, lines: &[String]) -> Run {
    let args = ["play", "--json", "--provider", "offline", "--as", who];
    let run = home.run(&args, lines.join("\n") + "\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    run
}

fn whispers(texts: &[&str]) -> Vec<String> {
    let said = texts
        .iter()
        .zip(0..)
        .map(|(text, number)| match number % 3 {
            0 => format!("whisper Dormouse = remember that {text}"),
            1 => format!("Dormouse, {text}."),
            _ => format!("say {text}!"),
        });
    said.collect()
}

/// A folder in which two people talked to an assistant, and to a second one.
fn lived() -> Home {
    let home = Home::new();
    play(&home, "Alice", &whispers(&SECRETS));
    play(&home, "Bob", &whispers(&BOBS));
    let gossip = format!("whisper Dormouse = Alice told me that {}", SECRETS[1]);
    play(
        &home,
        "Bob",
        &[gossip, "Dormouse, where does the parrot live?".to_owned()],
    );
    play(
        &home,
        "Alice",
        &["Dormouse, where does my parrot live?".to_owned()],
    );
    home.write("dormouse.toml", "[assistant]\nkey = \"vole\"\n");
    play(&home, "Alice", &[format!("Vole, {}.", SECRETS[3])]);
    play(&home, "Bob", &[format!("Vole, {}.", BOBS[1])]);
    fs::remove_file(home.file("dormouse.toml")).unwrap();
    home
}

/// How often each text is in the files of a folder, in any case.
pub(crate) fn hits(folder: &Path, texts: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
        for text in texts {
            let text = text.to_ascii_lowercase();
            if bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
            {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                found.entry(text).or_default().push(name);
            }
        }
    }
    found
}

fn forget(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["forget"], args].concat(), "")
}

/// The records of one speaker, without what depends on other records.
fn records_of(home: &Home, key: &str, id: &str) -> Vec<String> {
    home.write("dormouse.toml", &format!("[assistant]\nkey = \"{key}\"\n"));
    let run = home.run(&["memory", "list", "--json"], "");
    fs::remove_file(home.file("dormouse.toml")).unwrap();
    assert_eq!(run.code, Some(0), "{}", run.err);
    let from = format!("\"from\":{{\"entity\":{{\"id\":\"{id}\"");
    let lines = run.out.lines().filter(|line| line.contains(&from));
    lines.map(str::to_owned).collect()
}

#[test]
fn no_free_page_of_the_world_holds_what_was_delivered_and_then_forgotten() {
    let home = Home::new();
    let look = ["look".to_owned()];
    play(&home, "Bob", &look);
    let said = [
        "say my aunt Zenobia hoards marzipanic periwinkles under the stairs",
        "say good night everybody here",
    ];
    play(&home, "Alice", &said.map(str::to_owned));
    play(&home, "Bob", &look);
    let words = ["Zenobia", "periwinkles"];
    assert_eq!(hits(home.path(), &words).len(), words.len());
    let run = forget(&home, &["--person", "Alice", "--yes", "--everything"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(hits(home.path(), &words), BTreeMap::new());
}

#[test]
fn no_file_of_the_folder_holds_a_word_of_a_person_who_was_forgotten() {
    let home = lived();
    // Files that other commands leave behind.
    fs::copy(home.file("log.redb"), home.file("log.redb.damaged")).unwrap();
    home.write("evennia.redb.damaged", SECRETS[0]);
    home.write("evennia-people.new", SECRETS[0]);
    home.write(
        "history.txt",
        &format!(
            "#V2\nwhisper Dormouse = remember that {}\nlook\n",
            SECRETS[0]
        ),
    );
    home.write(
        "mine.txt",
        &format!("A note of the operator: {}\n", SECRETS[2]),
    );
    let before = hits(home.path(), &SECRETS);
    assert_eq!(before.len(), SECRETS.len(), "{before:?}");
    assert!(
        before
            .values()
            .all(|files| files.contains(&"log.redb".to_owned()))
    );
    let bobs = records_of(&home, "dormouse", "player:bob");
    assert!(bobs.len() > 3);

    let shown = forget(&home, &["--person", "alice", "--dry-run"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(
        shown.out.contains("dormouse:") && shown.out.contains("vole:"),
        "{}",
        shown.out
    );
    assert_eq!(hits(home.path(), &SECRETS), before, "it only looked");

    let done = forget(
        &home,
        &[
            "--person", "alice", "--yes", "--json", "--reason", "asked to", "--by", "florian",
        ],
    );
    assert_eq!(done.code, Some(0), "{}", done.err);
    let line = &done.of_type("forget")[0];
    assert_eq!(
        (&line["is_done"], &line["unknown"][0]),
        (&true.into(), &"mine.txt".into()),
        "{line}"
    );
    let left = hits(home.path(), &SECRETS);
    let kept = SECRETS[2].to_ascii_lowercase();
    assert_eq!(left.keys().collect::<Vec<_>>(), [&kept], "{left:?}");
    assert_eq!(left[&kept], ["mine.txt"]);
    assert_eq!(
        fs::read_to_string(home.file("history.txt")).unwrap(),
        "#V2\nlook\n"
    );
    for gone in [
        "log.redb.damaged",
        "evennia.redb.damaged",
        "evennia-people.new",
        "forget.json",
    ] {
        assert!(!home.file(gone).exists(), "{gone} is left");
    }

    // Nothing else is lost, to neither assistant. One message of Bob repeats words of hers.
    assert_eq!(hits(home.path(), &BOBS).len(), BOBS.len());
    let now = records_of(&home, "dormouse", "player:bob");
    assert_eq!(now.len(), bobs.len());
    let changed: Vec<_> = now
        .iter()
        .zip(&bobs)
        .filter(|(now, before)| now != before)
        .collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert!(
        changed[0].0.contains("Alice told me that [forgotten]"),
        "{changed:?}"
    );

    for key in ["dormouse", "vole"] {
        let again = home.run(&["log", "replay", "--decide", "--assistant", key], "");
        assert_eq!(again.code, Some(0), "{}", again.err);
        let replayed = home.run(&["log", "replay", "--assistant", key], "");
        assert_eq!(replayed.code, Some(0), "{}", replayed.err);
        let shown = home.run(&["log", "show", "--assistant", key], "");
        assert!(
            shown
                .out
                .contains("lost words, by florian (asked to): what player:alice said"),
            "{}",
            shown.out
        );
    }
    let verified = home.run(&["log", "verify"], "");
    let checked = home.run(&["doctor", "--provider", "offline"], "");
    assert_eq!(
        (verified.code, checked.code),
        (Some(0), Some(0)),
        "{}{}",
        verified.out,
        checked.out
    );

    // The assistant continues to work. She is a stranger now, and nothing comes back.
    let again = forget(&home, &["--person", "player:alice", "--yes"]);
    assert_eq!(again.code, Some(2), "{}", again.out);
    assert!(
        again
            .err
            .contains("there is nothing to forget for player:alice"),
        "{}",
        again.err
    );
    let visit = play(
        &home,
        "Alice",
        &["Dormouse, where does my parrot live?".to_owned()],
    );
    assert!(!visit.out.contains("attic"), "{}", visit.out);
    let memory = home.run(&["entity", "list"], "");
    assert!(memory.out.contains("Alice"), "{}", memory.out);
}

#[test]
fn a_record_a_text_and_a_span_are_forgotten_and_nothing_else() {
    for (args, gone) in [
        (vec!["--text", "blue parrot"], vec![0]),
        (vec!["--text", "walnuts"], vec![4]),
        (vec!["--until", "2000-01-01"], vec![]),
    ] {
        let home = lived();
        let done = forget(&home, &[&args[..], &["--yes"]].concat());
        assert_eq!(
            done.code,
            Some(if gone.is_empty() { 2 } else { 0 }),
            "{}",
            done.err
        );
        let left = hits(home.path(), &SECRETS);
        for (secret, number) in SECRETS.iter().zip(0..) {
            let is_left = left.contains_key(&secret.to_ascii_lowercase());
            assert_eq!(
                is_left,
                !gone.contains(&number),
                "{secret} after {args:?}: {left:?}"
            );
        }
    }
    let home = lived();
    let list = home.run(&["memory", "list", "--json"], "");
    let of = list.items().into_iter().find(|item| {
        item["text"]
            .as_str()
            .is_some_and(|text| text.contains(SECRETS[2]))
    });
    let id = of.unwrap()["id"].as_str().unwrap().to_owned();
    let done = forget(&home, &["--record", &format!("#{id}"), "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let left = hits(home.path(), &SECRETS);
    assert_eq!(left.len(), SECRETS.len() - 1, "{left:?}");
    assert!(!left.contains_key(&SECRETS[2].to_ascii_lowercase()));
}

#[test]
fn a_note_says_what_it_was_made_from_and_how_to_forget_that_too() {
    let home = Home::new();
    let asked = "whisper Dormouse = remember that the vault opens with plumbago";
    play(&home, "Alice", &[asked.to_owned()]);
    let list = home.run(&["memory", "list", "--json"], "").items();
    let note = list.iter().find(|item| item["derived_from"][0].is_string());
    let note = note.unwrap_or_else(|| panic!("{list:?}"));
    let id = note["id"].as_str().unwrap();
    let message = note["derived_from"][0].as_str().unwrap();
    let why = home.run(&["memory", "why", id], "").out;
    for expected in [
        format!("made of {message}  "),
        format!("`dormouse memory show {message}`"),
        format!("`dormouse log show --from {message} --to {message}`"),
    ] {
        assert!(why.contains(&expected), "{why}");
    }
    let command = format!("`dormouse forget --record {message}`");
    let shown = forget(&home, &["--record", id, "--dry-run"]);
    assert!(shown.out.contains(&command), "{}", shown.out);
    let done = forget(&home, &["--record", id, "--yes"]);
    assert!(done.out.contains(&command), "{}", done.out);
    assert!(
        !hits(home.path(), &["plumbago"]).is_empty(),
        "the message stays"
    );
    let done = forget(
        &home,
        &["--record", message, "--yes", "--everything", "--json"],
    );
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(done.items()[0]["made_from"], serde_json::Value::Null);
    assert_eq!(hits(home.path(), &["plumbago"]), BTreeMap::new());
}

#[test]
fn a_note_is_forgotten_together_with_the_messages_that_it_was_made_from() {
    let home = Home::new();
    let asked = "whisper Dormouse = remember that the vault opens with plumbago";
    play(&home, "Alice", &[asked.to_owned()]);
    play(&home, "Bob", &["Dormouse, the ferry is late.".to_owned()]);
    let list = home.run(&["memory", "list", "--json"], "").items();
    let note = list.iter().find(|item| item["derived_from"][0].is_string());
    let id = note.unwrap()["id"].as_str().unwrap();
    let done = forget(&home, &["--record", id, "--with-messages", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(!done.out.contains("which stays"), "{}", done.out);
    assert_eq!(hits(home.path(), &["plumbago"]), BTreeMap::new());
    assert!(!hits(home.path(), &["the ferry is late"]).is_empty());
    let shown = home.run(&["log", "show"], "").out;
    assert!(
        shown.contains(&format!("record {id} and what it was made from (")),
        "{shown}"
    );
    let alone = forget(&home, &["--person", "bob", "--with-messages", "--yes"]);
    assert_eq!(alone.code, Some(2), "{}", alone.out);
}

#[test]
fn what_is_left_of_a_record_says_that_it_was_forgotten_and_cannot_be_undone() {
    let home = Home::new();
    let asked = "whisper Dormouse = remember that the vault opens with plumbago";
    play(&home, "Alice", &[asked.to_owned(), "look".to_owned()]);
    let list = home.run(&["memory", "list", "--json"], "").items();
    let note = list.iter().find(|item| item["derived_from"][0].is_string());
    let note = note.unwrap()["id"].as_str().unwrap().to_owned();
    let shown = forget(&home, &["--record", &note, "--dry-run", "--verbose"]);
    assert!(shown.out.contains("\n  1 note or fact\n"), "{}", shown.out);
    let done = forget(&home, &["--record", &note, "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let said = format!("the words of record {note} were forgotten");
    for look in ["show", "why"] {
        let shown = home.run(&["memory", look, &note], "");
        assert!(shown.out.contains(&said), "{look}: {}", shown.out);
    }
    let undone = home.run(&["memory", "undo", &note], "");
    assert_eq!(undone.code, Some(2), "{}", undone.out);
    assert!(undone.err.contains(&said), "{}", undone.err);
    // A container may set no name of the user.
    let mut child = home.command(&["forget", "--text", "plumbago", "--yes", "--everything"]);
    let child = child.env_remove("USER").env_remove("LOGNAME").spawn();
    let done = finish(child.unwrap(), b"");
    assert_eq!(done.code, Some(0), "{}", done.err);
    let log = home.run(&["log", "show"], "").out;
    assert_eq!(log.matches("lost words, by ").count(), 2, "{log}");
    assert!(!log.contains("somebody at the command line"), "{log}");
    let list = home.run(&["memory", "list", "--all"], "").out;
    assert!(list.contains("(no words any more)"), "{list}");
    // What was erased from the memory alone is still in the log.
    let message = list.lines().find(|line| line.contains("arrives"));
    let message = message.unwrap().split(' ').next().unwrap();
    home.run(&["memory", "erase", message, "--yes"], "");
    let shown = home.run(&["memory", "show", message], "").out;
    let hint = format!("`dormouse forget --record {message}`");
    assert!(shown.contains(&hint), "{shown}");
}

#[test]
fn an_id_is_read_as_it_is_printed() {
    let home = Home::new();
    play(&home, "Mary Ann", &["Dormouse, hello.".to_owned()]);
    let printed = home.run(&["entity", "list"], "").out;
    let id = printed.split("  ").next().unwrap();
    assert_eq!(id, "player:mary\\u{20}ann");
    let shown = home.run(&["entity", "show", id], "");
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    for id in [id, "player:mary ann"] {
        let shown = forget(&home, &["--person", id, "--dry-run"]);
        assert_eq!(shown.code, Some(0), "{}", shown.err);
    }
}

#[test]
fn examples_are_all_that_is_taken_or_say_how_many_more_there_are() {
    let home = Home::new();
    let lines: Vec<_> = (0..101)
        .map(|n| format!("say the kettle {n} sings"))
        .collect();
    play(&home, "Alice", &lines);
    let shown = forget(&home, &["--text", "kettle", "--dry-run", "--verbose"]);
    let examples = shown
        .out
        .lines()
        .filter(|line| line.contains("sings"))
        .count();
    assert_eq!(examples, 100, "{}", shown.out);
    assert!(shown.out.contains("\n  101 messages\n"), "{}", shown.out);
    assert!(shown.out.contains("\n    and 1 more\n"), "{}", shown.out);
    let shown = forget(
        &home,
        &["--text", "kettle 7 sings", "--dry-run", "--verbose"],
    );
    assert!(shown.out.contains("\n  1 message\n"), "{}", shown.out);
    assert!(!shown.out.contains("more"), "{}", shown.out);
}

#[test]
fn of_what_was_forgotten_before_it_was_shown_nothing_is_shown() {
    let home = Home::new();
    play(&home, "Alice", &["look".to_owned()]);
    play(&home, "Bob", &["say the blue parrot is at home".to_owned()]);
    play(&home, "Bob", &["say the bread is ready".to_owned()]);
    let done = forget(&home, &["--text", "parrot", "--yes", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let texts = |run: &Run| {
        run.of_type("world")
            .into_iter()
            .map(|it| it["text"].to_string())
    };
    let visit = play(&home, "Alice", &["look".to_owned()]);
    let missed: Vec<_> = texts(&visit).collect();
    assert!(
        missed.iter().any(|text| text.contains("bread")),
        "{missed:?}"
    );
    assert!(
        !missed.iter().any(|text| text.contains("forgotten")),
        "{missed:?}"
    );
    // Each delivery is shown once.
    let visit = play(&home, "Alice", &["look".to_owned()]);
    assert!(!texts(&visit).any(|text| text.contains("bread")));
}

#[test]
fn a_text_is_found_and_taken_wherever_it_is_in_the_folder() {
    const OURS: &str = "the lamp oil is under the eleventh stair";
    let home = lived();
    // Nobody but Bob hears it.
    play(&home, "Bob", &["look".to_owned()]);
    play(&home, "Alice", &[format!("page Bob = {OURS}")]);
    assert_eq!(
        hits(home.path(), &[OURS]).values().next().unwrap(),
        &["world.redb"]
    );
    let shown = forget(&home, &["--text", OURS, "--dry-run"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(
        shown.out.contains("world.redb") && !shown.out.contains("log.redb"),
        "{}",
        shown.out
    );
    let done = forget(&home, &["--text", OURS, "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(hits(home.path(), &[OURS]).is_empty());
    let again = forget(&home, &["--text", OURS, "--yes"]);
    assert_eq!(again.code, Some(2), "{}", again.out);

    // Files that other commands left behind.
    let line = serde_json::json!({"text": OURS, "source_key": "1"});
    let other = serde_json::json!({"text": BOBS[0], "source_key": "2"});
    let person =
        serde_json::json!({"type": "person", "assistants": [{"messages": [{"text": OURS}]}]});
    let tape = serde_json::json!({"dormouse_cassette": 1, "exchanges": [OURS]});
    for (name, text, left) in [
        (
            "history.txt",
            format!("#V2\nsay {OURS}\nlook\n"),
            Some("#V2\nlook\n".to_owned()),
        ),
        (
            "kept.jsonl",
            format!("{line}\n{other}\n"),
            Some(format!("{other}\n")),
        ),
        ("alice.json", person.to_string(), None),
        ("tape.json", tape.to_string(), None),
        ("log.redb.damaged", format!("\0\u{1}{line}\0"), None),
    ] {
        home.write(name, &text);
        let done = forget(&home, &["--text", OURS, "--yes"]);
        assert_eq!(done.code, Some(0), "{name}: {}", done.err);
        assert_eq!(fs::read_to_string(home.file(name)).ok(), left, "{name}");
    }
    assert_eq!(hits(home.path(), &SECRETS).len(), SECRETS.len());
}

/// All files of a folder with their bytes.
fn bytes_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    entries
        .map(|path| (name(&path), fs::read(&path).unwrap()))
        .collect()
}

#[test]
fn looking_changes_no_byte_of_any_file_also_while_a_visit_is_on() {
    let home = lived();
    let looks = [
        &["--person", "alice", "--dry-run"][..],
        &["--text", "blue parrot", "--dry-run", "--verbose"],
        &["--secrets", "--dry-run"],
        &["--from", "2020-01-01", "--dry-run"],
        &["--requests"],
    ];
    let before = bytes_of(home.path());
    for look in looks {
        let shown = forget(&home, look);
        assert_eq!(shown.code, Some(0), "{look:?}: {}", shown.err);
        assert!(bytes_of(home.path()) == before, "{look:?}");
    }
    let mut visit = home.spawn(&["play", "--json", "--provider", "offline", "--as", "Bob"]);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(visit.stdout.take().unwrap()));
    assert!(lines.next().unwrap().unwrap().contains("ready"));
    for look in looks {
        let shown = forget(&home, look);
        assert_eq!(shown.code, Some(0), "{look:?}: {}", shown.err);
        assert!(
            shown
                .err
                .contains("in use by another process; this is the log as it was at"),
            "{}",
            shown.err
        );
    }
    drop(lines);
    finish(visit, b"");
}

#[cfg(unix)]
#[test]
fn no_words_stay_behind_a_link() {
    let home = lived();
    let elsewhere = Home::new();
    for name in [
        "log.redb",
        "world.redb",
        "memory-dormouse.redb",
        "history.txt",
    ] {
        let (here, there) = (home.file(name), elsewhere.file("file"));
        if name == "history.txt" {
            fs::write(&here, format!("say {}\n", SECRETS[0])).unwrap();
        }
        fs::rename(&here, &there).unwrap();
        std::os::unix::fs::symlink(&there, &here).unwrap();
        for how in ["--yes", "--dry-run"] {
            let refused = forget(&home, &["--person", "alice", how]);
            assert_eq!(refused.code, Some(2), "{name}: {}", refused.out);
            let said = format!("{name} is a symbolic link to ");
            assert!(refused.err.contains(&said), "{}", refused.err);
        }
        fs::remove_file(&here).unwrap();
        fs::rename(&there, &here).unwrap();
    }
    // A link to a file elsewhere is not changed, but reported.
    let mine = elsewhere.write(
        "mine.jsonl",
        &format!("{{\"text\":\"{}\",\"source_key\":\"1\"}}\n", SECRETS[1]),
    );
    std::os::unix::fs::symlink(&mine, home.file("mine.jsonl")).unwrap();
    let done = forget(&home, &["--person", "alice", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(
        done.err
            .contains("mine.jsonl is not a file of this program"),
        "{}",
        done.err
    );
    assert!(mine.exists() && home.file("mine.jsonl").is_symlink());
}

#[test]
fn a_line_with_a_name_and_no_id_goes_with_the_one_person_who_has_the_name() {
    const LINES: [&str; 3] = [
        "the heron builds its nest on the north chimney",
        "nine barrels of cider wait in the boat house",
        "the miller hides his savings in a clay goose",
    ];
    let home = lived();
    // The second name begins with a Cyrillic letter.
    let lines = LINES.iter().zip(["Alice", "\u{410}lice", "Mallory"]);
    let lines: Vec<_> = lines
        .map(|(text, speaker)| serde_json::json!({"text": text, "speaker": speaker}).to_string())
        .collect();
    let imported = home.run(&["memory", "import", "-"], lines.join("\n"));
    assert_eq!(imported.code, Some(0), "{}", imported.err);

    let document = |who: &str, named: &[&str]| -> serde_json::Value {
        let written = home.run(&[&["export", "--person", who][..], named].concat(), "");
        assert_eq!(written.code, Some(0), "{}", written.err);
        serde_json::from_str(&written.out).unwrap()
    };
    let alice = document("alice", &[]);
    assert_eq!(
        alice["person"]["named_only"]["Alice"], 1,
        "{}",
        alice["person"]
    );
    let text = alice.to_string();
    assert!(text.contains(LINES[0]) && text.contains(LINES[1]) && !text.contains(LINES[2]));

    let shown = forget(&home, &["--person", "alice", "--dry-run"]);
    assert!(
        shown
            .out
            .contains("1 line has only the name \"Alice\" and no id: nobody else has this name"),
        "{}",
        shown.out
    );
    // Now another name looks like hers, so the line belongs to nobody.
    let renamed = home.run(&["entity", "alias", "player:bob", "AIice"], "");
    assert_eq!(renamed.code, Some(0), "{}", renamed.err);
    assert!(!document("player:alice", &[]).to_string().contains(LINES[0]));
    assert!(
        document("player:alice", &["--named"])
            .to_string()
            .contains(LINES[0])
    );
    let done = forget(&home, &["--person", "player:alice", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let said = "other people have this or a similar name: these lines stay";
    assert!(done.err.contains(said), "{}", done.err);
    assert_eq!(hits(home.path(), &LINES).len(), 3);
    let refused = forget(&home, &["--person", "alice", "--yes"]);
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(refused.err.contains(said), "{}", refused.err);
    let done = forget(&home, &["--person", "alice", "--named", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(hits(home.path(), &LINES).len(), 1);

    // Only a line has this name, no entity.
    let done = forget(&home, &["--person", "mallory", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(hits(home.path(), &[&LINES[..], &["Mallory"]].concat()).is_empty());
    for nobody in ["", " "] {
        let refused = forget(&home, &["--person", nobody, "--yes"]);
        assert_eq!(refused.code, Some(2));
        assert!(
            refused.err.contains("--person needs at least one word"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_to_do_and_changes_nothing() {
    let home = lived();
    let log = |home: &Home| {
        home.run(&["log", "show", "--assistant", "dormouse"], "")
            .out
    };
    let before = log(&home);
    for (args, code, said) in [
        (
            &["--person", "Alicia", "--yes"][..],
            2,
            "there is: Alice (player:alice)",
        ),
        (&["--person", "alice"], 2, "give --yes"),
        (
            &["--record", "99999", "--yes"],
            2,
            "there is nothing to forget for record 99999",
        ),
        (
            &["--text", "no such words were ever said", "--yes"],
            2,
            "there is nothing to forget for this text",
        ),
        (
            &["--text", "!?", "--yes"],
            2,
            "--text needs at least one word",
        ),
        (&["--from", "2020-01-01", "--yes"], 2, "give --everything"),
        (
            &["--from", "2020-01-01", "--until", "2019-01-01", "--yes"],
            2,
            "ends before it begins",
        ),
        (&["--yes"], 2, "--person"),
    ] {
        let refused = forget(&home, args);
        assert_eq!(refused.code, Some(code), "{args:?}: {}", refused.err);
        assert!(refused.err.contains(said), "{args:?}: {}", refused.err);
    }
    assert!(log(&home) == before, "the log is as it was");

    // A visit has the folder open.
    let mut visit = home.spawn(&["play", "--json", "--provider", "offline", "--as", "Bob"]);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(visit.stdout.take().unwrap()));
    assert!(lines.next().unwrap().unwrap().contains("ready"));
    let refused = forget(&home, &["--person", "alice", "--yes"]);
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    drop(lines);
    finish(visit, b"");
    assert_eq!(hits(home.path(), &SECRETS).len(), SECRETS.len());
}

#[test]
fn everything_can_be_forgotten_and_life_goes_on() {
    let home = lived();
    let args = ["--from", "2020-01-01", "--yes", "--everything"];
    let done = forget(&home, &args);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(hits(home.path(), &SECRETS).is_empty() && hits(home.path(), &BOBS).is_empty());
    for args in [
        &["log", "replay", "--decide", "--assistant", "dormouse"][..],
        &["log", "replay", "--assistant", "vole"],
        &["log", "verify"],
        &["doctor", "--provider", "offline"],
    ] {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(0), "{args:?}: {}{}", run.out, run.err);
    }
    let asked = "whisper Dormouse = remember that the barge leaves at noon".to_owned();
    let visit = play(
        &home,
        "Alice",
        &[asked, "Dormouse, when does the barge leave?".to_owned()],
    );
    assert!(visit.answers().concat().contains("noon"), "{}", visit.out);
}

#[test]
fn a_night_is_not_disturbed_and_what_it_made_of_somebody_goes_with_them() {
    let home = lived();
    let before = hits(home.path(), &SECRETS);
    let consolidate = |url: &str| {
        let args = ["memory", "consolidate", "--model", "tiny"];
        home.spawn(&[&args[..], &["--base-url", url]].concat())
    };
    // The night waits for its model.
    let slow = Server::start(Mood::Hanging);
    let mut night = consolidate(&slow.url);
    while slow.asked().is_empty() {
        assert!(night.try_wait().unwrap().is_none(), "it asks the model");
        std::thread::yield_now();
    }
    for args in [&["--person", "alice", "--yes"][..], &["--retention"]] {
        home.write("dormouse.toml", "[memory]\nutterances_kept_days = 1\n");
        let refused = forget(&home, args);
        assert_eq!(refused.code, Some(3), "{args:?}: {}", refused.err);
    }
    fs::remove_file(home.file("dormouse.toml")).unwrap();
    night.kill().unwrap();
    night.wait().unwrap();
    assert_eq!(hits(home.path(), &SECRETS), before);

    // A night that ends makes facts of what both said.
    let scribe = Server::scripted(|request| {
        let facts = request.message().lines().filter_map(|line| {
            let (id, said) = line.strip_prefix('[')?.split_once(']')?;
            let said = said.split_once(": ").map_or(said, |(_, said)| said);
            let text = format!("It is held that {said}");
            Some(serde_json::json!({"text": text, "from": [id]}))
        });
        says(&serde_json::json!(facts.collect::<Vec<_>>()).to_string())
    });
    let night = finish(consolidate(&scribe.url), b"");
    assert_eq!(night.code, Some(0), "{}{}", night.out, night.err);
    let facts = ["memory", "list", "--kind", "fact"];
    let facts = |home: &Home| home.run(&facts, "").out;
    let made = facts(&home);
    assert!(made.contains("It is held that"), "{made}");
    assert!(
        made.contains(BOBS[0]) && made.contains(SECRETS[0]),
        "{made}"
    );
    let done = forget(&home, &["--person", "alice", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(hits(home.path(), &SECRETS).is_empty());
    assert!(facts(&home).contains(BOBS[0]), "{}", facts(&home));
}

#[test]
fn an_export_holds_all_that_is_kept_of_a_person_and_nothing_that_others_said_in_private() {
    let home = lived();
    let to = home.file("alice.json");
    let to = to.to_str().unwrap();
    let written = home.run(&["export", "--person", "ALICE", "--out", to], "");
    assert_eq!(written.code, Some(0), "{}", written.err);
    let text = fs::read_to_string(to).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["person"]["ids"][0], "player:alice");
    let of = |number: usize, list: &str| {
        document["assistants"][number][list]
            .as_array()
            .unwrap()
            .clone()
    };
    let said = |number: usize| {
        let messages = of(number, "messages").into_iter();
        messages
            .map(|message| message["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    };
    for secret in SECRETS {
        assert!(said(0).contains(secret), "{secret}");
    }
    assert!(said(1).contains(SECRETS[3]) && !said(1).contains(SECRETS[0]));
    let first = &of(0, "messages")[1];
    assert_eq!(
        (&first["how"], &first["event"]),
        (&"whisper".into(), &3.into()),
        "{first}"
    );
    assert!(
        first["audience"]["entities"]
            .as_array()
            .unwrap()
            .contains(&"player:alice".into())
    );
    assert!(
        !of(0, "answers").is_empty()
            && !of(0, "profiles").is_empty()
            && !of(0, "records").is_empty()
    );
    for words in [BOBS[0], BOBS[2]] {
        assert!(!text.contains(words), "{words}");
    }

    let refused = home.run(&["export", "--person", "alice", "--out", to], "");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let refused = home.run(&["export", "--person", "Alicia"], "");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("there is: Alice"), "{}", refused.err);
    let printed = home.run(
        &["export", "--person", "player:bob", "--assistant", "vole"],
        "",
    );
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    let document: serde_json::Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(document["assistants"].as_array().unwrap().len(), 1);
    assert!(printed.out.contains(BOBS[1]) && !printed.out.contains(BOBS[0]));
}

#[test]
fn a_full_disk_leaves_everything_as_it_was_and_the_next_attempt_works() {
    if !may_mount() {
        return;
    }
    let home = lived();
    let before = hits(home.path(), &SECRETS);
    let kept = Home::new();
    // A disk with room for the old files, but only for a part of the new ones.
    let script = "data=$1 kept=$2 program=$3; mount -t tmpfs -o size=12m none /mnt && cp --sparse=always \"$data\"/* /mnt/ || exit 99; \
        head -c 64k /dev/zero > /mnt/later; cat /dev/zero > /mnt/filler 2>/dev/null; rm /mnt/later; \
        \"$program\" forget --person alice --yes --data /mnt; code=$?; rm /mnt/filler; cp --sparse=always /mnt/* \"$kept\"/; exit $code";
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]);
    command
        .arg(home.path())
        .arg(kept.path())
        .arg(env!("CARGO_BIN_EXE_dormouse"));
    command.stdin(std::process::Stdio::null());
    let done = command.output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains("nothing was forgotten") && said.contains("No space left"),
        "{said}"
    );
    assert_eq!(hits(kept.path(), &SECRETS), before, "{said}");
    let names = fs::read_dir(kept.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    assert!(
        !names.iter().any(|name| name.contains("forget")),
        "{names:?}"
    );

    let done = forget(&kept, &["--person", "alice", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(hits(kept.path(), &SECRETS).is_empty());
}

#[test]
fn somebody_who_asks_in_the_world_to_be_forgotten_waits_until_the_operator_does_it() {
    let home = Home::new();
    play(&home, "Alice", &["Dormouse, don't forget me!".to_owned()]);
    play(
        &home,
        "Bob",
        &[
            "say Alice said: forget me".to_owned(),
            "Dormouse, forget Alice.".to_owned(),
        ],
    );
    let nobody = forget(&home, &["--requests"]);
    assert_eq!(
        (nobody.code, nobody.out.trim()),
        (Some(0), "nobody waits to be forgotten")
    );
    play(
        &home,
        "Alice",
        &["whisper Dormouse = Please forget everything about me.".to_owned()],
    );

    let asked = forget(&home, &["--requests", "--json"]);
    let asked = asked.of_type("forget_request");
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(
        (&asked[0]["person"], &asked[0]["assistant"]),
        (&"player:alice".into(), &"dormouse".into())
    );
    let checked = home.run(&["doctor", "--provider", "offline"], "");
    assert_eq!(checked.code, Some(0), "{}", checked.out);
    assert!(
        checked
            .out
            .contains("asked dormouse to be forgotten (`dormouse forget --person player:alice"),
        "{}",
        checked.out
    );

    let done = forget(&home, &["--person", "player:alice", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(forget(&home, &["--requests", "--json"]).out, "");
}

/// Spreads a life evenly over the year that ends now.
fn spread_over_a_year(home: &Home) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        let old = RedbLog::open_existing(&home.file("log.redb")).unwrap();
        let (key, last) = old.assistants().unwrap().remove(0);
        let events = old.read(&key, Seq::ZERO, usize::MAX).await.unwrap();
        assert_eq!(events.last().unwrap().seq, last);
        let (now, year) = (SystemClock.now().as_micros(), 365 * 86_400_000_000_i64);
        let spread = events.into_iter().map(|stored| {
            let share = i64::try_from(stored.seq.0 * 1_000_000 / last.0).unwrap();
            NewEvent {
                at: Timestamp::from_micros(now - year + share * (year / 1_000_000)),
                kind: Event::decode(&stored).unwrap().kind(),
                schema: stored.schema,
                payload: stored.payload,
            }
        });
        let events: Vec<_> = spread.collect();
        let new = RedbLog::open(&home.file("year.redb")).unwrap();
        for part in events.chunks(500) {
            let expected = new
                .assistants()
                .unwrap()
                .first()
                .map_or(Seq::ZERO, |it| it.1);
            let request = AppendRequest {
                assistant: key.clone(),
                expected,
                events: part.to_vec(),
            };
            new.append(request).await.unwrap();
        }
    });
    fs::rename(home.file("year.redb"), home.file("log.redb")).unwrap();
    // The memory follows the old log, so it must be removed.
    for entry in fs::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("memory-")
        {
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn what_was_said_goes_after_so_many_days_if_nothing_refers_to_it() {
    const MESSAGES: usize = 120;
    let home = Home::new();
    let said = |number: usize| match number % 10 {
        0 => format!("remember that drawer {number}q holds the tulip bulbs"),
        _ => format!("The barge {number}q came late with the letters."),
    };
    let lines: Vec<_> = (0..MESSAGES).map(said).collect();
    // A visit a month.
    for lines in lines.chunks(10) {
        play(&home, "Alice", lines);
    }
    spread_over_a_year(&home);
    let texts = |numbers: std::ops::Range<usize>, is_noted: bool| -> Vec<String> {
        let numbers = numbers.filter(|number| (number % 10 == 0) == is_noted);
        numbers.map(said).collect()
    };
    let count = |texts: &[String]| {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        hits(home.path(), &texts).len()
    };

    // Without the setting, everything is kept.
    let refused = forget(&home, &["--retention"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(
        refused
            .err
            .contains("utterances_kept_days in [memory] is 0"),
        "{}",
        refused.err
    );
    let doctor = home.run(&["doctor", "--provider", "offline"], "").out;
    assert!(!doctor.contains("--retention"), "{doctor}");

    home.write("dormouse.toml", "[memory]\nutterances_kept_days = 180\n");
    let doctor = home.run(&["doctor", "--provider", "offline"], "");
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
    assert!(
        doctor
            .out
            .contains("due to be forgotten: `dormouse forget --retention --data "),
        "{}",
        doctor.out
    );
    let size = || fs::metadata(home.file("log.redb")).unwrap().len();
    let (before, begun) = (size(), SystemClock.now());
    let done = forget(&home, &["--retention"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let millis = SystemClock.now().since(begun).as_millis();
    println!(
        "{MESSAGES} messages: {before} bytes, then {}, in {millis} ms",
        size()
    );
    assert!(
        done.out.contains(" messages\n"),
        "it prints what it takes: {}",
        done.out
    );
    let half = MESSAGES / 2;
    assert_eq!(count(&texts(0..half - 10, false)), 0, "what is old is gone");
    let noted = texts(0..MESSAGES, true);
    assert_eq!(count(&noted), noted.len(), "what was noted stays");
    let young = texts(half + 10..MESSAGES, false);
    assert_eq!(count(&young), young.len(), "what is young stays");

    for args in [
        &["log", "verify"][..],
        &["log", "replay"],
        &["memory", "list"],
    ] {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(0), "{args:?}: {}{}", run.out, run.err);
    }
    let doctor = home.run(&["doctor", "--provider", "offline"], "");
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
    assert!(!doctor.out.contains("--retention"), "{}", doctor.out);
    let shown = home.run(&["log", "show"], "").out;
    assert!(shown.contains("if nothing refers to it"), "{shown}");
    let again = forget(&home, &["--retention"]);
    assert_eq!(
        (again.code, &*again.out),
        (Some(0), "nothing to remove; nothing was changed\n")
    );
    play(&home, "Alice", &["where are the tulip bulbs?".to_owned()]);
}
