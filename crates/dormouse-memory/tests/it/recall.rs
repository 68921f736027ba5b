//! What is recalled, and what is not.

use dormouse_contracts::Trust;
use dormouse_memory::{
    CALIBRATED_FROM, Collection, Derivation, Note, RecallRequest, RecordKind, Validity,
};
use proptest::prelude::*;

use crate::{add, at, ephemeral, found, said};

fn trust(score: f32) -> Trust {
    Trust::try_new(score).unwrap()
}

#[tokio::test]
async fn an_acknowledged_record_is_recalled_at_once() {
    let memory = ephemeral();
    let tea = add(&memory, said("Alice", 1, "I prefer peppermint tea")).await;
    add(&memory, said("Bob", 2, "The boat is in the harbour")).await;
    assert_eq!(found(&memory, "Which tea does Alice like?").await[0], tea);
    assert!(found(&memory, "").await.is_empty());
    assert!(found(&memory, "zeppelin").await.is_empty());
}

#[tokio::test]
async fn an_empty_memory_recalls_nothing() {
    assert!(found(&ephemeral(), "tea").await.is_empty());
    let packed = RecallRequest::new("tea").tokens(1_000);
    assert!(found(&ephemeral(), packed).await.is_empty());
}

#[tokio::test]
async fn a_query_of_a_megabyte_and_a_record_of_nearly_two_are_accepted() {
    let memory = ephemeral();
    let long = format!("kettle {}", "lorem ipsum ".repeat(160_000));
    let id = add(&memory, Note::new(long)).await;
    let query = format!("kettle {}", "dolor ".repeat(180_000));
    assert_eq!(found(&memory, query.as_str()).await, [id]);
}

#[tokio::test]
async fn other_scripts_and_emoji_are_recalled() {
    let memory = ephemeral();
    let notes = [
        "茶が好きです",
        "Я люблю чай с мёдом",
        "أحب الشاي",
        "see you 🍵🐭",
    ];
    let queries = ["好き", "чай", "الشاي", "🍵"];
    for (note, query) in notes.into_iter().zip(queries) {
        let id = add(&memory, Note::new(note)).await;
        assert_eq!(found(&memory, query).await, [id], "{query}");
    }
}

#[tokio::test]
async fn filters_leave_out_other_records() {
    let memory = ephemeral();
    let whispered = add(
        &memory,
        said("Alice", 1, "the tea is green")
            .derivation(Derivation::Stored)
            .trusted(trust(0.9)),
    )
    .await;
    let rumour = add(
        &memory,
        said("Eve", 2, "the tea is red")
            .derivation(Derivation::Stored)
            .trusted(trust(0.4)),
    )
    .await;
    let fact = add(
        &memory,
        said("Bob", 3, "the tea is hot")
            .kind(RecordKind::Fact)
            .derivation(Derivation::Stored)
            .in_collection(Collection::Projects),
    )
    .await;
    let tea = || RecallRequest::new("tea");
    let mut usual = found(&memory, tea()).await;
    usual.sort();
    assert_eq!(
        usual,
        [whispered, fact],
        "a rumour is below the usual trust"
    );
    assert!(
        found(&memory, tea().min_trust(Trust::NONE))
            .await
            .contains(&rumour)
    );
    assert_eq!(found(&memory, tea().min_trust(trust(0.95))).await, [fact]);
    assert_eq!(
        found(&memory, tea().of_kind(RecordKind::Fact)).await,
        [fact]
    );
    assert_eq!(
        found(&memory, tea().in_collection(Collection::Projects)).await,
        [fact]
    );
    assert_eq!(found(&memory, tea().before(at(2))).await, [whispered]);
    assert_eq!(found(&memory, tea().since(at(3))).await, [fact]);
}

#[tokio::test]
async fn a_record_that_ended_is_recalled_only_for_its_time() {
    let memory = ephemeral();
    let old = add(&memory, said("Alice", 1, "Alice lives in Paris")).await;
    let new = add(
        &memory,
        said("Alice", 90_000, "Alice lives in Rome").valid_from(at(50)),
    )
    .await;
    memory
        .supersede(old, Some(new), at(50), "she moved")
        .await
        .unwrap();
    let where_ = || RecallRequest::new("Where does Alice live?").asked_at(at(90_100));
    assert_eq!(found(&memory, where_()).await, [new]);
    assert_eq!(
        found(&memory, where_().valid(Validity::At(at(49)))).await,
        [old]
    );
    assert_eq!(
        found(&memory, where_().valid(Validity::At(at(50)))).await,
        [new]
    );
    assert_eq!(found(&memory, where_().valid(Validity::Any)).await.len(), 2);
}

