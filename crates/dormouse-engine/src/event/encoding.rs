//! Events as the log keeps them.

use dormouse_contracts::{NewEvent, Seq, StoredEvent, Timestamp};

use super::{
    approval, budget, commitment, compaction, delegation, effect, goal, journal, kinds::Event,
    life, memory, perception, project, roster, safety, self_note, service, sleep, turn,
};

/// The schema of all events before the first release. It is not read any more.
const TRIAL_SCHEMA: u16 = 1;

/// This program cannot read an event of the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The kind is unknown: a newer program wrote it.
    #[error(
        "event {seq} is of the kind {kind:?}, which this version does not know: use the program that wrote it"
    )]
    UnknownKind {
        /// Its place.
        seq: Seq,
        /// Its kind.
        kind: String,
    },
    /// The schema of the event's family is newer than this program.
    #[error(
        "event {seq} ({kind}) has schema {found}, and this version reads up to {supported}: use the program that wrote it"
    )]
    NewerSchema {
        /// Its place.
        seq: Seq,
        /// Its kind.
        kind: String,
        /// Its schema.
        found: u16,
        /// The newest schema of its family that this program reads.
        supported: u16,
    },
    /// A program from before the first release wrote the event.
    #[error(
        "event {seq} ({kind}) is in the trial format, which this version does not read; nothing was changed. Begin with \
         an empty folder, or use the program that wrote it"
    )]
    TrialFormat {
        /// Its place.
        seq: Seq,
        /// Its kind.
        kind: String,
    },
    /// The payload does not match its kind and schema.
    #[error("event {seq} ({kind}) cannot be read")]
    Payload {
        /// Its place.
        seq: Seq,
        /// Its kind.
        kind: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// The kinds of each family, in the order in which they are documented.
macro_rules! families {
    ($($family:ident { $($kind:literal => $variant:ident),+ $(,)? })+) => {
        #[cfg(test)]
        const KINDS: &[&str] = &[$($($kind),+),+];

        /// The newest schema of a kind; `None` for an unknown kind.
        fn schema_of(kind: &str) -> Option<u16> {
            match kind {
                $($($kind)|+ => Some($family::SCHEMA),)+
                _ => None,
            }
        }

        impl Event {
            /// The name of the event's kind, as the log keeps it.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self { $($(Self::$variant(_) => $kind),+),+ }
            }

            fn schema(&self) -> u16 {
                match self { $($(Self::$variant(_))|+ => $family::SCHEMA),+ }
            }

            fn payload(&self) -> Result<Vec<u8>, serde_json::Error> {
                match self { $($(Self::$variant(inner) => serde_json::to_vec(inner)),+),+ }
            }

            /// The event's fields as JSON, for printing.
            ///
            /// # Errors
            ///
            /// An error of serde_json, if a number in it is not finite.
            pub fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
                match self { $($(Self::$variant(inner) => serde_json::to_value(inner)),+),+ }
            }

            /// Reads an event back.
            ///
            /// # Errors
            ///
            /// [`DecodeError`], which names the event's sequence number and says what to do.
            pub fn decode(stored: &StoredEvent) -> Result<Self, DecodeError> {
                Self::check_format(stored)?;
                let StoredEvent { seq, kind, payload, .. } = stored;
                let broken = |source| DecodeError::Payload { seq: *seq, kind: kind.clone(), source };
                match kind.as_str() {
                    $($($kind => serde_json::from_slice(payload).map(Self::$variant).map_err(broken),)+)+
                    _ => Err(DecodeError::UnknownKind { seq: *seq, kind: kind.clone() }),
                }
            }

            /// Whether this version reads events of this kind and schema, without reading the event.
            ///
            /// # Errors
            ///
            /// As [`decode`](Self::decode), but never [`DecodeError::Payload`].
            pub fn check_format(stored: &StoredEvent) -> Result<(), DecodeError> {
                let StoredEvent { seq, kind, schema, .. } = stored;
                if *schema <= TRIAL_SCHEMA {
                    return Err(DecodeError::TrialFormat { seq: *seq, kind: kind.clone() });
                }
                match schema_of(kind) {
                    None => Err(DecodeError::UnknownKind { seq: *seq, kind: kind.clone() }),
                    Some(supported) if *schema > supported => {
                        let (kind, found) = (kind.clone(), *schema);
                        Err(DecodeError::NewerSchema { seq: *seq, kind, found, supported })
                    }
                    Some(_) => Ok(()),
                }
            }
        }
    };
}

