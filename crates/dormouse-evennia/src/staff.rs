//! Commands of the game's staff.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, EntityId};
use tokio::sync::mpsc;

use crate::{client::Order, frame::StaffCommand};

/// Called with each command. It must be answered.
pub type OnStaff = Arc<dyn Fn(StaffRequest) + Send + Sync>;

/// A command that somebody of the game's staff typed for an assistant. The game has checked that they may.
#[derive(Debug)]
pub struct StaffRequest {
    /// The assistant.
    pub assistant: AssistantId,
    /// The command, such as `aigoal`.
    pub command: String,
    /// Its switches, such as `add`.
    pub switches: Vec<String>,
    /// Its arguments, without the assistant's name.
    pub arguments: String,
    /// The name of who typed it.
    pub by: String,
    /// Who that is in the game, if the game says so.
    pub entity: Option<EntityId>,
    id: String,
    orders: mpsc::Sender<Order>,
}

impl StaffRequest {
    pub(crate) fn new(
        assistant: &AssistantId,
        command: StaffCommand,
        orders: &mpsc::Sender<Order>,
    ) -> Self {
        let StaffCommand {
            id,
            command,
            switches,
            args,
            who,
        } = command;
        Self {
            assistant: assistant.clone(),
            command,
            switches,
            arguments: args,
            entity: who.person().ok(),
            by: who.key,
            id,
            orders: orders.clone(),
        }
    }

    /// Shows a text to who typed it, and whether the command was carried out. Does not wait: the answer is lost, with a warning, if too much waits for the connection.
    pub fn answer(self, text: String, is_done: bool) {
        let order = Order::StaffDone {
            id: self.id,
            text,
            ok: is_done,
        };
        // The assistant may have left the game.
        if let Err(error) = self.orders.try_send(order) {
            tracing::warn!(%error, "a staff command could not be answered");
        }
    }
}
