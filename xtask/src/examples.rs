//! Runs the examples of the workspace, because an example that compiles can still fail.

use std::path::PathBuf;

use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::workspace::Result;

/// Examples that need a server or a file as an argument. They are only built.
const WANT_ARGUMENTS: [&str; 4] = ["ask", "own_world", "watch", "write_fixture"];

/// The part of a line of cargo's build messages that is used here.
#[derive(Debug, Deserialize)]
struct Line {
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Target {
    fn runs_alone(&self) -> bool {
        let is_example = self.kind.iter().any(|kind| kind == "example");
        is_example && !WANT_ARGUMENTS.contains(&self.name.as_str())
    }
}

/// Builds all examples in one build, because separate builds would compile shared libraries again, and runs them one by
/// one. With the profile `test`, the libraries that the tests built are used.
pub(crate) fn run(sh: &Shell) -> Result {
    let account = cmd!(
        sh,
        "cargo build --workspace --exclude dormouse-encoder --examples --profile test --message-format json-render-diagnostics"
    )
    .read()?;
    for example in executables(&account) {
        // One that waits for a line ends at once.
        cmd!(sh, "{example}").stdin("").run()?;
    }
    Ok(())
}

fn executables(account: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = account
        .lines()
        .filter_map(|line| serde_json::from_str::<Line>(line).ok())
        .filter(|line| line.target.as_ref().is_some_and(Target::runs_alone))
        .filter_map(|line| line.executable)
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_programs_of_examples_that_want_no_arguments_are_run() {
        let account = r#"
            {"target":{"name":"a","kind":["lib"]},"executable":null}
            {"target":{"name":"b","kind":["example"]},"executable":"/t/examples/b"}
            {"target":{"name":"ask","kind":["example"]},"executable":"/t/examples/ask"}
            {"target":{"name":"dormouse","kind":["bin"]},"executable":"/t/dormouse"}
            {"target":{"name":"a","kind":["example"]},"executable":"/t/examples/a"}
            {"reason":"build-finished","success":true}
        "#;

        assert_eq!(
            executables(account),
            [
                PathBuf::from("/t/examples/a"),
                PathBuf::from("/t/examples/b")
            ]
        );
    }
}
