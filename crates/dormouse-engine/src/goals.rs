//! Which goals can be set and how they can be changed, by a call and by an operator.

use dormouse_contracts::{Author, EntityId, Timestamp};
use dormouse_text::is_blank;

use crate::{
    event::{
        GoalCompleted, GoalCreated, GoalId, GoalMoment, GoalNote, GoalStatus, GoalUpdated, GoalWait,
    },
    recurrence::Recurrence,
    state::{Goal, Goals},
};

/// The longest text of a goal, in characters.
pub const GOAL_TEXT_LIMIT: usize = 200;
/// The default priority of a goal.
pub const USUAL_PRIORITY: u8 = 5;

/// A goal cannot be set or changed like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalError {
    /// There is no such goal.
    #[error("there is no goal {0}")]
    Unknown(GoalId),
    /// It is done or dropped.
    #[error("goal {0} is closed; only opening it again can change it")]
    Closed(GoalId),
    /// There are too many.
    #[error("{} goals are open already; complete or drop some first", Goals::MOST)]
    TooMany,
    /// The tree would be too deep.
    #[error("goal {0} is too deep in the tree for this; at most {most} levels are possible", most = Goals::DEEPEST)]
    TooDeep(GoalId),
    /// A goal would be a part of itself.
    #[error("goal {of} cannot be a part of goal {parent}, which is a part of it or the same")]
    Circular {
        /// The goal.
        of: GoalId,
        /// The goal that it cannot be a part of.
        parent: GoalId,
    },
    /// The text is blank or too long.
    #[error("the text is blank or too long; expected 1 to {GOAL_TEXT_LIMIT} characters")]
    Text,
    /// The priority is out of its range.
    #[error("the priority is {0}; expected 1 to 10")]
    Priority(u8),
    /// There is nothing to change.
    #[error("nothing of the goal would change; say what is to change")]
    Nothing,
    /// A moment to wait for has passed.
    #[error("{0} has passed; a goal waits until a later moment")]
    Passed(Timestamp),
    /// Both a moment and a recurrence.
    #[error("a goal is due at a moment or again and again, not both")]
    TwoMoments,
}

/// A goal that somebody wants to set.
#[derive(Clone, Debug, PartialEq)]
pub struct NewGoal {
    /// What is to be reached.
    pub description: GoalNote,
    /// How important it is, 1 to 10.
    pub priority: u8,
    /// The goal that it is a part of.
    pub parent: Option<GoalId>,
    /// When the goal gets a turn.
    pub moment: GoalMoment,
}

impl GoalMoment {
    /// The requested moment: a single one, or a recurring one whose first time is after `now`.
    ///
    /// # Errors
    ///
    /// [`GoalError::TwoMoments`].
    pub fn of(
        due_at: Option<Timestamp>,
        every: Option<Recurrence>,
        now: Timestamp,
    ) -> Result<Self, GoalError> {
        match (due_at, every) {
            (Some(_), Some(_)) => Err(GoalError::TwoMoments),
            (Some(at), None) => Ok(Self::At(at)),
            (None, Some(every)) => Ok(Self::Repeating {
                first: every.first_after(now),
                every,
            }),
            (None, None) => Ok(Self::Never),
        }
    }
}

impl GoalUpdated {
    /// An empty change.
    #[must_use]
    pub fn of(id: GoalId, author: Author) -> Self {
        Self {
            id,
            status: None,
            priority: None,
            parent_id: None,
            moment: None,
            note: None,
            author,
        }
    }
}

impl GoalStatus {
    /// Waiting for a moment after `now`.
    ///
    /// # Errors
    ///
    /// [`GoalError::Passed`].
    pub fn waiting_until(until: Timestamp, now: Timestamp) -> Result<Self, GoalError> {
        match until > now {
            true => Ok(Self::Waiting(GoalWait::Until(until))),
            false => Err(GoalError::Passed(until)),
        }
    }

    /// Waiting for somebody to be heard.
    #[must_use]
    pub fn waiting_for(who: EntityId) -> Self {
        Self::Waiting(GoalWait::Heard(who))
    }
}

