//! Charts of a life: tokens, money, importance and recall, drawn here as pictures that need no script.

use std::fmt;

use axum::extract::State;
use dormouse_contracts::{Seq, StoredEvent, Timestamp, Usage, Usd, each_event};
use dormouse_engine::{
    AssessmentOutcome, DecodeError, Event, RecalledItem, ReplayError, State as Life, TokenPrice,
};
use dormouse_journal::JournalChange;
use maud::{Markup, html};

use super::{
    Page, frame,
    seen::{Seen, When},
    words::{counted, grouped, moment, moment_in_zone},
};
use crate::{
    extract::{Asked, Key},
    guard::Caller,
    problem::Problem,
    service::Shared,
};

/// How many events charts cover at most.
const MOST: u64 = 20_000;

/// How many spans of time a chart has.
const SPANS: usize = 48;

/// How wide a span is in the picture, and how high the picture is.
const WIDTH: f64 = 10.0;
const HEIGHT: f64 = 100.0;

/// Shows the charts.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(when): Asked<When>,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::at(&service, &caller, &key, when)).await?;
    let last = seen.state.seq;
    let first = Seq(last.0.saturating_sub(MOST) + 1);
    let price = seen.state.configuration.settings.budgets.price;
    let mut points = Vec::new();
    let (mut from, mut to) = (None, Timestamp::EPOCH);
    let log = service.host.log();
    each_event(log, &key, first..=last, |stored| {
        from = from.or(Some(stored.at));
        to = stored.at;
        points.extend(Point::of(stored, price)?);
        Ok::<_, ReplayError>(())
    })
    .await?;
    let spans = Spans::over(&points, (from.unwrap_or(to), to));
    let path = format!("/a/{key}/");
    let body = html! {
        p.quiet {
            "Events " (grouped(first.0)) " to " (grouped(last.0)) ", in " (SPANS) " spans of time. A span leads to its last event."
            @if first.0 > 1 { " Slide back for what was before." }
        }
        (totals(&seen.state))
        div.charts { @for chart in &CHARTS { (spans.draw(chart, &path)) } }
    };
    Ok(frame::about(&seen, &caller, "charts/", &body))
}

