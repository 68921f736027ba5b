//! A memory is used only by its own assistant over its own log.

use std::{fs, path::PathBuf};

use crate::program::{Home, Run};

/// The file of an assistant's memory.
fn memory_of(home: &Home, key: &str) -> PathBuf {
    home.file(&format!("memory-{key}.redb"))
}

fn done(home: &Home, args: &[&str]) -> Run {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(0), "{args:?}: {}{}", run.out, run.err);
    run
}

fn said(home: &Home, lines: &str) {
    let run = home.play(lines);
    assert_eq!(run.code, Some(0), "{}", run.err);
}

fn runs_as(home: &Home, key: &str) {
    home.write("dormouse.toml", &format!("[assistant]\nkey = \"{key}\"\n"));
}

/// The result of recall for these words.
fn recalled(home: &Home, words: &str) -> String {
    done(home, &["memory", "search", words]).out
}

fn doctor(home: &Home, code: i32) -> String {
    let run = home.run(&["doctor", "--provider", "offline"], "");
    assert_eq!(run.code, Some(code), "{}", run.out);
    run.out
}

/// Refused by `play` and by `doctor`, without advice to throw anything away.
fn refused(home: &Home, words: &[&str]) {
    let run = home.play("say hello\n");
    assert_eq!((run.code, run.out.as_str()), (Some(4), ""), "{}", run.err);
    for output in [run.err, doctor(home, 4)] {
        for word in words {
            assert!(output.contains(word), "{word}: {output}");
        }
        assert!(
            !output.contains("remove") && !output.contains("delete"),
            "{output}"
        );
    }
}

#[test]
fn each_resident_of_a_folder_has_a_memory_of_its_own() {
    let home = Home::new();
    said(&home, "remember that the kettle is blue\n");
    done(&home, &["memory", "add", "The ladder is in the barn."]);
    runs_as(&home, "bob");
    for _ in 0..3 {
        // A whisper: the other resident would overhear what is said aloud.
        said(&home, "whisper Bob = remember that the tin is red\n");
    }
    let bobs = recalled(&home, "kettle ladder tin");
    assert!(bobs.contains("tin is red"), "{bobs}");
    assert!(
        !bobs.contains("kettle is") && !bobs.contains("barn"),
        "{bobs}"
    );
    doctor(&home, 0);

    runs_as(&home, "dormouse");
    said(&home, "say hello\n");
    let own = recalled(&home, "kettle ladder tin");
    assert!(
        own.contains("kettle is blue") && own.contains("barn"),
        "{own}"
    );
    assert!(!own.contains("tin is red"), "{own}");
    doctor(&home, 0);
}

#[test]
fn a_memory_in_the_place_of_anothers_is_refused_by_both_names() {
    let home = Home::new();
    said(&home, "remember that the kettle is blue\n");
    runs_as(&home, "bob");
    said(&home, "remember that the tin is red\n");
    fs::copy(memory_of(&home, "dormouse"), memory_of(&home, "bob")).unwrap();
    refused(&home, &["memory-bob.redb", "dormouse", "bob"]);
    let run = home.run(&["memory", "search", "kettle"], "");
    assert_eq!(run.code, Some(4), "{}", run.out);
}

/// Two folders with equally many messages. The second has the memory of the first.
fn with_the_memory_of_another_log() -> (Home, Home) {
    let (first, second) = (Home::new(), Home::new());
    said(&first, "remember that the kettle is blue\n");
    done(&first, &["memory", "add", "The ladder is in the barn."]);
    said(&second, "remember that the tin is red\nsay one\nsay two\n");
    fs::copy(
        memory_of(&first, "dormouse"),
        memory_of(&second, "dormouse"),
    )
    .unwrap();
    (first, second)
}

