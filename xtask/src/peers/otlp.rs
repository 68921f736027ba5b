//! The messages of OpenTelemetry for Python, for a collector: from the Python package index.

use std::path::Path;

use xshell::Shell;

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

/// A file of the package; its folder is needed as `PYTHONPATH`.
pub(super) const PACKAGE: &str = "otlp/opentelemetry/proto/trace/v1/trace_pb2.py";
const STAMP: &str = "otlp/requirements.txt";
const REQUIREMENTS: &str = "tests/peers/otlp/requirements.txt";

pub(super) fn install(sh: &Shell, home: &Path) -> Result<Installed> {
    let requirements = root().join(REQUIREMENTS);
    let folder = home.join("otlp");
    offline::once(sh, home, (STAMP, PACKAGE), &requirements, || {
        offline::pip(sh, &folder, &requirements)
    })
}
