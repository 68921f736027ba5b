//! A process that is killed at any moment, and one that is killed again while it repairs what the first left.

use std::{
    io,
    sync::{Arc, Mutex},
};

use dormouse_database::{Database, FileKind};
use redb::StorageBackend;

use crate::diary::{DIARY, LARGE, lay_down, read, write};

/// Storage that remembers what it held before each operation that changed it.
#[derive(Clone, Debug, Default)]
struct Tape(Arc<Mutex<Vec<Vec<u8>>>>);

impl Tape {
    fn of(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(vec![bytes])))
    }

    /// All that a process killed in the meantime could have left.
    fn states(&self) -> Vec<Vec<u8>> {
        self.0.lock().unwrap().clone()
    }

    fn forget(&self) {
        let mut states = self.0.lock().unwrap();
        let last = states.pop().unwrap_or_default();
        *states = vec![last];
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut states = self.0.lock().unwrap();
        let mut next = states.last().cloned().unwrap_or_default();
        change(&mut next);
        states.push(next);
    }
}

impl StorageBackend for Tape {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().last().map_or(0, Vec::len) as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        out.copy_from_slice(&self.0.lock().unwrap().last().unwrap()[start..start + out.len()]);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|bytes| bytes.resize(len as usize, 0));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let start = offset as usize;
        self.change(|bytes| bytes[start..start + data.len()].copy_from_slice(data));
        Ok(())
    }
}

fn open(tape: &Tape, kind: &FileKind) -> Database {
    Database::on(tape.clone(), kind, lay_down).unwrap()
}

#[test]
fn a_file_holds_every_commit_after_a_kill_at_any_moment_even_during_repair() {
    for kind in [DIARY, LARGE] {
        let tape = Tape::default();
        let database = open(&tape, &kind);
        write(&database, 1..10).unwrap();
        tape.forget();
        write(&database, 10..20).unwrap();
        let killed = tape.states();
        assert!(killed.len() > 4);
        let mut repairs = 0;
        for (change, bytes) in killed.iter().enumerate() {
            let tape = Tape::of(bytes.clone());
            let repaired = open(&tape, &kind);
            let shown = read(&repaired).unwrap().len();
            // Nothing was written yet.
            assert_eq!(tape.states(), *std::slice::from_ref(bytes));
            repaired.begin_writing().unwrap();
            drop(repaired);
            for bytes in tape.states() {
                let days = read(&open(&Tape::of(bytes), &kind)).unwrap().len();
                // What was acknowledged, or was shown once, is never taken back.
                assert_eq!(days, shown);
                assert!(days == 20 || days == 10 && change + 1 < killed.len());
                repairs += 1;
            }
        }
        assert!(repairs > 20, "{repairs}");

        tape.forget();
        drop(database);
        for bytes in tape.states() {
            let tape = Tape::of(bytes);
            open(&tape, &kind).begin_writing().unwrap();
            for bytes in tape.states() {
                assert_eq!(read(&open(&Tape::of(bytes), &kind)).unwrap().len(), 20);
            }
        }
    }
}
