//! Everything that the prompts of a turn show, each part with its trust.

use std::{collections::BTreeSet, ops::Deref, sync::Arc};

use dormouse_contracts::{
    Attribution, EntityId, FORGOTTEN, Origin, Seq, SourceKind, Sources, Trust,
};
use dormouse_retrieval::support::{AnalysedText, ShownText};
use serde_json::Value;

use super::{RECALL_HISTORY, is_own, lists_lines};
use crate::{
    delegating::shown_briefing,
    event::{
        Call, DelegatedTask, DelegatedWords, GoalNote, Omitted, ProjectStatus, RecalledLine,
        Recollected, Verdict,
    },
    privacy::{KnownGoal, KnownProject, Shareable},
    render,
    results::{is_left_out, named_origin},
    state::{CallState, FinishedTurn, Heard, HistorySummary, SelfNote, State, Step, Trigger, Turn},
};

/// The trust of what the world answered: the answer may hold text that anybody wrote there.
pub(crate) const SURROUNDINGS_TRUST: Trust = match Trust::try_new(0.2) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// A part of a prompt, and whether the prompt of the last step showed it. Parts without room, and what was looked up
/// since, still count for the trust.
#[derive(Clone, Debug)]
pub(crate) struct ShownItem<'a> {
    part: Part<'a>,
    pub(crate) was_shown: bool,
}

/// There are thousands of parts, so an item must be small.
#[derive(Clone, Debug)]
enum Part<'a> {
    Kept(&'a ShownPart<'static>),
    Made(Box<ShownPart<'a>>),
}

impl<'a> Deref for ShownItem<'a> {
    type Target = ShownPart<'a>;

    fn deref(&self) -> &Self::Target {
        match &self.part {
            Part::Kept(part) => part,
            Part::Made(part) => part,
        }
    }
}

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownPart<'a> {
    /// The event that it comes from, by which a model can name it.
    pub(crate) origin: Option<Origin>,
    /// Its sources: the same event, or, if it has no event of its own, the events that it was made of. Empty for names.
    pub(crate) rests_on: Vec<Origin>,
    pub(crate) from: Attribution,
    pub(crate) said: AnalysedText<'a>,
}

impl<'a> ShownPart<'a> {
    /// Whether the prompt of the last step showed it.
    fn was_shown(self, was_shown: bool) -> ShownItem<'a> {
        let part = Part::Made(Box::new(self));
        ShownItem { part, was_shown }
    }

    fn into_owned(self) -> ShownPart<'static> {
        ShownPart {
            origin: self.origin,
            rests_on: self.rests_on,
            from: self.from,
            said: self.said.into_owned(),
        }
    }
}

