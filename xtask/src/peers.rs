//! `cargo xtask peers`: programs of other projects, for the end-to-end tests.
//!
//! They are installed under `target/peers`, or where the variable [`HOME`] says, and the tests look for them there.
//! If one cannot be installed (no npm, no network), its tests are skipped and all others run.

mod aimock;
mod chromium;
mod evennia;
mod langgraph;
mod llama;
mod mcp;
mod mcp_servers;
mod model;
mod nats;
mod offline;
mod otlp;
mod rig;
mod schemathesis;

use std::fmt;
use std::path::{Path, PathBuf};

use xshell::Shell;

use offline::Installed;

use crate::workspace::{Result, root};

/// The environment variable that names another folder than `target/peers`.
pub(crate) const HOME: &str = "DORMOUSE_PEERS";

/// The environment variable that tells the tests which peers are installed, so that no test skips one by mistake.
pub(crate) const REQUIRED: &str = "DORMOUSE_REQUIRE_PEERS";

/// A program to test against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Aimock,
    Chromium,
    Evennia,
    LlamaServer,
    Mcp,
    McpServers,
    McpNode,
    Nats,
    Otlp,
    Schemathesis,
}

impl Peer {
    const ALL: [Self; 10] = [
        Self::Aimock,
        Self::Chromium,
        Self::Evennia,
        Self::LlamaServer,
        Self::Mcp,
        Self::McpServers,
        Self::McpNode,
        Self::Nats,
        Self::Otlp,
        Self::Schemathesis,
    ];

    /// The files that a test needs, relative to the folder of the peers.
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Aimock => &[aimock::PROGRAM],
            Self::Chromium => &[chromium::PROGRAM],
            Self::Evennia => &[evennia::PROGRAM],
            Self::LlamaServer => &[llama::PROGRAM, model::FILE],
            Self::Mcp => &[mcp::PACKAGE],
            Self::McpServers => &mcp_servers::FILES,
            Self::McpNode => &[mcp::MANIFEST],
            Self::Nats => &[nats::PROGRAM],
            Self::Otlp => &[otlp::PACKAGE],
            Self::Schemathesis => &[schemathesis::PROGRAM],
        }
    }

    fn is_in(self, home: &Path) -> bool {
        self.files().iter().all(|file| home.join(file).is_file())
    }

    fn install(self, sh: &Shell, home: &Path, demand: Demand) -> Result<Installed> {
        match self {
            Self::Aimock => aimock::install(sh, home),
            Self::Chromium => chromium::install(sh, home, demand),
            Self::Evennia => evennia::install(sh, home),
            Self::LlamaServer => match llama::install(sh, home)? {
                Installed::Unavailable(why) => Ok(Installed::Unavailable(why)),
                Installed::Ready => model::build(sh, home),
            },
            Self::Mcp => mcp::install(sh, home),
            Self::McpServers => mcp_servers::install(sh, home),
            Self::McpNode => mcp::install_in_node(sh, home),
            Self::Nats => nats::install(sh, home),
            Self::Otlp => otlp::install(sh, home),
            Self::Schemathesis => schemathesis::install(sh, home),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aimock => "aimock",
            Self::Chromium => "chromium",
            Self::Evennia => "evennia",
            Self::LlamaServer => "llama-server",
            Self::Mcp => "mcp",
            Self::McpServers => "mcp-servers",
            Self::McpNode => "mcp-node",
            Self::Nats => "nats",
            Self::Otlp => "otlp",
            Self::Schemathesis => "schemathesis",
        })
    }
}

/// Whether every peer must be installed in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    Required,
    Optional,
}

fn home() -> PathBuf {
    std::env::var_os(HOME).map_or_else(|| root().join("target/peers"), PathBuf::from)
}

/// The names of the installed peers, for [`REQUIRED`].
pub(crate) fn found() -> String {
    let home = home();
    let names: Vec<String> = Peer::ALL
        .iter()
        .filter(|peer| peer.is_in(&home))
        .map(Peer::to_string)
        .collect();
    names.join(",")
}

pub(crate) fn missing() -> Vec<Peer> {
    let home = home();
    Peer::ALL
        .into_iter()
        .filter(|peer| !peer.is_in(&home))
        .collect()
}

/// Prints which peers are installed, and where.
pub(crate) fn check() -> Result {
    let home = home();
    for peer in Peer::ALL {
        let state = if peer.is_in(&home) {
            "found"
        } else {
            "missing"
        };
        for file in peer.files() {
            println!("{peer}: {state}: {}", home.join(file).display());
        }
    }
    Ok(())
}

/// Installs what is missing or out of date.
pub(crate) fn install(sh: &Shell, demand: Demand) -> Result {
    let home = home();
    sh.create_dir(&home)?;
    let mut unavailable = Vec::new();
    for peer in Peer::ALL {
        println!("=== {peer}");
        if let Installed::Unavailable(why) = peer.install(sh, &home, demand)? {
            println!("{peer} cannot be installed on this machine: {why}");
            println!("the tests that need it are skipped, and say so");
            unavailable.push(peer.to_string());
        }
    }
    check()?;
    if demand == Demand::Required && !unavailable.is_empty() {
        return Err(format!("missing: {}", unavailable.join(", ")).into());
    }
    Ok(())
}

/// Installs what only `cargo xtask bench others` needs, and returns the name and the place of each that is there now. They are
/// no peers: no test talks to them.
pub(crate) fn install_others(sh: &Shell) -> Result<Vec<(&'static str, PathBuf)>> {
    let home = home();
    sh.create_dir(&home)?;
    let others = [
        (
            "langgraph",
            langgraph::FOLDER,
            langgraph::install(sh, &home)?,
        ),
        ("rig", rig::PROGRAM, rig::install(sh, &home)?),
    ];
    let mut ready = Vec::new();
    for (name, place, installed) in others {
        match installed {
            Installed::Ready => ready.push((name, home.join(place))),
            Installed::Unavailable(why) => {
                println!("{name} cannot be installed on this machine, and is left out: {why}");
            }
        }
    }
    Ok(ready)
}
