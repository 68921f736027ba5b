//! TLS with certificates of a test authority. Its key was deleted; the keys of the certificates are worthless, since only
//! the tests trust them. They were made with openssl (P-256, 2020 to 2120) and are files, so that no test needs a library
//! to create certificates.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

/// The authority that has signed all of them.
pub(crate) const AUTHORITY: &[u8] = include_bytes!("certificates/authority.pem");

/// How a host is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// Without encryption.
    Plain,
    /// With a certificate for 127.0.0.1.
    Secure,
    /// With a certificate for another host.
    OfAnotherHost,
    /// With a certificate that was good until 2021.
    Expired,
}

impl Channel {
    pub(crate) fn scheme(self) -> &'static str {
        match self {
            Self::Plain => "http",
            _ => "https",
        }
    }

    /// The server's end of it.
    pub(crate) fn accept(self, socket: TcpStream) -> Box<dyn Wire> {
        let pem: &[u8] = match self {
            Self::Plain => return Box::new(socket),
            Self::Secure => include_bytes!("certificates/here.pem"),
            Self::OfAnotherHost => include_bytes!("certificates/elsewhere.pem"),
            Self::Expired => include_bytes!("certificates/expired.pem"),
        };
        let connection = ServerConnection::new(config(pem)).unwrap();
        Box::new(StreamOwned::new(connection, socket))
    }
}

/// A connection, secure or not.
pub(crate) trait Wire: Read + Write {
    /// Says that nothing more comes.
    fn close(&mut self);
}

impl Wire for TcpStream {
    fn close(&mut self) {}
}

impl Wire for StreamOwned<ServerConnection, TcpStream> {
    fn close(&mut self) {
        self.conn.send_close_notify();
        self.flush().ok();
    }
}

fn config(pem: &[u8]) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from_pem_slice(pem).unwrap();
    let key = PrivateKeyDer::from_pem_slice(pem).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    Arc::new(config.unwrap())
}
