//! Another process has the log open; and is killed.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use dormouse_store::{LogOpenError, RedbLog};

use crate::{append, assistant, event, read_all, run};

const LOG: &str = "DORMOUSE_STORE_TEST_LOG";
const WRITERS: u64 = 4;
const OPENING: &str = "opening";

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

/// This test binary again, running only [`the_other_process`].
fn start(path: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["crash::the_other_process", "--exact", "--nocapture"])
        .env(LOG, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// Does nothing in an ordinary run. As a child it appends for ever, and prints each place after it was acknowledged.
#[test]
fn the_other_process() {
    let Ok(path) = env::var(LOG) else { return };
    say(OPENING);
    let log = RedbLog::open(Path::new(&path)).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let log = &log;
            scope.spawn(move || {
                run(async {
                    let id = assistant(&format!("writer-{writer}"));
                    let mut seq = read_all(log, &id).await.unwrap().len() as u64;
                    loop {
                        let payload = format!("{writer}:{}", seq + 1);
                        seq = append(log, &id, seq, vec![event(payload)]).await.unwrap().0;
                        say(&format!("ack {writer} {seq}"));
                    }
                });
            });
        }
    });
}

fn acknowledged(line: &str) -> Option<(usize, u64)> {
    let mut words = line.strip_prefix("ack ")?.split(' ');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[test]
fn a_log_in_use_by_another_process_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let (mut child, mut output) = start(&path);
    let mut line = String::new();
    while acknowledged(line.trim_end()).is_none() {
        line.clear();
        assert!(
            output.read_line(&mut line).unwrap() > 0,
            "the other process ended"
        );
    }
    let error = RedbLog::open(&path).unwrap_err();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(error, LogOpenError::InUse { .. }), "{error:?}");
    RedbLog::open(&path).unwrap();
}

#[test]
fn a_killed_process_loses_no_acknowledged_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let mut known = [0_u64; WRITERS as usize];
    for kill in 0..24_usize {
        let (mut child, output) = start(&path);
        // How long it lives is counted in acknowledgements; what it is doing when it dies is chance.
        let mut left = 1 + kill * 37 % 90;
        for line in output.lines() {
            let line = line.unwrap();
            if kill % 4 == 3 && line.ends_with(OPENING) {
                // While it repairs what the last kill left.
                left = 0;
            }
            if let Some((writer, seq)) = acknowledged(&line) {
                known[writer] = known[writer].max(seq);
                left = left.saturating_sub(1);
            }
            if left == 0 {
                // Lines still in the pipe are read to their end: they were acknowledged too.
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let log = RedbLog::open_existing(&path).unwrap();
        for (writer, known) in known.iter_mut().enumerate() {
            let events = run(read_all(&log, &assistant(&format!("writer-{writer}")))).unwrap();
            assert!(
                events.len() as u64 >= *known,
                "kill {kill}: writer {writer} lost events"
            );
            for (index, event) in events.iter().enumerate() {
                assert_eq!(
                    event.payload,
                    format!("{writer}:{}", index + 1).into_bytes()
                );
            }
            *known = events.len() as u64;
        }
        assert!(log.verify().unwrap().is_intact());
    }
    assert!(known.iter().sum::<u64>() > 500, "{known:?}");
}

#[test]
fn a_kill_during_creation_leaves_no_log_or_a_complete_one() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.redb");
        let (mut child, mut output) = start(&path);
        let mut line = String::new();
        while !line.trim_end().ends_with(OPENING) {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let log = RedbLog::open(&path).unwrap();
        assert!(log.verify().unwrap().is_intact());
    }
}
