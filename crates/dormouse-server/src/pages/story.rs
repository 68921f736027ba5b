//! Events as rows of a time line. A row shows its lane and what happened; by which rule, and why; how far it is
//! believed; and what it cost.

use dormouse_contracts::{AssistantId, Author, Outcome, Seq, SourceKind, SpeechKind, StoredEvent};
use dormouse_engine::{
    ActSpeech, ApprovalAnswer, EffectIntended, Event, Perceived, RecalledItem, Recollected,
    Replied, RosterChange, TokenPrice, ToolAnswered, Verdict, WakeCause,
};
use dormouse_journal::JournalChange;
use dormouse_memory::{MemoryChange, RecordId};
use maud::{Markup, html};
use serde::Serialize;
use serde_json::Value;

use super::{
    seen::cause,
    words::{
        attributed, beginning, clock, counted, day, event, grouped, lasted, moment, outside,
        passage, trust,
    },
};

/// How much of a text of the machine is shown.
const EXCERPT: usize = 300;

/// Where a row belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Heard,
    Thought,
    Did,
    Remembered,
    Slept,
    Steered,
}

impl Lane {
    /// All of them, from left to right.
    pub(super) const ALL: [Self; 6] = [
        Self::Heard,
        Self::Thought,
        Self::Did,
        Self::Remembered,
        Self::Slept,
        Self::Steered,
    ];

    /// The word for it in the page.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Heard => "heard",
            Self::Thought => "thought",
            Self::Did => "did",
            Self::Remembered => "remembered",
            Self::Slept => "slept",
            Self::Steered => "steered",
        }
    }

    /// The word for it for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Heard => "Heard",
            Self::Thought => "Thought",
            Self::Did => "Did",
            Self::Remembered => "Remembered",
            Self::Slept => "Slept",
            Self::Steered => "By people",
        }
    }

    /// The lane of what somebody decided: the assistant, or a person.
    fn by(author: &Author) -> Self {
        match author {
            Author::Tool(_) => Self::Did,
            Author::Sleep(_) => Self::Slept,
            Author::Compaction(_) => Self::Remembered,
            // Persons, and everything else that is not the assistant.
            _ => Self::Steered,
        }
    }
}

/// What happened, as a row shows it.
struct Row {
    lane: Lane,
    /// Whether it is printed small, because it only gives context to other rows.
    is_frame: bool,
    head: Markup,
    text: Option<Markup>,
    facts: Vec<Markup>,
}

impl Row {
    fn new(lane: Lane, head: Markup) -> Self {
        Self {
            lane,
            is_frame: false,
            head,
            text: None,
            facts: Vec::new(),
        }
    }

    fn frame(lane: Lane, head: Markup) -> Self {
        Self {
            is_frame: true,
            ..Self::new(lane, head)
        }
    }

    fn text(mut self, text: &str) -> Self {
        self.text = (!text.trim().is_empty()).then(|| passage(text));
        self
    }

    fn fact(mut self, fact: Markup) -> Self {
        self.facts.push(fact);
        self
    }
}

/// What the events before a row say about it.
#[derive(Debug, Default)]
struct Before {
    day: String,
    /// What the tick under way works on.
    trigger: Option<Seq>,
    /// The last reply of the tick under way.
    reply: Option<Seq>,
}

impl Before {
    fn apply(&mut self, seq: Seq, event: &Event) {
        match event {
            Event::TickStarted(it) => {
                self.trigger = Some(it.trigger);
                self.reply = None;
            }
            Event::Replied(_) => self.reply = Some(seq),
            Event::TickEnded(_) => {
                self.trigger = None;
                self.reply = None;
            }
            _ => {}
        }
    }
}

/// Renders the events from `first` on. Those before are only read to know what a row belongs to.
pub(super) fn rows(
    key: &AssistantId,
    events: &[StoredEvent],
    first: Seq,
    price: Option<TokenPrice>,
) -> Markup {
    let mut before = Before::default();
    let mut rows = Vec::new();
    for stored in events {
        let decoded = Event::decode(stored);
        let today = day(stored.at);
        if stored.seq >= first {
            if before.day != today {
                rows.push(html! { li.day { h3 { (today) } } });
            }
            let row = match &decoded {
                Ok(event) => row(key.as_str(), stored.seq, event, &before, price),
                Err(_) => Row::frame(
                    Lane::Steered,
                    html! { "Something that this version cannot read (" (outside(&stored.kind)) ")" },
                ),
            };
            rows.push(render(key.as_str(), stored, row));
        }
        before.day = today;
        if let Ok(event) = &decoded {
            before.apply(stored.seq, event);
        }
    }
    html! { @for row in rows { (row) } }
}

