//! An ordered list of models.

use dormouse_contracts::ChatModel;

use crate::GuardedModel;

/// At least one model. They are tried in this order.
#[derive(Clone, Debug)]
pub struct Route {
    models: Vec<GuardedModel>,
}

/// The list is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the list of models is empty; name at least one model")]
pub struct EmptyRoute;

impl Route {
    /// Creates a list with one model.
    #[must_use]
    pub fn of(model: GuardedModel) -> Self {
        Self {
            models: vec![model],
        }
    }

    /// Creates a list.
    ///
    /// # Errors
    ///
    /// [`EmptyRoute`] if it is empty.
    pub fn try_new(models: Vec<GuardedModel>) -> Result<Self, EmptyRoute> {
        if models.is_empty() {
            return Err(EmptyRoute);
        }
        Ok(Self { models })
    }

    /// Appends a model that is called if none before it answers.
    #[must_use]
    pub fn then(mut self, model: GuardedModel) -> Self {
        self.models.push(model);
        self
    }

    /// Returns the models in order.
    #[must_use]
    pub fn models(&self) -> &[GuardedModel] {
        &self.models
    }

    /// Returns the first model.
    #[expect(
        clippy::indexing_slicing,
        reason = "every constructor checks that there is at least one model"
    )]
    pub(super) fn first(&self) -> &dyn ChatModel {
        &self.models[0]
    }
}
