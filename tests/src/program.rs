//! The program `dormouse`, as it was built from what lies here.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::OnceLock,
    time::SystemTime,
};

use tokio::process::Command;

use crate::Child;

/// Set where the program was built together with the tests.
const IS_BUILT: &str = "DORMOUSE_PROGRAM_IS_BUILT";

/// The program, ready to be started over one data folder.
#[derive(Clone, Debug)]
pub struct Program {
    file: PathBuf,
    data: PathBuf,
}

impl Program {
    /// The program over the data folder `data`. Builds it first if it is missing or older than its sources, except where all
    /// packages are tested together.
    ///
    /// # Panics
    ///
    /// If it cannot be built.
    #[must_use]
    pub fn over(data: &Path) -> Self {
        static FILE: OnceLock<PathBuf> = OnceLock::new();
        Self {
            file: FILE.get_or_init(built).clone(),
            data: data.to_owned(),
        }
    }

    /// The file of the program, for a client that starts it itself.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Starts it with these arguments, apart from `--data`. Its standard error is added to `stderr.txt` in the data
    /// folder. It sees nothing of the test's own environment but the path.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Child {
        fs::create_dir_all(&self.data).expect("the data folder can be made");
        let errors = fs::File::options()
            .create(true)
            .append(true)
            .open(self.data.join("stderr.txt"))
            .expect("a file for standard error");
        let mut command = Command::new(&self.file);
        command
            .args(arguments)
            .arg("--data")
            .arg(&self.data)
            .env_clear()
            .envs(env::var_os("PATH").map(|path| ("PATH", path)))
            // The models of the peers have no embeddings.
            .env("DORMOUSE_MEMORY__EMBEDDER", "none")
            .stderr(Stdio::from(errors));
        Child::spawn(command)
    }

    /// The end of what it has written to standard error, for the message of a test that fails.
    #[must_use]
    pub fn complaints(&self) -> String {
        let text = fs::read(self.data.join("stderr.txt")).unwrap_or_default();
        let last = text.get(text.len().saturating_sub(2_000)..);
        String::from_utf8_lossy(last.unwrap_or_default()).into_owned()
    }
}

/// The program's file, which is next to the folder of this test program. A build of the whole workspace that says with
/// [`IS_BUILT`] that it made it is believed: cargo notes the sources only of what it was asked for by name.
fn built() -> PathBuf {
    let own = env::current_exe().expect("a test knows its file");
    let folder = own
        .ancestors()
        .nth(2)
        .expect("tests lie in a folder of the target folder");
    let file = folder.join(format!("dormouse{}", env::consts::EXE_SUFFIX));
    if env::var_os(IS_BUILT).is_none() && !is_current(&file) {
        build(folder);
    }
    assert!(file.is_file(), "{} was not built", file.display());
    file
}

/// Whether the file is there and no source that cargo noted for it is younger.
fn is_current(file: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|found| found.modified());
    let Ok(built) = modified(file) else {
        return false;
    };
    let Ok(noted) = fs::read_to_string(file.with_extension("d")) else {
        return false;
    };
    sources(&noted).all(|source| modified(&source).unwrap_or(SystemTime::UNIX_EPOCH) <= built)
}

/// The files behind the colon of a make rule, in which a space within a name follows a backslash.
fn sources(noted: &str) -> impl Iterator<Item = PathBuf> {
    let names = noted.split_once(": ").map_or("", |(_, names)| names);
    let names = names.replace("\\ ", "\0");
    let names: Vec<PathBuf> = names
        .split_whitespace()
        .map(|name| PathBuf::from(name.replace('\0', " ")))
        .collect();
    names.into_iter()
}

/// Builds the program into the target folder that this test comes from.
fn build(folder: &Path) {
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => "dev",
        Some(other) => other,
    };
    let target = folder.parent().expect("a profile's folder has a parent");
    let status = std::process::Command::new(env!("CARGO"))
        .args(["build", "--package", "dormouse-cli", "--profile", profile])
        .arg("--target-dir")
        .arg(target)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .stdin(Stdio::null())
        .status();
    let status = status.expect("cargo can be started");
    assert!(status.success(), "the program does not build");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_are_read_from_a_make_rule() {
        let found: Vec<_> = sources("/t/dormouse: /a/b.rs /a/c\\ d.rs\n").collect();
        assert_eq!(
            found,
            [PathBuf::from("/a/b.rs"), PathBuf::from("/a/c d.rs")]
        );
        assert_eq!(sources("").count(), 0);
    }
}
