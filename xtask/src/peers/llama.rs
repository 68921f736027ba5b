//! llama-server: a real inference server, from Debian's packages, unpacked and not installed.
//!
//! apt keeps its state in the folder of the peers, so it needs no privileges and does not change the machine. The
//! packages contain their own loader and C library, so the machine's release of Debian does not matter.

use std::path::Path;

use xshell::{Shell, cmd};

use super::offline::{self, Installed};
use crate::workspace::Result;

pub(super) const PROGRAM: &str = "llama/run.sh";

/// The package with the server, and the version that the tests were written for.
const SERVER: &str = "llama.cpp-tools";
const VERSION: &str = "1:0.7.0+dfsg-2";
/// All packages that the server needs, including the loader. The server's version determines theirs.
const LIBRARIES: [&str; 9] = [
    "libllama0",
    "libggml0",
    "libc6",
    "libgcc-s1",
    "libstdc++6",
    "libgomp1",
    "libssl3t64",
    "zlib1g",
    "libzstd1",
];
/// The Debian release that contains them.
const RELEASE: &str = "sid";
/// The keys by which apt verifies packages of Debian.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// Starts the server from its folder.
const START: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
libraries=$here/tree/usr/lib/x86_64-linux-gnu
kind=sse42
if grep -q ' avx2 ' /proc/cpuinfo; then kind=haswell; fi
export GGML_BACKEND_PATH="$libraries/ggml/backends0/libggml-cpu-$kind.so"
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$libraries/llama" \
    "$here/tree/usr/bin/llama-server" "$@"
"#;

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let folder = home.join("llama");
    let program = home.join(PROGRAM);
    let stamp = folder.join("server.txt");
    if program.is_file() && sh.read_file(&stamp).is_ok_and(|stamp| stamp == VERSION) {
        println!("llama-server {VERSION}: already installed");
        return Ok(Installed::Ready);
    }
    let apt = match Apt::prepare(sh, &folder)? {
        Ok(apt) => apt,
        Err(why) => return Ok(Installed::Unavailable(why)),
    };
    if let Installed::Unavailable(why) = apt.download(sh, &folder)? {
        return Ok(Installed::Unavailable(why));
    }
    unpack(sh, &folder)?;
    sh.write_file(&program, START)?;
    cmd!(sh, "chmod +x {program}").quiet().run()?;
    // Only a server that starts counts as installed.
    cmd!(sh, "{program} --version").run()?;
    sh.write_file(&stamp, VERSION)?;
    Ok(Installed::Ready)
}

/// apt, with its state in a separate folder.
struct Apt {
    options: Vec<String>,
}

impl Apt {
    /// Creates the state, or returns why this machine's apt cannot.
    fn prepare(sh: &Shell, folder: &Path) -> Result<std::result::Result<Self, String>> {
        for program in ["apt-get", "dpkg"] {
            if !offline::has(sh, program) {
                return Ok(Err(format!("`{program}` is not installed")));
            }
        }
        let machine = cmd!(sh, "dpkg --print-architecture").quiet().read()?;
        if machine.trim() != "amd64" {
            return Ok(Err(format!(
                "the packages are for amd64, and this machine is {machine}"
            )));
        }
        let format = "--format=$(REPO_URI)";
        let indexes = cmd!(sh, "apt-get indextargets {format}").quiet().read()?;
        let Some(mirror) = mirror(&indexes) else {
            return Ok(Err(
                "this machine's apt names no mirror of Debian".to_owned()
            ));
        };
        let Some(keyring) = KEYRINGS.iter().find(|keyring| Path::new(keyring).is_file()) else {
            return Ok(Err(
                "the package debian-archive-keyring is not installed".to_owned()
            ));
        };
        for part in ["lists/partial", "cache/archives/partial", "debs"] {
            sh.create_dir(folder.join(part))?;
        }
        let source = format!("deb [signed-by={keyring}] {mirror} {RELEASE} main\n");
        sh.write_file(folder.join("sources.list"), source)?;
        sh.write_file(folder.join("status"), "")?;
        Ok(Ok(Self {
            options: options(folder),
        }))
    }

    /// Downloads the packages into `debs/`.
    fn download(&self, sh: &Shell, folder: &Path) -> Result<Installed> {
        let options = &self.options;
        let update = offline::try_to(cmd!(sh, "apt-get {options...} update"))?;
        if update != Installed::Ready {
            return Ok(update);
        }
        let debs = folder.join("debs");
        sh.remove_path(&debs)?;
        sh.create_dir(&debs)?;
        let _inside = sh.push_dir(&debs);
        let server = format!("{SERVER}={VERSION}");
        let wanted = cmd!(sh, "apt-get {options...} download {server} {LIBRARIES...}");
        if let Ok(downloaded) = offline::try_to(wanted) {
            return Ok(downloaded);
        }
        println!("{SERVER} {VERSION} is no longer on the mirror; installing the version that is");
        offline::try_to(cmd!(
            sh,
            "apt-get {options...} download {SERVER} {LIBRARIES...}"
        ))
    }
}

/// The options that keep apt within `folder`.
fn options(folder: &Path) -> Vec<String> {
    let folder = folder.display();
    let settings = [
        format!("Dir::Etc::sourcelist={folder}/sources.list"),
        "Dir::Etc::sourceparts=-".to_owned(),
        format!("Dir::State::Lists={folder}/lists"),
        format!("Dir::State::status={folder}/status"),
        format!("Dir::Cache={folder}/cache"),
        "Acquire::Retries=1".to_owned(),
        "Acquire::http::Timeout=30".to_owned(),
        // A mirror may have a copy of the release whose validity has expired.
        "Acquire::Check-Valid-Until=false".to_owned(),
        "Acquire::Languages=none".to_owned(),
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
        // By default apt downloads as a user of its own, which may have no access to the folder.
        "APT::Sandbox::User=root".to_owned(),
    ];
    let quiet = std::iter::once("-q".to_owned());
    quiet
        .chain(
            settings
                .into_iter()
                .flat_map(|setting| ["-o".to_owned(), setting]),
        )
        .collect()
}

/// The mirror of Debian among the repositories that this machine uses.
fn mirror(indexes: &str) -> Option<&str> {
    indexes
        .lines()
        .map(str::trim)
        .find(|address| address.trim_end_matches('/').ends_with("/debian"))
}

fn unpack(sh: &Shell, folder: &Path) -> Result {
    let tree = folder.join("tree");
    sh.remove_path(&tree)?;
    sh.create_dir(&tree)?;
    for package in sh.read_dir(folder.join("debs"))? {
        cmd!(sh, "dpkg -x {package} {tree}").quiet().run()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_the_archive_and_not_its_security_updates() {
        let indexes = "http://mirror.example/debian-security/\nhttps://mirror.example/debian/\n";
        assert_eq!(mirror(indexes), Some("https://mirror.example/debian/"));
        assert_eq!(mirror("http://mirror.example/ubuntu/\n"), None);
        assert_eq!(mirror(""), None);
    }

    #[test]
    fn apt_touches_nothing_outside_the_folder_of_the_peer() {
        let options = options(Path::new("/peers/llama")).join(" ");
        for part in ["sourcelist", "Lists", "status", "Cache"] {
            let (_, after) = options.split_once(&format!("{part}=")).unwrap();
            assert!(after.starts_with("/peers/llama/"), "{part}");
        }
        assert!(options.contains("sourceparts=-"));
    }
}
