//! Commands that the program suggests to the user, as a shell reads them.

use dormouse_contracts::AssistantId;
use dormouse_host::DataFolder;

use crate::{config::DEFAULT_KEY, data::quoted};

/// The command that clears the emergency stop of this assistant.
pub(crate) fn clear_command(data: &DataFolder, key: &AssistantId) -> String {
    invocation("emergency clear", data, key)
}

/// The command that ends the pauses of this assistant.
pub(crate) fn retry_command(data: &DataFolder, key: &AssistantId) -> String {
    invocation("provider retry", data, key)
}

/// The command that rebuilds the memory of the configured assistant from the present log.
pub(crate) fn rebuild_command(data: &DataFolder) -> String {
    format!(
        "dormouse memory rebuild --from-log {}",
        crate::data::flag(data)
    )
}

/// The command for this assistant and this folder, to be typed as it is.
pub(crate) fn invocation(command: &str, data: &DataFolder, key: &AssistantId) -> String {
    let assistant = match key.as_str() {
        DEFAULT_KEY => String::new(),
        key => format!(" --assistant {}", quoted(key)),
    };
    format!("dormouse {command}{assistant} {}", crate::data::flag(data))
}
