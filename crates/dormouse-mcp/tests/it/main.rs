//! A memory over the protocol, as a client meets it: lines of JSON.

#[cfg(test)]
#[cfg(feature = "client")]
mod asking;
#[cfg(test)]
#[cfg(feature = "client")]
mod client;
#[cfg(test)]
#[cfg(feature = "client")]
mod hostile;
#[cfg(test)]
#[cfg(feature = "client")]
mod hostile_http;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod line;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod telling;
