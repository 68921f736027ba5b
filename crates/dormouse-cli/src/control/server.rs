//! The running program's side of the control socket: who may connect, and what is done for them.
//!
//! Each connection has a thread of its own, which blocks on the socket. So a slow or silent client does not delay
//! others.

use std::{
    collections::BTreeSet,
    io::{self, BufReader, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use dormouse_host::{DataFolder, FolderWorld, Host, HostError};
use dormouse_text::beginning;
use tokio::{
    runtime,
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{sleep, timeout},
};

use super::{
    client::{Way, way},
    socket::{self, ControlSocket, SocketError},
    visit,
    wire::{self, FromServer, Greeting, PROTOCOL, Request, WireError},
};
use crate::{
    args::{Command, CommandLine},
    carry_out,
    command::{Caller, CallerOutput, Places, carry_out_for},
    diagnostics::Diagnostics,
    exit::{Exit, Report, in_short},
    lines::Lines,
    provider::Chosen,
};

/// How many may be connected at the same time.
const CONNECTIONS: usize = 32;

/// How long a client may take to send its first line.
const GREETING: Duration = Duration::from_secs(10);

/// How long a client may leave output unread.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the shutdown waits for commands under way.
const END: Duration = Duration::from_secs(2);

/// How much is written in one message.
const CHUNK: usize = 1 << 16;

/// What the running program offers to those who connect.
#[derive(Debug)]
pub(crate) struct Hall {
    pub(super) host: Host<FolderWorld>,
    pub(super) chosen: Chosen,
    /// The configuration file that the program was started with.
    pub(super) config: Option<PathBuf>,
    diagnostics: Diagnostics,
    pub(super) runtime: runtime::Handle,
    visitors: Mutex<BTreeSet<String>>,
    pub(super) ending: watch::Sender<bool>,
    connections: Arc<Semaphore>,
}

/// The control socket of a running program. Dropping it removes the socket.
#[derive(Debug)]
pub(crate) struct Server {
    socket: ControlSocket,
    hall: Arc<Hall>,
}

impl Hall {
    /// Needs a runtime.
    pub(crate) fn new(
        host: &Host<FolderWorld>,
        chosen: Chosen,
        config: Option<PathBuf>,
        diagnostics: &Diagnostics,
    ) -> Self {
        Self {
            host: host.clone(),
            chosen,
            config,
            diagnostics: diagnostics.clone(),
            runtime: runtime::Handle::current(),
            visitors: Mutex::default(),
            ending: watch::Sender::new(false),
            connections: Arc::new(Semaphore::new(CONNECTIONS)),
        }
    }

    fn say(&self, text: &str) {
        self.diagnostics
            .report(&format!("dormouse: {}", Lines::from(text)));
    }

    fn visitors(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.visitors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a visitor with this name; `None` if the name is taken.
    pub(super) fn enter(self: &Arc<Self>, name: &str) -> Option<Entered> {
        let name = name.to_lowercase();
        self.visitors().insert(name.clone()).then(|| Entered {
            hall: Arc::clone(self),
            name,
        })
    }
}

/// Somebody who visits. Dropping this frees the name.
#[derive(Debug)]
pub(super) struct Entered {
    hall: Arc<Hall>,
    name: String,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.hall.visitors().remove(&self.name);
    }
}

impl Server {
    /// Fails if the folder cannot have a control socket. Changes nothing.
    pub(crate) fn check(data: &DataFolder) -> Result<(), SocketError> {
        socket::check(data).map(drop)
    }

    /// Listens in the folder of the host. Call it from a runtime.
    pub(crate) fn open(hall: Hall) -> Result<Self, SocketError> {
        let socket = socket::bind(hall.host.folder())?;
        let hall = Arc::new(hall);
        Ok(Self { socket, hall })
    }

    /// Accepts connections. Never ends by itself.
    pub(crate) async fn run(&self) {
        loop {
            let stream = match self.socket.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "the control socket cannot accept connections at the moment");
                    sleep(Duration::from_secs(1)).await;
                    continue;
                }
            };
            let is_owner = stream
                .peer_cred()
                .is_ok_and(|peer| socket::is_owner(peer.uid()));
            let place = Arc::clone(&self.hall.connections).try_acquire_owned();
            let admitted = match (is_owner, place) {
                (false, _) => {
                    Err("only the owner of the data may use the control socket".to_owned())
                }
                (true, Err(_)) => Err(format!(
                    "{CONNECTIONS} others are connected; try again when one of them has ended"
                )),
                (true, Ok(place)) => Ok(place),
            };
            if let Err(error) = self.admit(stream, admitted) {
                tracing::warn!(%error, "a client of the control socket could not be served");
            }
        }
    }

    /// Starts a thread for a client, or tells the client why not.
    fn admit(
        &self,
        stream: tokio::net::UnixStream,
        admitted: Result<OwnedSemaphorePermit, String>,
    ) -> io::Result<()> {
        let stream = stream.into_std()?;
        let place = match admitted {
            Ok(place) => place,
            Err(why) => {
                let exit = Exit::Failure.number();
                // It has room for one line at least, so this does not block.
                return wire::write(&mut &stream, &FromServer::Refused { why, exit });
            }
        };
        let hall = Arc::clone(&self.hall);
        thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || {
                if let Err(error) = attend(&hall, stream) {
                    tracing::debug!(%error, "a connection to the control socket failed");
                }
                drop(place);
            })
            .map(drop)
    }

    /// Ends visits and commands, and removes the socket. Threads that take too long end with the process.
    pub(crate) async fn close(self) {
        let Self { socket, hall } = self;
        drop(socket);
        hall.ending.send_replace(true);
        let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
        if timeout(END, hall.connections.acquire_many(all))
            .await
            .is_err()
        {
            tracing::warn!("a command of the control socket did not end in time");
        }
    }
}

