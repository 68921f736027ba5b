//! `dormouse run` and `dormouse serve`: run the assistants of the folder without a visitor.

use std::{collections::BTreeSet, pin::pin, sync::Arc};

use dormouse_contracts::{AssistantId, Habitat};
use dormouse_evennia::{EvenniaWorld, Notice, StaffRequest};
use dormouse_host::{
    DataFolder, FolderWorld, GameConnections, GameWorld, Host, HostError, HostSettings,
    SystemClock, config::WorldKind, provider::ModelSelection,
};
use dormouse_server::{Server, ServerSettings};
use tokio::{
    runtime,
    sync::{mpsc, oneshot},
    task::JoinSet,
};

#[cfg(unix)]
use crate::control;
use crate::{
    args::{Run, Serve},
    command::{Places, user_name},
    data, describe,
    diagnostics::Diagnostics,
    dialects,
    evennia::{self, WorldChoice},
    exit::{Exit, Report},
    grammar::counted,
    lines::Lines,
    play::PlayError,
    provider, recall,
    signals::Signals,
};

/// Runs every assistant of the log, and the configured one, until a signal ends the program. `serve` adds the REST API.
pub(crate) fn run(
    places: &Places,
    run: &Run,
    serve: Option<&Serve>,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let data = data::locate(places.data.as_deref())?;
    let (config, _) = places.configuration(&data)?;
    let environment = provider::environment();
    let selection: ModelSelection = run.provider.selection();
    let chosen = provider::select(&selection, &config.provider, &environment)?;
    let network = provider::network(&config.provider)?;
    let (sender, mut notices) = mpsc::unbounded_channel();
    let switched = {
        let sender = sender.clone();
        // The receiver may have ended already; the same below.
        move |switch: &_| drop(sender.send(describe::switch(switch)))
    };
    let models = provider::assemble(
        &chosen,
        &config.provider,
        &config.prices,
        &network,
        switched,
    )?;
    let mut settings = HostSettings::with_models(config, environment, models);
    settings.tool_calling = selection.tool_calling;
    settings.embedder = chosen.embedder();
    let told = sender.clone();
    settings.on_learnt = Box::new(move |notice| drop(told.send(dialects::learning(&notice))));
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(PlayError::System)?;
    #[cfg(unix)]
    control::Server::check(&data)?;
    runtime.block_on(Box::pin(async {
        let mut signals = Signals::listen().map_err(PlayError::System)?;
        let failed = |error| PlayError::composing(&data, error);
        let (asking, mut staff) = mpsc::unbounded_channel();
        let inhabited = inhabit(run.world, settings, &data, (sender.clone(), asking)).await?;
        let lived_in = &inhabited.host;
        let host = &lived_in.in_any_world();
        let model = match chosen.name() {
            (provider, model) if provider == model => model,
            (provider, model) => format!("{model} of {provider}"),
        };
        // Those who come while the residents move in wait at the socket until they are greeted.
        #[cfg(unix)]
        let server = {
            let file = places
                .config
                .as_deref()
                .map(std::path::absolute)
                .transpose();
            let file = file.map_err(PlayError::System)?;
            control::Server::open(control::Hall::new(lived_in, chosen, file, diagnostics))?
        };
        let http = match serve {
            Some(serve) => Some(open(lived_in, serve).await?),
            None => None,
        };
        // From before anybody wakes, so that no span is missing. It ends when this is dropped.
        let _exporting = match serve {
            Some(_) => export_spans(host, sender).await?,
            None => JoinSet::new(),
        };
        let ill = |key: &AssistantId, error: HostError| {
            let why = PlayError::composing(&data, error);
            let why = Report(&why);
            say(diagnostics, format!("{key} could not be started; the others run: {why}"));
        };
        let count = settle(host, &inhabited.residents, ill).await.map_err(failed)?;
        let embedder = recall::by_provider(host.config(), host.embedder());
        say(
            diagnostics,
            format!(
                "{} in {}; the model is {model}. SIGINT or SIGTERM puts them away",
                counted(count, "assistant lives", "assistants live"),
                data.path().display(),
            ),
        );
        if let Some(embedder) = embedder {
            say(diagnostics, embedder);
        }
        if let Some(http) = &http {
            let address = http.address();
            say(
                diagnostics,
                format!("the REST API is at http://{address}/api/; `dormouse token create` creates a token for it"),
            );
            let owner = user_name().unwrap_or_else(|| "owner".to_owned());
            let pages = match http.sign_in_link(&owner)? {
                Some(link) => format!("open {link} in a browser: it signs you in as {owner}, once"),
                None => format!("the pages are at http://{address}/; sign in with the token of {owner}"),
            };
            say(diagnostics, pages);
        }
        let (end, ends) = oneshot::channel::<()>();
        let mut http = pin!(answer(http, ends));
        let exit = loop {
            tokio::select! {
                exit = signals.next() => break exit,
                Some(notice) = notices.recv() => say(diagnostics, notice),
                Some(asked) = staff.recv() => {
                    let places = Places { data: Some(data.path().to_owned()), config: places.config.clone() };
                    evennia::attend_staff(lived_in, places, asked);
                }
                () = &mut http => {}
                () = async {
                    #[cfg(unix)]
                    server.run().await;
                    #[cfg(not(unix))]
                    std::future::pending::<()>().await;
                } => {}
            }
        };
        drop(end);
        http.await;
        #[cfg(unix)]
        server.close().await;
        host.close().await;
        if let Some(game) = &inhabited.game {
            game.game().close().await;
        }
        Ok(exit)
    }))
}