/// What the whole life amounts to at this moment.
fn totals(state: &Life) -> Markup {
    let spent = &state.spent;
    html! {
        dl.numbers {
            div {
                dt { "Its whole life" }
                dd { (grouped(spent.prompt_tokens)) " tokens in, " (grouped(spent.completion_tokens)) " out" }
            }
            div { dt { "Replies" } dd { (grouped(spent.replies)) } }
            div { dt { "Ticks" } dd { (grouped(state.counts.ticks)) } }
            div { dt { "Kept in mind" } dd { (counted(state.counts.remembered, "thing", "things")) } }
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    tokens_in: u64,
    tokens_out: u64,
    /// Money that a server reported, in picodollars.
    reported: u64,
    /// Money by the price in the settings, where no server reported any.
    priced: u64,
    entries: u64,
    /// The sum of the importance of all entries, and the greatest.
    importance: u64,
    greatest: u64,
    recalled: u64,
    withheld: u64,
    failed: u64,
}

impl Counted {
    fn add(&mut self, other: &Self) {
        let sums = [
            (&mut self.tokens_in, other.tokens_in),
            (&mut self.tokens_out, other.tokens_out),
            (&mut self.reported, other.reported),
            (&mut self.priced, other.priced),
            (&mut self.entries, other.entries),
            (&mut self.importance, other.importance),
            (&mut self.recalled, other.recalled),
            (&mut self.withheld, other.withheld),
            (&mut self.failed, other.failed),
        ];
        for (sum, amount) in sums {
            *sum = sum.saturating_add(amount);
        }
        self.greatest = self.greatest.max(other.greatest);
    }

    /// A reply of a model. If its server did not count, the engine did.
    fn reply(usage: Option<Usage>, (prompt, reply): (u32, u32), price: Option<TokenPrice>) -> Self {
        let prompt = usage.map_or(prompt, |usage| usage.prompt_tokens);
        let reply = usage.map_or(reply, |usage| usage.completion_tokens);
        let reported = usage.and_then(|usage| usage.cost);
        let priced = price.filter(|_| reported.is_none());
        Self {
            tokens_in: prompt.into(),
            tokens_out: reply.into(),
            reported: reported.map_or(0, Usd::picos),
            priced: priced.map_or(0, |price| price.cost(prompt, reply).picos()),
            ..Self::default()
        }
    }
}

/// What one event adds.
struct Point {
    seq: Seq,
    at: Timestamp,
    counted: Counted,
}

impl Point {
    fn of(stored: &StoredEvent, price: Option<TokenPrice>) -> Result<Option<Self>, DecodeError> {
        // Reading all events would take ten times as long.
        let is_counted = matches!(
            stored.kind.as_str(),
            "replied"
                | "consulted"
                | "task_assessed"
                | "history_summarized"
                | "journal_changed"
                | "recollected"
        );
        if !is_counted {
            return Ok(None);
        }
        let counted = match Event::decode(stored)? {
            Event::Replied(it) => {
                Counted::reply(it.reply.usage, (it.prompt_tokens, it.tokens), price)
            }
            Event::Consulted(it) => {
                Counted::reply(it.reply.usage, (it.prompt_tokens, it.tokens), price)
            }
            Event::HistorySummarized(it) => {
                Counted::reply(it.reply.usage, (it.prompt_tokens, it.tokens), price)
            }
            Event::TaskAssessed(it) => match it.asked {
                Some(call) => match call.outcome {
                    AssessmentOutcome::Replied { tokens, usage, .. } => {
                        Counted::reply(usage, (call.prompt_tokens, tokens), price)
                    }
                    AssessmentOutcome::Failed(_) => return Ok(None),
                },
                None => return Ok(None),
            },
            Event::JournalChanged(it) => written(&it.changes),
            Event::Recollected(it) => {
                let count = |items: &[RecalledItem]| items.len() as u64;
                Counted {
                    recalled: count(&it.items),
                    withheld: it.withheld.len() as u64,
                    failed: it.failure.is_some().into(),
                    ..Counted::default()
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Self {
            seq: stored.seq,
            at: stored.at,
            counted,
        }))
    }
}

/// The entries that a change of the journal added.
fn written(changes: &[JournalChange]) -> Counted {
    let mut counted = Counted::default();
    for change in changes {
        if let JournalChange::Added { entry, .. } = change {
            let importance = u64::from(entry.importance.get());
            counted.add(&Counted {
                entries: 1,
                importance,
                greatest: importance,
                ..Counted::default()
            });
        }
    }
    counted
}

/// A layer of a chart: its name, its colour, and its value.
struct Layer {
    name: &'static str,
    colour: &'static str,
    value: fn(&Counted) -> f64,
}

/// A chart. The layers stand on each other.
struct Chart {
    title: &'static str,
    about: &'static str,
    /// What is said in place of an empty chart.
    empty: &'static str,
    layers: &'static [Layer],
    text: fn(f64) -> String,
}

const CHARTS: [Chart; 4] = [
    Chart {
        title: "Tokens",
        about: "of all calls of models, as their servers counted them",
        empty: "No model was asked.",
        layers: &[
            Layer {
                name: "in",
                colour: "heard",
                value: |it| float(it.tokens_in),
            },
            Layer {
                name: "out",
                colour: "did",
                value: |it| float(it.tokens_out),
            },
        ],
        text: whole,
    },
    Chart {
        title: "Money",
        about: "as servers reported it, and otherwise at most, by the price in the settings",
        empty: "No server reported what its replies cost, and the settings have no price.",
        layers: &[
            Layer {
                name: "reported",
                colour: "did",
                value: |it| float(it.reported),
            },
            Layer {
                name: "by price",
                colour: "remembered",
                value: |it| float(it.priced),
            },
        ],
        text: |picos| {
            Usd::from_dollars(picos / 1e12)
                .unwrap_or(Usd::ZERO)
                .to_string()
        },
    },
    Chart {
        title: "Importance",
        about: "of the entries of its journal, 1 to 10: the mean, and above it the greatest",
        empty: "Nothing was written into the journal.",
        layers: &[
            Layer {
                name: "mean",
                colour: "remembered",
                value: |it| mean(it),
            },
            Layer {
                name: "greatest",
                colour: "steered",
                value: |it| float(it.greatest) - mean(it),
            },
        ],
        text: |importance| format!("{importance:.1}"),
    },
    Chart {
        title: "Recall",
        about: "memories that turns were shown, and those that were withheld because not everybody who hears perceived them",
        empty: "No turn looked for memories.",
        layers: &[
            Layer {
                name: "recalled",
                colour: "thought",
                value: |it| float(it.recalled),
            },
            Layer {
                name: "withheld",
                colour: "slept",
                value: |it| float(it.withheld),
            },
            Layer {
                name: "failed",
                colour: "steered",
                value: |it| float(it.failed),
            },
        ],
        text: whole,
    },
];

#[expect(
    clippy::cast_precision_loss,
    reason = "a picture shows no more than three digits"
)]
fn float(count: u64) -> f64 {
    count as f64
}

fn mean(it: &Counted) -> f64 {
    float(it.importance) / float(it.entries.max(1))
}

fn whole(count: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a sum of counts"
    )]
    let count = count.round() as u64;
    grouped(count)
}

