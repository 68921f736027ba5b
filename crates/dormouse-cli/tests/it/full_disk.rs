//! A disk without room: nothing is lost, the cause is named, and what waited goes on by itself.
//!
//! The disk is a real one, a tmpfs of four megabytes in a mount namespace of its own. The test reaches it through the
//! process's root in `/proc`, so that nothing is mounted for other processes.
#![expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "what tests share fails like a test, and says what was skipped"
)]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread::JoinHandle,
    time::Duration,
};

use dormouse_contracts::{Append, AppendRequest, AssistantId, Timestamp};
use dormouse_engine::{Event, SettingChanged};
use dormouse_store::RedbLog;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use crate::{
    program::{Home, Run},
    server::{Server, calls},
};

const PLAY: [&str; 6] = ["play", "--json", "--as", "Alice", "--provider", "offline"];
/// The longest time that one step may take.
const LIMIT: Duration = Duration::from_secs(300);

fn lived() -> Home {
    let home = Home::new();
    let run = home.run(&PLAY, "Hello!\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    home
}

/// Whether this user may mount, in a namespace of their own.
pub(crate) fn may_mount() -> bool {
    let mount = ["-m", "mount", "-t", "tmpfs", "none", "/tmp"];
    let tried = Command::new("unshare").args(mount).output();
    let may = tried.is_ok_and(|tried| tried.status.success());
    if !may {
        println!("skipped: a small file system (needs root)");
    }
    may
}

/// A line of the program's output, or of its standard error.
enum Line {
    Out(String),
    Err(String),
}

/// A running visit, what it has printed so far, and the small disk it sees.
struct Visit {
    child: Child,
    lines: mpsc::Receiver<Line>,
    printed: Vec<String>,
    said: Vec<String>,
    threads: Vec<JoinHandle<()>>,
    small: PathBuf,
}

impl Visit {
    /// Starts a visit with `file` of the data folder on a small disk on which `free` kilobytes are left.
    fn with_on_small_disk(home: &Home, file: &str, free: u32) -> Self {
        Self::on_small_disk(home, file, free, &PLAY, messages())
    }

    fn on_small_disk(home: &Home, file: &str, free: u32, args: &[&str], input: String) -> Self {
        let small = home.file("small");
        fs::create_dir_all(&small).unwrap();
        // A link and not a mount: the write-ahead file of a log is next to the file that the link points to.
        let script = "data=$1 file=$2 free=$3; shift 3; cd \"$data\"; mount -t tmpfs -o size=4m none small \
            && cp --sparse=always \"$file\" small/ && ln -sf \"small/$file\" \"$file\" || exit 99; \
            head -c \"${free}k\" /dev/zero > small/later; cat /dev/zero > small/filler 2>/dev/null; rm small/later; \
            \"$@\"; code=$?; rm \"$file\"; cp --sparse=always small/*.redb* .; exit $code";
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script, "sh"]);
        command.arg(home.path()).arg(file).arg(free.to_string());
        command.arg(env!("CARGO_BIN_EXE_dormouse")).args(args);
        command.arg("--data").arg(home.path());
        Self::start(command, input, small)
    }

    /// Starts it with this input, which then ends. Does not wait until all of it is read.
    fn start(mut command: Command, input: String, small: PathBuf) -> Self {
        command
            .env_remove("RUST_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let err = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        let complaints = sender.clone();
        let mut stdin = child.stdin.take().unwrap();
        let threads = vec![
            std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap()),
            std::thread::spawn(move || {
                for line in out.lines() {
                    drop(sender.send(Line::Out(line.unwrap())));
                }
            }),
            std::thread::spawn(move || {
                for line in err.lines() {
                    drop(complaints.send(Line::Err(line.unwrap())));
                }
            }),
        ];
        Self {
            child,
            lines,
            printed: Vec::new(),
            said: Vec::new(),
            threads,
            small,
        }
    }

    /// The next line; nothing at the end.
    fn next(&mut self) -> Option<String> {
        match self.lines.recv_timeout(LIMIT) {
            Ok(Line::Out(line)) => {
                self.printed.push(line.clone());
                Some(line)
            }
            Ok(Line::Err(line)) => {
                self.said.push(line.clone());
                Some(line)
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let (printed, said) = (self.printed.join("\n"), self.said.join("\n"));
                panic!("nothing more after:\n{printed}\n{said}");
            }
        }
    }

    /// Waits for a line with all these words in it.
    fn wait_for(&mut self, words: &[&str]) -> String {
        while let Some(line) = self.next() {
            if words.iter().all(|word| line.contains(word)) {
                return line;
            }
        }
        let (printed, said) = (self.printed.join("\n"), self.said.join("\n"));
        panic!("no {words:?} in:\n{printed}\n{said}");
    }

    /// Frees the space on the disk.
    fn free(&self) {
        fs::remove_file(self.seen_by_it("filler")).unwrap();
    }

    /// The path by which this process reaches a file of the small disk.
    fn seen_by_it(&self, file: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.child.id()));
        root.join(self.small.strip_prefix("/").unwrap()).join(file)
    }

    /// Asks the program to end. It is the only child of the shell that has mounted the disk.
    fn terminate(&self) {
        let shell = self.child.id();
        let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
        let program = children.unwrap().trim().parse().unwrap();
        kill(Pid::from_raw(program), Signal::SIGTERM).unwrap();
    }

    /// Ends the input, and waits for the end.
    fn finish(mut self) -> Run {
        while self.next().is_some() {}
        let code = self.child.wait().unwrap().code();
        for thread in self.threads {
            thread.join().unwrap();
        }
        let (out, err) = (self.printed.join("\n"), self.said.join("\n"));
        Run { code, out, err }
    }
}