#[test]
fn a_memory_of_another_log_is_refused_and_can_be_made_again() {
    let (_first, home) = with_the_memory_of_another_log();
    refused(
        &home,
        &[
            "another log",
            "memory-dormouse.redb",
            "memory rebuild --from-log",
        ],
    );
    done(&home, &["memory", "rebuild", "--from-log", "--yes"]);
    doctor(&home, 0);
    said(&home, "remember that the oven smokes\n");
    let found = recalled(&home, "kettle ladder tin oven");
    for words in ["tin is red", "oven smokes"] {
        assert!(found.contains(words), "{words}: {found}");
    }
    for words in ["kettle is blue", "barn"] {
        assert!(!found.contains(words), "it is of the other log: {found}");
    }
}

/// A log that was set back to where only the kettle was known, and a memory that knows the tin as well.
fn with_an_older_log() -> Home {
    let home = Home::new();
    said(&home, "remember that the kettle is blue\n");
    for name in ["log.redb", "world.redb"] {
        fs::copy(home.file(name), home.file(&format!("old {name}"))).unwrap();
    }
    said(&home, "remember that the tin is red\n");
    for name in ["log.redb", "world.redb"] {
        fs::copy(home.file(&format!("old {name}")), home.file(name)).unwrap();
    }
    home
}

#[test]
fn a_memory_newer_than_its_log_is_refused_and_can_be_made_again() {
    let home = with_an_older_log();
    refused(&home, &["newer than the log", "memory rebuild --from-log"]);
    done(&home, &["memory", "rebuild", "--from-log", "--yes"]);
    doctor(&home, 0);
    let found = recalled(&home, "kettle tin");
    assert!(found.contains("kettle is blue"), "{found}");
    assert!(!found.contains("tin is red"), "{found}");
}

#[test]
fn a_memory_is_refused_once_its_log_was_set_back_and_grew_again_without_it() {
    let home = with_an_older_log();
    let (memory, aside) = (memory_of(&home, "dormouse"), home.file("aside.redb"));
    fs::rename(&memory, &aside).unwrap();
    said(&home, "say one\nsay two\nremember that the fork is bent\n");
    fs::rename(&aside, &memory).unwrap();
    refused(&home, &["another log", "memory rebuild --from-log"]);
    done(&home, &["memory", "rebuild", "--from-log", "--yes"]);
    assert!(recalled(&home, "fork").contains("fork is bent"));
}

#[test]
fn what_commands_changed_comes_out_of_the_log_when_the_memory_is_removed() {
    let home = Home::new();
    said(&home, "remember that the kettle is blue\n");
    done(&home, &["memory", "add", "The ladder is in the barn."]);
    done(&home, &["memory", "add", "The tin is red."]);
    done(&home, &["entity", "create", "npc:1", "Marta"]);
    let list = |args: &[&str]| done(&home, args).out;
    let added = list(&["memory", "list", "--last", "1"]);
    let tin = added.split_whitespace().next().unwrap().to_owned();
    done(&home, &["memory", "erase", &tin, "--yes"]);
    let all = ["memory", "list", "--all", "--json"];
    let (records, people) = (list(&all), list(&["entity", "list", "--json"]));
    assert!(
        records.contains("barn") && !records.contains("tin is red"),
        "{records}"
    );
    fs::remove_file(memory_of(&home, "dormouse")).unwrap();
    done(&home, &["memory", "rebuild", "--from-log"]);
    assert_eq!(list(&all), records);
    assert_eq!(list(&["entity", "list", "--json"]), people);
    assert!(people.contains("Marta"), "{people}");
}

#[test]
fn doctor_finds_the_memory_of_another_one_in_the_place_of_each_assistant() {
    let home = Home::new();
    said(&home, "hello\n");
    runs_as(&home, "vole");
    said(&home, "hello\n");
    fs::remove_file(home.file("dormouse.toml")).unwrap();
    done(&home, &["doctor"]);

    fs::copy(memory_of(&home, "dormouse"), memory_of(&home, "vole")).unwrap();
    let doctor = home.run(&["doctor"], "");
    assert_eq!(doctor.code, Some(4), "{}", doctor.out);
    assert!(doctor.out.contains("fail  vole: "), "{}", doctor.out);
}
