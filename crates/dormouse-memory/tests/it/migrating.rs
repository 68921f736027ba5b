//! Changing the encoder without loss.

use std::sync::Arc;

use dormouse_contracts::ModelErrorKind;
use dormouse_memory::{
    EncoderState, Memory, MigrateError, MigrationPlan, SearchMode, SpaceState, SwitchPolicy,
};
use dormouse_testing::{EmbedFault, Gate, HashedEmbedder};
use dormouse_vectors::Exact;

use crate::{add, builder, points, said};

const LINES: [&str; 4] = [
    "Alice keeps the peppermint tea in the blue tin on the collection",
    "Bob sails the old boat to the harbour every single Sunday",
    "the key of the cellar hangs behind the clock in the hall",
    "Carol bakes bread with walnuts and honey for the market",
];

async fn filled(memory: &Memory) {
    for (line, seconds) in LINES.iter().zip(0..) {
        add(memory, said("Alice", seconds * 10_000, line)).await;
    }
    memory.index_pending(100).await.unwrap();
}

fn states(spaces: &[dormouse_memory::Space]) -> Vec<(u32, SpaceState)> {
    spaces.iter().map(|s| (s.number, s.state)).collect()
}

#[tokio::test]
async fn recall_switches_to_a_new_encoder_that_is_no_worse_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let old = Arc::new(HashedEmbedder::new(256));
    let new = Arc::new(HashedEmbedder::new(512));
    let memory = builder().encoder(old.clone()).open(&path).await.unwrap();
    filled(&memory).await;
    drop(memory);

    let memory = builder().encoder(new.clone()).open(&path).await.unwrap();
    let mut reported = Vec::new();
    let plan = MigrationPlan {
        former: Some(old.clone()),
        ..MigrationPlan::default()
    };
    let done = memory
        .migrate(new.clone(), plan, |p| reported.push(p))
        .await
        .unwrap();
    assert!(done.switched, "{done:?}");
    assert_eq!(done.probes.probes, LINES.len());
    assert!(done.probes.before.is_some());
    assert!(!reported.is_empty());
    assert_eq!(
        states(&memory.spaces().await.unwrap()),
        [(1, SpaceState::Retired), (2, SpaceState::Active)]
    );
    assert_eq!(
        memory.recall("peppermint").await.unwrap().mode,
        SearchMode::WordsAndVectors
    );

    let back = memory.roll_back().await.unwrap();
    assert_eq!(back.number, 1);
    assert!(matches!(
        memory.encoder_state().await.unwrap(),
        EncoderState::Other { .. }
    ));
    drop(memory);
    let memory = builder().encoder(old.clone()).open(&path).await.unwrap();
    assert_eq!(
        memory.recall("peppermint").await.unwrap().mode,
        SearchMode::WordsAndVectors
    );
    assert!(matches!(
        memory.discard_space(1).await,
        Err(MigrateError::NotDiscardable(1))
    ));
    memory.discard_space(2).await.unwrap();
    assert_eq!(memory.spaces().await.unwrap().len(), 1);
}

#[tokio::test]
async fn records_added_after_a_switch_are_indexed_when_it_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let old = Arc::new(HashedEmbedder::new(256));
    let new = Arc::new(HashedEmbedder::new(512));
    let index = Arc::new(Exact::new());
    let with = |encoder| builder().encoder(encoder).vectors(index.clone());
    let memory = with(old.clone()).open(&path).await.unwrap();
    filled(&memory).await;
    let plan = MigrationPlan {
        switch: SwitchPolicy::Always,
        ..MigrationPlan::default()
    };
    memory.migrate(new.clone(), plan, |_| {}).await.unwrap();
    assert_eq!(
        points(&memory).await,
        [(2, Some(4))],
        "nobody would take out of it what is erased"
    );
    drop(memory);
    let memory = with(new).open(&path).await.unwrap();
    add(&memory, said("Alice", 90_000, "a new cup")).await;
    memory.index_pending(100).await.unwrap();
    memory.roll_back().await.unwrap();
    drop(memory);

    let memory = with(old).open(&path).await.unwrap();
    let progress = memory.index_pending(100).await.unwrap();
    assert_eq!(
        (progress.embedded, progress.indexed, progress.waiting),
        (1, 5, 0)
    );
    let states = states(&memory.spaces().await.unwrap());
    assert_eq!(states, [(1, SpaceState::Active), (2, SpaceState::Retired)]);
}

