//! The health of the services of a running program, according to its last calls.

use super::Finding;
use crate::{
    command::{block_on, callers_host},
    exit::Exit,
};

/// A line for each service; empty if no program runs the assistants.
pub(super) fn findings() -> Vec<Finding> {
    let Some(host) = callers_host() else {
        return Vec::new();
    };
    match block_on(host.service_health(None)) {
        Ok(reports) => reports.into_iter().map(finding).collect(),
        Err(error) => vec![Finding::Wrong(error.to_string(), Exit::Failure)],
    }
}

fn finding(report: dormouse_host::ServiceReport) -> Finding {
    let whose = report.assistant.map(|key| format!("{key}: "));
    let text = format!("{}{}", whose.unwrap_or_default(), report.text);
    match report.is_well {
        true => Finding::Fine(text),
        false => Finding::Doubtful(text),
    }
}
