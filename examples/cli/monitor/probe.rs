//! Queries on request, as Prometheus's exporters have them: `/probe?target=HOST:PORT&module=GAME`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use hyper::StatusCode;
use tokio::sync::OnceCell;

use super::target::{self, Identity, What};
use super::watch::{self, Sender, Server, Watched};
use super::{check, metrics};

/// The maximum number of servers that are probed at a time.
const MOST: usize = 16;

/// Probes that run. Two probes of one server share its answer.
#[derive(Debug)]
pub(crate) struct Probes {
    sender: Sender,
    running: RefCell<BTreeMap<Identity, Weak<OnceCell<String>>>>,
}

impl Probes {
    pub(crate) fn new(sender: Sender) -> Self {
        Self {
            sender,
            running: RefCell::default(),
        }
    }

    /// The metrics of the server that a query of an address names. An error has the status of the
    /// reply.
    pub(crate) async fn page(&self, query: &str) -> Result<String, (StatusCode, String)> {
        let (what, address) =
            server(query).map_err(|why| (StatusCode::BAD_REQUEST, check::plain(&why)))?;
        let Some(probe) = self.running(Identity::of(what, &address)) else {
            let why = format!("{MOST} probes are running");
            return Err((StatusCode::SERVICE_UNAVAILABLE, why));
        };
        let ask = async || {
            let mut server = Server::new(what, address.clone());
            server.add(
                watch::query(&self.sender, what, &address).await,
                watch::now(),
            );
            metrics::page(&Watched {
                servers: vec![server],
                ..Watched::default()
            })
        };
        match probe.get_or_try_init(ask).await {
            Ok(page) => Ok(page.clone()),
            Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
        }
    }

    /// The running probe of this server, or a new one; `None` if too many run.
    fn running(&self, identity: Identity) -> Option<Rc<OnceCell<String>>> {
        let mut running = self.running.borrow_mut();
        running.retain(|_, probe| probe.strong_count() > 0);
        if let Some(probe) = running.get(&identity) {
            return probe.upgrade();
        }
        if running.len() >= MOST {
            return None;
        }
        let probe = Rc::default();
        running.insert(identity, Rc::downgrade(&probe));
        Some(probe)
    }
}

/// The server of `target` and the game or protocol of `module`.
fn server(query: &str) -> Result<(What, String), String> {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs
            .find(|(key, _)| *key == name)
            .ok_or_else(|| format!("no {name}: /probe?target=HOST:PORT&module=GAME"))?;
        decoded(value).ok_or_else(|| format!("{name} is not a text"))
    };
    let server = value("target")?;
    let what = What::of_server(&value("module")?, &server)?;
    Ok((what, target::server(&server)?))
}

/// The value of a query: `%3A` is a colon, and `+` a space.
fn decoded(value: &str) -> Option<String> {
    let mut text = Vec::new();
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                *hex::decode(digits).ok()?.first()?
            }
            byte => byte,
        });
    }
    String::from_utf8(text).ok()
}
