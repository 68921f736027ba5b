//! Acts that a person has to confirm before they are done.

use dormouse_contracts::{Arguments, Seq, Timestamp, ToolCategory, ToolName};
use dormouse_tools::CheckedCall;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{action::Decided, calls, view::View};
use crate::{
    config::ApprovalRule,
    event::{ApprovalRequested, Event},
    privacy::audience_of_notes,
    state::{Approvals, CallState, Turn},
};

const ASKED: &str = "not done yet: a person has to confirm this first. You will hear it when they have answered. Until \
                     then do not call it again";
const WAITS: &str =
    "not done yet: this still waits for a person who confirms it. Do not call it again";
const TOO_MANY: &str = "not done: too much waits already for a person who confirms it";

/// The approval under which this act may be done now, if it needs one.
///
/// # Errors
///
/// What is decided instead: that a person is asked.
pub(super) fn approval(
    view: View<'_>,
    turn: &Turn,
    call: &CallState,
    act: &CheckedCall<'_>,
) -> Result<Option<Seq>, Decided> {
    let is_needed = act.spec.category == ToolCategory::Dangerous
        && view.config().approval == ApprovalRule::Required;
    if !is_needed {
        return Ok(None);
    }
    let digest = digest(&act.spec.name, &act.arguments);
    let open = &view.state.approvals;
    let mut same = open.open(view.now).filter(|it| it.request.digest == digest);
    match same.next() {
        Some(approval) if approval.allowed_by.is_some() => return Ok(Some(approval.seq)),
        Some(_) => return Err(calls::skip(view, call, WAITS).into()),
        None => {}
    }
    if open.open(view.now).count() >= Approvals::MOST {
        return Err(calls::skip(view, call, TOO_MANY).into());
    }
    let step = turn.steps.last();
    let requested = Event::ApprovalRequested(ApprovalRequested {
        digest,
        call: call.id().clone(),
        tool: act.spec.name.clone(),
        arguments: act.arguments.clone(),
        expires_at: expiry(view),
        trust: step.map_or(turn.trigger.trust(), |step| step.least_shown),
        audience: audience_of_notes(view.state, turn),
    });
    let asked = calls::skip(view, call, ASKED);
    Err(Decided::after(vec![requested], asked))
}

fn expiry(view: View<'_>) -> Timestamp {
    let seconds = view.config().approval_expires_seconds;
    view.now
        .plus(std::time::Duration::from_secs(seconds.into()))
}

/// The SHA-256 of a tool and its arguments, whose fields may come in any order.
fn digest(tool: &ToolName, arguments: &Arguments) -> String {
    let call = json!([tool, sorted(&Value::Object(arguments.clone()))]);
    let digest = Sha256::digest(call.to_string());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value with the fields of its objects in the order of their names.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields = fields
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(values) => values.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, arguments: Value) -> String {
        let arguments = serde_json::from_value(arguments).unwrap();
        digest(&ToolName::try_new(tool).unwrap(), &arguments)
    }

    #[test]
    fn a_digest_is_that_of_the_exact_arguments_whichever_way_they_are_written() {
        let one = of(
            "detonate",
            json!({"thing": "bridge", "how": {"a": 1, "b": [1, 2]}}),
        );
        let same = of(
            "detonate",
            json!({"how": {"b": [1, 2], "a": 1}, "thing": "bridge"}),
        );
        assert_eq!((one.len(), &one), (64, &same));
        for (tool, other) in [
            (
                "detonate",
                json!({"thing": "bridge ", "how": {"a": 1, "b": [1, 2]}}),
            ),
            (
                "detonate",
                json!({"thing": "bridge", "how": {"a": 1, "b": [2, 1]}}),
            ),
            (
                "detonate",
                json!({"thing": "bridge", "how": {"a": "1", "b": [1, 2]}}),
            ),
            ("detonate", json!({"thing": "bridge"})),
            (
                "build",
                json!({"thing": "bridge", "how": {"a": 1, "b": [1, 2]}}),
            ),
        ] {
            assert_ne!(of(tool, other), one);
        }
    }
}