fn render(key: &str, stored: &StoredEvent, row: Row) -> Markup {
    html! {
        li.row.frame[row.is_frame] id={ "e" (stored.seq) } data-lane=(row.lane.word()) data-seq=(stored.seq) {
            div.rail aria-hidden="true" {}
            div.when { (clock(stored.at)) " " (event(key, stored.seq)) }
            div.what {
                p.head { span.lane { (row.lane.title()) } " " (row.head) }
                @if let Some(text) = row.text { (text) }
                @if !row.facts.is_empty() { div.facts { @for fact in row.facts { span { (fact) } " " } } }
            }
        }
    }
}

fn row(key: &str, seq: Seq, event: &Event, before: &Before, price: Option<TokenPrice>) -> Row {
    let said = |by: &Author, what: Markup| Row::new(Lane::by(by), html! { (what) (by_whom(by)) });
    match event {
        Event::Perceived(it) => perceived(it),
        Event::LinesDropped(it) => Row::new(
            Lane::Heard,
            html! {
                (counted(it.lines, "line", "lines")) " only counted, because there were too many, from "
                (outside(it.entity.as_ref().map_or("unnamed senders", |id| id.as_str())))
            },
        ),
        Event::TickStarted(it) => Row::frame(
            Lane::Thought,
            html! { "Tick " (it.tick) " begins (" (it.context.row().name) "), because of " (self::event(key, it.trigger)) },
        ),
        Event::TaskAssessed(it) => Row::frame(
            Lane::Thought,
            html! { "The task seems to be of complexity " (it.assessment.complexity) },
        ),
        Event::ToolsOffered(it) => Row::frame(
            Lane::Thought,
            html! { "Is shown " (counted(it.tools.len() as u64, "further tool", "further tools")) ", and not " (it.left_out) " others" },
        ),
        Event::CallReserved(it) => Row::frame(
            Lane::Thought,
            html! { "Reserves " (counted(it.tokens, "token", "tokens")) " for the next call" },
        ),
        Event::Replied(it) => replied(key, seq, it, price),
        Event::ParseFailed(it) => {
            Row::new(Lane::Thought, html! { "The reply could not be read" }).text(&it.note)
        }
        Event::ModelFailed(it) => Row::new(
            Lane::Thought,
            html! { "The model failed: " (it.kind) ", after " (counted(it.attempts, "attempt", "attempts")) },
        )
        .text(it.reason.as_deref().unwrap_or(""))
        .fact(html! { (lasted(it.duration_ms)) }),
        Event::ToolAnswered(it) => answered(key, it, before),
        Event::EffectIntended(it) => intended(key, it, before),
        Event::EffectSettled(it) => Row::frame(Lane::Did, outcome(&it.outcome)),
        Event::WorldFailed(it) => Row::new(Lane::Did, html! { "The world could not be reached" })
            .text(it.reason.as_deref().unwrap_or("")),
        Event::Unanswered(it) => Row::new(
            Lane::Did,
            html! {
                "Gives no answer to " (outside(&it.from)) " (" (self::event(key, it.trigger)) "): "
                (outside(&words_of(&it.cause)))
            },
        ),
        Event::Delayed(it) => Row::frame(
            Lane::Did,
            html! { "Lets the sender of " (self::event(key, it.trigger)) " know that the answer takes longer" },
        ),
        Event::TickEnded(it) => Row::frame(
            Lane::Thought,
            html! {
                "Tick ends: " (it.reason.code())
                @if let Some(ms) = it.duration_ms { ", after " (lasted(ms)) }
                @if let Some(at) = it.resume_at { "; it goes on at " (moment(at)) }
            },
        ),
        Event::Recollected(it) => recollected(key, it),
        Event::Remembered(it) => Row::new(Lane::Remembered, html! { "Keeps in mind" })
            .text(&it.text)
            .fact(html! { (it.kind) })
            .fact(html! { "from " (attributed(&it.from)) })
            .fact(html! { "trust " (trust(it.trust)) })
            .fact(record(key, seq)),
        Event::EntityChanged(it) => said(&it.author, html! { "Notes about somebody: " (in_words(&it.change)) })
            .fact(html! { "why: " (beginning(&it.reason, EXCERPT)) }),
        Event::MemoryChanged(it) => said(&it.author, remembered(key, seq, &it.change))
            .fact(html! { "why: " (beginning(&it.reason, EXCERPT)) }),
        Event::Consulted(it) => Row::new(
            Lane::Remembered,
            html! { (outside(it.model.as_str())) " was asked for " (it.about.purpose()) },
        )
        .fact(tokens(it.prompt_tokens, it.tokens)),
        Event::ConsultationFailed(it) => Row::new(
            Lane::Remembered,
            html! { "Nothing came of asking for " (it.about.purpose()) },
        ),
        Event::ConsolidationBegan(it) => said(&it.author, html! { "A consolidation begins" }),
        Event::ConsolidationEnded(_) => Row::frame(Lane::Remembered, html! { "The consolidation ends" }),
        Event::Compacted(it) => Row::new(
            Lane::Remembered,
            html! { "Earlier turns are shown shorter: " (grouped(it.before)) " tokens become " (grouped(it.after)) },
        ),
        Event::HistorySummarized(it) => Row::new(
            Lane::Remembered,
            html! { "Sums up " (self::event(key, it.span.from)) " to " (self::event(key, it.span.to)) },
        )
        .text(&it.text)
        .fact(tokens(it.prompt_tokens, it.tokens)),
        Event::SummaryFailed(_) => Row::frame(Lane::Remembered, html! { "Earlier turns could not be summed up" }),
        Event::JournalChanged(it) => {
            let changes = it.changes.iter().map(written);
            let changes: Vec<_> = changes.collect();
            let lane = match &it.author {
                Author::Tool(_) => Lane::Remembered,
                author => Lane::by(author),
            };
            Row::new(
                lane,
                html! { @for change in &changes { (change) " " } (signed(&it.author)) },
            )
        }
        Event::ReflectionRequested(it) => said(&it.author, html! { "It is to look back over its journal" }),
        Event::ReflectionRecorded(it) => Row::new(
            Lane::Thought,
            html! { "Looked back over its journal: " (counted(it.entries.len() as u64, "entry", "entries")) " written" },
        ),
        Event::ProjectCreated(it) => said(&it.author, html! { "Begins the project " (outside(&it.id.to_string())) }).text(&it.summary.text),
        Event::ProjectUpdated(it) => said(&it.author, html! { "Changes the project " (outside(&it.id.to_string())) }),
        Event::ProjectSwapped(it) => said(&it.author, html! { "Works on " (outside(&it.to.to_string())) " now" }),
        Event::SelfNoted(it) => said(&it.author, html! { "Notes for itself" }).text(&it.note.text),
        Event::SelfNoteDropped(it) => said(&it.author, html! { "Drops a note" }),
        Event::GoalCreated(it) => said(&it.author, html! { "Sets goal " (it.id) }).text(&it.description.text),
        Event::GoalUpdated(it) => said(
            &it.author,
            html! {
                "Changes goal " (it.id)
                @if let Some(status) = &it.status { ": " (outside(&status.to_text())) }
                @if let Some(priority) = it.priority { ", priority " (priority) }
            },
        )
        .text(it.note.as_ref().map_or("", |note| &note.text)),
        Event::GoalCompleted(it) => said(&it.author, html! { "Reaches goal " (it.id) })
            .text(it.outcome.as_ref().map_or("", |outcome| &outcome.text)),
        Event::GoalPursued(it) => Row::frame(
            Lane::Thought,
            html! { "A turn for goal " (it.id) " is over: " (outside(&words_of(&it.pursuit))) },
        ),
        Event::CommitmentEnded(it) => Row::new(
            Lane::Did,
            html! { "A promise (" (self::event(key, it.commitment)) ") is over: " (outside(&words_of(&it.outcome))) },
        ),
        Event::TaskDelegated(it) => Row::new(Lane::Did, html! { "Gives a task to another assistant" }).text(&it.task.task.text),
        Event::TaskReceived(it) => Row::new(Lane::Heard, html! { "Gets a task from another assistant" }).text(&it.task.task.text),
        Event::DelegateChosen(it) => Row::frame(Lane::Did, html! { "The task goes to " (it.delegate) }),
        Event::TaskAnswered(_) => Row::frame(Lane::Did, html! { "Its task is over" }),
        Event::TaskCancelled(_) => Row::frame(Lane::Heard, html! { "The task was withdrawn" }),
        Event::DelegationEnded(_) => Row::frame(Lane::Heard, html! { "The task that it gave is over" }),
        Event::ApprovalRequested(it) => Row::new(
            Lane::Did,
            html! { "Wants to do this, and a person has to confirm it: " b { (it.tool) } " " (json(&it.arguments)) },
        )
        .fact(html! { "until " (moment(it.expires_at)) })
        .fact(html! { "trust " (trust(it.trust)) })
        .fact(because(key, before)),
        Event::ApprovalAnswered(it) => Row::new(
            Lane::Steered,
            html! {
                (outside(&it.by)) " "
                @match it.answer { ApprovalAnswer::Allowed => { "allows" } ApprovalAnswer::Denied => { "refuses" } }
                " " (self::event(key, it.approval))
            },
        )
        .text(it.reason.as_deref().unwrap_or("")),
        Event::EmergencyStopTriggered(it) => {
            Row::new(Lane::Steered, html! { "Stopped " (outside(&cause(&it.cause))) }).text(it.reason.as_deref().unwrap_or(""))
        }
        Event::EmergencyStopCleared(it) => Row::new(Lane::Steered, html! { (outside(&it.cleared_by)) " lets it go on" }),
        Event::StopNoticeIntended(_) => Row::frame(Lane::Did, html! { "Says that it is stopped" }),
        Event::StopNoticeSettled(it) => Row::frame(Lane::Did, outcome(&it.outcome)),
        Event::HistoryReset(it) => Row::new(Lane::Steered, html! { (outside(&it.reset_by)) " resets its history" }),
        Event::RetryRequested(it) => Row::new(Lane::Steered, html! { (outside(&it.requested_by)) " wants the model to be asked again" }),
        Event::SettingChanged(it) => {
            let value = |value: &Option<Value>| value.as_ref().map_or("as configured".to_owned(), plainly);
            Row::new(
                Lane::Steered,
                html! {
                    (outside(&it.by)) " sets " code { (it.setting) } " from "
                    (beginning(&value(&it.old), EXCERPT)) " to " (beginning(&value(&it.new), EXCERPT))
                },
            )
        }
        Event::RosterChanged(it) => Row::new(
            Lane::Steered,
            html! {
                (outside(&it.author.to_string())) " "
                @match &it.change {
                    RosterChange::Created(it) => {
                        "creates it as " (outside(&it.name))
                        @if let Some((from, seq)) = &it.clone_of { ", from " (from) " after " (self::event(from.as_str(), *seq)) }
                    }
                    RosterChange::Tagged(tags) => { "tags it:" @for tag in tags { " " span.tag { (tag) } } }
                    RosterChange::Archived => { "archives it" }
                    RosterChange::Restored => { "restores it" }
                    _ => { "changes it" }
                }
            },
        )
        .fact(html! { "why: " (beginning(&it.reason, EXCERPT)) }),
        Event::Forgotten(it) => Row::new(
            Lane::Steered,
            html! { (outside(&it.by)) " lets words be forgotten, in " (counted(it.events, "event", "events")) },
        ),
        Event::Configured(it) => Row::frame(
            Lane::Steered,
            html! {
                "Wakes under a changed configuration"
                @if let Some(model) = &it.model { "; the model is " (outside(model.name.as_str())) }
            },
        ),
        Event::Woke(_) => Row::frame(Lane::Steered, html! { "The program started again while somebody waited" }),
        Event::FellAsleep(it) => Row::new(
            Lane::Slept,
            html! { "Falls asleep, night " (it.night) ", until " (moment(it.until)) (by_whom(&it.author)) },
        )
        .text(it.reason.as_ref().map_or("", |reason| &reason.text)),
        Event::NightStepped(it) => Row::new(
            Lane::Slept,
            html! { "Works in its sleep: " (it.step) ": " (outside(&words_of(&it.outcome))) },
        ),
        Event::NightProbed(it) => Row::frame(Lane::Slept, html! { "Tries what it still knows, for " (it.step) }),
        Event::WokeUp(it) => Row::new(
            Lane::Slept,
            html! {
                "Wakes from night " (it.night) ": "
                @match &it.cause {
                    WakeCause::Time => { "its time had come" }
                    WakeCause::Message(seq) => { "for " (self::event(key, *seq)) }
                    WakeCause::Operator(who) => { "woken by " (outside(who)) }
                    WakeCause::Tool(_) => { "by itself" }
                    WakeCause::AllDone => { "all work was done" }
                    _ => { "for a reason that this version does not know" }
                }
            },
        )
        .text(it.reason.as_ref().map_or("", |reason| &reason.text)),
    }
}

