//! aimock: a scripted server that imitates many vendors, from the npm registry.

use super::npm::NpmPackage;

pub(super) const PROGRAM: &str = "aimock/node_modules/@copilotkit/aimock/dist/cli.js";

pub(super) const PACKAGE: NpmPackage = NpmPackage {
    name: "@copilotkit/aimock",
    version: "1.43.0",
    folder: "aimock",
    file: PROGRAM,
};
