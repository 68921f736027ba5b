//! The steps of a long run, with their times, and a table at the end.

use std::time::{Duration, Instant};

use crate::workspace::Result;

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// It cannot be done on this machine, for this reason.
    Skipped(String),
    Failed(String),
}

#[derive(Debug)]
struct Step {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

/// The steps so far. A failed step does not stop the run, so that a contributor sees all failures at once.
#[derive(Debug, Default)]
pub(crate) struct Report {
    steps: Vec<Step>,
}

impl Report {
    /// Runs a step that passes or fails.
    pub(crate) fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result) {
        self.step_or_skip(name, || work().map(|()| Outcome::Passed));
    }

    /// Runs a step that may be impossible on this machine.
    pub(crate) fn step_or_skip(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<Outcome>,
    ) {
        println!("\n=== {name}");
        let started = now();
        let outcome = work().unwrap_or_else(|failure| Outcome::Failed(failure.to_string()));
        let took = now().duration_since(started);
        println!(
            "=== {name}: {} in {:.1} s",
            word(&outcome),
            took.as_secs_f64()
        );
        self.steps.push(Step {
            name,
            outcome,
            took,
        });
    }

    /// Prints the table and fails if a step failed.
    pub(crate) fn finish(self) -> Result {
        println!("\n{}", self.table());
        let failed: Vec<&str> = self
            .steps
            .iter()
            .filter(|step| matches!(step.outcome, Outcome::Failed(_)))
            .map(|step| step.name)
            .collect();
        if failed.is_empty() {
            return Ok(());
        }
        Err(format!("failed: {}", failed.join(", ")).into())
    }

    fn table(&self) -> String {
        let mut lines = vec![format!("{:<28} {:<8} {:>8}", "step", "outcome", "seconds")];
        for step in &self.steps {
            let line = format!(
                "{:<28} {:<8} {:>8.1}  {}",
                step.name,
                word(&step.outcome),
                step.took.as_secs_f64(),
                reason(&step.outcome),
            );
            lines.push(line.trim_end().to_owned());
        }
        let total: Duration = self.steps.iter().map(|step| step.took).sum();
        lines.push(format!(
            "{:<28} {:<8} {:>8.1}",
            "total",
            "",
            total.as_secs_f64()
        ));
        lines.join("\n")
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Skipped(_) => "SKIPPED",
        Outcome::Failed(_) => "FAILED",
    }
}

/// The first line of the reason why a step did not pass.
fn reason(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Passed => "",
        Outcome::Skipped(why) | Outcome::Failed(why) => why.lines().next().unwrap_or_default(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the duration of a step is only printed; no decision depends on it"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_lets_the_others_run_and_fails_the_run() {
        let mut report = Report::default();
        let mut later_ran = false;
        report.step("first", || Err("no\nreally".into()));
        report.step("second", || {
            later_ran = true;
            Ok(())
        });

        assert!(report.table().contains("no"));
        assert!(!report.table().contains("really"), "one line a step");
        let failure = report.finish().unwrap_err();
        assert_eq!(failure.to_string(), "failed: first");
        assert!(later_ran);
    }

    #[test]
    fn a_skipped_step_is_reported_and_does_not_fail_the_run() {
        let mut report = Report::default();
        report.step_or_skip("advisories", || {
            Ok(Outcome::Skipped("no database".to_owned()))
        });

        let table = report.table();
        assert!(
            table.contains("SKIPPED") && table.contains("no database"),
            "{table}"
        );
        assert!(report.finish().is_ok());
    }
}
