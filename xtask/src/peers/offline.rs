//! Distinguishing a machine without network or tools from a failure.

use std::path::Path;

use xshell::{Cmd, Shell, cmd};

use crate::workspace::Result;

/// The result of installing a peer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Installed {
    Ready,
    /// The peer cannot be installed on this machine, for this reason. Every other problem is a failure.
    Unavailable(String),
}

/// What the package tools print when they cannot reach the network.
const UNREACHABLE: [&str; 14] = [
    "could not resolve",
    "temporary failure resolving",
    "temporary failure in name resolution",
    "name or service not known",
    "could not connect",
    "unable to connect",
    "connection refused",
    "connection timed out",
    "network is unreachable",
    "failed to establish a new connection",
    "enotfound",
    "eai_again",
    "econnrefused",
    "etimedout",
];

/// Whether a program can be started on this machine.
pub(super) fn has(sh: &Shell, program: &str) -> bool {
    cmd!(sh, "{program} --version")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_ok()
}

/// Runs a command that needs the network, and prints its output.
pub(super) fn try_to(command: Cmd<'_>) -> Result<Installed> {
    println!("$ {command}");
    let output = command.quiet().ignore_status().output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{}", said.trim());
    // apt reports success even if it reached no server, so the output is checked before the exit status.
    if let Some(line) = said.lines().find(|line| is_unreachable(line)) {
        return Ok(Installed::Unavailable(line.trim().to_owned()));
    }
    if output.status.success() {
        return Ok(Installed::Ready);
    }
    Err("the command above failed".into())
}

/// Installs what the file `requirements` lists, unless `program` is there from the same list. `stamp` keeps the list; both
/// are in `home`.
pub(super) fn once(
    sh: &Shell,
    home: &Path,
    (stamp, program): (&str, &str),
    requirements: &Path,
    install: impl FnOnce() -> Result<Installed>,
) -> Result<Installed> {
    let wanted = sh.read_file(requirements)?;
    let stamp = home.join(stamp);
    let is_current = sh.read_file(&stamp).is_ok_and(|has| has == wanted);
    if is_current && home.join(program).is_file() {
        println!("{}: already installed", wanted.trim());
        return Ok(Installed::Ready);
    }
    let ready = install()?;
    if ready == Installed::Ready {
        sh.write_file(stamp, wanted)?;
    }
    Ok(ready)
}

/// Installs Python packages into a folder of their own, in place of what is there.
pub(super) fn pip(sh: &Shell, folder: &Path, requirements: &Path) -> Result<Installed> {
    if !has(sh, "python3") {
        return Ok(Installed::Unavailable(
            "`python3` is not installed".to_owned(),
        ));
    }
    if cmd!(sh, "python3 -m pip --version")
        .quiet()
        .ignore_stderr()
        .read()
        .is_err()
    {
        return Ok(Installed::Unavailable("`pip` is not installed".to_owned()));
    }
    sh.remove_path(folder)?;
    try_to(cmd!(
        sh,
        "python3 -m pip install --quiet --retries 1 --timeout 60 --disable-pip-version-check --target {folder} --requirement {requirements}"
    ))
}

/// Installs npm packages into a folder of their own.
pub(super) fn npm<'a>(
    sh: &Shell,
    folder: &Path,
    packages: impl IntoIterator<Item = &'a str>,
) -> Result<Installed> {
    for program in ["node", "npm"] {
        if !has(sh, program) {
            return Ok(Installed::Unavailable(format!(
                "`{program}` is not installed"
            )));
        }
    }
    sh.create_dir(folder)?;
    // By default npm tries for many minutes to reach a registry that does not answer.
    let patience = "--fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=60000";
    let patience = patience.split(' ');
    try_to(cmd!(
        sh,
        "npm install --prefix {folder} --no-save --no-audit --no-fund {patience...} {packages...}"
    ))
}

fn is_unreachable(line: &str) -> bool {
    let line = line.to_lowercase();
    UNREACHABLE.iter().any(|sign| line.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_mirror_is_distinguished_from_a_failure() {
        let unreachable = [
            "W: Failed to fetch x  Could not resolve 'mirror.example'",
            "npm error code ENOTFOUND",
            "Failed to establish a new connection: [Errno 111] Connection refused",
        ];
        assert!(unreachable.iter().all(|line| is_unreachable(line)));
        assert!(!is_unreachable(
            "E: Unable to locate package llama.cpp-tools"
        ));
        assert!(!is_unreachable("npm error code ENOSPC"));
    }

    #[test]
    fn a_command_that_fails_for_another_reason_is_a_failure() {
        let sh = Shell::new().unwrap();
        assert!(try_to(cmd!(sh, "cargo no-such-command")).is_err());
        assert_eq!(
            try_to(cmd!(sh, "cargo --version")).unwrap(),
            Installed::Ready
        );
    }
}