/// A number in a picture.
struct Length(f64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.0)
    }
}

/// A span of time, and what was counted in it.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// When it begins.
    from: Timestamp,
    /// The last event that counted.
    last: Option<Seq>,
    counted: Counted,
}

/// A stretch of time, cut into spans of the same length.
struct Spans {
    each: Vec<Span>,
    to: Timestamp,
}

impl Spans {
    fn over(points: &[Point], (from, to): (Timestamp, Timestamp)) -> Self {
        let whole = to.since(from).max(std::time::Duration::from_secs(1));
        let length = whole.div_f64(float(SPANS as u64));
        let begins = |place: usize| from.plus(length.mul_f64(float(place as u64)));
        let span = |place| Span {
            from: begins(place),
            last: None,
            counted: Counted::default(),
        };
        let mut each: Vec<_> = (0..SPANS).map(span).collect();
        for point in points {
            // Clocks may be set back: an event is never before the first span.
            let place = each.partition_point(|span| span.from <= point.at);
            if let Some(span) = each.get_mut(place.saturating_sub(1)) {
                span.counted.add(&point.counted);
                span.last = span.last.max(Some(point.seq));
            }
        }
        Self { each, to }
    }

    fn draw(&self, chart: &Chart, path: &str) -> Markup {
        let values = |span: &Span| -> Vec<f64> {
            let layers = chart.layers.iter();
            layers.map(|layer| (layer.value)(&span.counted)).collect()
        };
        let sum = |span: &Span| values(span).iter().sum::<f64>();
        let most = self.each.iter().map(sum).fold(0.0, f64::max);
        let from = self.each.first().map_or(self.to, |span| span.from);
        let filled = || self.each.iter().filter(|span| sum(span) > 0.0);
        let text = |span: &Span| -> String {
            let values = values(span);
            let parts = chart.layers.iter().zip(values);
            let parts =
                parts.map(|(layer, value)| format!("{} {}", (chart.text)(value), layer.name));
            parts.collect::<Vec<_>>().join(", ")
        };
        html! {
            figure.chart {
                figcaption {
                    h3 { (chart.title) } p.quiet { (chart.about) }
                }
                @if most <= 0.0 { p.quiet { (chart.empty) } } @else {
                    div.key {
                        @for layer in chart.layers { span data-lane=(layer.colour) { (layer.name) } }
                        span.most { "most in a span: " ((chart.text)(most)) }
                    }
                    svg viewBox={ "0 0 " (Length(WIDTH * float(SPANS as u64))) " " (Length(HEIGHT)) } preserveAspectRatio="none" role="img" aria-label={ (chart.title) ", at most " ((chart.text)(most)) " in a span; the table below has the numbers" } {
                        @for (place, span) in self.each.iter().enumerate() {
                            @if let Some(last) = span.last.filter(|_| sum(span) > 0.0) {
                                a href={ (path) "?at=" (last) "#e" (last) } tabindex="-1" {
                                    title { (span.from) ": " (text(span)) }
                                    (Self::bar(chart, &values(span), place, most))
                                }
                            }
                        }
                    }
                    div.axis { span { (moment(from)) } span { (moment_in_zone(self.to)) } }
                    details {
                        summary { "As a table" }
                        div.table tabindex="0" role="region" aria-label={ (chart.title) ", as a table" } {
                            table {
                                thead { tr { th { "From" } @for layer in chart.layers { th { (layer.name) } } th { "Last event" } } }
                                tbody {
                                    @for span in filled() {
                                        tr {
                                            td { (moment(span.from)) }
                                            @for value in values(span) { td { ((chart.text)(value)) } }
                                            td { @if let Some(last) = span.last { a href={ (path) "?at=" (last) "#e" (last) } { "#" (last) } } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The layers of one span, one above the other, and a wide area for the pointer.
    fn bar(chart: &Chart, values: &[f64], place: usize, most: f64) -> Markup {
        let x = WIDTH * float(place as u64);
        let mut top = HEIGHT;
        let layers = chart.layers.iter().zip(values).map(|(layer, value)| {
            let height = value / most * HEIGHT;
            top -= height;
            html! {
                rect data-lane=(layer.colour) x=(Length(x + 1.0)) y=(Length(top)) width=(Length(WIDTH - 2.0)) height=(Length(height)) {}
            }
        });
        let layers: Vec<_> = layers.collect();
        html! {
            rect.span x=(Length(x)) y="0" width=(Length(WIDTH)) height=(Length(HEIGHT)) {}
            @for layer in layers { (layer) }
        }
    }
}
