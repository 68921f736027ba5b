//! Hosts of the simulation: the real log, the real decisions, and assistants that append.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_contracts::{
    AppendErrorKind, AppendRequest, AssistantId, BoxError, BoxFuture, NewEvent, Seq, Timestamp,
};
use tokio::{
    select,
    sync::oneshot,
    task::JoinSet,
    time::{Instant, sleep},
};

use super::{
    Mutant,
    random::Dice,
    servers::{Servers, Wire},
};
use crate::{
    hosting::{Directory, HostAssistants, Hosting, Stay},
    log::Core,
    ownership::{Gone, HostName, Identity, Ownership, Pace},
};

/// How long a call to the log is repeated.
const PATIENCE: Duration = Duration::from_secs(4);

/// What was promised, and who lives where.
#[derive(Default)]
pub(super) struct Truth {
    /// Assistant, number of the event, its payload, and when it was acknowledged.
    pub(super) acknowledged: Vec<(AssistantId, u64, String, Instant)>,
    /// The processes in which an assistant lives.
    pub(super) living: BTreeMap<AssistantId, BTreeSet<String>>,
    pub(super) conflicts: u32,
    pub(super) unknown: u32,
    pub(super) refused_after_fencing: u32,
    pub(super) left: u32,
}

/// What all hosts share.
#[derive(Clone)]
pub(super) struct Town {
    pub(super) servers: Servers,
    pub(super) truth: Arc<Mutex<Truth>>,
    pub(super) enrolled: BTreeSet<AssistantId>,
    pub(super) pace: Pace,
    pub(super) mutant: Option<Mutant>,
    /// How many milliseconds an assistant waits between two events.
    pub(super) waits: (u64, u64),
}

/// A host process. Dropping it is a crash.
pub(super) struct Process {
    tasks: JoinSet<Gone>,
    leave: Option<oneshot::Sender<()>>,
    pub(super) label: String,
    town: Town,
}

impl Process {
    pub(super) fn start(town: &Town, host: usize, dice: &mut Dice) -> Self {
        let incarnation = dice.next();
        let label = format!("h{host}-{incarnation:x}");
        let mut writer = [0; 16];
        writer[..8].copy_from_slice(&incarnation.to_le_bytes());
        if town.mutant == Some(Mutant::OneWriterForAll) {
            writer = [7; 16];
        }
        let wire = |stream| town.servers.wire(host, stream);
        let core = Core::new((wire(0), wire(0)), writer, PATIENCE);
        let identity = Identity {
            name: HostName::try_new(format!("h{host}")).unwrap(),
            incarnation,
            weight: 1,
            capacity: 1_000,
        };
        let machine = Ownership::new(identity, town.pace);
        let directory = Directory::new(wire(1), town.pace.lease);
        // The clock begins anywhere, and is up to a tenth too fast or too slow.
        let offset = dice.millis(0, 3_600_000);
        let speed = 900 + u32::try_from(dice.below(200)).unwrap();
        let started = Instant::now();
        let clock = move || offset + started.elapsed() * speed / 1_000;
        let residents = Residents {
            core,
            town: town.clone(),
            label: label.clone(),
            dice: Mutex::new(Dice::new(dice.next())),
        };
        let (leave, asked) = oneshot::channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let hosting = Hosting {
                core: &residents.core,
                directory: &directory,
                assistants: &residents,
            };
            let leave = async {
                if asked.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            hosting.run(machine, clock, leave).await
        });
        Self {
            tasks,
            leave: Some(leave),
            label,
            town: town.clone(),
        }
    }

    pub(super) fn leave(&mut self) {
        if let Some(leave) = self.leave.take() {
            leave.send(()).ok();
        }
    }

    /// Why it has ended, if it has.
    pub(super) fn ended(&mut self) -> Option<Gone> {
        self.tasks.try_join_next().map(|ended| ended.unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tasks.abort_all();
        let mut truth = self.town.truth.lock().unwrap();
        for living in truth.living.values_mut() {
            living.remove(&self.label);
        }
    }
}

/// Assistants that append, as the engine does: an event that is refused ends them, one that may be stored is tried again as it was.
struct Residents {
    core: Core<Wire>,
    town: Town,
    label: String,
    dice: Mutex<Dice>,
}

/// Why an assistant does not go on.
enum End {
    Refused,
    LetGo,
}