families! {
    life {
        "configured" => Configured,
        "woke" => Woke,
        "setting_changed" => SettingChanged,
    }
    perception {
        "perceived" => Perceived,
        "lines_dropped" => LinesDropped,
    }
    turn {
        "tick_started" => TickStarted,
        "task_assessed" => TaskAssessed,
        "tools_offered" => ToolsOffered,
        "replied" => Replied,
        "parse_failed" => ParseFailed,
        "tool_answered" => ToolAnswered,
        "unanswered" => Unanswered,
        "delayed" => Delayed,
        "tick_ended" => TickEnded,
    }
    effect {
        "effect_intended" => EffectIntended,
        "effect_settled" => EffectSettled,
        "world_failed" => WorldFailed,
    }
    memory {
        "remembered" => Remembered,
        "recollected" => Recollected,
        "entity_changed" => EntityChanged,
        "memory_changed" => MemoryChanged,
        "consulted" => Consulted,
        "consultation_failed" => ConsultationFailed,
        "consolidation_began" => ConsolidationBegan,
        "consolidation_ended" => ConsolidationEnded,
        "forgotten" => Forgotten,
    }
    compaction {
        "compacted" => Compacted,
        "history_summarized" => HistorySummarized,
        "summary_failed" => SummaryFailed,
    }
    service {
        "model_failed" => ModelFailed,
        "retry_requested" => RetryRequested,
    }
    safety {
        "emergency_stop_triggered" => EmergencyStopTriggered,
        "emergency_stop_cleared" => EmergencyStopCleared,
        "stop_notice_intended" => StopNoticeIntended,
        "stop_notice_settled" => StopNoticeSettled,
        "history_reset" => HistoryReset,
    }
    budget {
        "call_reserved" => CallReserved,
    }
    approval {
        "approval_requested" => ApprovalRequested,
        "approval_answered" => ApprovalAnswered,
    }
    roster {
        "roster_changed" => RosterChanged,
    }
    goal {
        "goal_created" => GoalCreated,
        "goal_updated" => GoalUpdated,
        "goal_completed" => GoalCompleted,
        "goal_pursued" => GoalPursued,
    }
    commitment {
        "commitment_ended" => CommitmentEnded,
    }
    delegation {
        "task_delegated" => TaskDelegated,
        "delegate_chosen" => DelegateChosen,
        "task_received" => TaskReceived,
        "task_answered" => TaskAnswered,
        "task_cancelled" => TaskCancelled,
        "delegation_ended" => DelegationEnded,
    }
    project {
        "project_created" => ProjectCreated,
        "project_updated" => ProjectUpdated,
        "project_swapped" => ProjectSwapped,
    }
    self_note {
        "self_noted" => SelfNoted,
        "self_note_dropped" => SelfNoteDropped,
    }
    journal {
        "journal_changed" => JournalChanged,
        "reflection_requested" => ReflectionRequested,
        "reflection_recorded" => ReflectionRecorded,
    }
    sleep {
        "fell_asleep" => FellAsleep,
        "night_stepped" => NightStepped,
        "night_probed" => NightProbed,
        "woke_up" => WokeUp,
    }
}

impl Event {
    /// The event in the form that the log stores.
    ///
    /// # Errors
    ///
    /// An error of serde_json, if a number in it is not finite.
    pub fn encode(&self, at: Timestamp) -> Result<NewEvent, serde_json::Error> {
        Ok(NewEvent {
            at,
            kind: self.kind(),
            schema: self.schema(),
            payload: self.payload()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_kinds_of_events_are_those_there_are() {
        let documented = include_str!("../../../../docs/json-output.md");
        let row = documented.lines().find(|line| {
            let row = line.strip_prefix("| `kind` |");
            row.is_some_and(|row| row.contains("`perceived`"))
        });
        let kinds = row.unwrap().split('`').skip(3).step_by(2);
        let kinds: Vec<_> = kinds.collect();
        assert_eq!(kinds, KINDS, "docs/json-output.md, under `event`");
    }
}
