//! What every command needs: shared arguments, its error and exit code, its output, a runtime, and the files it opens.

mod again;
mod arguments;
mod caller;
mod error;
mod host_exit;
mod invocation;
mod log_file;
mod memory_file;
mod operator;
mod output;
mod runtime;

pub(crate) use again::make_memory_again;
pub(crate) use arguments::{ByEncoder, JsonFlag, Places, Whose, moment, query, trust, whole};
pub(crate) use caller::{
    Caller, CallerOutput, CommandStdout, carry_out_for, host as callers_host, path as callers_path,
    stdout, world as callers_world,
};
pub(crate) use error::{
    CommandError, CommandFailure, log_open_exit, memory_exit, memory_open_exit,
};
pub(crate) use host_exit::{continuity_exit, host_exit, roster_exit, world_exit};
pub(crate) use invocation::{clear_command, invocation, rebuild_command, retry_command};
pub(crate) use log_file::{
    AssistantLog, chosen, open_log_to_write, open_log_view, open_view, view_log, view_state,
    view_states,
};
pub(crate) use memory_file::{MemoryFile, Mismatch, Missing, check_follows, show_progress};
pub(crate) use operator::{author, importer, operator, reason, user_name};
pub(crate) use output::{Printing, print_change, progress, remark, say};
pub(crate) use runtime::block_on;