fn perceived(it: &Perceived) -> Row {
    let attested = &it.perception.attested;
    let words = it.perception.words.as_claimed();
    let head = html! {
        b { (outside(attested.sender.name())) } " "
        @match &attested.source {
            SourceKind::Whisper => { "whispers" }
            SourceKind::Page => { "pages" }
            SourceKind::Addressed => { "says to it" }
            SourceKind::Channel(channel) => { "says on " (outside(channel.as_str())) }
            SourceKind::Say => { "says" }
            SourceKind::Pose => { "does" }
            SourceKind::Movement => { "moves" }
            SourceKind::Emit => { "(nobody in particular)" }
            SourceKind::CommandOutput => { "(output of its command)" }
            _ => { "says" }
        }
    };
    Row::new(Lane::Heard, head)
        .text(words)
        .fact(html! { "rule " (it.classification.rule) ": " (it.classification.verdict) })
        .fact(html! {
            "trust " (trust(it.trust))
            @if let Some(moved) = &it.moved { " (moved from " (moved.source) " by " (counted(moved.by.interactions, "earlier message", "earlier messages")) ")" }
        })
        .fact(html! { "known to " (outside(&it.known_to().to_string())) })
        .fact(html! { @for doubt in &it.doubts { "doubt: " (outside(&doubt.to_string())) " " } })
}

