use dormouse_contracts::{Arguments, AssistantId, ToolCategory, ToolName, ToolReach};
use futures_util::{FutureExt, future::join};
use proptest::prelude::*;

use super::*;
use crate::Gate;

fn effect(key: &str) -> Effect {
    Effect {
        key: EffectKey::try_new(key).unwrap(),
        actor: AssistantId::try_new("dormouse").unwrap(),
        tool: ToolName::try_new("say").unwrap(),
        arguments: Arguments::new(),
        reply_to: None,
        within: None,
    }
}

fn query(tool: &str) -> Query {
    Query {
        actor: AssistantId::try_new("dormouse").unwrap(),
        tool: ToolName::try_new(tool).unwrap(),
        arguments: Arguments::new(),
    }
}

fn done() -> Receipt {
    Receipt::new(json!({ "done": "say" }))
}

async fn perform(world: &FakeWorld, key: &str) -> Result<Outcome, WorldErrorKind> {
    let answer = world.perform(&effect(key)).await;
    answer.map_err(|error| error.kind())
}

async fn inquire(world: &FakeWorld, key: &str) -> EffectInquiry {
    world.inquire(&effect(key)).await.unwrap()
}

#[tokio::test]
async fn an_effect_happens_once_for_its_key() {
    let world = FakeWorld::new();
    assert_eq!(inquire(&world, "1").await, EffectInquiry::NeverSeen);
    for _ in 0..2 {
        assert_eq!(perform(&world, "1").await, Ok(Outcome::Done(done())));
    }
    assert_eq!(inquire(&world, "1").await, EffectInquiry::Done(done()));
    assert_eq!(world.count(&effect("1").key), 1);
    assert_eq!(world.attempts().len(), 2);
    assert_eq!(world.inquiries().len(), 2);
}

#[tokio::test]
async fn each_failure_leaves_behind_what_it_says() {
    use Behaviour::{DoneButUnanswered, LostBeforeDoing, NotReached, Reject};
    let unanswered = || Err(WorldErrorKind::Unanswered);
    let rejection = || Rejection::new("no");
    let cases = [
        (
            NotReached,
            Err(WorldErrorKind::NotReached),
            EffectInquiry::NeverSeen,
        ),
        (LostBeforeDoing, unanswered(), EffectInquiry::NeverSeen),
        (DoneButUnanswered, unanswered(), EffectInquiry::Done(done())),
        (
            Reject("no".to_owned()),
            Ok(Outcome::Rejected(rejection())),
            EffectInquiry::Rejected(rejection()),
        ),
    ];
    for (behaviour, answer, inquired) in cases {
        let world = FakeWorld::new();
        world.then(behaviour.clone());
        assert_eq!(perform(&world, "1").await, answer, "{behaviour:?}");
        assert_eq!(inquire(&world, "1").await, inquired, "{behaviour:?}");
        let happened = matches!(inquired, EffectInquiry::Done(_));
        assert_eq!(world.performed().len(), usize::from(happened));
    }
}

#[tokio::test]
async fn a_world_that_hangs_may_have_done_it_or_not() {
    let world = FakeWorld::new();
    world.then(Behaviour::Hang);
    world.then(Behaviour::DoneButHangs);
    assert!(perform(&world, "1").now_or_never().is_none());
    assert!(perform(&world, "2").now_or_never().is_none());
    assert_eq!(world.performed(), [effect("2")]);
    assert_eq!(perform(&world, "1").await, Ok(Outcome::Done(done())));
}

#[tokio::test]
async fn behaviours_are_met_in_order_and_not_by_what_is_decided() {
    let world = FakeWorld::new();
    perform(&world, "1").await.unwrap();
    let louder = json!({ "heard_by": 3 });
    world.then(Behaviour::DoWith(louder.clone()));
    assert_eq!(perform(&world, "1").await, Ok(Outcome::Done(done())));
    let receipt = Receipt::new(louder);
    assert_eq!(perform(&world, "2").await, Ok(Outcome::Done(receipt)));
}

#[tokio::test]
async fn a_world_without_an_account_cannot_tell() {
    let world = FakeWorld::new();
    perform(&world, "1").await.unwrap();
    world.cannot_tell(true);
    assert_eq!(inquire(&world, "1").await, EffectInquiry::CannotTell);
    assert_eq!(inquire(&world, "2").await, EffectInquiry::CannotTell);
    world.fail_next_inquiries(1, WorldErrorKind::NotReached);
    let error = world.inquire(&effect("1")).await.unwrap_err();
    assert_eq!(error.kind(), WorldErrorKind::NotReached);
    world.cannot_tell(false);
    assert_eq!(inquire(&world, "1").await, EffectInquiry::Done(done()));
}