/// Parts that are shown together, such as those of one result.
pub(crate) type ShownParts = Arc<[ShownPart<'static>]>;

/// What prompts of later turns can show of a finished turn, before the listeners are considered.
#[derive(Debug, PartialEq)]
pub(crate) struct TurnWords {
    trigger: ShownPart<'static>,
    done: Vec<ShownParts>,
    /// The lowest trust of all parts that are not names.
    least: Trust,
}

impl TurnWords {
    pub(crate) fn of(turn: &Turn) -> Self {
        let trigger = trigger(&turn.trigger).into_owned();
        let origin = Origin::event(turn.trigger_seq());
        let steps = turn.steps.iter().skip(turn.shown_from());
        let done = steps.flat_map(|step| {
            let results = step.calls.iter();
            let results = results.map(|call| Arc::clone(call.shown(|| result(call, origin))));
            let words: ShownParts = Arc::new([said(step, origin)]);
            [words].into_iter().chain(results)
        });
        Self {
            least: trusts_done(turn).fold(trigger.said.trust, Trust::lowest),
            done: done.filter(|parts| !parts.is_empty()).collect(),
            trigger,
        }
    }

    /// Whether the lowest trust is that of its parts.
    #[cfg(test)]
    pub(crate) fn has_least_of_parts(&self) -> bool {
        let done = self.done.iter().flat_map(|parts| parts.iter());
        let parts = done.chain([&self.trigger]);
        let trusts = parts.filter(|part| !part.said.is_name);
        let trusts = trusts.map(|part| part.said.trust);
        trusts.fold(Trust::FULL, Trust::lowest) == self.least
    }
}

/// The lowest trust of everything that a prompt of this turn could show. Names do not count, because every prompt has
/// some.
pub(crate) fn least_trusted(state: &State, turn: &Turn) -> Trust {
    let mut shareable = Shareable::of(state, turn);
    let before = match turn.is_careful() {
        true => Vec::new(),
        false => std::mem::take(&mut shareable.turns),
    };
    let items = shown_around(shareable, state, turn);
    let around = items.iter().filter(|item| !item.said.is_name);
    let around = around.map(|item| item.said.trust);
    let before = before.into_iter().map(|turn| turn.words().least);
    let trusts = around.chain(before).chain(trusts_done(turn));
    trusts.fold(Trust::FULL, Trust::lowest)
}

/// The trust of each part of [`done`] that is not a name.
fn trusts_done(turn: &Turn) -> impl Iterator<Item = Trust> {
    let steps = turn.steps.iter().skip(turn.shown_from());
    steps.flat_map(|step| {
        let results = step.calls.iter().map(|call| match ShownResult::of(call) {
            None => Trust::FULL,
            Some(ShownResult::Outside(_)) => call.trust.unwrap_or(SURROUNDINGS_TRUST),
            Some(ShownResult::Lines(lines)) => (lines.iter())
                .filter(|line| !line.said.is_name)
                .map(|line| line.said.trust)
                .fold(Trust::FULL, Trust::lowest),
            Some(ShownResult::Own(_)) => call.trust.unwrap_or(Trust::FULL),
        });
        [step.trust].into_iter().chain(results)
    })
}

/// Everything that a prompt of this turn could show. The trigger of the turn comes first, then the words of its first
/// `spoken` steps and the results of all steps. Names come last.
pub(crate) fn shown<'a>(state: &'a State, turn: &'a Turn, spoken: usize) -> Vec<ShownItem<'a>> {
    let mut items = shown_around(Shareable::of(state, turn), state, turn);
    let omitted = omitted(turn);
    let done = done(turn, spoken).into_iter();
    items.extend(done.map(|item| {
        let was_shown = item.was_shown && has_room(omitted, &item);
        ShownItem { was_shown, ..item }
    }));
    let said = items.iter().map(|item| &item.said);
    let said = said.flat_map(|said| [&said.speaker, &said.channel]);
    let names: BTreeSet<&String> = said.filter(|name| !name.is_empty()).collect();
    let names: Vec<_> = names.into_iter().cloned().collect();
    items.extend(names.into_iter().map(|it| name(it).was_shown(true)));
    items
}

fn has_room(omitted: &Omitted, part: &ShownPart<'_>) -> bool {
    let mut cut = omitted.records.iter();
    !cut.any(|record| part.origin == Some(*record))
}

/// What a prompt of this turn could show apart from what was done in the turn and the names of those who said something.
fn shown_around<'a>(
    shareable: Shareable<'a>,
    state: &'a State,
    turn: &'a Turn,
) -> Vec<ShownItem<'a>> {
    let omitted = omitted(turn);
    let shown = |part: ShownPart<'a>| part.was_shown(true);
    let mut items = vec![shown(trigger(&turn.trigger))];
    let briefing = shown_briefing(state, turn);
    items.extend(briefing.map(|words| shown(briefed(turn, words))));
    if !turn.is_careful() {
        let Shareable {
            turns,
            overheard,
            goals,
            projects,
            notes: kept,
            replaced,
            summaries,
            ..
        } = shareable;
        let notes = goals.iter().filter_map(|known| known.note);
        let contexts = projects.iter().filter_map(|known| known.context);
        let notes = notes.chain(contexts).chain(replaced).map(noted);
        items.extend(goals.iter().map(goal).chain(notes.map(shown)));
        items.extend(projects.iter().map(project));
        items.extend(kept.into_iter().map(self_note).map(shown));
        items.extend(summaries.into_iter().map(summary).map(shown));
        let turns: Vec<_> = with_shown(turns, omitted).collect();
        let kept = |part: &'a ShownPart<'static>, was_shown| ShownItem {
            part: Part::Kept(part),
            was_shown,
        };
        let triggers = turns.iter();
        items.extend(triggers.map(|(turn, was_shown)| kept(&turn.words().trigger, *was_shown)));
        items.extend(overheard.into_iter().map(|line| {
            let was_shown = was_line_shown(line, omitted);
            heard(line).was_shown(was_shown)
        }));
        let looked_up = turn.looked_up(recollected).iter();
        items.extend(looked_up.map(|part| kept(part, has_room(omitted, part))));
        items.extend(turns.into_iter().flat_map(|(turn, was_shown)| {
            let done = turn.words().done.iter().flat_map(|parts| parts.iter());
            done.map(move |part| kept(part, was_shown))
        }));
    }
    items
}

