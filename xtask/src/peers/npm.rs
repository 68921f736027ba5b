//! Packages from the npm registry, each in a folder of its own.

use std::path::Path;

use serde::Deserialize;
use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::Result;

/// A package, and the file of it that the tests need.
#[derive(Clone, Copy, Debug)]
pub(super) struct NpmPackage {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// Its folder in that of the peers.
    pub(super) folder: &'static str,
    /// The file, relative to the folder of the peers.
    pub(super) file: &'static str,
}

/// The part of an installed package's manifest that identifies its version.
#[derive(Deserialize)]
struct Manifest {
    version: String,
}

impl NpmPackage {
    pub(super) fn install(self, sh: &Shell, home: &Path) -> Result<Installed> {
        let Self { name, version, .. } = self;
        let package = format!("{name}@{version}");
        if self.is_current(sh, home) {
            println!("{package}: already installed");
            return Ok(Installed::Ready);
        }
        let ready = offline::npm(sh, &home.join(self.folder), [package.as_str()])?;
        if ready == Installed::Ready && !self.is_current(sh, home) {
            let file = self.file;
            return Err(format!("npm installed {package}, but {file} is not there").into());
        }
        Ok(ready)
    }

    fn is_current(self, sh: &Shell, home: &Path) -> bool {
        let modules = home.join(self.folder).join("node_modules");
        let manifest = modules.join(self.name).join("package.json");
        let manifest = sh.read_file(manifest).unwrap_or_default();
        let has = serde_json::from_str::<Manifest>(&manifest).map(|manifest| manifest.version);
        has.is_ok_and(|has| has == self.version) && home.join(self.file).is_file()
    }
}
