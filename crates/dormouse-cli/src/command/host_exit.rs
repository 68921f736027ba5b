//! The exit codes for a host that cannot be opened or changed.

use dormouse_contracts::AdmitError;
use dormouse_host::{ContinuityError, HostError, roster::RosterError};
use dormouse_sandbox::SandboxOpenError;

use super::error::{log_open_exit, memory_open_exit};
use crate::{data::data_exit, exit::Exit};

/// The exit code for a host that cannot be opened, or an assistant that cannot be woken.
pub(crate) fn host_exit(error: &HostError) -> Exit {
    match error {
        HostError::Log(error) => log_open_exit(error),
        HostError::World(error) => world_exit(error),
        HostError::Memory(error) => memory_open_exit(error),
        HostError::Recall(_) | HostError::Mcp(_) => Exit::Usage,
        HostError::Continuity(error) => continuity_exit(error),
        HostError::Wake(_)
        | HostError::Mismatch(_)
        | HostError::Format(_)
        | HostError::Read(_)
        | HostError::Life { .. } => Exit::Damaged,
        HostError::Join {
            source: AdmitError::World(_),
            ..
        } => Exit::Failure,
        HostError::Join { .. }
        | HostError::Id(_)
        | HostError::Limits(_)
        | HostError::NoSandbox
        | HostError::NoHttpWorld
        | HostError::InGame
        | HostError::Archived { .. } => Exit::Usage,
        HostError::Roster(error) => roster_exit(error),
        HostError::Data(error) => data_exit(error),
        _ => Exit::Failure,
    }
}

/// The exit code for a world and a log that cannot be used together.
pub(crate) fn continuity_exit(error: &ContinuityError) -> Exit {
    match error {
        ContinuityError::OldWorld { .. } | ContinuityError::OtherLog { .. } => Exit::Damaged,
        ContinuityError::Id(_) => Exit::Usage,
        _ => Exit::Failure,
    }
}

/// The exit code for a world that cannot be opened.
pub(crate) fn world_exit(error: &SandboxOpenError) -> Exit {
    match error {
        SandboxOpenError::InUse { .. } => Exit::InUse,
        SandboxOpenError::Empty { .. }
        | SandboxOpenError::Foreign { .. }
        | SandboxOpenError::NewerFormat { .. }
        | SandboxOpenError::OlderFormat { .. }
        | SandboxOpenError::Damaged { .. }
        | SandboxOpenError::Repaired { .. } => Exit::Damaged,
        _ => Exit::Failure,
    }
}

/// The exit code for a change of the folder's assistants that was not made.
pub(crate) fn roster_exit(error: &RosterError) -> Exit {
    match error {
        RosterError::Taken { .. }
        | RosterError::Configured { .. }
        | RosterError::Unknown { .. }
        | RosterError::Name { .. }
        | RosterError::NameInUse { .. } => Exit::Usage,
        RosterError::Life { .. } => Exit::Damaged,
        _ => Exit::Failure,
    }
}
