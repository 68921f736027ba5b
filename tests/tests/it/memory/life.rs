//! The process that is killed.

use std::path::{Path, PathBuf};

use dormouse_memory::Memory;
use dormouse_tests::Child;
use serde_json::json;

use super::{
    builder, dreaming, encoder, file_in, migrating, parameters, process, run, say,
    wait_for_the_end, with, writing::Writer,
};

/// The variable in which such a process finds what it is to do.
const LIFE: &str = "DORMOUSE_MEMORY_LIFE";
/// How many steps a life has at most, so that none goes on for ever.
const STEPS: u32 = 60;
/// How often a file is rebuilt in one life, at most.
const REBUILDS: u32 = 4;

/// What a life does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    Writing,
    Consolidating,
    Rebuilding,
    Migrating,
}

impl Mode {
    const ALL: [Self; 4] = [
        Self::Writing,
        Self::Consolidating,
        Self::Rebuilding,
        Self::Migrating,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Writing => "while writing",
            Self::Consolidating => "while consolidating",
            Self::Rebuilding => "while rebuilding",
            Self::Migrating => "while migrating",
        }
    }
}

/// Starts a life over the memory in `folder`. `number` tells it from others, and decides what it does.
pub(super) fn begin(folder: &Path, mode: Mode, number: u64) -> Child {
    let parameters = json!({ "folder": folder, "mode": mode.name(), "number": number });
    let name = "life::child_that_lives_until_it_is_killed";
    Child::spawn(process(name, LIFE, &parameters).into())
}

/// It does nothing unless it was started as a process of its own.
#[test]
fn child_that_lives_until_it_is_killed() {
    let Some(parameters) = parameters(LIFE) else {
        return;
    };
    let folder = PathBuf::from(parameters["folder"].as_str().unwrap());
    let mode = Mode::ALL
        .into_iter()
        .find(|mode| parameters["mode"] == mode.name());
    let number = parameters["number"].as_u64().unwrap();
    run(async {
        match mode.unwrap() {
            Mode::Writing => write(&folder, number).await,
            Mode::Consolidating => dreaming::dream(&folder, number).await,
            Mode::Rebuilding => rebuild(&folder, number).await,
            Mode::Migrating => migrating::migrate(&folder, number).await,
        }
    });
    wait_for_the_end();
}

async fn write(folder: &Path, number: u64) {
    let memory = with(&encoder()).open(file_in(folder)).await.unwrap();
    say(&json!({ "ready": number }));
    let mut writer = Writer::new(memory, number);
    for _ in 0..STEPS {
        writer.step().await;
    }
}

async fn rebuild(folder: &Path, number: u64) {
    for round in 0..u64::from(REBUILDS) {
        let opening = builder()
            .rebuild()
            .on_progress(|p| say(&json!({ "rebuilt": p.done, "of": p.of })));
        let memory: Memory = opening.open(file_in(folder)).await.unwrap();
        say(&json!({ "ready": number }));
        let mut writer = Writer::new(memory, number * u64::from(REBUILDS) + round);
        for _ in 0..3 {
            writer.add().await;
        }
        writer.save().await;
    }
}