const CUPS: [&str; 5] = ["red", "green", "blue", "black", "white"];

fn messages() -> String {
    // Long enough that each of them needs room.
    let long = "and round ".repeat(150);
    CUPS.iter()
        .map(|cup| format!("remember that the {cup} cup is {long}mine\n"))
        .collect()
}

/// Checks that every message was answered once, and nothing was stopped or given up.
fn assert_all_answered_once(home: &Home, run: &Run) {
    assert_eq!(run.code, Some(0), "{}\n{}", run.out, run.err);
    let answers = run.answers();
    for cup in CUPS {
        let word = format!("the {cup} cup");
        let count = answers
            .iter()
            .filter(|answer| answer.contains(&word))
            .count();
        assert_eq!(count, 1, "{cup}: {answers:?}\n{}", run.err);
    }
    let log = home.run(&["log", "show", "--json"], "");
    assert!(!log.out.contains("emergency_stop_triggered"), "{}", log.out);
    let verified = home.run(&["log", "verify"], "");
    assert_eq!(verified.code, Some(0), "{}", verified.out);
    for cup in CUPS {
        let words = format!("the {cup} cup");
        let found = home.run(&["memory", "search", &words, "--json"], "");
        assert!(found.out.contains(&words), "{cup} is not remembered");
    }
}

/// This file finds no room, at once or after a while.
fn five_messages_on_a_full_disk(file: &str) {
    if !may_mount() {
        return;
    }
    for free in [0, 8, 16] {
        let home = lived();
        let mut visit = Visit::with_on_small_disk(&home, file, free);
        let notice = visit.wait_for(&["No space left on device"]);
        assert!(notice.contains(file), "{notice}");
        assert!(notice.contains("bytes"), "how much: {notice}");
        visit.free();
        let run = visit.finish();
        assert_all_answered_once(&home, &run);
        // An act that the world cannot take is reported by an event with its cause.
        assert!(
            assert_said_in_notices(&run) > 0 || file == "world.redb",
            "{}",
            run.out
        );
    }
}

/// Checks that the cause is reported once for each thing that waits, and not again by lines of the program's own log.
/// Returns the number of reports.
fn assert_said_in_notices(run: &Run) -> usize {
    assert_eq!(run.err, "");
    let mut notices: Vec<_> = run.of_type("notice").iter().map(Value::to_string).collect();
    notices.retain(|notice| notice.contains("No space left on device"));
    let begins = |notice: &String| notice.chars().take(50).collect::<String>();
    let mut kinds: Vec<_> = notices.iter().map(begins).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), notices.len(), "said again: {notices:#?}");
    kinds.len()
}

