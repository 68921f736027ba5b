//! The fault matrix: everything that networks and servers do, times every provider, each with its defined outcome.
//!
//! A fault is written once, in `rows`, with its expected outcome; the double converts it to each vendor's dialect. The table
//! in `docs/fault-matrix.md` is generated from the same rows; `DORMOUSE_WRITE_DOCS=1` in the environment updates it.

mod cell;
mod log;
mod outcome;
mod rows;
mod run;
mod scene;
mod story;
mod table;

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use self::{cell::Row, run::run};
use crate::double::{Dialect, dialects};

/// How many cells are tried at the same time. Most of them wait.
const AT_ONCE: usize = 8;

#[test]
fn every_fault_has_its_outcome_with_every_provider() {
    let rows = rows::all();
    let cells: Vec<(&Row, &dyn Dialect)> = rows
        .iter()
        .flat_map(|row| dialects().into_iter().map(move |dialect| (row, dialect)))
        .collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((row, dialect)) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = row.judge(*dialect, &run(row, *dialect)) {
                        let cell = format!("{} / {}: {why}", row.what, dialect.name());
                        wrong.lock().unwrap().push(cell);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {} cells:\n{}",
        wrong.len(),
        cells.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_documented_matrix_equals_the_tested_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fault-matrix.md");
    let table = table::markdown(&rows::all(), &dialects());
    if std::env::var_os("DORMOUSE_WRITE_DOCS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == table,
        "docs/fault-matrix.md is not what is tested: run this test with DORMOUSE_WRITE_DOCS=1"
    );
}