/// What the prompt of the last step did not show for want of room.
pub(super) fn omitted(turn: &Turn) -> &Omitted {
    const NOTHING: &Omitted = &Omitted {
        turns_through: None,
        lines_through: None,
        records: Vec::new(),
    };
    turn.steps.last().map_or(NOTHING, |step| &step.omitted)
}

/// Finished turns, each with whether it was shown.
pub(super) fn with_shown<'a>(
    turns: Vec<&'a FinishedTurn>,
    omitted: &Omitted,
) -> impl Iterator<Item = (&'a FinishedTurn, bool)> {
    let is_last = |turn: &&FinishedTurn| Some(turn.trigger_seq()) == omitted.turns_through;
    let left_out = turns.iter().position(is_last).map_or(0, |last| last + 1);
    let numbered = turns.into_iter().enumerate();
    numbered.map(move |(place, turn)| (turn, place >= left_out))
}

/// Whether an overheard line was shown.
pub(super) fn was_line_shown(line: &Heard, omitted: &Omitted) -> bool {
    omitted.lines_through.is_none_or(|last| line.seq > last)
}

/// A summary of turns that are left out. It is unknown which of its words come from which source.
fn summary(made: &HistorySummary) -> ShownPart<'_> {
    ShownPart {
        origin: None,
        rests_on: made.sources.as_slice().to_vec(),
        from: Attribution::Several,
        said: ShownText::text(made.trust, &*made.text).into(),
    }
}

/// A name of somebody or something.
fn name<'a>(name: String) -> ShownPart<'a> {
    ShownPart {
        origin: None,
        rests_on: Vec::new(),
        from: Attribution::Surroundings,
        said: ShownText::name(name).into(),
    }
}

fn trigger(trigger: &Trigger) -> ShownPart<'_> {
    match trigger {
        Trigger::Message(message) => heard(message),
        Trigger::Occasion(occasion) => ShownPart {
            origin: Some(Origin::event(occasion.seq)),
            rests_on: vec![Origin::event(occasion.seq)],
            from: Attribution::Myself,
            said: ShownText::text(occasion.trust, &*occasion.text).into(),
        },
    }
}

/// The briefing that another assistant gave with a task.
fn briefed<'a>(turn: &Turn, words: &'a DelegatedWords) -> ShownPart<'a> {
    ShownPart {
        origin: None,
        rests_on: vec![DelegatedTask::briefing_in(turn.trigger_seq())],
        from: Attribution::Several,
        said: ShownText::text(words.trust, &*words.text).into(),
    }
}

fn goal<'a>(known: &KnownGoal<'a>) -> ShownItem<'a> {
    let goal = known.goal;
    made(goal.seq, &goal.description).was_shown(goal.is_open())
}

fn project<'a>(known: &KnownProject<'a>) -> ShownItem<'a> {
    let project = known.project;
    let is_active = project.status == ProjectStatus::Active;
    made(project.seq, &project.summary).was_shown(is_active)
}

fn self_note(kept: &SelfNote) -> ShownPart<'_> {
    made(kept.seq, &kept.note)
}

fn made(seq: Seq, note: &GoalNote) -> ShownPart<'_> {
    ShownPart {
        origin: Some(Origin::event(seq)),
        rests_on: vec![Origin::event(seq)],
        from: Attribution::Myself,
        said: ShownText::text(note.trust, &*note.text).into(),
    }
}

fn noted(note: &GoalNote) -> ShownPart<'_> {
    ShownPart {
        origin: None,
        rests_on: note.sources.as_slice().to_vec(),
        from: Attribution::Several,
        said: ShownText::text(note.trust, &*note.text).into(),
    }
}

fn heard(heard: &Heard) -> ShownPart<'_> {
    let attested = &heard.perception.attested;
    let from = Attribution::from(&attested.sender);
    let (how, channel) = match &attested.source {
        SourceKind::Channel(channel) => ("channel", channel.as_str()),
        SourceKind::Whisper => ("whisper", ""),
        SourceKind::Page => ("page", ""),
        _ => ("", ""),
    };
    ShownPart {
        origin: Some(Origin::event(heard.seq)),
        rests_on: vec![Origin::event(heard.seq)],
        said: AnalysedText::from(ShownText {
            speaker: from.name().unwrap_or_default().to_owned(),
            channel: channel.to_owned(),
            around: format!("{how} {}", attested.at),
            ..ShownText::text(heard.trust, heard.perception.words.as_claimed())
        }),
        from,
    }
}

