//! Which projects can be begun and how they can be changed, by a call and by an operator.

use std::fmt;

use dormouse_contracts::Author;
use dormouse_text::is_blank;

use crate::{
    config::SelfSettings,
    event::{GoalNote, ProjectCreated, ProjectId, ProjectStatus, ProjectSwapped, ProjectUpdated},
    state::{Project, Projects},
};

/// The longest summary of a project, in characters.
pub const PROJECT_SUMMARY_LIMIT: usize = 200;
/// The longest context of a project, in characters.
pub const PROJECT_CONTEXT_LIMIT: usize = 1_000;

/// A project cannot be begun or changed like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// There is no such project.
    #[error("there is no project {asked:?}; known: {}", listed(known))]
    Unknown {
        /// What was asked for.
        asked: String,
        /// The projects that there are.
        known: Vec<ProjectId>,
    },
    /// No project is active.
    #[error("no project is active; begin one, or swap to one")]
    NoneActive,
    /// It is the active one already.
    #[error("{0} is the active one already")]
    Active(ProjectId),
    /// There are too many.
    #[error("{0} projects are not completed yet; complete some first")]
    TooMany(u32),
    /// The summary is blank or too long.
    #[error("the summary is blank or too long; expected 1 to {PROJECT_SUMMARY_LIMIT} characters")]
    Summary,
    /// The context is blank or too long.
    #[error("the context is blank or too long; expected 1 to {PROJECT_CONTEXT_LIMIT} characters")]
    Context,
    /// There is nothing to change.
    #[error("nothing of the project would change; say what is to change")]
    Nothing,
}

impl ProjectError {
    /// The error for an unknown project, with the known ones.
    pub fn unknown(asked: impl fmt::Display, known: impl Iterator<Item = ProjectId>) -> Self {
        Self::Unknown {
            asked: asked.to_string(),
            known: known.collect(),
        }
    }
}

/// The keys in a list.
fn listed(known: &[ProjectId]) -> String {
    let keys: Vec<_> = known.iter().map(ToString::to_string).collect();
    match keys.is_empty() {
        true => "none".to_owned(),
        false => keys.join(", "),
    }
}

impl ProjectUpdated {
    /// An empty change.
    #[must_use]
    pub fn of(id: ProjectId, author: Author) -> Self {
        Self {
            id,
            summary: None,
            context: None,
            status: None,
            author,
        }
    }
}

impl Projects {
    /// The event that begins a project. It is the active one if no other is.
    ///
    /// # Errors
    ///
    /// [`ProjectError`], and nothing happens.
    pub fn create(
        &self,
        summary: GoalNote,
        context: Option<GoalNote>,
        settings: &SelfSettings,
        author: Author,
    ) -> Result<ProjectCreated, ProjectError> {
        check_summary(&summary)?;
        context.as_ref().map_or(Ok(()), check_context)?;
        let unfinished = self
            .iter()
            .filter(|it| it.status != ProjectStatus::Completed);
        if unfinished.count() >= settings.projects as usize {
            return Err(ProjectError::TooMany(settings.projects));
        }
        let status = match self.active() {
            Some(_) => ProjectStatus::Paused,
            None => ProjectStatus::Active,
        };
        Ok(ProjectCreated {
            id: self.next_id(),
            summary,
            context,
            status,
            author,
        })
    }

    /// The event, if the change is allowed.
    ///
    /// # Errors
    ///
    /// [`ProjectError`], and nothing happens.
    pub fn update(&self, updated: ProjectUpdated) -> Result<ProjectUpdated, ProjectError> {
        self.known(updated.id)?;
        updated.summary.as_ref().map_or(Ok(()), check_summary)?;
        updated.context.as_ref().map_or(Ok(()), check_context)?;
        match updated == ProjectUpdated::of(updated.id, updated.author.clone()) {
            true => Err(ProjectError::Nothing),
            false => Ok(updated),
        }
    }

    /// The event by which another project becomes the active one. The one before it is paused, with `update` as its context, if that
    /// is given. A completed one is taken up again.
    ///
    /// # Errors
    ///
    /// [`ProjectError`], and nothing happens.
    pub fn swap(
        &self,
        to: ProjectId,
        update: Option<GoalNote>,
        reasoning: Option<GoalNote>,
        author: Author,
    ) -> Result<ProjectSwapped, ProjectError> {
        self.known(to)?;
        update
            .iter()
            .chain(&reasoning)
            .try_for_each(check_context)?;
        let from = self.active().map(|active| active.id);
        match (from, &update) {
            (Some(active), _) if active == to => Err(ProjectError::Active(to)),
            (None, Some(_)) => Err(ProjectError::NoneActive),
            _ => Ok(ProjectSwapped {
                from,
                to,
                update,
                reasoning,
                author,
            }),
        }
    }

