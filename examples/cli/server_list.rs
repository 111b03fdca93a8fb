//! Files with one server a line, as `scan`, `browser` and `monitor` read them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::command_line;
use super::target::{Target, What, of_line};

/// The longest line that can hold a target: a protocol, a host name of 253 bytes and a port.
const MAX_LINE: usize = 4096;

/// The servers of a file, or what is wrong with a line, after the name of the file and the number
/// of the line. Empty lines and comments are left out, and the text can be in any character set.
pub(crate) struct ServerList {
    reader: BufReader<Box<dyn Read + Send>>,
    path: String,
    /// The number of the latest line.
    number: u64,
    usual: Option<What>,
    /// The text after `#` in the latest line.
    remark: Option<String>,
    has_failed: bool,
}

impl ServerList {
    /// Opens a file, or standard input for `-`. `usual` is the protocol or game of lines that name
    /// neither.
    pub(crate) fn open(path: &Path, usual: Option<What>) -> io::Result<Self> {
        let reader: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            let file = File::open(path)?;
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Box::new(file)
        };
        Ok(Self::new(reader, path, usual))
    }

    fn new(reader: Box<dyn Read + Send>, path: &Path, usual: Option<What>) -> Self {
        Self {
            reader: BufReader::new(reader),
            path: path.display().to_string(),
            number: 0,
            usual,
            remark: None,
            has_failed: false,
        }
    }

    /// What stands after `#` in the line of the latest target.
    pub(crate) fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// A line without its end; of a long one the first [`MAX_LINE`] bytes and one more.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let limit = u64::try_from(MAX_LINE + 1).unwrap_or(u64::MAX);
        let reader = &mut self.reader;
        if reader.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() > MAX_LINE {
            reader.skip_until(b'\n')?;
        }
        Ok(Some(line))
    }

    /// The target of a line; `None` for an empty line or a comment.
    fn target(&mut self, line: &[u8]) -> Result<Option<Target>, String> {
        if line.len() > MAX_LINE {
            return Err(format!("a line of more than {MAX_LINE} bytes"));
        }
        let line = String::from_utf8_lossy(line);
        let remark = line.split_once('#').map(|(_, remark)| remark.trim());
        self.remark = remark.filter(|text| !text.is_empty()).map(str::to_owned);
        of_line(&line, self.usual)
    }
}

impl Iterator for ServerList {
    type Item = Result<Target, String>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.has_failed {
            self.number += 1;
            let target = match self.next_line() {
                Ok(line) => self.target(&line?),
                Err(error) => {
                    self.has_failed = true;
                    Err(command_line::message(&error))
                }
            };
            let named = |why| format!("{}:{}: {why}", self.path, self.number);
            if let Some(target) = target.map_err(named).transpose() {
                return Some(target);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_more_bytes_than_a_target_has_is_rejected() {
        let read = |bytes: usize| {
            let text = format!("{}\nquake3 192.0.2.1", " ".repeat(bytes));
            let reader = Box::new(io::Cursor::new(text));
            let list = ServerList::new(reader, Path::new("file"), None);
            let targets = list.map(|target| target.map(|(_, server)| server));
            targets.collect::<Vec<_>>()
        };
        let server = Ok("192.0.2.1".to_owned());
        let why = Err("file:1: a line of more than 4096 bytes".to_owned());
        for bytes in [0, 10, 4095, 4096] {
            assert_eq!(read(bytes), std::slice::from_ref(&server), "{bytes}");
        }
        for bytes in [4097, 10_000] {
            assert_eq!(read(bytes), [why.clone(), server.clone()], "{bytes}");
        }
    }
}