fn recollected(found: &Recollected<RecalledLine>) -> ShownParts {
    let lines = found.items.iter().flat_map(remembered);
    let blocks = [&found.entities, &found.orders].into_iter();
    let blocks = blocks.filter(|block| !block.is_empty()).flat_map(|block| {
        let several = |text, sources: &Sources| ShownPart {
            origin: None,
            rests_on: sources.as_slice().to_vec(),
            from: Attribution::Several,
            said: ShownText::text(block.trust, text).into(),
        };
        // The whole block counts for the trust, because a note may join its parts. The parts have the sources.
        let whole = several(&*block.text, &Sources::default());
        let parts = block
            .parts
            .iter()
            .map(|part| several(part.of(&block.text), &part.sources));
        let parts: Vec<_> = parts.collect();
        [whole]
            .into_iter()
            .chain(parts)
            .chain(block.names.iter().cloned().map(name))
    });
    lines.chain(blocks).map(ShownPart::into_owned).collect()
}

/// A remembered line, and the name of its place, which is outside text.
fn remembered(line: &RecalledLine) -> impl Iterator<Item = ShownPart<'_>> {
    let said = ShownPart {
        origin: Some(line.record),
        rests_on: vec![line.record],
        from: line.from.clone(),
        said: AnalysedText::from(ShownText {
            speaker: line.from.name().unwrap_or_default().to_owned(),
            around: line.at.to_string(),
            ..ShownText::text(line.trust, &*line.text)
        }),
    };
    [said].into_iter().chain(render::place(line).map(name))
}

/// The parts of a turn: the words of its first `spoken` steps, and the results of all steps. Each comes with whether it was
/// shown before the next step's words were written.
fn done(turn: &Turn, spoken: usize) -> Vec<ShownItem<'_>> {
    let mut items = Vec::new();
    let trigger = Origin::event(turn.trigger_seq());
    let steps = turn.steps.iter().enumerate();
    for (index, step) in steps.skip(turn.shown_from()) {
        if index < spoken {
            items.push(said(step, trigger).was_shown(true));
        }
        let results = step.calls.iter();
        let results = results.flat_map(|call| call.shown(|| result(call, trigger)).iter());
        // What the judged reply itself looked up came only after its words.
        items.extend(results.map(|part| ShownItem {
            part: Part::Kept(part),
            was_shown: index < spoken,
        }));
    }
    items
}

/// The words of a step, in a turn of this message.
fn said(step: &Step, trigger: Origin) -> ShownPart<'static> {
    let acts = step.calls.iter().filter_map(settled);
    let sources = step.sources.iter().flat_map(Sources::as_slice).copied();
    ShownPart {
        origin: None,
        rests_on: [trigger].into_iter().chain(acts).chain(sources).collect(),
        from: Attribution::Myself,
        said: words(step).into(),
    }
}

/// What a step says.
fn words(step: &Step) -> ShownText<'static> {
    let arguments = step.calls.iter().map(|call| call.call.arguments.as_str());
    let words = [step.content.as_str()].into_iter().chain(arguments);
    ShownText::text(step.trust, words.collect::<Vec<_>>().join("\n"))
}

/// What a reply says, without the names of the arguments.
pub(crate) fn spoken<C>(content: &str, calls: &[C], call: impl Fn(&C) -> &Call) -> String {
    let mut texts = vec![content.to_owned()];
    for arguments in calls.iter().map(|it| &*call(it).arguments) {
        match serde_json::from_str(arguments) {
            Ok(arguments) => add_texts(&arguments, &mut texts),
            Err(_) => texts.push(arguments.to_owned()),
        }
    }
    texts.join("\n")
}

fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| add_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Words of the assistant that a prompt could show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnWords {
    pub(super) said: AnalysedText<'static>,
    /// Their sources, other than the trigger of their turn; `None` if that was not recorded.
    pub(super) sources: Option<Sources>,
    /// The words that the assistant chose itself, if it is known that all others come from the trigger of the turn.
    pub(super) chosen: Option<AnalysedText<'static>>,
}

