//! An ordered list of models.

use dormouse_contracts::ChatModel;

use crate::GuardedModel;

/// Models in the order in which they are asked. There is at least one.
#[derive(Clone, Debug)]
pub struct Route {
    models: Vec<GuardedModel>,
}

/// A list without a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a list of models names none; name at least one")]
pub struct EmptyRoute;

impl Route {
    /// A list of one.
    #[must_use]
    pub fn of(model: GuardedModel) -> Self {
        Self {
            models: vec![model],
        }
    }

    /// The models of this list.
    ///
    /// # Errors
    ///
    /// [`EmptyRoute`] if there is none.
    pub fn try_new(models: Vec<GuardedModel>) -> Result<Self, EmptyRoute> {
        if models.is_empty() {
            return Err(EmptyRoute);
        }
        Ok(Self { models })
    }

    /// The same with a model that is asked if none of those before it answers.
    #[must_use]
    pub fn then(mut self, model: GuardedModel) -> Self {
        self.models.push(model);
        self
    }

    /// The models, the first one first.
    #[must_use]
    pub fn models(&self) -> &[GuardedModel] {
        &self.models
    }

    /// The first one, as a model.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is at least one, which every constructor sees to"
    )]
    pub(super) fn first(&self) -> &dyn ChatModel {
        &self.models[0]
    }
}
