//! The task that owns a resident's socket: it does what the [`Session`] says, and nothing else.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dormouse_bridge::{DeliveryQueue, QueueError, Report};
use dormouse_contracts::{BoxError, Clock, EntityId, Sender, SourceKind};
use futures_util::{SinkExt, StreamExt};
use tokio::{
    net::TcpStream,
    select,
    sync::{mpsc, oneshot},
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{
        Message,
        protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
    },
};

use crate::{
    event::{GameEvent, Listener, words},
    frame::{self, LARGEST_FRAME, StaffCommand},
    notice::Notice,
    people::{AnotherPerson, People},
    plain::plain,
    session::{Action, Answer, Ask, AskId, Session},
};

/// How long opening a connection may take, and closing it.
const OPENING: Duration = Duration::from_secs(10);
const CLOSING: Duration = Duration::from_secs(2);

/// The pause before something is stored again that could not be stored.
const STORE_AGAIN: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// What the task is asked for.
#[derive(Debug)]
pub(crate) enum Order {
    Ask(Ask, oneshot::Sender<Answer>),
    StaffDone {
        id: String,
        text: String,
        ok: bool,
    },
    /// Leave the game.
    Close,
}

/// A command of the game's staff, and the resident that it is for.
pub(crate) type OnStaff = Box<dyn Fn(StaffCommand) + Send + Sync>;

/// The parts of a resident's connection.
pub(crate) struct Client {
    pub(crate) url: String,
    pub(crate) character: EntityId,
    /// What the keys of its acts begin with in the game.
    pub(crate) acts: String,
    pub(crate) session: Session,
    /// Where it stores what it hears; absent if it only looks.
    pub(crate) queue: Option<DeliveryQueue>,
    pub(crate) people: Arc<Mutex<People>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) on_notice: Box<dyn Fn(Notice) + Send + Sync>,
    pub(crate) on_staff: OnStaff,
    pub(crate) orders: mpsc::Receiver<Order>,
    pub(crate) replies: BTreeMap<AskId, oneshot::Sender<Answer>>,
    pub(crate) asked: AskId,
}

/// Something that the task waited for.
enum Happened {
    Order(Option<Order>),
    Message(Option<Result<Message, BoxError>>),
    Time,
}

impl Client {
    /// Keeps the resident in the game until the order to leave.
    pub(crate) async fn run(mut self) {
        let mut socket: Option<Box<Socket>> = None;
        loop {
            while let Some(action) = self.session.next(Instant::now()) {
                self.act(action, &mut socket).await;
            }
            match self.wait(socket.as_deref_mut()).await {
                Happened::Time => {}
                Happened::Order(Some(Order::Ask(ask, reply))) => {
                    self.asked += 1;
                    self.replies.insert(self.asked, reply);
                    self.session.ask(self.asked, ask, Instant::now());
                }
                Happened::Order(Some(Order::StaffDone { id, text, ok })) => {
                    self.session.staff_done(id, text, ok);
                }
                Happened::Order(None | Some(Order::Close)) => break,
                Happened::Message(message) => {
                    if let Some(why) = self.receive(message) {
                        socket = None;
                        self.session.closed(why, Instant::now());
                    }
                }
            }
        }
        if let Some(socket) = socket {
            hang_up(socket).await;
        }
    }

    async fn wait(&mut self, socket: Option<&mut Socket>) -> Happened {
        let until = self.session.next_at();
        let message = async {
            match socket {
                Some(socket) => socket.next().await.map(|it| it.map_err(BoxError::from)),
                None => std::future::pending().await,
            }
        };
        let time = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        select! {
            biased;
            order = self.orders.recv() => Happened::Order(order),
            message = message => Happened::Message(message),
            () = time => Happened::Time,
        }
    }

