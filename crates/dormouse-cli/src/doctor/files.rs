//! Checks whether the growing files can be written: each may be on a different file system.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_host::DataFolder;

use super::Finding;
use crate::{config::Config, exit::Exit, grammar::listed};

/// How many bytes each file needs for a short visit.
const NEEDED: u64 = 1 << 20;

/// Below this much free space a warning is given, in bytes.
const LITTLE_SPACE: u64 = 100 << 20;

/// Files on one file system.
struct FileSystem {
    device: u64,
    free: u64,
    files: Vec<String>,
}

/// The findings about the files that exist, and about their file systems.
pub(super) fn findings(data: &DataFolder, config: Option<&Config>) -> Vec<Finding> {
    let memory = config.map(|config| data.memory(&config.assistant.key()));
    let files = [Some(data.log()), Some(data.world()), memory];
    let mut files: Vec<PathBuf> = files.into_iter().flatten().collect();
    files.retain(|file| file.exists());
    let mut findings: Vec<_> = files.iter().filter_map(|file| unwritable(file)).collect();
    // New files are created in the folder itself.
    if data.path().is_dir() {
        files.insert(0, data.path().to_owned());
    }
    findings.extend(file_systems(&files).iter().map(space));
    findings
}

/// The finding that a file cannot be written, and why. Opening it for writing changes nothing, and finds a read-only
/// file system.
fn unwritable(file: &Path) -> Option<Finding> {
    let error = fs::OpenOptions::new().write(true).open(file).err()?;
    let text = format!("{} cannot be written: {error}", file.display());
    Some(Finding::Wrong(text, Exit::Failure))
}

fn space(system: &FileSystem) -> Finding {
    let files = listed(&system.files);
    let needed = NEEDED.saturating_mul(system.files.len() as u64);
    let (free, its) = (size(system.free), "on the file system of");
    let text = format!("{free} are free {its} {files}");
    if system.free < needed {
        let needs = format!("a short visit needs {}", size(needed));
        return Finding::Wrong(format!("only {text}; {needs}"), Exit::Failure);
    }
    match system.free < LITTLE_SPACE {
        true => Finding::Doubtful(format!("only {text}")),
        false => Finding::Fine(text),
    }
}

/// A number of bytes in the largest unit that fits: `12 KB`, `34 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        ..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    }
}

/// The file systems of these files, in the order of the first file of each. A file system that cannot be queried is
/// left out.
fn file_systems(files: &[PathBuf]) -> Vec<FileSystem> {
    let mut systems: Vec<FileSystem> = Vec::new();
    for file in files {
        let Ok((device, free)) = ask(file) else {
            continue;
        };
        let name = file.display().to_string();
        match systems.iter_mut().find(|system| system.device == device) {
            Some(system) => system.files.push(name),
            None => systems.push(FileSystem {
                device,
                free,
                files: vec![name],
            }),
        }
    }
    systems
}

/// The device of a file, and the free space of its file system in bytes.
#[cfg(unix)]
fn ask(file: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;

    let device = fs::metadata(file)?.dev();
    let found = nix::sys::statvfs::statvfs(file)?;
    #[expect(
        clippy::useless_conversion,
        reason = "on some systems these are narrower"
    )]
    let free = u64::from(found.blocks_available()).saturating_mul(u64::from(found.fragment_size()));
    Ok((device, free))
}

#[cfg(not(unix))]
fn ask(_: &Path) -> io::Result<(u64, u64)> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_printed_in_its_largest_fitting_unit() {
        let sizes = [0, 1_023, 1_024, 1_048_575, 1 << 20, 200 << 20].map(size);
        let expected = ["0 bytes", "1023 bytes", "1 KB", "1023 KB", "1 MB", "200 MB"];
        assert_eq!(sizes, expected);
    }
}