impl OwnWords {
    fn of(step: &Step, trigger: &Trigger) -> Self {
        let said = spoken(&step.content, &step.calls, |it| &it.call);
        let chooses = step.sources.as_ref().is_some_and(Sources::is_empty);
        let called_for = match trigger {
            Trigger::Message(message) => message.perception.words.as_claimed(),
            Trigger::Occasion(occasion) => &occasion.text,
        };
        let chosen = chooses.then(|| without_words_of(&said, called_for));
        Self {
            chosen: chosen.map(|words| ShownText::text(step.trust, words).into()),
            said: ShownText::text(step.trust, said).into(),
            sources: step.sources.clone(),
        }
    }
}

/// The words of the assistant in earlier turns that the prompts of this turn could show.
pub(super) fn own_words_before<'a>(
    state: &'a State,
    turn: &Turn,
) -> impl Iterator<Item = &'a OwnWords> {
    let earlier = match turn.is_careful() {
        true => Vec::new(),
        false => Shareable::of(state, turn).turns,
    };
    earlier.into_iter().flat_map(|turn| own_words_in(turn))
}

/// The words of the assistant in a turn that prompts of it could show.
pub(super) fn own_words_in(turn: &Turn) -> impl Iterator<Item = &OwnWords> {
    let steps = turn.steps.iter().skip(turn.shown_from());
    steps.map(|step| step.own_words(|| OwnWords::of(step, &turn.trigger)))
}

/// The event with the outcome of an act.
fn settled(call: &CallState) -> Option<Origin> {
    let effect = call.effect.as_ref()?;
    effect.settled.map(Origin::event)
}

/// What may be shown of the result of a call.
enum ShownResult<'a> {
    /// The world's own words.
    Outside(&'a str),
    /// Lines that were recalled.
    Lines(Vec<ShownPart<'static>>),
    /// What the engine answered.
    Own(&'a str),
}

impl<'a> ShownResult<'a> {
    /// `None` if no text that was written outside can be in it.
    fn of(call: &'a CallState) -> Option<Self> {
        let content = call.result.as_deref().filter(|_| was_made(call))?;
        // It reads back what the world answered.
        let is_read_back = call.call.name == RECALL_HISTORY && call.trust.is_none();
        if !is_own(&call.call.name) || is_read_back {
            return Some(Self::Outside(content));
        }
        let lines = lists_lines(&call.call.name).then(|| recalled(content));
        Some(lines.flatten().map_or(Self::Own(content), Self::Lines))
    }
}

/// The result of a call in the turn of this message. The result of an act often repeats the spoken words. These are
/// left out, because they are nothing new.
fn result(call: &CallState, trigger: Origin) -> ShownParts {
    let content = match ShownResult::of(call) {
        None => return Arc::default(),
        Some(ShownResult::Lines(lines)) => return lines.into(),
        Some(ShownResult::Outside(content)) => {
            return Arc::new([ShownPart {
                origin: None,
                rests_on: vec![settled(call).unwrap_or(trigger)],
                from: Attribution::Surroundings,
                said: ShownText::text(
                    call.trust.unwrap_or(SURROUNDINGS_TRUST),
                    without_words_of(content, &call.call.arguments),
                )
                .into(),
            }]);
        }
        Some(ShownResult::Own(content)) => content,
    };
    let holds_lines = call.trust.map(|trust| ShownPart {
        origin: None,
        rests_on: Vec::new(),
        from: Attribution::Several,
        // Forgotten words may have said anything.
        said: ShownText::text(
            trust,
            if is_left_out(content) {
                FORGOTTEN
            } else {
                content
            }
            .to_owned(),
        )
        .into(),
    });
    let parts = call
        .trust
        .into_iter()
        .flat_map(|trust| parts(content, trust));
    let names = names_in(content).into_iter().map(name);
    holds_lines.into_iter().chain(parts).chain(names).collect()
}

/// The parts of a result about a person, each with its listed sources. Together they say no more than the whole.
fn parts(content: &str, trust: Trust) -> Vec<ShownPart<'static>> {
    let content: Value = serde_json::from_str(content).unwrap_or_default();
    let mut parts = Vec::new();
    let mut waiting: Vec<&Value> = content.get("result").into_iter().collect();
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(values) => waiting.extend(values),
            Value::Object(fields) => {
                let sources = fields.get("sources").and_then(Value::as_array);
                let sources = sources.into_iter().flatten().filter_map(Value::as_str);
                let rests_on: Vec<_> = sources.filter_map(named_origin).collect();
                if rests_on.is_empty() {
                    waiting.extend(fields.values());
                    continue;
                }
                parts.push(ShownPart {
                    origin: rests_on.first().copied().filter(|_| rests_on.len() == 1),
                    rests_on,
                    from: Attribution::Several,
                    said: ShownText::text(trust, value.to_string()).into(),
                });
            }
            _ => {}
        }
    }
    parts
}