#[test]
fn a_full_disk_under_the_world_loses_nothing() {
    five_messages_on_a_full_disk("world.redb");
}

#[test]
fn a_line_that_waits_for_a_full_world_is_reported_when_the_program_is_ended() {
    if !may_mount() {
        return;
    }
    let home = lived();
    let mut visit = Visit::with_on_small_disk(&home, "world.redb", 0);
    visit.wait_for(&["No space left on device"]);
    visit.terminate();
    let run = visit.finish();
    assert_eq!(run.code, Some(143), "{}", run.err);
    let rejected = run.of_type("rejected");
    assert_eq!(rejected.len(), 1, "{}", run.out);
    assert_eq!(rejected[0]["line"], 1);
    let reason = rejected[0]["reason"].as_str().unwrap();
    for part in ["world.redb", "No space left on device", "not carried out"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

#[test]
fn an_act_that_waits_for_a_full_world_is_named_when_the_program_is_ended() {
    if !may_mount() {
        return;
    }
    for form in [&["--json"][..], &[]] {
        let home = lived();
        let (path, filler) = mpsc::channel::<PathBuf>();
        // The disk fills up after the message was accepted, and before it is answered.
        let server = Server::scripted(move |_| {
            if let Ok(filler) = filler.recv_timeout(LIMIT) {
                let mut filler = fs::File::create(filler).unwrap();
                while filler.write_all(&[0; 512]).is_ok() {}
            }
            calls("say", &json!({"message": "and round ".repeat(1_500)}))
        });
        let args = ["play", "--as", "Alice", "--base-url", &server.url];
        let args = [&args[..], form].concat();
        let input = "Hello, is there any tea?\n".to_owned();
        let mut visit = Visit::on_small_disk(&home, "world.redb", 2_000, &args, input);
        path.send(visit.seen_by_it("more")).unwrap();
        drop(path);
        visit.wait_for(&["No space left on device"]);
        visit.terminate();
        let run = visit.finish();
        assert_eq!(run.code, Some(143), "{}", run.err);
        let end = run
            .out
            .rfind("\"type\":\"end\"")
            .or(run.out.rfind("Ended."));
        let end = &run.out[end.expect(&run.out)..];
        for part in ["world.redb", "No space left on device", "any tea", "say"] {
            assert!(end.contains(part), "{part}: {end}");
        }
    }
}

#[test]
fn a_full_disk_under_the_log_loses_nothing() {
    five_messages_on_a_full_disk("log.redb");
}

#[test]
fn a_full_disk_under_the_memory_loses_nothing() {
    five_messages_on_a_full_disk("memory-dormouse.redb");
}

#[test]
fn a_full_disk_under_the_copy_of_the_search_index_loses_nothing() {
    if !may_mount() {
        return;
    }
    let home = lived();
    let mount = "mount -t tmpfs -o size=4m none \"$1/small\" && cp --sparse=always \"$1\"/*.redb \"$1/small\" \
        && (cat /dev/zero > \"$1/small/filler\" 2>/dev/null; \"$2\" memory rebuild --data \"$1/small\"; \
        code=$?; \"$2\" memory search hello --data \"$1/small\" && ls -a \"$1/small\"; exit $code)";
    fs::create_dir(home.file("small")).unwrap();
    let run = Command::new("unshare")
        .args(["-m", "sh", "-c", mount, "sh"])
        .arg(home.path())
        .arg(env!("CARGO_BIN_EXE_dormouse"))
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8(run.stdout).unwrap(),
        String::from_utf8(run.stderr).unwrap(),
    );
    assert_eq!(run.status.code(), Some(1), "{out}{err}");
    assert!(
        err.contains("No space left on device") && err.contains("memory-dormouse.redb.index"),
        "{err}"
    );
    assert!(out.contains("Hello"), "{out}{err}");
    assert!(!out.contains("index.new"), "nothing half made stays: {out}");
}

/// `ulimit -f`: a write beyond the limit is an error like any other, and not the end of the program.
#[test]
fn a_limit_on_the_size_of_files_loses_nothing() {
    let prlimit = Command::new("prlimit").arg("--version").output();
    if prlimit.is_err() {
        println!("skipped: a limit that is lifted (needs prlimit)");
        return;
    }
    let home = lived();
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -S -f 256; exec \"$@\"", "bash"]);
    command.arg(env!("CARGO_BIN_EXE_dormouse")).args(PLAY);
    command.arg("--data").arg(home.path());
    let long = "and round ".repeat(1_500);
    let many: String = (0..150).map(|n| format!("pose {n} {long}\n")).collect();
    let mut visit = Visit::start(command, many + &messages(), home.file("small"));
    let notice = visit.wait_for(&["File too large"]);
    assert!(
        notice.contains(".redb") && notice.contains("bytes"),
        "{notice}"
    );
    let lifted = Command::new("prlimit")
        .args(["--fsize=unlimited", "--pid"])
        .arg(visit.child.id().to_string())
        .status();
    assert!(lifted.unwrap().success());
    let run = visit.finish();
    assert_all_answered_once(&home, &run);
    let stopped: Vec<Value> = run.of_type("end");
    assert_eq!(stopped[0]["reason"], "settled", "{}", run.out);
}