impl HostAssistants for Residents {
    fn enrolled(&self) -> BoxFuture<'_, Result<BTreeSet<AssistantId>, BoxError>> {
        let all = self.town.enrolled.clone();
        Box::pin(async move { Ok(all) })
    }

    fn live(&self, assistant: AssistantId, mut stay: Stay) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Ok(end) = self.fold(&assistant).await else {
                return;
            };
            self.settle(&assistant, true);
            stay.began();
            let end = self.append_on(&assistant, end, &mut stay).await;
            if matches!(end, End::Refused) {
                self.come_back(&assistant, &mut stay).await;
            }
            self.settle(&assistant, false);
        })
    }
}

impl Residents {
    fn settle(&self, assistant: &AssistantId, lives: bool) {
        let mut truth = self.town.truth.lock().unwrap();
        let living = truth.living.entry(assistant.clone()).or_default();
        if lives {
            living.insert(self.label.clone());
        } else {
            living.remove(&self.label);
        }
    }

    /// Reads the whole log, and returns where it ends.
    async fn fold(&self, assistant: &AssistantId) -> Result<Seq, BoxError> {
        let mut end = Seq::ZERO;
        loop {
            let page = self.core.page(assistant, end, 64).await?;
            match page.last() {
                Some(last) => end = last.seq,
                None => return Ok(end),
            }
        }
    }

    fn event(&self, number: &mut u64) -> NewEvent {
        *number += 1;
        let at = Instant::now().elapsed();
        let salt = self.dice.lock().unwrap().next();
        NewEvent {
            at: Timestamp::from_micros(i64::try_from(at.as_micros()).unwrap()),
            kind: "heard",
            schema: 1,
            payload: format!("{} {number} {salt:x}", self.label).into_bytes(),
        }
    }

    fn millis(&self, from: u64, to: u64) -> Duration {
        self.dice.lock().unwrap().millis(from, to)
    }

    fn acknowledged(&self, request: &AppendRequest) {
        let mut truth = self.town.truth.lock().unwrap();
        for (event, seq) in request.events.iter().zip(request.expected.0 + 1..) {
            let payload = String::from_utf8(event.payload.clone()).unwrap();
            let assistant = request.assistant.clone();
            let at = Instant::now();
            truth.acknowledged.push((assistant, seq, payload, at));
        }
    }

    async fn append_on(&self, assistant: &AssistantId, mut end: Seq, stay: &mut Stay) -> End {
        let mut number = 0;
        loop {
            let mut request = AppendRequest {
                assistant: assistant.clone(),
                expected: end,
                events: vec![self.event(&mut number)],
            };
            loop {
                match self.core.append(request.clone()).await {
                    Ok(last) => {
                        self.acknowledged(&request);
                        end = last;
                        break;
                    }
                    Err(error) => match error.kind() {
                        AppendErrorKind::Storage | AppendErrorKind::Unknown => {
                            self.town.truth.lock().unwrap().unknown += 1;
                            if self.town.mutant == Some(Mutant::UnknownIsNothing) {
                                let Ok(found) = self.fold(assistant).await else {
                                    return End::Refused;
                                };
                                request.expected = found;
                            } else {
                                // What came meanwhile is written with it.
                                request.events.push(self.event(&mut number));
                            }
                        }
                        _ if self.town.mutant == Some(Mutant::StaysWhenFenced) => {}
                        _ => {
                            self.town.truth.lock().unwrap().conflicts += 1;
                            return End::Refused;
                        }
                    },
                }
                let pause = self.millis(20, 200);
                select! {
                    biased;
                    () = stay.until_let_go() => return End::LetGo,
                    () = sleep(pause) => {}
                }
            }
            let (from, to) = self.town.waits;
            let pause = self.millis(from, to);
            select! {
                biased;
                () = stay.until_let_go() => return End::LetGo,
                () = sleep(pause) => {}
            }
        }
    }

    /// A part of the host has not noticed, reads the log again and appends: this must be refused.
    async fn come_back(&self, assistant: &AssistantId, stay: &mut Stay) {
        for attempt in 0..3 {
            if self.town.mutant == Some(Mutant::NoEpochCheck) {
                let life = self.core.life(assistant);
                life.lock().await.fenced_by = None;
            }
            let Ok(expected) = self.fold(assistant).await else {
                return;
            };
            if self.town.mutant == Some(Mutant::NoEpochCheck) {
                let life = self.core.life(assistant);
                life.lock().await.fenced_by = None;
            }
            let request = AppendRequest {
                assistant: assistant.clone(),
                expected,
                events: vec![self.event(&mut { 1_000 + attempt })],
            };
            match self.core.append(request.clone()).await {
                Ok(_) => self.acknowledged(&request),
                Err(_) => self.town.truth.lock().unwrap().refused_after_fencing += 1,
            }
            let pause = self.millis(20, 400);
            select! {
                biased;
                () = stay.until_let_go() => return,
                () = sleep(pause) => {}
            }
        }
    }
}
