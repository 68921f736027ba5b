//! The kinds of ticks, their limits, and the parts of their prompts.

use std::{collections::BTreeMap, sync::Arc};

use dormouse_contracts::{ChatRequest, Message, ModelErrorKind, Purpose, Seq};
use dormouse_engine::{
    AssessmentOutcome, Component, ComponentConfig, ContextConfig, ContextType, Event,
    ExecutionConfig, OrderPreset, PartOrder, PreviewOf, PromptConfig, PromptPreview, TaskAssessed,
    TaskClass, ToolCalling, preview_prompt,
};
use dormouse_testing::{CountTokens, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::home::{Home, key, shown};

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

fn look() -> ScriptedTurn {
    ScriptedTurn::call("inspect_location", json!({}))
}

/// A life in which somebody is overheard before each of some messages.
async fn chat(home: &Home, messages: u64) {
    let life = home.wake().await;
    for number in 0..messages {
        let (heard, asked) = (2 * number + 1, 2 * number + 2);
        life.accept(
            Perceive::say("Bob", &format!("news {number}"))
                .number(heard)
                .build(),
        )
        .await;
        let words = format!("what of the ferry, {number}?");
        life.accept(Perceive::whisper("Alice", &words).number(asked).build())
            .await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
}

async fn preview(home: &Home, at: Option<Seq>, context: Option<ContextType>) -> PromptPreview {
    preview_prompt(&home.log, &key(), at, context, |_| Arc::new(CountTokens))
        .await
        .unwrap()
}

fn part<'a>(preview: &'a PromptPreview, key: &str) -> Option<&'a str> {
    let mut parts = preview.parts.iter();
    parts
        .find(|part| part.key == key)
        .map(|part| part.text.as_str())
}

fn bytes(messages: &[Message]) -> Vec<u8> {
    serde_json::to_vec(messages).unwrap()
}

