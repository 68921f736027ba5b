//! Opening a chosen model.

use std::{env, sync::Arc};

use dormouse_contracts::ChatModel;
use dormouse_offline::OfflineModel;
use dormouse_providers::{Choice, Environment, Network, open_model};

use super::error::ProviderError;

/// The environment of this process.
pub(crate) fn environment() -> Environment {
    Environment::of(|name| env::var_os(name))
}

/// Makes a model. Connects to nothing yet.
pub(super) fn open(
    choice: &Choice,
    network: &Network,
) -> Result<Arc<dyn ChatModel>, ProviderError> {
    match choice {
        Choice::Offline { .. } => Ok(Arc::new(OfflineModel::new())),
        Choice::Server { config, .. } => {
            open_model(config, network).map_err(|error| ProviderError::Server(error.into()))
        }
    }
}
