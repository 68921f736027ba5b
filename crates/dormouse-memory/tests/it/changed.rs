//! Statements that a later one makes out of date, and long records in a budget.

use dormouse_contracts::Trust;
use dormouse_memory::{Collection, Memory, Note, RecallRequest, RecordExcerpt};

use crate::{add, at, ephemeral, found, said};

const QUESTION: &str = "Which milk does Alice take in her coffee?";

async fn talk() -> Memory {
    let memory = ephemeral();
    let lines = [
        "The boat is in the harbour",
        "It rained all day",
        "We had soup for lunch",
        "The market opens at nine",
        "Somebody lost a red glove",
    ];
    for (line, seconds) in lines.into_iter().zip(10..) {
        add(&memory, said("Bob", seconds, line)).await;
    }
    memory
}

#[tokio::test]
async fn the_later_statement_comes_first_and_the_older_one_names_it() {
    let memory = talk().await;
    let old = add(
        &memory,
        said(
            "Alice",
            1,
            "I take oat milk in my coffee, any kind of oat milk",
        ),
    )
    .await;
    let new = add(
        &memory,
        said(
            "Alice",
            90_000,
            "I switched from oat milk to almond milk in my coffee",
        ),
    )
    .await;
    let recall = memory.recall(QUESTION).await.unwrap();
    let first: Vec<_> = recall
        .items
        .iter()
        .take(2)
        .map(|item| (item.record.id, item.updated_by))
        .collect();
    assert_eq!(first, [(new, None), (old, Some(new))]);
}

#[tokio::test]
async fn the_older_statement_is_not_packed_without_the_later_one() {
    let memory = talk().await;
    let old = add(&memory, said("Alice", 1, "I take oat milk in my coffee")).await;
    let new = add(
        &memory,
        said(
            "Alice",
            90_000,
            "I switched from oat milk to almond milk in my coffee",
        ),
    )
    .await;
    for budget in 10..80 {
        let packed = found(&memory, RecallRequest::new(QUESTION).tokens(budget)).await;
        assert!(!packed.contains(&old) || packed.contains(&new), "{budget}");
    }
}

#[tokio::test]
async fn only_statements_of_one_speaker_about_one_subject_are_related() {
    let memory = talk().await;
    add(&memory, said("Alice", 1, "I take oat milk in my coffee")).await;
    add(
        &memory,
        said(
            "Bob",
            90_000,
            "I switched from oat milk to almond milk in my coffee",
        ),
    )
    .await;
    add(
        &memory,
        said("Alice", 90_001, "My coffee is cold now, what a pity"),
    )
    .await;
    add(
        &memory,
        said("Alice", 90_002, "Do I still take oat milk in my coffee?"),
    )
    .await;
    let recall = memory
        .recall("Which oat milk does Alice buy at the shop in town?")
        .await
        .unwrap();
    assert!(
        recall.items.iter().all(|item| item.updated_by.is_none()),
        "{:?}",
        recall.items
    );
}

#[tokio::test]
async fn a_withdrawn_statement_makes_nothing_out_of_date() {
    let memory = talk().await;
    let old = add(&memory, said("Alice", 1, "I take oat milk in my coffee")).await;
    let new = add(
        &memory,
        said(
            "Alice",
            90_000,
            "I switched from oat milk to almond milk in my coffee",
        ),
    )
    .await;
    memory.withdraw(new, "a joke").await.unwrap();
    let recall = memory.recall(QUESTION).await.unwrap();
    assert_eq!(recall.items[0].record.id, old);
    assert_eq!(recall.items[0].updated_by, None);
}

#[tokio::test]
async fn a_long_record_is_packed_as_its_best_passage() {
    let memory = talk().await;
    let filler = "There are many things to consider before anybody decides. ".repeat(20);
    let long = format!("{filler}The copper kettle costs forty coins in Bergen. {filler}");
    let id = add(&memory, said("Clerk", 5, &long)).await;
    let request = RecallRequest::new("What does the copper kettle cost?");
    let recall = memory.recall(request.clone().tokens(200)).await.unwrap();
    let item = recall
        .items
        .iter()
        .find(|item| item.record.id == id)
        .unwrap();
    assert!(
        item.record.text.contains("forty coins"),
        "{}",
        item.record.text
    );
    assert!(item.record.text.starts_with("[…] ") && item.record.text.ends_with(" […]"));
    let Some(RecordExcerpt { passage, of }) = item.excerpt else {
        panic!("it is a part of the record");
    };
    assert!(1 < passage && passage < of, "{passage} of {of}");
    // Without a budget the record is whole.
    let recall = memory.recall(request).await.unwrap();
    let item = recall
        .items
        .iter()
        .find(|item| item.record.id == id)
        .unwrap();
    assert_eq!(
        (item.record.text.as_str(), item.excerpt),
        (long.as_str(), None)
    );
}

#[tokio::test]
async fn a_message_is_recalled_though_an_entry_repeats_it_later() {
    let memory = talk().await;
    let boat = "I keep my red boat in the old harbour of Bergen";
    let message = add(&memory, said("Alice", 1, boat)).await;
    let entry = said("Alice", 90_000, boat)
        .in_collection(Collection::Journal)
        .derived_from([message]);
    add(&memory, entry).await;
    for request in [
        RecallRequest::new("Where is the red boat?"),
        RecallRequest::new("Where is the red boat?").tokens(400),
    ] {
        let recall = memory.recall(request).await.unwrap();
        let item = recall.items.iter().find(|it| it.record.id == message);
        assert_eq!(item.expect("it was said").updated_by, None);
    }
}

#[tokio::test]
async fn notes_without_a_speaker_and_what_is_believed_less_replace_nothing() {
    let memory = talk().await;
    let note = |seconds, text: &str| Note::new(text).at(at(seconds));
    let alice = note(1, "Alice takes oat milk in her coffee");
    add(&memory, alice).await;
    let bob = "Bob switched from oat milk to almond milk in his coffee";
    add(&memory, note(90_000, bob)).await;
    add(&memory, said("Cara", 2, "I take oat milk in my coffee")).await;
    let doubted = said(
        "Cara",
        90_001,
        "I switched from oat milk to soy milk in my coffee",
    );
    add(&memory, doubted.trusted(Trust::try_new(0.3).unwrap())).await;
    let recall = memory
        .recall("Who takes oat milk in coffee?")
        .await
        .unwrap();
    assert!(recall.items.len() > 3);
    let replaced = recall.items.iter().filter(|it| it.updated_by.is_some());
    assert_eq!(replaced.count(), 0);
}
