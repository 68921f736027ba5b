//! The routes for a world outside of this program. It reports what happened there, reads what assistants want to do,
//! and reports what became of that.

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