/// Carries out the request of a client.
fn attend(hall: &Arc<Hall>, stream: UnixStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut source = BufReader::new(stream.try_clone()?);
    let output = Arc::new(Output::new(stream));
    output.send(&Greeting {
        dormouse: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
    })?;
    let refused = |why: String, exit: Exit| {
        let exit = exit.number();
        output.send(&FromServer::Refused { why, exit })
    };
    let request = match wire::read::<Request>(&mut source) {
        Ok(Some(request)) => request,
        // A client only checked whether the program runs.
        Ok(None) | Err(WireError::Io(_)) => return Ok(()),
        Err(error) => return refused(Report(&error).to_string(), Exit::Usage),
    };
    if request.dormouse != PROTOCOL {
        let why = format!(
            "it speaks version {} of the control protocol; expected {PROTOCOL}: use the version of the program that runs",
            request.dormouse
        );
        return refused(why, Exit::Usage);
    }
    let program = std::iter::once("dormouse").chain(request.args.iter().map(String::as_str));
    let (places, command) = match CommandLine::read(program) {
        Ok(CommandLine { places, command }) => (places, command),
        Err(error) => return refused(in_short(&error.to_string()), Exit::Usage),
    };
    if let Way::Alone(why) = way(&command) {
        return refused(why.to_owned(), Exit::InUse);
    }
    let folder = PathBuf::from(&request.folder);
    let exit = match command {
        Command::Play(play) if places.config.is_none() => {
            if hall.host.world().game().is_some() {
                return refused(HostError::InGame.to_string(), Exit::Usage);
            }
            output.stream()?.set_read_timeout(None)?;
            visit::attend((hall, &hall.host), play, request.terminal, source, &output)
        }
        Command::Play(_) => {
            let why = "the running program has already read its configuration; leave out --config";
            return refused(why.to_owned(), Exit::Usage);
        }
        command => {
            let caller = Caller {
                host: hall.host.in_any_world(),
                world: Some(hall.host.world().clone()),
                user: request.user,
                out: Arc::clone(&output) as Arc<dyn CallerOutput>,
                folder: folder.clone(),
                about: None,
                visited: None,
            };
            let places = hall.places(places, &folder);
            match carry_out_for(caller, || carry_out(&places, command)) {
                Ok(exit) => exit,
                Err(failure) => {
                    if let Some(text) = &failure.report {
                        output.err(&format!("{text}\n"))?;
                    }
                    failure.exit
                }
            }
        }
    };
    if let Err(error) = output.send(&FromServer::Exit(exit.number())) {
        if output.is_stalled() {
            hall.say(&format!(
                "a client of the control socket read nothing for {} s and was disconnected",
                PATIENCE.as_secs()
            ));
        }
        return Err(error);
    }
    Ok(())
}

impl Hall {
    /// The files for a command: the folder of this program, with its configuration or the one that the command names.
    fn places(&self, asked: Places, folder: &Path) -> Places {
        let config = asked.config.map(|path| folder.join(path));
        Places {
            data: Some(self.host.folder().path().to_owned()),
            config: config.or_else(|| self.config.clone()),
        }
    }
}

/// The output to a client. After a failure nothing more is written.
#[derive(Debug)]
pub(super) struct Output(Mutex<Writing>);

#[derive(Debug)]
struct Writing {
    stream: UnixStream,
    /// Bytes of a character that is not complete.
    rest: Vec<u8>,
    failed: Option<io::ErrorKind>,
}

impl Output {
    fn new(stream: UnixStream) -> Self {
        Self(Mutex::new(Writing {
            stream,
            rest: Vec::new(),
            failed: None,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Writing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another handle to the connection.
    pub(super) fn stream(&self) -> io::Result<UnixStream> {
        self.lock().stream.try_clone()
    }

    /// Whether the client read nothing for too long.
    fn is_stalled(&self) -> bool {
        let timed_out = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
        self.lock()
            .failed
            .is_some_and(|kind| timed_out.contains(&kind))
    }

    /// Writes a message.
    pub(super) fn send(&self, message: &impl serde::Serialize) -> io::Result<()> {
        self.lock().send(message)
    }
}

impl Writing {
    fn send(&mut self, message: &impl serde::Serialize) -> io::Result<()> {
        // After a failure the line may be incomplete, so nothing may follow it.
        if self.failed.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let written = wire::write(&mut self.stream, message).and_then(|()| self.stream.flush());
        written.map_err(|error| {
            self.failed = Some(error.kind());
            // The thread that reads from this client ends, too.
            drop(self.stream.shutdown(Shutdown::Both));
            io::Error::new(io::ErrorKind::BrokenPipe, error)
        })
    }
}

impl CallerOutput for Output {
    fn out(&self, bytes: &[u8]) -> io::Result<()> {
        let mut writing = self.lock();
        let mut bytes = [writing.rest.as_slice(), bytes].concat();
        let whole = match str::from_utf8(&bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => bytes.len(),
        };
        writing.rest = bytes.split_off(whole);
        let text = String::from_utf8_lossy(&bytes);
        let mut left = &*text;
        while !left.is_empty() {
            let (chunk, next) = left.split_at(beginning(left, CHUNK).len());
            writing.send(&FromServer::Out(chunk.to_owned()))?;
            left = next;
        }
        Ok(())
    }

    fn err(&self, text: &str) -> io::Result<()> {
        self.send(&FromServer::Err(text.to_owned()))
    }
}
