use std::iter::repeat_n;

use super::*;

fn gate() -> RequestGate {
    let allowed = McpRequests {
        model_requests: 2,
        answers: BTreeMap::from([("color".to_owned(), json!("blue"))]),
        ..McpRequests::default()
    };
    RequestGate::new("bad", allowed, SharedModel::default())
}

fn wanted(texts: impl IntoIterator<Item = String>) -> CreateMessageRequestParams {
    let blocks = texts.into_iter().map(SamplingMessageContentBlock::text);
    let message = SamplingMessage::new_multiple(Role::User, blocks.collect());
    CreateMessageRequestParams::new(vec![message], 10)
}

#[test]
fn a_request_to_the_model_has_a_bound_of_parts() {
    let request = |count| gate().request(&wanted(repeat_n(String::new(), count)));
    assert!(request(MOST_PARTS).is_ok());
    for count in [MOST_PARTS + 1, 100_000] {
        assert!(matches!(request(count), Err(Refusal::TooLong)), "{count}");
    }
    let mut empty = wanted([]);
    empty.messages = repeat_n(empty.messages[0].clone(), 100_000).collect();
    let refused = gate().request(&empty);
    assert!(matches!(refused, Err(Refusal::TooLong)));
}

#[test]
fn what_the_model_gets_is_bounded_after_escaping() {
    // A letter, what JSON escapes, and what is hidden.
    for letter in ["x", "\"", "\u{202e}", "\u{e0041}"] {
        let bytes = |count| {
            let request = gate().request(&wanted([letter.repeat(count)])).ok()?;
            match request.messages.as_slice() {
                [_, Message::User { content }] => Some(content.len()),
                other => panic!("{other:?}"),
            }
        };
        let sizes: Vec<_> = (8..=14).map(|power| bytes(1 << power)).collect();
        assert!(sizes[0] > Some(256), "{letter:?}: {sizes:?}");
        assert!(
            sizes.iter().all(|bytes| *bytes <= Some(PROMPT_LIMIT)),
            "{letter:?}: {sizes:?}"
        );
        assert_eq!(sizes[6], None, "{letter:?}");
    }
    let hidden = wanted(["\u{e0041}".repeat(PROMPT_LIMIT / 8)]);
    assert!(matches!(gate().request(&hidden), Err(Refusal::TooLong)));
}

fn vole() -> AssistantId {
    AssistantId::try_new("vole").unwrap()
}

fn question(more: &str) -> ElicitRequestParams {
    let form = json!({ "type": "object", "properties": { "color": { "type": "string", "description": more } } });
    serde_json::from_value(json!({ "mode": "form", "message": "?", "requestedSchema": form }))
        .unwrap()
}

#[tokio::test]
async fn a_call_asks_a_bounded_number_of_questions() {
    let gate = gate();
    let call = gate.turn().await.unwrap();
    call.let_in(&vole());
    let is_answered = |more: &str| gate.answer(&question(more)).action == ElicitationAction::Accept;
    assert!(!is_answered(&"x".repeat(FORM_LIMIT)), "a large form");
    let answered = (0..1_000).filter(|_| is_answered("")).count();
    assert_eq!(answered, MOST_QUESTIONS - 1);
    let given = Given {
        answered: BTreeSet::from(["color".to_owned()]),
        ..Given::default()
    };
    assert_eq!(call.end(), given);
    assert!(!is_answered(""), "the call has ended");
    let counts = McpRequestCounts {
        questions_answered: 19,
        questions_declined: 2 + 1_000 - 19,
        ..McpRequestCounts::default()
    };
    assert_eq!(gate.counts(), counts);
}

#[tokio::test]
async fn an_answer_asks_for_a_bounded_number_of_things() {
    let gate = gate();
    let call = gate.turn().await.unwrap();
    call.let_in(&vole());
    let round = |count: usize| {
        let request = json!({ "method": "elicitation/create", "params": question("") });
        let request: InputRequest = serde_json::from_value(request).unwrap();
        gate.fulfil(
            (0..count)
                .map(|key| (key.to_string(), request.clone()))
                .collect(),
        )
    };
    let refused = round(MOST_QUESTIONS + 1).await.unwrap_err();
    assert!(refused.contains("20 things"), "{refused}");
    assert_eq!(gate.counts(), McpRequestCounts::default());
    assert_eq!(round(MOST_QUESTIONS).await.unwrap().len(), MOST_QUESTIONS);
    drop(call);
}

#[tokio::test]
async fn a_request_that_ends_late_frees_nothing_for_the_next_call() {
    let gate = gate();
    let first = gate.turn().await.unwrap();
    first.let_in(&vole());
    let (late, ..) = gate.begin().unwrap();
    drop(first);
    let second = gate.turn().await.unwrap();
    second.let_in(&vole());
    let (_asking, ..) = gate.begin().unwrap();
    drop(late);
    assert!(matches!(gate.begin(), Err(Refusal::Nested)));
    drop(second);
}

#[tokio::test]
async fn refusals_are_logged_once_for_each_call() {
    let gate = gate();
    let logged = |times: &mut u32| {
        gate.warn("refused", || {
            *times += 1;
            String::new()
        })
    };
    for _ in 0..2 {
        let mut times = 0;
        let call = gate.turn().await.unwrap();
        call.let_in(&vole());
        for _ in 0..3 {
            logged(&mut times);
        }
        drop(call);
        logged(&mut times);
        assert_eq!(times, 1);
    }
}
