//! The syncs of each file, which only the system sees: `strace` notes them while this program runs once more below it.

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
};

use tokio::runtime::Runtime;

use super::{WINDOW, house::House, warm_up};

/// Behind this argument is how many assistants the traced process has.
pub(super) const COUNT: &str = "--traced";
/// The window begins and ends with a sync of this file, so that the trace shows when it was.
const MARK: &str = "window.mark";
/// The line with which the traced process ends.
const ANSWERED: &str = "answered ";

/// Answers messages for a while, and prints how many.
pub(super) fn run(runtime: &Runtime, folder: &Path, count: usize) {
    let answered = runtime.block_on(async {
        let house = House::open(&folder.join("traced"), count).await;
        let mark = File::create(folder.join(MARK)).unwrap();
        let times = (warm_up(count), WINDOW / 2);
        let answered = house.talk(times, || mark.sync_data().unwrap()).await;
        house.close().await;
        answered
    });
    println!("{ANSWERED}{}", answered.each.iter().sum::<u64>());
}

/// The syncs of a message with so many assistants, file by file; or why they are not known.
pub(super) fn syncs(count: usize) -> String {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let trace = folder.path().join("trace");
    let traced = Command::new("strace")
        .args(["--follow-forks", "--seccomp-bpf", "--decode-fds=path"])
        .args(["--trace=fsync,fdatasync", "--output"])
        .arg(&trace)
        .arg(env::current_exe().unwrap())
        .args(["--bench", COUNT, &count.to_string()])
        .stderr(Stdio::inherit())
        .output();
    let Ok(traced) = traced else {
        return "without strace the syncs of world and memory are not known".to_owned();
    };
    assert!(traced.status.success(), "the traced process failed");
    let printed = String::from_utf8(traced.stdout).unwrap();
    let answered = printed.lines().find_map(|line| line.strip_prefix(ANSWERED));
    let answered: f64 = answered.unwrap().parse().unwrap();
    let counted = count_syncs(&fs::read_to_string(trace).unwrap());
    let of = |file: &str| counted.get(file).copied().unwrap_or_default() as f64 / answered;
    format!(
        "syncs a message in a shorter run under strace: log {:.1}, world {:.1}, memories {:.1}",
        of("log"),
        of("world"),
        of("memory"),
    )
}

/// How often each kind of file was synced within the window.
fn count_syncs(trace: &str) -> BTreeMap<&'static str, u64> {
    let mut counted = BTreeMap::new();
    let begun = trace
        .lines()
        .skip_while(|line| !line.contains(MARK))
        .skip(1);
    // A call that was interrupted by another thread has a second line, without a path.
    let calls = begun.take_while(|line| !line.contains(MARK));
    for line in calls.filter(|line| line.contains("sync(")) {
        let file = line.rsplit('/').next().unwrap_or_default();
        let kind = match file {
            // A file that is new has a name around that, by which it stays known.
            _ if file.contains("log.redb") => "log",
            _ if file.contains("world.redb") => "world",
            _ => "memory",
        };
        *counted.entry(kind).or_default() += 1;
    }
    counted
}
