//! Measures, and prints the figures.

use std::time::{Duration, Instant};

use tokio::runtime::{self, Runtime};

pub(crate) use crate::clock::now;

/// How often each measurement is made.
const ROUNDS: usize = 5;

/// The figures, printed as they come, as the rows of a table in Markdown.
#[derive(Debug)]
pub(crate) struct Table(Instant);

/// A measurement and what it is compared with, in the same unit.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) what: &'a str,
    pub(crate) measured: f64,
    pub(crate) unit: &'a str,
    pub(crate) baseline: &'a str,
    pub(crate) baseline_measured: f64,
    pub(crate) note: String,
}

impl Table {
    /// A runtime and a table; `None` in `cargo test --all-targets`, which starts benchmarks too and needs no figures.
    pub(crate) fn begin_benchmark() -> Option<(Runtime, Self)> {
        if !std::env::args().any(|argument| argument == "--bench") {
            println!("measured by `cargo bench`");
            return None;
        }
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        Some((runtime.unwrap(), Self::begin()))
    }

    pub(crate) fn begin() -> Self {
        println!("| row | measured | baseline | ratio | compared with |");
        println!("| --- | --- | --- | --- | --- |");
        Self(now())
    }

    pub(crate) fn add(&mut self, row: &Row<'_>) {
        println!(
            "| {} | {} {unit} | {} {unit} | {:.3} | {}{} |",
            row.what,
            figure(row.measured),
            figure(row.baseline_measured),
            row.measured / row.baseline_measured,
            row.baseline,
            if row.note.is_empty() {
                String::new()
            } else {
                format!("; {}", row.note)
            },
            unit = row.unit,
        );
    }

    pub(crate) fn elapsed(&self) -> Duration {
        now().duration_since(self.0)
    }
}

/// A number with its thousands set apart, and up to two digits behind the point where it is small.
fn figure(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.2}");
    }
    if value < 1_000.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The median of several rounds, after one that does not count.
pub(crate) fn median(mut round: impl FnMut() -> f64) -> f64 {
    round();
    let mut values: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    middle(&mut values)
}

/// The middle one of these values.
pub(crate) fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().expect("a value")
}