impl Goals {
    /// The event that sets a goal.
    ///
    /// # Errors
    ///
    /// [`GoalError`], and nothing happens.
    pub fn create(&self, goal: NewGoal, author: Author) -> Result<GoalCreated, GoalError> {
        check_text(&goal.description)?;
        check_priority(goal.priority)?;
        if self.iter().filter(|goal| goal.is_open()).count() >= Self::MOST {
            return Err(GoalError::TooMany);
        }
        if let Some(parent) = goal.parent {
            self.open(parent)?;
            self.check_depth(parent, 1)?;
        }
        Ok(GoalCreated {
            id: self.next_id(),
            description: goal.description,
            priority: goal.priority,
            parent_id: goal.parent,
            moment: goal.moment,
            author,
        })
    }

    /// The event, if the change is allowed.
    ///
    /// # Errors
    ///
    /// [`GoalError`], and nothing happens.
    pub fn update(&self, updated: GoalUpdated) -> Result<GoalUpdated, GoalError> {
        let goal = self.get(updated.id).ok_or(GoalError::Unknown(updated.id))?;
        if !goal.is_open() {
            if updated.status != Some(GoalStatus::Open) {
                return Err(GoalError::Closed(goal.id));
            }
            if self.iter().filter(|goal| goal.is_open()).count() >= Self::MOST {
                return Err(GoalError::TooMany);
            }
        }
        if updated == GoalUpdated::of(updated.id, updated.author.clone()) {
            return Err(GoalError::Nothing);
        }
        updated.priority.map_or(Ok(()), check_priority)?;
        updated.note.as_ref().map_or(Ok(()), check_text)?;
        match updated.parent_id {
            None | Some(GoalId(0)) => {}
            Some(parent) => self.check_parent(goal, parent)?,
        }
        Ok(updated)
    }

    /// The events that complete a goal. They also complete each goal above it that has no other open part.
    ///
    /// # Errors
    ///
    /// [`GoalError`], and nothing happens.
    pub fn complete(
        &self,
        id: GoalId,
        outcome: Option<GoalNote>,
        author: &Author,
    ) -> Result<Vec<GoalCompleted>, GoalError> {
        self.open(id)?;
        outcome.as_ref().map_or(Ok(()), check_text)?;
        let mut completed = vec![GoalCompleted {
            id,
            outcome,
            author: author.clone(),
        }];
        for above in self.above(id) {
            let is_last = |part: &Goal| {
                !part.is_open() || completed.iter().any(|closed| closed.id == part.id)
            };
            if above.comes_back() || !above.is_open() || !self.children_of(above.id).all(is_last) {
                break;
            }
            completed.push(GoalCompleted {
                id: above.id,
                outcome: None,
                author: author.clone(),
            });
        }
        Ok(completed)
    }

    fn open(&self, id: GoalId) -> Result<&Goal, GoalError> {
        match self.get(id) {
            Some(goal) if goal.is_open() => Ok(goal),
            Some(_) => Err(GoalError::Closed(id)),
            None => Err(GoalError::Unknown(id)),
        }
    }

    fn check_parent(&self, goal: &Goal, parent: GoalId) -> Result<(), GoalError> {
        self.open(parent)?;
        let (of, above) = (goal.id, self.above(parent));
        if parent == of || above.map(|above| above.id).any(|above| above == of) {
            return Err(GoalError::Circular { of, parent });
        }
        let level = |part: &Goal| self.above(part.id).count();
        let deepest = self.parts_of(of).map(level).max();
        let below = deepest.map_or(0, |deepest| deepest.saturating_sub(level(goal)));
        self.check_depth(parent, below + 1)
    }

    /// Checks that the tree has room for this many levels below this goal.
    fn check_depth(&self, parent: GoalId, levels: usize) -> Result<(), GoalError> {
        let level = self.above(parent).count() + 1;
        match level + levels <= Self::DEEPEST {
            true => Ok(()),
            false => Err(GoalError::TooDeep(parent)),
        }
    }
}

fn check_text(note: &GoalNote) -> Result<(), GoalError> {
    let fits = note.text.chars().count() <= GOAL_TEXT_LIMIT;
    match fits && !is_blank(&note.text) {
        true => Ok(()),
        false => Err(GoalError::Text),
    }
}

