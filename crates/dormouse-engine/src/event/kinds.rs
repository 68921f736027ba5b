//! Every kind of event.

use dormouse_contracts::Author;

use super::{
    approval::{ApprovalAnswered, ApprovalRequested},
    assessed::TaskAssessed,
    budget::{CallReserved, ReservedBy},
    commitment::CommitmentEnded,
    compaction::{Compacted, CompactionMode, HistorySummarized, SummaryFailed},
    consulted::{ConsolidationBegan, ConsolidationEnded, ConsultationFailed, Consulted},
    delayed::Delayed,
    delegation::{
        DelegateChosen, DelegationEnded, EndedBy, TaskAnswered, TaskCancelled, TaskDelegated,
        TaskReceived,
    },
    effect::{EffectIntended, EffectSettled, WorldFailed},
    forgotten::Forgotten,
    goal::{GoalCompleted, GoalCreated, GoalPursued, GoalUpdated},
    journal::{JournalChanged, ReflectionRecorded, ReflectionRequested},
    life::{Configured, SettingChanged, Woke},
    memory::{EntityChanged, MemoryChanged, Remembered},
    offered::ToolsOffered,
    perception::{LinesDropped, Perceived},
    project::{ProjectCreated, ProjectSwapped, ProjectUpdated},
    recollected::Recollected,
    roster::RosterChanged,
    safety::{
        EmergencyStopCleared, EmergencyStopTriggered, HistoryReset, StopNoticeIntended,
        StopNoticeSettled,
    },
    self_note::{SelfNoteDropped, SelfNoted},
    service::{ModelFailed, RetryRequested},
    sleep::{FellAsleep, NightProbed, NightStepped, WakeCause, WokeUp},
    turn::{ParseFailed, Replied, TickEnded, TickStarted, ToolAnswered},
    unanswered::Unanswered,
};

