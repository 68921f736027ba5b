//! The projects of the assistant.

use dormouse_contracts::{FORGOTTEN, Seq, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::{
    Event, GoalNote, ProjectCreated, ProjectId, ProjectStatus, ProjectSwapped, ProjectUpdated,
};

/// How many completed projects a state keeps.
const COMPLETED_KEPT: usize = 20;

/// The projects of the assistant: contexts that it can leave and resume. At most one is active.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Projects {
    last_id: ProjectId,
    /// By number.
    all: Vec<Project>,
    /// Notes that were replaced after the last reply. The prompt of that reply showed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<GoalNote>,
}

/// Something that the assistant works on over many turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// Its key.
    pub id: ProjectId,
    /// The event that began it.
    pub seq: Seq,
    /// When that event was written.
    pub created_at: Timestamp,
    /// When it was last changed or active.
    pub last_active: Timestamp,
    /// Its status.
    pub status: ProjectStatus,
    /// What it is.
    pub summary: GoalNote,
    /// Its present state of work.
    pub context: Option<GoalNote>,
}

impl Projects {
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        match event {
            Event::ProjectCreated(created) => self.created(seq, at, created),
            Event::ProjectUpdated(updated) => self.updated(at, updated),
            Event::ProjectSwapped(swapped) => self.swapped(at, swapped),
            Event::Replied(_) => self.replaced.clear(),
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last_id == ProjectId(0)
    }

    fn created(&mut self, seq: Seq, at: Timestamp, created: &ProjectCreated) {
        self.last_id = self.last_id.max(created.id);
        if created.summary.text == FORGOTTEN {
            return;
        }
        if created.status == ProjectStatus::Active {
            self.pause(at);
        }
        self.all.push(Project {
            id: created.id,
            seq,
            created_at: at,
            last_active: at,
            status: created.status,
            summary: created.summary.clone(),
            context: known(created.context.as_ref()).cloned(),
        });
    }

    fn updated(&mut self, at: Timestamp, updated: &ProjectUpdated) {
        let Some(project) = self.all.iter_mut().find(|it| it.id == updated.id) else {
            return;
        };
        if let Some(summary) = known(updated.summary.as_ref()) {
            let before = std::mem::replace(&mut project.summary, summary.clone());
            self.replaced.push(before);
        }
        if let Some(context) = known(updated.context.as_ref()) {
            self.replaced
                .extend(project.context.replace(context.clone()));
        }
        project.last_active = at;
        project.status = updated.status.unwrap_or(project.status);
        let completed = |it: &&Project| it.status == ProjectStatus::Completed;
        if self.all.iter().filter(completed).count() > COMPLETED_KEPT
            && let Some(oldest) = self
                .all
                .iter()
                .filter(completed)
                .min_by_key(|it| it.last_active)
        {
            let oldest = oldest.id;
            self.all.retain(|it| it.id != oldest);
        }
    }

    fn swapped(&mut self, at: Timestamp, swapped: &ProjectSwapped) {
        let before = swapped.from;
        let before = self.all.iter_mut().find(|it| Some(it.id) == before);
        if let (Some(before), Some(update)) = (before, known(swapped.update.as_ref())) {
            self.replaced.extend(before.context.replace(update.clone()));
        }
        // Also pauses a project that is still active because of the log of an older program, or because an event was
        // forgotten.
        self.pause(at);
        if let Some(next) = self.all.iter_mut().find(|it| it.id == swapped.to) {
            next.status = ProjectStatus::Active;
            next.last_active = at;
        }
    }

    fn pause(&mut self, at: Timestamp) {
        let active = |it: &&mut Project| it.status == ProjectStatus::Active;
        for project in self.all.iter_mut().filter(active) {
            project.status = ProjectStatus::Paused;
            project.last_active = at;
        }
    }

    /// The key that the next project gets.
    pub(crate) fn next_id(&self) -> ProjectId {
        ProjectId(self.last_id.0.saturating_add(1))
    }

    /// The project with this key.
    #[must_use]
    pub fn get(&self, id: ProjectId) -> Option<&Project> {
        self.all.iter().find(|it| it.id == id)
    }

    /// The active project.
    #[must_use]
    pub fn active(&self) -> Option<&Project> {
        let mut all = self.all.iter();
        all.find(|it| it.status == ProjectStatus::Active)
    }

    /// All kept projects, by number: the open ones, and the last completed ones.
    pub fn iter(&self) -> impl Iterator<Item = &Project> {
        self.all.iter()
    }

    /// Notes that the prompt of the last reply showed and that were replaced since.
    pub(crate) fn replaced(&self) -> &[GoalNote] {
        &self.replaced
    }
}

/// The words of a note, unless they were forgotten.
fn known(note: Option<&GoalNote>) -> Option<&GoalNote> {
    note.filter(|note| note.text != FORGOTTEN)
}
