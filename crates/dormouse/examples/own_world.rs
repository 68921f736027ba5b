//! An assistant in a world of one's own, with a player at standard input. Killed at any moment, it goes on where it was.
#![cfg_attr(not(test), expect(clippy::print_stdout, reason = "an example prints"))]
use std::{error::Error, fs::create_dir_all, io, path::Path};

use dormouse::bridge::{Bridge, BridgeFile, Game, Performed, Report, say_tool};
use dormouse::contracts::*;
use dormouse::{DataFolder, Host, HostSettings, SystemClock, host::config::Config};

/// A room with one player. Its acts change nothing but what she perceives.
struct Room(EntityId);

impl Game for Room {
    async fn perform(&self, me: &EntityId, act: &Effect) -> Result<Performed, WorldError> {
        let said = act.arguments.get("message").and_then(|it| it.as_str());
        let Ok(words) = Words::try_new(said.unwrap_or_default()) else {
            return Ok(Performed::refused("there is nothing to say"));
        };
        let (id, name) = (me.clone(), "Dormouse".to_owned());
        let (me, at) = (Sender::Assistant { id, name }, SystemClock.now());
        let report = Report::new(SourceKind::Say, me, at, words);
        Ok(Performed::said(act, &report, [self.0.clone()]))
    }
    async fn became_of(&self, _: &EffectKey) -> Result<EffectInquiry, WorldError> {
        Ok(EffectInquiry::NeverSeen)
    }
}

pub(crate) async fn live(folder: &Path, settings: HostSettings) -> Result<(), Box<dyn Error>> {
    create_dir_all(folder)?;
    let alice = EntityId::try_new("player:alice")?;
    let file = BridgeFile::open(&folder.join("room.redb"), "room")?;
    let room = Bridge::new(Room(alice.clone()), vec![say_tool()?], &file);
    let host = Host::open_in(room, settings, &DataFolder::at(folder)?).await?;
    let resident = host.wake(&AssistantId::try_new("dormouse")?).await?;
    let (queue, me) = (host.world().queue(), resident.character());
    queue.enter(&alice).await?;
    loop {
        resident.heard_up_to(queue.last_delivery(me).await?).await?;
        resident.handle().at_rest().await;
        for heard in queue.perceptions(&alice, 0, PERCEPTIONS_PAGE).await? {
            let number = heard.attested.delivery.number;
            println!("{number}: {}", heard.words.as_claimed());
            queue.acknowledge(&alice, number).await?;
        }
        let Some(line) = io::stdin().lines().next() else {
            break;
        };
        let (id, name, words) = (alice.clone(), "Alice".to_owned(), Words::try_new(line?)?);
        let (sender, at) = (Sender::Entity { id, name }, SystemClock.now());
        let mut report = Report::new(SourceKind::Addressed, sender, at, words);
        report.audience = Audience::of([alice.clone(), me.clone()]);
        queue.push(me, report).await?;
    }
    host.close().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("pass a folder")?;
    let environment = dormouse::providers::Environment::of(|name| std::env::var_os(name));
    let settings = HostSettings::of(Config::default(), environment)?;
    live(Path::new(&folder), settings).await
}
