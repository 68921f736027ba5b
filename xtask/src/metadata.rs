//! The crates of the workspace, as cargo describes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::workspace::Result;

/// The crates of the workspace, by name.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev`, `build`, or nothing for a normal one.
    pub(crate) kind: Option<String>,
    /// Its folder, if it is a crate of this workspace.
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

impl Metadata {
    pub(crate) fn read(sh: &Shell) -> Result<Self> {
        let json = cmd!(sh, "cargo metadata --format-version 1 --no-deps")
            .quiet()
            .read()?;
        let mut metadata: Self = serde_json::from_str(&json)?;
        metadata.packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(metadata)
    }
}

impl Package {
    /// The folder of the crate.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    pub(crate) fn targets_of(&self, kind: &str) -> impl Iterator<Item = &Target> {
        self.targets
            .iter()
            .filter(move |target| target.kind.iter().any(|name| name == kind))
    }

    /// Whether other crates can depend on it.
    pub(crate) fn is_library(&self) -> bool {
        self.targets_of("lib").next().is_some()
    }

    /// Whether it is in `crates/`, and so belongs to a layer. Automation and test packages do not.
    pub(crate) fn is_layered(&self) -> bool {
        self.folder()
            .parent()
            .is_some_and(|parent| parent.ends_with("crates"))
    }
}