fn check_priority(priority: u8) -> Result<(), GoalError> {
    match (1..=10).contains(&priority) {
        true => Ok(()),
        false => Err(GoalError::Priority(priority)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{event::Event, state::State};

    fn operator() -> Author {
        Author::Operator("florian".to_owned())
    }

    fn apply(state: &mut State, event: &Event) {
        state.apply(state.seq.next(), Timestamp::EPOCH, event);
    }

    fn create(state: &mut State, parent: Option<u32>) -> Result<GoalId, GoalError> {
        let goal = NewGoal {
            description: GoalNote::by_operator("sweep"),
            priority: USUAL_PRIORITY,
            parent: parent.map(GoalId),
            moment: GoalMoment::Never,
        };
        let created = state.goals.create(goal, operator())?;
        let id = created.id;
        apply(state, &Event::GoalCreated(created));
        Ok(id)
    }

    fn reparent(state: &mut State, id: u32, parent: u32) -> Result<(), GoalError> {
        let updated = state.goals.update(GoalUpdated {
            parent_id: Some(GoalId(parent)),
            ..GoalUpdated::of(GoalId(id), operator())
        })?;
        apply(state, &Event::GoalUpdated(updated));
        Ok(())
    }

    #[test]
    fn what_cannot_be_a_tree_is_refused_with_the_reason() {
        let mut state = State::default();
        for parent in [None, Some(1), Some(2), Some(3), Some(4)] {
            create(&mut state, parent).unwrap();
        }
        let too_deep = create(&mut state, Some(5));
        assert_eq!(too_deep, Err(GoalError::TooDeep(GoalId(5))));
        assert_eq!(
            create(&mut state, Some(9)),
            Err(GoalError::Unknown(GoalId(9)))
        );
        for parent in [1, 2, 5] {
            let (of, parent) = (GoalId(1), GoalId(parent));
            let circular = reparent(&mut state, 1, parent.0);
            assert_eq!(circular, Err(GoalError::Circular { of, parent }));
        }
        // The goal itself has room there, but its parts would be too deep.
        create(&mut state, None).unwrap();
        assert_eq!(
            reparent(&mut state, 1, 6),
            Err(GoalError::TooDeep(GoalId(6)))
        );
        reparent(&mut state, 2, 6).unwrap();
        assert_eq!(state.goals.version(), 7);
        let dropped = GoalUpdated {
            status: Some(GoalStatus::Dropped),
            ..GoalUpdated::of(GoalId(6), operator())
        };
        apply(&mut state, &Event::GoalUpdated(dropped));
        let open = state.goals.iter().filter(|goal| goal.is_open());
        assert_eq!(open.map(|goal| goal.id).collect::<Vec<_>>(), [GoalId(1)]);
        let closed = reparent(&mut state, 2, 0);
        assert_eq!(closed, Err(GoalError::Closed(GoalId(2))));
    }

    #[test]
    fn more_goals_than_there_may_be_are_refused_and_closed_ones_are_kept_for_a_while() {
        let mut state = State::default();
        for number in 0..300 {
            let id = create(&mut state, None).unwrap();
            assert_eq!(id, GoalId(number + 1), "no number is used twice");
            let completed = state.goals.complete(id, None, &operator()).unwrap();
            for completed in completed {
                apply(&mut state, &Event::GoalCompleted(completed));
            }
        }
        assert_eq!(state.goals.iter().count(), 100);
        for _ in 0..Goals::MOST {
            create(&mut state, None).unwrap();
        }
        assert_eq!(create(&mut state, None), Err(GoalError::TooMany));
    }

    proptest! {
        #[test]
        fn whatever_is_asked_for_goals_stay_a_tree_of_few_levels(
            asked in proptest::collection::vec((0_u32..12, 0_u32..12), 1..60),
        ) {
            let mut state = State::default();
            for (of, parent) in asked {
                let parent_of_new = (parent > 0).then_some(parent);
                let asked = match of {
                    0 => create(&mut state, parent_of_new).map(|_| ()),
                    of => reparent(&mut state, of, parent),
                };
                drop(asked);
                for goal in state.goals.iter() {
                    let above: Vec<_> = state.goals.above(goal.id).map(|goal| goal.id).collect();
                    prop_assert!(!above.contains(&goal.id) && above.len() < Goals::DEEPEST);
                }
            }
        }
    }
}