#[tokio::test]
async fn records_that_the_request_names_are_left_out() {
    let memory = ephemeral();
    let answer = add(&memory, said("Alice", 1, "the kettle is blue")).await;
    let question = add(&memory, said("Bob", 2, "what colour is the kettle")).await;
    let request = RecallRequest::new("what colour is the kettle");
    assert_eq!(found(&memory, request.clone()).await.len(), 2);
    let request = request.without([question]);
    assert_eq!(found(&memory, request.clone()).await, [answer]);
    assert_eq!(
        found(&memory, request.tokens(200)).await,
        [answer],
        "not even as the neighbour of a match"
    );
}

#[tokio::test]
async fn a_budget_is_filled_with_evidence_and_its_neighbours_in_the_order_of_time() {
    let memory = ephemeral();
    let question = add(&memory, said("Alice", 1, "What shall I bring you, Bob?")).await;
    let order = add(&memory, said("Bob", 2, "Peppermint with honey")).await;
    let reply = add(&memory, said("Alice", 3, "At once!")).await;
    let request = RecallRequest::new("peppermint").tokens(200);
    let recall = memory.recall(request).await.unwrap();
    let shown: Vec<_> = recall.items.iter().map(|item| item.record.id).collect();
    assert_eq!(shown, [question, order, reply]);
    let match_ = &recall.items[1];
    assert!(match_.score > 0.0 && !match_.parts.is_empty());
    assert_eq!(
        match_.line(),
        "[2026-11-21T12:00:02Z] Bob: Peppermint with honey"
    );
    let small = RecallRequest::new("peppermint").tokens(match_.tokens);
    assert_eq!(found(&memory, small).await, [order]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_budget_is_never_passed(
        texts in prop::collection::vec("(tea|boat|key|[a-z]{1,6})( (tea|boat|[a-z]{1,6})){0,20}", 1..20),
        budget in 0_u32..200,
    ) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let memory = ephemeral();
            for (text, seconds) in texts.iter().zip(0..) {
                add(&memory, said("Alice", seconds, text)).await;
            }
            let recall = memory.recall(RecallRequest::new("tea boat key").tokens(budget)).await.unwrap();
            let tokens: u32 = recall.items.iter().map(|item| item.tokens).sum();
            let lines: usize = recall.items.iter().map(|item| item.line().len()).sum();
            assert!(tokens <= budget, "{tokens} of {budget}");
            assert!(lines.div_ceil(4) <= budget as usize, "{lines} bytes for {budget} tokens");
        });
    }
}

#[tokio::test]
async fn a_memory_says_how_likely_it_contains_an_answer_and_may_answer_nothing_below_a_bound() {
    let memory = ephemeral();
    let tea = add(&memory, said("Alice", 1, "My favourite tea is peppermint")).await;
    add(&memory, said("Bob", 2, "The boat is in the harbour")).await;
    let request = || RecallRequest::new("What is Alice's favourite tea?");
    let likely = memory.recall(request()).await.unwrap();
    let other = "Which violin did Alice sell to the orchestra in Ghent?";
    let unlikely = memory.recall(other).await.unwrap();
    assert!(likely.confidence > 0.5 && unlikely.confidence < 0.5);
    assert_eq!(found(&memory, request().min_confidence(0.5)).await[0], tea);
    let bounded = RecallRequest::new(other).min_confidence(0.5);
    let nothing = memory.recall(bounded).await.unwrap();
    assert!(nothing.items.is_empty());
    assert_eq!(nothing.confidence, unlikely.confidence);
    assert_eq!(memory.recall("").await.unwrap().confidence, 0.0);
}

#[tokio::test]
async fn the_confidence_is_calibrated_from_as_many_records_on_as_it_was_fitted_with() {
    let memory = ephemeral();
    let notes = |seconds: std::ops::Range<i64>| -> Vec<_> {
        seconds
            .map(|second| said("Alice", second, &format!("Box {second} is full")))
            .collect()
    };
    let enough = i64::try_from(CALIBRATED_FROM).unwrap();
    memory.add_all(notes(1..enough), "heard").await.unwrap();
    assert!(!memory.recall("Which box?").await.unwrap().is_calibrated);
    memory
        .add_all(notes(enough..enough + 1), "heard")
        .await
        .unwrap();
    assert!(memory.recall("Which box?").await.unwrap().is_calibrated);
}
