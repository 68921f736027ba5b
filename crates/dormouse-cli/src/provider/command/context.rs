//! The inputs of the provider commands.

use dormouse_host::{
    DataFolder,
    provider::{ProviderError, find, select},
};
use dormouse_providers::{Choice, Environment};

use super::args::{Asked, Which};
use crate::{
    command::{CommandError, Places, Printing},
    config::Config,
    provider::{environment, flags::ProviderFlags},
};

/// Paths, configuration and environment, read once.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) places: Places,
    pub(super) data: DataFolder,
    pub(super) config: Config,
    pub(super) environment: Environment,
    pub(super) printing: Printing,
}

impl Context {
    /// Reads the configuration and the environment.
    pub(super) fn read(places: &Places, printing: Printing) -> Result<Self, CommandError> {
        let data = crate::data::locate(places.data.as_deref())?;
        let (config, _) = places.configuration(&data)?;
        Ok(Self {
            places: places.clone(),
            data,
            config,
            environment: environment(),
            printing,
        })
    }

    /// The model that a command names, or the chosen one.
    pub(super) fn choose(&self, of: &Which) -> Result<Choice, ProviderError> {
        let section = &self.config.provider;
        let mut flags: ProviderFlags = of.flags.clone();
        match &of.asked {
            Some(Asked::Model(requested)) => {
                find(&flags.selection(), section, &self.environment)?.chosen_model(requested)
            }
            asked => {
                if let Some(Asked::Bare(model)) = asked {
                    flags.model = Some(model.clone());
                }
                Ok(select(&flags.selection(), section, &self.environment)?.choice)
            }
        }
    }
}