fn replied(key: &str, seq: Seq, it: &Replied, price: Option<TokenPrice>) -> Row {
    let calls: Vec<_> = it.calls.iter().map(|call| call.name.as_str()).collect();
    let usage = it.reply.usage;
    let prompt = usage.map_or(it.prompt_tokens, |usage| usage.prompt_tokens);
    let completion = usage.map_or(it.tokens, |usage| usage.completion_tokens);
    let cost = match (usage.and_then(|usage| usage.cost), price) {
        (Some(cost), _) => Some(cost.to_string()),
        (None, Some(price)) => Some(format!("at most {}", price.cost(prompt, completion))),
        (None, None) => None,
    };
    let head = html! {
        (outside(it.model.as_str())) " "
        @if calls.is_empty() { "thinks aloud" } @else { "decides on " (outside(&calls.join(", "))) }
    };
    let mut row = Row::new(Lane::Thought, head);
    if calls.is_empty() || !it.reply.content.trim().is_empty() {
        row = row.text(&it.reply.content);
    }
    if !it.reply.reasoning.trim().is_empty() {
        row = row
            .fact(html! { details { summary { "Its thoughts" } (passage(&it.reply.reasoning)) } });
    }
    row.fact(tokens(prompt, completion))
        .fact(html! { @if let Some(cost) = cost { (cost) } })
        .fact(html! { (lasted(it.duration_ms)) })
        .fact(html! { "least trust shown " (trust(it.least_shown)) })
        .fact(html! { a href={ "/a/" (key) "/prompt/?at=" (seq) } { "Prompt as sent" } })
        .fact(html! { @if !it.omitted.is_nothing() { "something was left out" } })
}