    /// Takes in a message. Returns why the connection ended, if it did.
    fn receive(&mut self, message: Option<Result<Message, BoxError>>) -> Option<String> {
        let now = Instant::now();
        let text = match message {
            None => return Some("the game closed the connection".to_owned()),
            Some(Err(error)) => return Some(error.to_string()),
            Some(Ok(Message::Close(frame))) => {
                let why = frame.map(|frame| plain(&frame.reason));
                return Some(why.unwrap_or_else(|| "the game closed the connection".to_owned()));
            }
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(_)) => {
                self.session.is_alive(now);
                return None;
            }
        };
        match frame::read(&text) {
            Ok(frame) => self.session.received(frame, now),
            Err(error) => {
                let why = dormouse_text::error_chain(&error);
                self.session.skipped(why, now);
            }
        }
        None
    }

    async fn act(&mut self, action: Action, socket: &mut Option<Box<Socket>>) {
        match action {
            Action::Connect => match connect(&self.url).await {
                Ok(opened) => {
                    *socket = Some(Box::new(opened));
                    self.session.opened(Instant::now());
                }
                Err(why) => self.session.closed(why, Instant::now()),
            },
            Action::HangUp => {
                if let Some(socket) = socket.take() {
                    hang_up(socket).await;
                }
            }
            Action::Send(frame) => self.send(Message::text(frame.to_text()), socket).await,
            Action::Ping => self.send(Message::Ping(Default::default()), socket).await,
            Action::Store(event) => self.store(&event).await,
            Action::Watch(text) => self.watch(&text).await,
            Action::Lost { after, count } => self.lost(after, count).await,
            Action::Answer(id, answer) => {
                if let Answer::Seen(state) = &answer
                    && !self.meet(&state.people)
                {
                    return;
                }
                if let Some(reply) = self.replies.remove(&id) {
                    // The caller may have stopped waiting.
                    drop(reply.send(answer));
                }
            }
            Action::Staff(command) => (self.on_staff)(command),
            Action::Report(notice) => (self.on_notice)(notice),
        }
    }

    async fn send(&mut self, message: Message, socket: &mut Option<Box<Socket>>) {
        let Some(open) = socket else { return };
        let sent = timeout(OPENING, open.send(message)).await;
        let why = match sent {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => "the game takes nothing in".to_owned(),
        };
        *socket = None;
        self.session.closed(why, Instant::now());
    }

    /// Stores an entry of the feed. Nothing else is received until the entry is stored. So no entry is acknowledged that
    /// may still be lost.
    async fn store(&mut self, event: &GameEvent) {
        if !self.meet(event.from.iter().chain(&event.audience)) {
            return;
        }
        let Some(queue) = &self.queue else { return };
        let (Some(you), Some(life)) = (self.session.you(), self.session.life()) else {
            return;
        };
        let listener = Listener {
            you,
            character: &self.character,
            acts: &self.acts,
        };
        // Before anything of this game is kept, so that another one is noticed.
        self.note_game(life);
        let (position, report) = (event.position(life), event.report(&listener));
        let place = position.to_string();
        while let Err(error) = queue.push_at(&self.character, &place, report.clone()).await {
            self.not_stored(&error).await;
        }
        self.session.stored(position, Instant::now());
    }

    /// Text of a game that attests nothing. It counts as the output of its own session, which never asks for an
    /// answer.
    async fn watch(&self, text: &str) {
        let Some(words) = words(&plain(text)) else {
            return;
        };
        let report = self.unattested(words);
        let Some(queue) = &self.queue else { return };
        while let Err(error) = queue.push(&self.character, report.clone()).await {
            self.not_stored(&error).await;
        }
    }

    async fn lost(&self, after: u64, count: u64) {
        let text = format!(
            "({count} messages were lost while you were away. What was said in them is not known.)"
        );
        let Some(words) = words(&text) else { return };
        let Some(life) = self.session.life() else {
            return;
        };
        let id = format!("{life}/lost/{after}/{count}");
        let report = self.unattested(words);
        let Some(queue) = &self.queue else { return };
        while let Err(error) = queue.push_once(&self.character, &id, report.clone()).await {
            self.not_stored(&error).await;
        }
    }

    fn unattested(&self, words: dormouse_contracts::Words) -> Report {
        let at = self.clock.now();
        Report::new(SourceKind::CommandOutput, Sender::Unattributed, at, words)
    }

    async fn not_stored(&self, error: &QueueError) {
        let why = dormouse_text::error_chain(error);
        (self.on_notice)(Notice::NotStored { why });
        sleep(STORE_AGAIN).await;
    }

    fn note_game(&self, game: &str) {
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = people.is_in(self.session.account(), game) {
            tracing::warn!(%error, "the id of the game could not be stored");
        }
    }

    /// Notes whom the game names. If the number of an account now belongs to another person, nothing more is done: the
    /// new person would hear what was said to the former one.
    fn meet<'a>(&mut self, met: impl IntoIterator<Item = &'a crate::room::GameEntity>) -> bool {
        let met = {
            let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
            people.meet(met)
        };
        match met {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the accounts that were met could not be stored");
                true
            }
            Err(AnotherPerson { id, name }) => {
                self.session.stop(Notice::AnotherPerson { id, name });
                false
            }
        }
    }
}

async fn connect(url: &str) -> Result<Socket, String> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(LARGEST_FRAME))
        .max_frame_size(Some(LARGEST_FRAME));
    // No subprotocol: some versions of the server answer none, and others then send text without attestation.
    let opening = connect_async_with_config(url, Some(config), true);
    match timeout(OPENING, Box::pin(opening)).await {
        Ok(Ok((socket, _response))) => Ok(socket),
        Ok(Err(error)) => Err(format!("{url}: {}", dormouse_text::error_chain(&error))),
        Err(_elapsed) => Err(format!("{url} does not answer")),
    }
}

/// Closes with the code that lets the game end the session at once. Otherwise a ghost stays in the room.
async fn hang_up(mut socket: Box<Socket>) {
    let frame = CloseFrame {
        code: CloseCode::Normal,
        reason: Default::default(),
    };
    let closing = async {
        if socket.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = socket.next().await {}
        }
    };
    // The game need not answer.
    drop(timeout(CLOSING, closing).await);
}
