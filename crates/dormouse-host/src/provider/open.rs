//! Opening a chosen model.

use std::sync::Arc;

use dormouse_contracts::ChatModel;
use dormouse_offline::OfflineModel;
use dormouse_providers::{Choice, Network, open_model};

use super::error::ProviderError;

/// Makes a model. Connects to nothing yet.
///
/// # Errors
///
/// [`ProviderError::Server`] if the server's address or another of its settings is invalid.
pub fn open(choice: &Choice, network: &Network) -> Result<Arc<dyn ChatModel>, ProviderError> {
    match choice {
        Choice::Offline { .. } => Ok(Arc::new(OfflineModel::new())),
        Choice::Server { config, .. } => {
            open_model(config, network).map_err(|error| ProviderError::Server(error.into()))
        }
    }
}
