//! The door for a world outside of this program: what happened there comes in, what assistants want of it goes out, and what
//! became of that comes back.

mod happened;
mod offered;
mod wanted;

pub(crate) use self::{
    happened::{__path_perceive, perceive},
    offered::{__path_offer, __path_tools, offer, tools},
    wanted::{__path_answer, __path_requests, __path_stream, answer, requests, stream},
};

use std::sync::Arc;

use dormouse_host::{HostError, http_world::HttpWorld};

use crate::{problem::Problem, service::Service};

/// The world outside.
fn door(service: &Service) -> Result<Arc<HttpWorld>, Problem> {
    let world = service.host.world().http().cloned();
    world.ok_or_else(|| HostError::NoHttpWorld.into())
}
