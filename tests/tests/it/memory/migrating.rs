//! A memory that goes from one encoder to another and back.

use std::{path::Path, sync::Arc};

use dormouse_memory::{Memory, MigrateError, MigrationPlan, Space, SpaceState, SwitchPolicy};
use dormouse_testing::HashedEmbedder;
use serde_json::{Value, json};

use super::{encoder, file_in, say, with, writing::Writer};

/// How often the encoder is changed in one life, at most.
const CHANGES: u64 = 4;

/// The encoder that a memory goes over to from the usual one.
fn other() -> HashedEmbedder {
    HashedEmbedder::named("hashed-other", 48)
}

fn is_of(space: &Space, encoder: &HashedEmbedder) -> bool {
    use dormouse_contracts::Embedder;
    space.encoder.model == encoder.info().model
}

/// The encoder of the space that is active in the file, and the other one.
pub(super) async fn encoders(folder: &Path) -> (HashedEmbedder, HashedEmbedder) {
    let memory = super::builder().open(file_in(folder)).await.unwrap();
    let spaces = memory.spaces().await.unwrap();
    let active = spaces
        .iter()
        .find(|space| space.state == SpaceState::Active);
    match active {
        Some(active) if is_of(active, &other()) => (other(), encoder()),
        _ => (encoder(), other()),
    }
}

pub(super) async fn migrate(folder: &Path, number: u64) {
    for round in 0..CHANGES {
        let (active, next) = encoders(folder).await;
        let memory = with(&active).open(file_in(folder)).await.unwrap();
        say(&json!({ "ready": number }));
        let mut writer = Writer::new(memory, number * CHANGES + round);
        for _ in 0..3 {
            writer.step().await;
        }
        discard_some(&writer).await;
        say(&json!({ "migrating": true }));
        change_encoder(&writer.memory, next).await;
    }
}

/// Sometimes removes the vectors that are not in use, so that all of them are made again.
async fn discard_some(writer: &Writer) {
    if writer.dice.below(2) == 0 {
        return;
    }
    for space in writer.memory.spaces().await.unwrap() {
        if space.state != SpaceState::Active {
            writer.memory.discard_space(space.number).await.unwrap();
            say(&json!({ "discarded": space.number }));
        }
    }
}

async fn change_encoder(memory: &Memory, next: HashedEmbedder) {
    use dormouse_contracts::Embedder;
    let model = next.info().model.to_string();
    let plan = MigrationPlan {
        switch: SwitchPolicy::Always,
        ..MigrationPlan::default()
    };
    let tell = |p: dormouse_memory::Progress| say(&json!({ "moved": p.done, "of": p.of }));
    match memory.migrate(Arc::new(next), plan, tell).await {
        Ok(done) => {
            assert!(done.switched);
            say(&json!({ "active": model }));
        }
        // Nothing has been embedded so far.
        Err(MigrateError::SameEncoder(_)) => {}
        Err(error) => panic!("{error:?}"),
    }
}

/// What was acknowledged of changes between encoders.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    active: Option<String>,
    /// Whether another change was under way at the last kill.
    is_open: bool,
}

impl Ledger {
    pub(super) fn note(&mut self, line: &Value) {
        if line["migrating"] == true {
            self.is_open = true;
        }
        if let Some(model) = line["active"].as_str() {
            self.active = Some(model.to_owned());
            self.is_open = false;
        }
    }

    /// Holds it against the spaces that are there after a kill.
    pub(super) fn check(&mut self, spaces: &[Space]) {
        let in_state = |state| spaces.iter().filter(move |space| space.state == state);
        assert!(in_state(SpaceState::Active).count() <= 1, "{spaces:?}");
        assert!(in_state(SpaceState::Building).count() <= 1, "{spaces:?}");
        let active = in_state(SpaceState::Active).next();
        let active = active.map(|space| space.encoder.model.to_string());
        if !self.is_open && self.active.is_some() {
            assert_eq!(active, self.active, "{spaces:?}");
        }
        self.active = active;
        self.is_open = false;
    }
}