/// A life of six megabytes as a file.
async fn long_life(home: &Home) -> PathBuf {
    let key = AssistantId::try_new("mole").unwrap();
    let created = home.run(&["assistant", "create", "mole"], "");
    assert_eq!(created.code, Some(0), "{}", created.err);
    {
        let log = RedbLog::open_existing(&home.file("log.redb")).unwrap();
        let end = log.end_of(&key).unwrap();
        let changed = Event::SettingChanged(SettingChanged {
            setting: "assistant.persona".to_owned(),
            old: None,
            new: Some(json!("You are a mole. ".repeat(128))),
            by: "Ada".to_owned(),
        });
        let event = changed.encode(Timestamp::EPOCH).unwrap();
        let request = AppendRequest {
            assistant: key,
            expected: end,
            events: vec![event; 3_000],
        };
        log.append(request).await.unwrap();
    }
    let file = home.file("mole.life.jsonl");
    let to = file.to_str().unwrap();
    let exported = home.run(&["assistant", "export", "mole", "--to", to], "");
    assert_eq!(exported.code, Some(0), "{}", exported.err);
    file
}

#[tokio::test]
async fn a_life_for_which_there_is_no_room_is_not_imported_and_leaves_nothing() {
    if !may_mount() {
        return;
    }
    let (home, other) = (Home::new(), Home::new());
    let file = long_life(&home).await;
    let script = "data=$1 file=$2 program=$3; mount -t tmpfs -o size=4m none \"$data\" || exit 99; \
        \"$program\" assistant import \"$file\" --data \"$data\" 2>&1; echo \"code $?\"; \
        ls -A \"$data\"; \"$program\" assistant list --data \"$data\"; \
        mount -o remount,size=64m \"$data\"; \
        \"$program\" assistant import \"$file\" --data \"$data\"; echo \"code $?\"; \
        \"$program\" log verify --data \"$data\"; echo \"code $?\"; ls -A \"$data\"";
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(other.path());
    command.arg(&file).arg(env!("CARGO_BIN_EXE_dormouse"));
    let run = command.output().unwrap();
    let out = String::from_utf8(run.stdout).unwrap();
    let (before, after) = out
        .split_once("no assistant")
        .unwrap_or_else(|| panic!("{out}"));
    assert!(
        before.contains("code 1") && before.contains("No space left"),
        "{out}"
    );
    assert!(after.matches("code 0").count() == 2, "{out}");
    assert!(
        after.contains("mole goes on with the life of mole"),
        "{out}"
    );
    let is_left = |line: &str| line.trim_start_matches('.').starts_with("life-mole");
    assert!(!out.lines().any(is_left), "{out}");
}