#[tokio::test]
async fn queries_are_answered_as_laid_down_and_otherwise_refused() {
    let world = FakeWorld::new();
    world.answer("inspect_location", json!({ "room": "kitchen" }));
    let answer = world.observe(&query("inspect_location")).await.unwrap();
    assert_eq!(answer, Ok(json!({ "room": "kitchen" })));
    assert!(world.observe(&query("smell")).await.unwrap().is_err());
    world.refuse("inspect_location", "It is dark.");
    let dark = world.observe(&query("inspect_location")).await.unwrap();
    assert_eq!(dark.unwrap_err().reason, "It is dark.");
    world.fail_next_queries(1, WorldErrorKind::NotReached);
    assert!(world.observe(&query("smell")).await.is_err());
    assert_eq!(world.queries().len(), 4);
}

#[tokio::test]
async fn a_key_that_comes_with_another_effect_is_noticed() {
    let world = FakeWorld::new();
    perform(&world, "1").await.unwrap();
    let mut other = effect("1");
    other.tool = ToolName::try_new("detonate").unwrap();
    assert_eq!(world.reused_keys(), []);
    let answer = world.perform(&other).await.unwrap();
    assert_eq!(answer, Outcome::Done(done()), "the outcome the key has");
    assert_eq!(world.reused_keys(), [other.key]);
    assert_eq!(world.performed(), [effect("1")]);
}

#[tokio::test]
async fn a_gate_holds_an_effect_until_the_test_opens_it() {
    let (world, gate) = (FakeWorld::new(), Gate::new());
    world.then(Behaviour::Wait(gate.clone(), Box::new(Behaviour::Do)));
    let test = async {
        gate.reached().await;
        assert_eq!(world.performed(), []);
        gate.open();
    };
    let ((), outcome) = join(test, perform(&world, "1")).await;
    assert_eq!(outcome, Ok(Outcome::Done(done())));
}

#[test]
fn the_tools_are_of_every_sort_an_engine_treats_apart() {
    let sorts: Vec<_> = FakeWorld::tools()
        .iter()
        .map(|tool| (tool.name.to_string(), tool.category, tool.reach))
        .collect();
    let expected = [
        ("say", ToolCategory::Terminal, ToolReach::Effect),
        ("whisper", ToolCategory::Terminal, ToolReach::Effect),
        ("move", ToolCategory::SafeChain, ToolReach::Effect),
        (
            "inspect_location",
            ToolCategory::SafeChain,
            ToolReach::Query,
        ),
        ("detonate", ToolCategory::Dangerous, ToolReach::Effect),
    ];
    assert_eq!(
        sorts,
        expected.map(|(name, category, reach)| (name.to_owned(), category, reach))
    );
}

fn behaviour() -> impl Strategy<Value = Behaviour> {
    prop::sample::select(vec![
        Behaviour::Do,
        Behaviour::Reject("no".to_owned()),
        Behaviour::NotReached,
        Behaviour::DoneButUnanswered,
        Behaviour::LostBeforeDoing,
        Behaviour::Hang,
        Behaviour::DoneButHangs,
    ])
}

proptest! {
    #[test]
    fn whatever_fails_no_key_is_ever_carried_out_twice_or_both_done_and_refused(
        behaviours in prop::collection::vec(behaviour(), 0..12),
        keys in prop::collection::vec(0_u8..3, 0..24),
    ) {
        let world = FakeWorld::new();
        behaviours.into_iter().for_each(|behaviour| world.then(behaviour));
        for key in keys {
            let effect = effect(&key.to_string());
            let answer = world.perform(&effect).now_or_never();
            let inquired = world.inquire(&effect).now_or_never();
            let inquired = inquired.expect("an inquiry is answered at once").unwrap();
            let count = usize::from(matches!(inquired, EffectInquiry::Done(_)));
            prop_assert_eq!(world.count(&effect.key), count);
            if let Some(Ok(outcome)) = answer {
                let done = matches!(outcome, Outcome::Done(_));
                prop_assert_eq!(done, count == 1);
            }
        }
    }
}
