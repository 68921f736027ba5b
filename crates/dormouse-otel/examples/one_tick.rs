//! The spans of a tick, printed: `cargo run -p dormouse-otel --example one_tick`.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, time::Duration};

use dormouse_contracts::{AssistantId, CallId, Seq, Timestamp, ToolCategory};
use dormouse_engine::{
    ContextType, Event, Recorded, StopReason, TickEnded, TickStarted, ToolAnswered, Verdict,
};
use dormouse_otel::{Life, Projection, SpanContent};

fn main() -> Result<(), Box<dyn Error>> {
    let began_at: Timestamp = "2026-11-29T12:00:00Z".parse()?;
    let life = Life::new(&AssistantId::try_new("dormouse")?, began_at);
    let mut projection = Projection::new(life, SpanContent::Digest, Seq::ZERO);
    let events = [
        Event::TickStarted(TickStarted {
            tick: 1,
            context: ContextType::TickEvent,
            trigger: Seq(1),
        }),
        Event::ToolAnswered(ToolAnswered {
            call: CallId::try_new("call-1")?,
            tool: "look".to_owned(),
            category: Some(ToolCategory::SafeChain),
            verdict: Verdict::Success,
            content: "\"a table\"".to_owned(),
            tokens: 3,
            trust: None,
            cached: None,
            is_unanswered: false,
        }),
        Event::TickEnded(TickEnded::new(StopReason::Noop, None)),
    ];
    let mut names = Vec::new();
    for (event, place) in events.into_iter().zip(1_u32..) {
        let recorded = Recorded {
            seq: Seq(place.into()),
            at: began_at.plus(Duration::from_millis(100) * place),
            event,
        };
        for span in projection.take(&recorded) {
            let took = span.ended_at.since(span.began_at);
            println!("{:<24} {} ms", span.name, took.as_millis());
            names.push(span.name);
        }
    }
    assert_eq!(names, ["invoke_agent dormouse", "execute_tool look"]);
    Ok(())
}