#[tokio::test(start_paused = true)]
async fn two_following_ticks_share_the_beginning_of_their_prompts_byte_for_byte() {
    for form in [ToolCalling::Native, ToolCalling::Fallback] {
        let turn = match form {
            ToolCalling::Native => say("it is late"),
            ToolCalling::Fallback => {
                ScriptedTurn::text(r#"{"tool": "say", "parameters": {"message": "it is late"}}"#)
            }
        };
        let model = ScriptedModel::looping(turn);
        let home = Home::with_all_shared(model).configured(|config| config.tool_calling = form);
        chat(&home, 5).await;
        let requests: Vec<ChatRequest> = home.model.requests();
        assert_eq!(requests.len(), 5);
        let mut before = 0;
        for two in requests.windows(2) {
            let stable = two[0].stable_messages;
            let next = two[1].messages.get(..stable).unwrap();
            assert_eq!(bytes(&two[0].messages[..stable]), bytes(next), "{form:?}");
            let whole = shown(&two[1]);
            assert!(stable == 1 || stable > before, "the common beginning grows");
            let system = shown(&two[0]).len().min(whole.len());
            assert!(system > 0);
            before = stable;
        }
        // All earlier turns are in it; entities, memories and what was overheard are not.
        let last = requests.last().unwrap();
        let stable = ChatRequest {
            messages: last.messages[..last.stable_messages].to_vec(),
            ..ChatRequest::default()
        };
        let stable = shown(&stable);
        assert!(stable.contains("ferry, 2?") && !stable.contains("[ACTIVE ENTITIES]"));
        assert!(!stable.contains("news"), "{stable}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_documented_order_is_a_preset_and_nothing_leaves_its_block() {
    let ids =
        |preview: &PromptPreview| preview.parts.iter().map(|part| part.id).collect::<Vec<_>>();
    for (order, expected) in [
        (
            PartOrder::Preset(OrderPreset::Documented),
            vec![0, 1_000, 1_200, 1_500, 3_000, 3_500, 5_000, 6_000],
        ),
        (
            PartOrder::Preset(OrderPreset::Stable),
            vec![0, 1_000, 1_200, 5_000, 1_500, 3_000, 3_500, 6_000],
        ),
        (
            PartOrder::Own(vec!["weather".to_owned(), "context_buffer".to_owned()]),
            vec![0, 1_000, 1_200, 3_500, 3_000, 5_000, 1_500, 6_000],
        ),
    ] {
        let own = |id: u16, text: &str| ComponentConfig {
            id: Some(id),
            text: Some(text.to_owned()),
            ..ComponentConfig::default()
        };
        let home = Home::with_all_shared(ScriptedModel::looping(say("yes"))).configured(|config| {
            config.name = Some("Mo".to_owned());
            config.prompt = PromptConfig {
                order,
                components: BTreeMap::from([
                    (
                        "house_rules".to_owned(),
                        own(1_200, "{name} ({key}) is polite."),
                    ),
                    ("weather".to_owned(), own(3_500, "It rains.")),
                ]),
                ..PromptConfig::default()
            };
        });
        chat(&home, 2).await;
        let replied = replies(&home);
        let preview = preview(&home, Some(replied[1].0), None).await;
        let found: Vec<_> = ids(&preview)
            .into_iter()
            .filter(|id| !matches!(id, 2_000 | 1_600))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(
            part(&preview, "house_rules"),
            Some("Mo (dormouse) is polite.")
        );
        assert!(
            part(&preview, "character_context")
                .unwrap()
                .starts_with("Your name is Mo.\n")
        );
        home.no_protocol_was_broken();
    }
}

/// The replies of a life, with the hash and the length of their prompts.
fn replies(home: &Home) -> Vec<(Seq, String, u32)> {
    let all = home.log.events(&key());
    let replied = all.iter().filter_map(|stored| match Event::decode(stored) {
        Ok(Event::Replied(it)) => Some((stored.seq, it.prompt_hash, it.prompt_tokens)),
        _ => None,
    });
    replied.collect()
}

#[tokio::test(start_paused = true)]
async fn a_preview_at_a_reply_is_the_prompt_that_the_model_replied_to() {
    let home = Home::where_all_is_shared([
        look(),
        ScriptedTurn::text(""),
        say("first"),
        ScriptedTurn::Fail(ModelErrorKind::ContextExceeded),
        say("second"),
        look(),
        say("third"),
    ])
    .configured(|config| config.compaction.is_on = false);
    chat(&home, 3).await;
    let replied = replies(&home);
    assert!(replied.len() >= 6, "{}", replied.len());
    for (seq, hash, tokens) in replied {
        let preview = preview(&home, Some(seq), None).await;
        assert_eq!(
            (preview.of, &preview.hash),
            (PreviewOf::Call, &hash),
            "{seq}"
        );
        assert_eq!(preview.tokens, tokens);
        assert!(part(&preview, "pending_event").unwrap().contains("ferry"));
    }
    // At the end nothing waits, so the preview imagines an event.
    let end = preview(&home, None, None).await;
    assert_eq!(end.of, PreviewOf::Imagined);
    let event = part(&end, "pending_event").unwrap();
    assert_eq!(event, "(what calls for the turn)");
    assert!(end.left_out.iter().any(|it| it.part == "goals"));
}

#[tokio::test(start_paused = true)]
async fn a_context_shows_its_parts_and_offers_its_tools_and_nothing_else() {
    let home = Home::where_all_is_shared([say("hi")]);
    chat(&home, 1).await;
    let keys = |preview: &PromptPreview| {
        let parts = preview.parts.iter();
        parts.map(|part| part.key.clone()).collect::<Vec<_>>()
    };
    let decompose = preview(&home, None, Some(ContextType::GoalDecompose)).await;
    assert_eq!(keys(&decompose), ["system_prompt", "character_context"]);
    let tools: Vec<_> = decompose.tools.iter().map(|tool| tool.as_str()).collect();
    assert_eq!(tools, ["add_goal", "noop"]);
    let sleeping = preview(&home, None, Some(ContextType::SleepConsolidate)).await;
    assert!(
        sleeping
            .tools
            .iter()
            .any(|tool| tool.as_str() == "store_memory")
    );
    assert!(sleeping.tools.iter().all(|tool| tool.as_str() != "say"));
    let autonomous = preview(&home, None, Some(ContextType::TickAutonomous)).await;
    assert!(autonomous.tools.iter().any(|tool| tool.as_str() == "say"));
}

#[tokio::test(start_paused = true)]
async fn an_operator_bounds_a_context_and_calls_of_other_tools_are_refused() {
    let home = Home::where_all_is_shared([look(), say("hi")]).configured(|config| {
        let context = ContextConfig {
            tools: Some(["say".to_owned()].into()),
            components: Some([Component::SystemPrompt, Component::PendingEvent].into()),
            ..ContextConfig::default()
        };
        config
            .execution
            .contexts
            .insert(ContextType::TickEvent, context);
    });
    chat(&home, 1).await;
    let requests = home.model.requests();
    let offered: Vec<_> = requests[0]
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(offered, ["say", "noop"]);
    let first = shown(&requests[0]);
    assert!(!first.contains("news 0") && !first.contains("who lives in this place"));
    assert_eq!(home.deeds(), ["say hi"]);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn parts_are_switched_off_and_bounded_and_what_takes_too_much_is_left_out() {
    let part_of = |id: u16, budget, text: &str| ComponentConfig {
        id: Some(id),
        budget: Some(budget),
        text: Some(text.to_owned()),
        enabled: None,
    };
    let off = ComponentConfig {
        enabled: Some(false),
        ..ComponentConfig::default()
    };
    let home = Home::where_all_is_shared([say("a"), say("b")]).configured(|config| {
        config.prompt.components = BTreeMap::from([
            // Lines that are not shown as overheard would be recalled from the memory.
            ("semantic_memories".to_owned(), off.clone()),
            ("context_buffer".to_owned(), off),
            ("long".to_owned(), part_of(4_500, 3, "one two three four")),
            ("short".to_owned(), part_of(4_600, 3, "one two three")),
        ]);
    });
    chat(&home, 2).await;
    assert!(!home.last_shown().contains("news"));
    let found = preview(&home, Some(replies(&home)[1].0), None).await;
    assert_eq!(
        (part(&found, "long"), part(&found, "short")),
        (None, Some("one two three"))
    );
    assert_eq!(part(&found, "context_buffer"), None);
    let left_out: Vec<_> = found.left_out.iter().map(|it| it.part.as_str()).collect();
    assert!(left_out.contains(&"long") && left_out.contains(&"context_buffer"));
    let [finding] = &found.findings[..] else {
        panic!("{:?}", found.findings);
    };
    assert!(
        finding.contains("prompt.components.long takes 4 tokens"),
        "{finding}"
    );
}

fn assessed(home: &Home) -> Vec<TaskAssessed> {
    let events = home.events().into_iter().filter_map(|event| match event {
        Event::TaskAssessed(it) => Some(it),
        _ => None,
    });
    events.collect()
}

#[tokio::test(start_paused = true)]
async fn a_task_is_assessed_by_rules_and_its_tick_goes_no_further() {
    let lives = [(false, 5), (true, 2)];
    for (is_assessed, most) in lives {
        let home = Home::with_all_shared(ScriptedModel::looping(look())).configured(|config| {
            config.execution.task_assessment_enabled = is_assessed;
            config.limits = config.limits.with_max_repeated_calls(10).unwrap();
        });
        home.hear(Perceive::whisper("Alice", "examine the kettle").build())
            .await;
        assert_eq!(home.model.requests().len(), most, "{is_assessed}");
        let found = assessed(&home);
        assert_eq!(found.len(), usize::from(is_assessed));
        if let [assessed] = &found[..] {
            let TaskAssessed { assessment, asked } = assessed;
            assert_eq!(
                (assessment.class, assessment.complexity),
                (TaskClass::Observation, 1)
            );
            assert_eq!(*asked, None, "no model is asked");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_assesses_a_task_with_one_call_that_is_counted_and_rules_do_if_it_fails() {
    let by_model = ExecutionConfig {
        task_assessment_enabled: true,
        use_quick_assessment: false,
        ..ExecutionConfig::default()
    };
    for (turn, told) in [
        (ScriptedTurn::text("{\"complexity\": 5}"), Some(5)),
        (ScriptedTurn::text("very"), None),
        (ScriptedTurn::Fail(ModelErrorKind::Unavailable), None),
    ] {
        let home = Home::where_all_is_shared([turn, say("hi")])
            .configured(|config| config.execution = by_model.clone());
        let life = home.wake().await;
        life.accept(Perceive::whisper("Alice", "say hello").build())
            .await;
        life.handle.at_rest().await;
        let state = life.handle.inspect().await.unwrap();
        life.end().await.unwrap();
        let requests = home.model.requests();
        let purposes: Vec<_> = requests.iter().map(|request| request.purpose).collect();
        assert_eq!(purposes, [Purpose::Assessment, Purpose::Answer]);
        assert!(shown(&requests[0]).contains("> say hello") && requests[0].tools.is_empty());
        let [TaskAssessed { assessment, asked }] = &assessed(&home)[..] else {
            panic!("it is assessed once");
        };
        assert_eq!(assessment.complexity, told.unwrap_or(1));
        let outcome = &asked.as_ref().unwrap().outcome;
        let is_failed = matches!(outcome, AssessmentOutcome::Failed(_));
        assert_eq!(state.spent.replies + state.spent.failures, 2);
        assert_eq!(state.spent.failures, u64::from(is_failed));
        assert_eq!(state.errors.consecutive, 0, "that is no error");
        assert_eq!(home.deeds(), ["say hi"]);
    }
}