#[tokio::test]
async fn embedding_under_way_does_not_undo_a_switch() {
    let old = Arc::new(HashedEmbedder::new(256));
    let new = Arc::new(HashedEmbedder::new(512));
    let memory = builder().encoder(old.clone()).ephemeral().unwrap();
    filled(&memory).await;
    let plan = MigrationPlan {
        switch: SwitchPolicy::Always,
        ..MigrationPlan::default()
    };
    memory.migrate(new, plan, |_| {}).await.unwrap();
    memory.roll_back().await.unwrap();
    add(&memory, said("Alice", 90_000, "a new cup")).await;
    let gate = Gate::default();
    old.next(EmbedFault::Wait(gate.clone()));
    let (progress, ()) = tokio::join!(memory.index_pending(100), async {
        gate.reached().await;
        memory.roll_back().await.unwrap();
        gate.open();
    });
    assert_eq!(progress.unwrap().embedded, 1);
    let states = states(&memory.spaces().await.unwrap());
    assert_eq!(states, [(1, SpaceState::Retired), (2, SpaceState::Active)]);
}

#[tokio::test]
async fn an_encoder_that_finds_less_does_not_become_active() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let old = Arc::new(HashedEmbedder::new(256));
    let memory = builder().encoder(old.clone()).open(&path).await.unwrap();
    for n in 0..60 {
        let line =
            format!("item{n} lies in box{n} under collection{n} of room{n} near door{n} today");
        add(&memory, said("Alice", n * 10_000, &line)).await;
    }
    memory.index_pending(100).await.unwrap();
    // A vector of one number distinguishes texts only by its sign.
    let worse = Arc::new(HashedEmbedder::new(1));
    let plan = MigrationPlan {
        former: Some(old),
        ..MigrationPlan::default()
    };
    let done = memory.migrate(worse.clone(), plan, |_| {}).await.unwrap();
    assert!(!done.switched, "{done:?}");
    assert_eq!(
        memory.recall("item7").await.unwrap().mode,
        SearchMode::WordsAndVectors
    );
    let plan = MigrationPlan {
        switch: SwitchPolicy::Always,
        ..MigrationPlan::default()
    };
    assert!(memory.migrate(worse, plan, |_| {}).await.unwrap().switched);
}

#[tokio::test]
async fn a_migration_that_stopped_continues_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.redb");
    let old = Arc::new(HashedEmbedder::new(64));
    let new = Arc::new(HashedEmbedder::new(128));
    let memory = builder().encoder(old).open(&path).await.unwrap();
    for n in 0..300 {
        add(&memory, said("Alice", n, &format!("cup number {n} of tea"))).await;
    }
    memory.index_pending(1_000).await.unwrap();
    new.from_now_on(EmbedFault::Fail(ModelErrorKind::Unavailable));
    let stopped = memory
        .migrate(new.clone(), MigrationPlan::default(), |_| {})
        .await;
    assert!(
        matches!(stopped, Err(MigrateError::Stopped(_))),
        "{stopped:?}"
    );
    assert_eq!(
        memory.recall("cup 7").await.unwrap().mode,
        SearchMode::WordsAndVectors
    );
    new.recover();
    let done = memory
        .migrate(new.clone(), MigrationPlan::default(), |_| {})
        .await
        .unwrap();
    assert_eq!((done.space, done.switched), (2, true));
    let again = memory.migrate(new, MigrationPlan::default(), |_| {}).await;
    assert!(matches!(again, Err(MigrateError::SameEncoder(_))));
}