/// Exports spans of the assistants as long as the tasks live, if the configuration names a collector.
#[cfg(feature = "otel")]
async fn export_spans(
    host: &Host<dyn Habitat>,
    notices: mpsc::UnboundedSender<String>,
) -> Result<JoinSet<()>, PlayError> {
    // The receiver may have ended already.
    let notify = move |notice| drop(notices.send(Report(&notice).to_string()));
    Ok(crate::otel::follow(host, notify).await?)
}

/// Refuses the setting that this program cannot follow.
#[cfg(not(feature = "otel"))]
async fn export_spans(
    host: &Host<dyn Habitat>,
    _: mpsc::UnboundedSender<String>,
) -> Result<JoinSet<()>, PlayError> {
    match host.config().telemetry.endpoint {
        Some(_) => {
            let for_what = "telemetry.endpoint";
            Err(crate::otel::NotBuilt { for_what }.into())
        }
        None => Ok(JoinSet::new()),
    }
}

/// Assistants in a world.
struct Inhabited {
    host: Host<FolderWorld>,
    /// Their world, if it is a game.
    game: Option<Arc<EvenniaWorld>>,
    /// Those who live there, known to the log or not.
    residents: BTreeSet<AssistantId>,
}

/// Opens the world that was chosen, and the log.
async fn inhabit(
    world: WorldChoice,
    mut settings: HostSettings,
    data: &DataFolder,
    (notices, staff): (
        mpsc::UnboundedSender<String>,
        mpsc::UnboundedSender<StaffRequest>,
    ),
) -> Result<Inhabited, PlayError> {
    let failed = |error| PlayError::composing(data, error);
    let configured = settings.config.assistant.key();
    let is_game = world == WorldChoice::Evennia || settings.config.world.kind == WorldKind::Evennia;
    match is_game {
        false => {
            let host = Host::open_folder(settings, data).await.map_err(failed)?;
            Ok(Inhabited {
                host,
                game: None,
                residents: BTreeSet::from([configured]),
            })
        }
        true => {
            // The flag is the short form.
            settings.config.world.kind = WorldKind::Evennia;
            data.create().map_err(data::LocateError::from)?;
            let section = &settings.config.evennia;
            let mut residents: BTreeSet<_> = section.residents.keys().cloned().collect();
            residents.extend(section.account.is_some().then_some(configured));
            let connections = GameConnections::default();
            let noted = connections.clone();
            let on_notice = move |key: &AssistantId, notice: Notice| {
                if notice.is_connection() {
                    noted.note(key, notice.to_string());
                }
                // The receiver may have ended already.
                drop(notices.send(format!("{key} {notice}")));
            };
            // If the program ends, nobody answers, and the game says so.
            let on_staff = move |asked: StaffRequest| drop(staff.send(asked));
            let reports = (Arc::new(on_notice) as _, Arc::new(on_staff) as _);
            let environment = &settings.environment;
            let world = evennia::open(data, &settings.config, environment, reports).await?;
            let world = Arc::new(world);
            let habitat = Arc::clone(&world) as Arc<dyn Habitat>;
            let url = settings.config.evennia.url.clone();
            let game = GameWorld::new(habitat, world.file().clone(), url, connections);
            let host = Host::open_game(game, settings, data)
                .await
                .map_err(failed)?;
            Ok(Inhabited {
                host,
                game: Some(world),
                residents,
            })
        }
    }
}

/// Listens where the command says.
async fn open(host: &Host<FolderWorld>, serve: &Serve) -> Result<Server, PlayError> {
    let settings = ServerSettings {
        address: serve.listen,
        hosts: serve.hosts.iter().cloned().collect(),
        section: host.config().server.clone(),
        clock: Arc::new(SystemClock),
    };
    Ok(Server::open(host, settings).await?)
}

/// Answers requests until the sender of `ends` is dropped.
async fn answer(http: Option<Server>, ends: oneshot::Receiver<()>) {
    let ended = async {
        // Nothing is ever sent.
        drop(ends.await);
    };
    match http {
        Some(http) => http.run(ended).await,
        None => ended.await,
    }
}

/// Makes all assistants residents of the host, and returns their number. The configured ones are woken, which creates
/// them if they are new. `ill` is called for each assistant that cannot live. The program ends only if no assistant can.
async fn settle(
    host: &Host<dyn Habitat>,
    configured: &BTreeSet<AssistantId>,
    ill: impl Fn(&AssistantId, HostError),
) -> Result<u64, HostError> {
    let mut settled = Vec::new();
    for key in configured {
        settled.push((key.clone(), host.wake(key).await.map(drop)));
    }
    let known = host.known()?.into_iter().map(|(key, _)| key);
    let others = known.filter(|key| !configured.contains(key)).collect();
    settled.extend(host.take_in_all(others).await);
    let residents = host.residents().await.len() as u64;
    let mut failed = Vec::new();
    for (key, settled) in settled {
        match settled {
            Ok(()) | Err(HostError::Archived { .. }) => {}
            Err(error) => failed.push((key, error)),
        }
    }
    if residents == 0
        && let Some((_, error)) = failed.pop()
    {
        return Err(error);
    }
    for (key, error) in failed {
        ill(&key, error);
    }
    Ok(residents)
}

fn say(diagnostics: &Diagnostics, text: String) {
    diagnostics.report(&format!("dormouse: {}", Lines::from(text)));
}
