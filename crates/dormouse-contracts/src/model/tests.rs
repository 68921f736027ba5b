use super::*;
use crate::CallId;

fn whole(deltas: Vec<ChatDelta>) -> Result<ChatReply, ModelErrorKind> {
    let mut partial = PartialReply::default();
    deltas
        .into_iter()
        .try_for_each(|delta| partial.take(delta))?;
    partial.finish()
}

fn start(index: usize, id: &str) -> ChatDelta {
    ChatDelta::CallStart {
        index,
        id: CallId::try_new(id).unwrap(),
        name: "say".to_owned(),
    }
}

fn arguments(index: usize, fragment: &str) -> ChatDelta {
    ChatDelta::CallArguments {
        index,
        fragment: fragment.to_owned(),
    }
}

#[test]
fn interleaved_calls_are_put_together_by_their_index() {
    let reply = whole(vec![
        start(0, "a"),
        arguments(0, "{\"x\""),
        start(1, "b"),
        arguments(1, "{}"),
        arguments(0, ":1}"),
        ChatDelta::Finished(FinishReason::ToolCalls),
    ])
    .unwrap();
    let texts: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|call| call.arguments.as_str())
        .collect();
    assert_eq!(texts, ["{\"x\":1}", "{}"]);
}

#[test]
fn a_stream_without_an_end_is_cut_off() {
    assert_eq!(
        whole(vec![ChatDelta::Text("hel".to_owned())]),
        Err(ModelErrorKind::Interrupted)
    );
}

#[test]
fn arguments_of_a_call_that_never_began_are_malformed() {
    assert_eq!(
        whole(vec![arguments(3, "{}")]),
        Err(ModelErrorKind::Malformed)
    );
}
