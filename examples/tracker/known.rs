//! The file of both trackers: the statuses of the last run.

use std::collections::BTreeMap;
use std::io::{self, Write};

use queryport::scan::Scanned;
use queryport::{Error, Outcome, Protocol, ServerStatus};

use crate::command_line::{self, WrongUsage};

const USAGE: &str = concat!(env!("CARGO_BIN_NAME"), " FILE [PROTOCOL SERVER]...");

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The servers of the command line, and the statuses that its file has of them.
pub(crate) struct Known {
    file: String,
    pub(crate) servers: Vec<(Protocol, String)>,
    statuses: BTreeMap<String, Outcome<ServerStatus>>,
}

impl Known {
    /// Reads the command line and its file; no file is an empty one.
    pub(crate) fn read() -> Result<Self> {
        let arguments = command_line::arguments(USAGE)?;
        let rest = arguments.get(1..).unwrap_or_default();
        let (Some(file), (servers, [])) = (arguments.first(), rest.as_chunks()) else {
            return Err(WrongUsage(USAGE).into());
        };
        let server = |[protocol, server]: &[String; 2]| Ok((protocol.parse()?, server.clone()));
        let servers = servers.iter().map(server).collect::<Result<_>>()?;
        Ok(Self {
            file: file.clone(),
            servers,
            statuses: read(file)?,
        })
    }

    /// Takes the result of a scan, and prints what has changed.
    pub(crate) fn take(&mut self, scanned: Scanned<ServerStatus, Error>) -> Result<()> {
        let index = usize::try_from(scanned.index)?;
        let (_, server) = self.servers.get(index).ok_or("a result of no target")?;
        match scanned.result {
            Ok(now) => {
                let before = self.statuses.insert(server.clone(), now.clone());
                if before.and_then(|before| before.answer.map) != now.answer.map {
                    writeln!(
                        io::stdout(),
                        "{server} plays {} now",
                        now.answer.map.unwrap_or_default()
                    )?;
                }
            }
            // The other errors name the server.
            Err(Error::Query { error, .. }) => writeln!(io::stdout(), "{server}: {error}")?,
            Err(error) => writeln!(io::stdout(), "{error}")?,
        }
        Ok(())
    }

    /// Replaces the file whole: neither a full disk nor Ctrl-C loses the statuses of the last run.
    pub(crate) fn write(&self) -> Result<()> {
        let line = |status| serde_json::to_string(&status).map(|line| line + "\n");
        let lines = self
            .statuses
            .iter()
            .map(line)
            .collect::<serde_json::Result<String>>()?;
        let (file, new) = (&self.file, format!("{}.new", self.file));
        let written = std::fs::write(&new, lines).and_then(|()| std::fs::rename(&new, file));
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        Ok(written.map_err(|error| format!("{file}: {}", command_line::message(&error)))?)
    }
}

fn read(file: &str) -> Result<BTreeMap<String, Outcome<ServerStatus>>> {
    let problem = |error: &(dyn std::error::Error + 'static)| {
        format!("{file}: {}", command_line::message(error))
    };
    if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(format!("{file}: not a regular file").into());
    }
    match std::fs::read_to_string(file) {
        Ok(text) => {
            let statuses: serde_json::Result<_> = text.lines().map(serde_json::from_str).collect();
            Ok(statuses.map_err(|error| problem(&error))?)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(problem(&error).into()),
    }
}