fn answered(key: &str, it: &ToolAnswered, before: &Before) -> Row {
    let ended = match it.verdict {
        Verdict::Success => "",
        Verdict::Failure => ", which failed",
        Verdict::Skipped => ", which was not made",
        Verdict::Deferred => ", which was put off",
    };
    let head = html! { "Uses " b { (outside(&it.tool)) } (ended) };
    let mut row = Row::new(Lane::Did, head)
        .fact(html! { details { summary { "Result" } (passage(&it.content)) } })
        .fact(html! { (counted(it.tokens, "token", "tokens")) });
    if let Some(its) = it.trust {
        row = row.fact(html! { "trust " (trust(its)) });
    }
    if let Some(at) = it.cached {
        row = row.fact(html! { "the result of " (moment(at)) });
    }
    row.fact(because(key, before))
}

fn intended(key: &str, it: &EffectIntended, before: &Before) -> Row {
    let text = |name: &str| it.arguments.get(name).and_then(Value::as_str);
    let row = match &it.speech {
        ActSpeech::Speaks(speech) => {
            let to = speech.to.as_deref().and_then(text);
            let head = html! {
                @match speech.kind {
                    SpeechKind::Whisper => { "Whispers" }
                    SpeechKind::Page => { "Pages" }
                    SpeechKind::Channel => { "Says on" }
                    _ => { "Says" }
                }
                @if let Some(to) = to { " " b { (outside(to)) } }
            };
            Row::new(Lane::Did, head).text(text(&speech.words).unwrap_or(""))
        }
        _ => Row::new(
            Lane::Did,
            html! { b { (it.tool) } " " (json(&it.arguments)) },
        ),
    };
    let row = match it.trust {
        Some(its) => row.fact(html! { "trust " (trust(its)) }),
        None => row,
    };
    let row = match &it.audience {
        Some(audience) => row.fact(html! { "known to " (outside(&audience.to_string())) }),
        None => row,
    };
    let row = match it.approval {
        Some(approval) => row.fact(html! { "allowed by " (event(key, approval)) }),
        None => row,
    };
    row.fact(because(key, before))
}