/// Something that happened to an assistant, or that it decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The assistant woke under another configuration than before.
    Configured(Configured),
    /// The assistant woke while somebody waited for it.
    Woke(Woke),
    /// A setting of the assistant was changed.
    SettingChanged(SettingChanged),
    /// A message was accepted.
    Perceived(Perceived),
    /// Lines of a sender were only counted.
    LinesDropped(LinesDropped),
    /// A tick began, because there was a reason to think.
    TickStarted(TickStarted),
    /// The task of a turn was assessed.
    TaskAssessed(TaskAssessed),
    /// Other tools are offered from now on.
    ToolsOffered(ToolsOffered),
    /// The model answered.
    Replied(Replied),
    /// The model's answer was unreadable, or held a call that cannot be made; the model gets a note about it.
    ParseFailed(ParseFailed),
    /// The model could not be reached, or refused.
    ModelFailed(ModelFailed),
    /// A tool call has its result.
    ToolAnswered(ToolAnswered),
    /// A line was stored in memory.
    Remembered(Remembered),
    /// The memory was searched for a turn, before the model is asked.
    Recollected(Recollected),
    /// Something about a person or thing was noted on purpose.
    EntityChanged(EntityChanged),
    /// The memory was changed on purpose, other than by noting a line.
    MemoryChanged(MemoryChanged),
    /// The model was consulted about memories, and replied.
    Consulted(Consulted),
    /// Such a request failed.
    ConsultationFailed(ConsultationFailed),
    /// A consolidation began: it makes facts and attributes from memories.
    ConsolidationBegan(ConsolidationBegan),
    /// The consolidation ended.
    ConsolidationEnded(ConsolidationEnded),
    /// Earlier turns are shown shorter from here on.
    Compacted(Compacted),
    /// A model summed up earlier turns.
    HistorySummarized(HistorySummarized),
    /// Earlier turns were not summed up.
    SummaryFailed(SummaryFailed),
    /// Words were forgotten: earlier events were rewritten without them.
    Forgotten(Forgotten),
    /// An effect on the world was decided. It is on disk before it is carried out.
    EffectIntended(EffectIntended),
    /// The outcome of an effect.
    EffectSettled(EffectSettled),
    /// The world could not be reached; the call is made again later.
    WorldFailed(WorldFailed),
    /// A message ends without an answer.
    Unanswered(Unanswered),
    /// The answer to a message takes long, and its sender is asked to wait.
    Delayed(Delayed),
    /// A tick is over.
    TickEnded(TickEnded),
    /// The emergency stop was triggered: no further ticks until somebody clears it.
    EmergencyStopTriggered(EmergencyStopTriggered),
    /// The emergency stop was cleared.
    EmergencyStopCleared(EmergencyStopCleared),
    /// The assistant is about to say in its world that it is stopped.
    StopNoticeIntended(StopNoticeIntended),
    /// Whether the notice arrived is known now, or will never be known.
    StopNoticeSettled(StopNoticeSettled),
    /// Somebody reset the history.
    HistoryReset(HistoryReset),
    /// A model is about to be called; this much of the budgets is reserved for it.
    CallReserved(CallReserved),
    /// The assistant wants to do something that a person has to confirm.
    ApprovalRequested(ApprovalRequested),
    /// Somebody confirmed or refused an act.
    ApprovalAnswered(ApprovalAnswered),
    /// Somebody wants the model to be asked again now, even during a pause that it asked for.
    RetryRequested(RetryRequested),
    /// An operator created, tagged, archived or restored the assistant.
    RosterChanged(RosterChanged),
    /// A goal was set.
    GoalCreated(GoalCreated),
    /// A goal was changed.
    GoalUpdated(GoalUpdated),
    /// A goal was reached.
    GoalCompleted(GoalCompleted),
    /// A turn for a goal is over.
    GoalPursued(GoalPursued),
    /// A commitment of the assistant ended.
    CommitmentEnded(CommitmentEnded),
    /// The assistant gives a task to another one.
    TaskDelegated(TaskDelegated),
    /// The host chose a delegate for a task.
    DelegateChosen(DelegateChosen),
    /// Another assistant gives this one a task.
    TaskReceived(TaskReceived),
    /// A task that another assistant gave ended.
    TaskAnswered(TaskAnswered),
    /// The assistant that gave a task withdrew it.
    TaskCancelled(TaskCancelled),
    /// A task that was given to another assistant ended.
    DelegationEnded(DelegationEnded),
    /// A project was begun.
    ProjectCreated(ProjectCreated),
    /// A project was changed.
    ProjectUpdated(ProjectUpdated),
    /// Another project is the active one.
    ProjectSwapped(ProjectSwapped),
    /// The assistant keeps a note for itself.
    SelfNoted(SelfNoted),
    /// The assistant dropped such a note.
    SelfNoteDropped(SelfNoteDropped),
    /// The journal changed.
    JournalChanged(JournalChanged),
    /// An operator wants it to look back over its journal.
    ReflectionRequested(ReflectionRequested),
    /// A turn in which it looked back is over.
    ReflectionRecorded(ReflectionRecorded),
    /// The assistant falls asleep.
    FellAsleep(FellAsleep),
    /// A piece of work of a night is done, or failed.
    NightStepped(NightStepped),
    /// The memory was asked questions about its own records, before or after a piece of work of a night.
    NightProbed(NightProbed),
    /// The assistant wakes from its sleep.
    WokeUp(WokeUp),
}

impl Event {
    /// Whether it comes from a command or from another assistant. Such an event may come at any moment, and the assistant's turns
    /// did not decide it.
    pub(crate) fn is_by_operator(&self) -> bool {
        match self {
            Self::MemoryChanged(_)
            | Self::Consulted(_)
            | Self::ConsultationFailed(_)
            | Self::ConsolidationBegan(_)
            | Self::ConsolidationEnded(_)
            | Self::SettingChanged(_)
            | Self::HistoryReset(_)
            | Self::ApprovalAnswered(_)
            | Self::RosterChanged(_)
            | Self::DelegateChosen(_)
            | Self::TaskReceived(_)
            | Self::ReflectionRequested(_)
            | Self::NightStepped(_)
            | Self::NightProbed(_)
            // Like a message, it comes at any time.
            | Self::LinesDropped(_)
            | Self::TaskCancelled(_) => true,
            Self::FellAsleep(it) => matches!(it.author, Author::Operator(_)),
            Self::WokeUp(it) => matches!(it.cause, WakeCause::Operator(_) | WakeCause::AllDone),
            Self::DelegationEnded(ended) => ended.by == EndedBy::Carrier,
            Self::CallReserved(reserved) => reserved.by != ReservedBy::Turn,
            Self::EntityChanged(changed) => !changed.is_by_call(),
            Self::JournalChanged(changed) => !changed.is_by_call(),
            Self::HistorySummarized(_) | Self::SummaryFailed(_) => true,
            Self::Compacted(compacted) => compacted.mode == CompactionMode::Planned,
            noted => noted
                .noted()
                .is_some_and(|(author, _)| !matches!(author, Author::Tool(_))),
        }
    }
}
