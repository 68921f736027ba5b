//! Replies of a model that nothing has followed from yet.

use dormouse_contracts::Seq;
use dormouse_entities::EntityChange;
use dormouse_memory::MemoryChange;
use serde::{Deserialize, Serialize};

use crate::event::{Consultation, Event};

/// The events with replies that nothing has followed from yet. The next consolidation begins with them. Each is the last of
/// its kind: a later reply of the same kind means that the earlier one was of no use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consultations {
    /// The facts in some records.
    pub extraction: Option<Seq>,
    /// The verdicts on these facts.
    pub judgement: Option<Seq>,
    /// The attributes of an entity.
    pub entity: Option<Seq>,
}

impl Consultations {
    pub(super) fn apply(&mut self, seq: Seq, event: &Event) {
        match event {
            Event::Consulted(consulted) => match &consulted.about {
                Consultation::Extraction { .. } => {
                    self.extraction = Some(seq);
                    self.judgement = None;
                }
                Consultation::Judgement { extraction } => {
                    self.judgement = (self.extraction == Some(*extraction)).then_some(seq);
                }
                Consultation::EntityConsolidation { .. } => self.entity = Some(seq),
            },
            Event::MemoryChanged(changed) => {
                if let MemoryChange::Extracted { .. } = changed.change {
                    self.extraction = None;
                    self.judgement = None;
                }
            }
            Event::EntityChanged(changed) => {
                if let EntityChange::Consolidated { .. } = changed.change {
                    self.entity = None;
                }
            }
            _ => {}
        }
    }
}