fn recollected(key: &str, it: &Recollected) -> Row {
    if let Some(failure) = it.failure {
        return Row::new(
            Lane::Remembered,
            html! { "Recalls nothing: " (failure.reason()) },
        );
    }
    let count = it.items.len();
    let head = html! { "Recalls " (counted(count as u64, "memory", "memories")) };
    let row = match count {
        0 => Row::frame(Lane::Remembered, head),
        _ => Row::new(Lane::Remembered, head).fact(html! {
            details {
                summary { "Which" }
                ul {
                    @for item in &it.items {
                        @match item {
                            RecalledItem::Again(id) => li { a href={ "/a/" (key) "/memory/" (id) "/" } { (id) } " (shown before)" },
                            RecalledItem::New(line) => li {
                                (beginning(&line.text, EXCERPT)) " "
                                a href={ "/a/" (key) "/memory/" (line.record) "/" } { (line.record) }
                                " trust " (trust(line.trust))
                            },
                        }
                    }
                }
            }
        }),
    };
    let withheld = it.withheld.iter().map(|one| {
        html! {
            "withheld: " a href={ "/a/" (key) "/memory/" (one.record) "/" } { (one.record) }
            ", known to " (outside(&one.audience.to_string()))
        }
    });
    withheld.fold(row, Row::fact)
}

/// A change of the memory, with links to its records.
fn remembered(key: &str, seq: Seq, change: &MemoryChange) -> Markup {
    let link =
        |id: &RecordId| html! { a href={ "/a/" (key) "/memory/" (id) "/" } { "record " (id) } };
    html! {
        @match change {
            MemoryChange::Added { notes } => {
                "Adds " (counted(notes.len() as u64, "record", "records"))
                @if let [note] = notes.as_slice() { " (" (record(key, seq)) "): " (beginning(note.text(), EXCERPT)) }
            }
            MemoryChange::Superseded { record, by, until } => {
                (link(record)) " is no longer true since " (moment(*until))
                @if let Some(by) = by { "; " (link(by)) " replaces it" }
            }
            MemoryChange::Folded { records, into } => {
                @for record in records { (link(record)) " " } "become a part of " (link(into))
            }
            MemoryChange::Withdrawn { record } => { "Takes " (link(record)) " out of recall" }
            MemoryChange::Published { record } => { (link(record)) " may be told to anybody" }
            MemoryChange::Erased { record } => { "Erases " (link(record)) }
            MemoryChange::Linked { a, b, .. } => { "Links " (link(a)) " with " (link(b)) }
            MemoryChange::Extracted { facts, records, .. } => {
                "Makes " (counted(facts.len() as u64, "fact", "facts")) " from " (counted(records.len() as u64, "record", "records"))
            }
            MemoryChange::Undone { event: undone } => { "Takes back " (event(key, *undone)) }
            other => { "Changes the memory: " (in_words(other)) }
        }
    }
}

