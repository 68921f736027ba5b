//! A memory over the protocol, as a client meets it: lines of JSON.

#[cfg(all(test, feature = "client"))]
mod client;
#[cfg(all(test, feature = "client"))]
mod hostile;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod line;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod telling;
