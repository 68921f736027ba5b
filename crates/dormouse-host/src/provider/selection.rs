//! Which model a caller asks for, in place of what the configuration says.

use dormouse_contracts::ModelName;
use dormouse_engine::ToolCalling;
use dormouse_providers::ServedBy;

/// Which model to use. Absent fields are taken from the configuration, then from the environment.
#[derive(Clone, Debug, Default)]
pub struct ModelSelection {
    /// The provider.
    pub provider: Option<ServedBy>,
    /// The model, by the name its provider uses.
    pub model: Option<ModelName>,
    /// The server of the provider, if it is not the default one.
    pub base_url: Option<String>,
    /// How tools are offered to the model.
    pub tool_calling: Option<ToolCalling>,
}