/// What an event changed in the journal.
fn written(change: &JournalChange) -> Markup {
    match change {
        JournalChange::Added { entry, .. } => html! {
            "Writes entry " (entry.id) ", importance " (entry.importance) ": " (beginning(&entry.content, EXCERPT))
        },
        JournalChange::Reflected { insights } => html! {
            "Concludes: " @for insight in insights { (beginning(&insight.content, EXCERPT)) " " }
        },
        JournalChange::QuestionsRaised { questions, .. } => html! {
            "Asks itself: " @for question in questions { (beginning(question, EXCERPT)) " " }
        },
        other => html! { "Journal: " (json(other)) },
    }
}

fn outcome(outcome: &Outcome) -> Markup {
    html! {
        @match outcome {
            Outcome::Done(_) => { "Done" }
            Outcome::Rejected(rejection) => { "Rejected: " (beginning(&rejection.reason, EXCERPT)) }
            Outcome::Unknown => { "Whether it happened is unknown, and it is not repeated" }
        }
    }
}

/// The reply that decided on something, with the prompt behind it.
fn because(key: &str, before: &Before) -> Markup {
    html! {
        @if let Some(reply) = before.reply {
            "why: reply " (event(key, reply)) " to this " a href={ "/a/" (key) "/prompt/?at=" (reply) } { "prompt" }
        } @else if let Some(trigger) = before.trigger {
            "why: " (event(key, trigger))
        }
    }
}

fn record(key: &str, seq: Seq) -> Markup {
    html! { a href={ "/a/" (key) "/memory/" (seq) "/" } { "Record" } }
}

fn tokens(prompt: u32, completion: u32) -> Markup {
    html! { (grouped(prompt)) " tokens in, " (grouped(completion)) " out" }
}

/// Who made a change, in brackets, for a place after a full stop.
fn signed(author: &Author) -> Markup {
    html! {
        @if let Author::Operator(name) | Author::Import(name) = author { span.quiet { "(by " (outside(name)) ")" } }
    }
}

fn by_whom(author: &Author) -> Markup {
    html! {
        @match author {
            Author::Operator(name) => { ", by " (outside(name)) }
            Author::Import(name) => { ", imported by " (outside(name)) }
            _ => {}
        }
    }
}

/// Data of the engine as they are in the log, cut.
fn json(value: &impl Serialize) -> Markup {
    let text = serde_json::to_string(value).unwrap_or_default();
    html! { code { (beginning(&text, EXCERPT)) } }
}

/// The value of a setting for people: a list without its brackets and quotation marks, a table as names with their values.
fn plainly(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(each) if each.is_empty() => "nothing".to_owned(),
        Value::Array(each) => each.iter().map(plainly).collect::<Vec<_>>().join(", "),
        Value::Object(each) if each.is_empty() => "nothing".to_owned(),
        Value::Object(each) => {
            let each = each.iter().map(|(name, value)| match value {
                Value::Object(_) => format!("{name} ({})", plainly(value)),
                _ => format!("{name} {}", plainly(value)),
            });
            each.collect::<Vec<_>>().join("; ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A change as it is in the log, as names with their values, cut.
fn in_words(change: &impl Serialize) -> Markup {
    let value = serde_json::to_value(change).unwrap_or_default();
    beginning(&plainly(&value), EXCERPT)
}

/// A word of the log for people.
fn words_of(value: &impl Serialize) -> String {
    let text = match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    };
    text.replace('_', " ")
}