    fn known(&self, asked: ProjectId) -> Result<&Project, ProjectError> {
        let known = || self.iter().map(|it| it.id);
        let found = self.get(asked);
        found.ok_or_else(|| ProjectError::unknown(asked, known()))
    }
}

fn check_summary(note: &GoalNote) -> Result<(), ProjectError> {
    fits(note, PROJECT_SUMMARY_LIMIT)
        .then_some(())
        .ok_or(ProjectError::Summary)
}

fn check_context(note: &GoalNote) -> Result<(), ProjectError> {
    fits(note, PROJECT_CONTEXT_LIMIT)
        .then_some(())
        .ok_or(ProjectError::Context)
}

fn fits(note: &GoalNote, limit: usize) -> bool {
    note.text.chars().count() <= limit && !is_blank(&note.text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{event::Event, state::State};
    use dormouse_contracts::Timestamp;

    fn operator() -> Author {
        Author::Operator("florian".to_owned())
    }

    fn note(text: &str) -> GoalNote {
        GoalNote::by_operator(text)
    }

    proptest! {
        #[test]
        fn at_most_one_project_is_active_and_at_most_so_many_are_open(
            asked in proptest::collection::vec((0_u8..4, 0_u32..8, any::<bool>()), 1..60),
        ) {
            let settings = SelfSettings { projects: 5, ..SelfSettings::default() };
            let mut state = State::default();
            for (what, id, has_update) in asked {
                let id = ProjectId(id);
                let projects = &state.projects;
                let update = has_update.then(|| note("it stands well"));
                let event = match what {
                    0 => projects.create(note("a boat"), update, &settings, operator()).map(Event::ProjectCreated),
                    1 => projects.swap(id, update, None, operator()).map(Event::ProjectSwapped),
                    2 => projects
                        .update(ProjectUpdated {
                            status: Some(ProjectStatus::Completed),
                            ..ProjectUpdated::of(id, operator())
                        })
                        .map(Event::ProjectUpdated),
                    _ => projects
                        .update(ProjectUpdated { context: update, ..ProjectUpdated::of(id, operator()) })
                        .map(Event::ProjectUpdated),
                };
                if let Ok(event) = event {
                    state.apply(state.seq.next(), Timestamp::EPOCH, &event);
                }
                let with = |status| state.projects.iter().filter(|it| it.status == status).count();
                prop_assert!(with(ProjectStatus::Active) <= 1);
                prop_assert!(with(ProjectStatus::Completed) <= 20);
            }
        }
    }

    #[test]
    fn a_swap_to_an_unknown_project_names_those_there_are_and_an_update_needs_an_active_one() {
        let mut state = State::default();
        let settings = SelfSettings::default();
        let unknown = |state: &State| state.projects.swap(ProjectId(9), None, None, operator());
        let said = unknown(&state).unwrap_err().to_string();
        assert_eq!(said, "there is no project \"project-9\"; known: none");
        for summary in ["the boat", "the barn"] {
            let created = state
                .projects
                .create(note(summary), None, &settings, operator());
            let event = Event::ProjectCreated(created.unwrap());
            state.apply(state.seq.next(), Timestamp::EPOCH, &event);
        }
        let said = unknown(&state).unwrap_err().to_string();
        assert_eq!(
            said,
            "there is no project \"project-9\"; known: project-1, project-2"
        );
        let again = state.projects.swap(ProjectId(1), None, None, operator());
        assert_eq!(again, Err(ProjectError::Active(ProjectId(1))));
        let done = ProjectUpdated {
            status: Some(ProjectStatus::Completed),
            ..ProjectUpdated::of(ProjectId(1), operator())
        };
        state.apply(
            state.seq.next(),
            Timestamp::EPOCH,
            &Event::ProjectUpdated(done),
        );
        let update = Some(note("it stands well"));
        let none = state.projects.swap(ProjectId(2), update, None, operator());
        assert_eq!(none, Err(ProjectError::NoneActive));
        let long = note(&"x".repeat(PROJECT_SUMMARY_LIMIT + 1));
        let refused = state.projects.create(long, None, &settings, operator());
        assert_eq!(refused, Err(ProjectError::Summary));
    }
}