/// The names of the person that a result is about. If the result was cut, all of it counts as a name.
fn names_in(content: &str) -> Vec<String> {
    let content: Option<Value> = serde_json::from_str(content).ok();
    let field = |name: &str| content.as_ref().and_then(|content| content.get(name));
    let result = field("result");
    let of = |field: &str| result.and_then(|result| result.get(field));
    let aliases = of("also_known_as").and_then(Value::as_array);
    let names = aliases.into_iter().flatten().chain(of("name"));
    let names = names.chain(field("result_text"));
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether the result of a call may hold text that was written outside.
fn was_made(call: &CallState) -> bool {
    let was_made = match call.verdict {
        Some(Verdict::Success | Verdict::Failure) => true,
        // If the world refused because too many would hear it, the result names these people.
        Some(Verdict::Deferred) => call.effect.is_some(),
        Some(Verdict::Skipped) | None => false,
    };
    call.category.is_some() && was_made
}

/// The lines of a recall, as its result lists them. `None` if the result was cut.
fn recalled(content: &str) -> Option<Vec<ShownPart<'static>>> {
    let content: Value = serde_json::from_str(content).ok()?;
    let lines = content.get("result")?.get("memories")?.as_array()?;
    let line = |line: &Value| {
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        let trust = line.get("trust").and_then(Value::as_f64)?;
        #[expect(clippy::cast_possible_truncation, reason = "two digits are kept")]
        let trust = Trust::try_new(trust as f32).ok()?;
        let is_withdrawn = line.get("withdrawn").is_some();
        let from = match text("from") {
            Some(from) => recalled_from(from, text("entity")),
            None if is_withdrawn => Attribution::Unknown,
            None => return None,
        };
        let words = text("text").or(is_withdrawn.then_some(FORGOTTEN))?;
        let place = text("place").map(|place| name(place.to_owned()));
        let origin = text("id").and_then(named_origin);
        let said = ShownPart {
            origin,
            rests_on: origin.into_iter().collect(),
            said: AnalysedText::from(ShownText {
                speaker: from.name().unwrap_or_default().to_owned(),
                around: text("at").unwrap_or_default().to_owned(),
                ..ShownText::text(trust, words.to_owned())
            }),
            from,
        };
        Some([said].into_iter().chain(place))
    };
    let lines: Option<Vec<_>> = lines.iter().map(line).collect();
    Some(lines?.into_iter().flatten().collect())
}

/// The attribution of a recalled line, from the name and the id in the result: the reverse of [`render::name`].
fn recalled_from(name: &str, entity: Option<&str>) -> Attribution {
    if let Some(id) = entity.and_then(|id| EntityId::try_new(id).ok()) {
        return Attribution::entity(id, name);
    }
    let without_name = [
        Attribution::Myself,
        Attribution::Surroundings,
        Attribution::Several,
        Attribution::Unknown,
    ];
    let mut without_name = without_name.into_iter();
    without_name
        .find(|from| render::name(from) == name)
        .unwrap_or_else(|| Attribution::Named(name.to_owned()))
}

/// The words of `content` that `arguments` lack.
fn without_words_of(content: &str, arguments: &str) -> String {
    let said = dormouse_retrieval::words(arguments);
    let words = content.split_whitespace();
    let is_new = |word: &&str| {
        // Results without arguments are the longest. A word of ASCII has a part if and only if it has a letter or digit.
        if said.is_empty() && word.is_ascii() {
            return word.bytes().any(|byte| byte.is_ascii_alphanumeric());
        }
        let parts = dormouse_retrieval::words(word);
        parts.iter().any(|part| !said.contains(part))
    };
    words.filter(is_new).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn without_arguments_exactly_the_words_that_say_something_stay(
            content in "[ -~é日\u{301}\u{2019}]{0,40}",
        ) {
            let says_something = |word: &&str| !dormouse_retrieval::words(word).is_empty();
            let words: Vec<_> = content.split_whitespace().filter(says_something).collect();
            prop_assert_eq!(without_words_of(&content, "{}"), words.join(" "));
        }
    }
}
