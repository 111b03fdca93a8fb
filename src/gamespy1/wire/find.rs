//! Finds the value of a command anywhere in a request, as GameSpy's own code does.

use nom::Parser;
use nom::bytes::complete::tag;
use nom::sequence::{delimited, preceded};

use super::request::Request;
use super::{separator, text};
use crate::grammar::Parsed;

impl<'a> Request<'a> {
    /// The value of a command as GameSpy's own code finds it: wherever `\name\` occurs in the
    /// datagram.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&'a [u8]> {
        let mut listed = self.list.iter();
        if let Some(command) = listed.find(|command| command.name() == name) {
            return Some(command.value());
        }
        let mut starts = memchr::memchr_iter(b'\\', self.datagram);
        starts.find_map(|start| {
            let input = self.datagram.get(start..)?;
            let (_, value) = named(input, name).ok()?;
            Some(value)
        })
    }
}

/// `named = "\" name "\" text`: the value of the command with this name.
pub(super) fn named<'a>(input: &'a [u8], name: &[u8]) -> Parsed<'a, &'a [u8]> {
    preceded(delimited(separator, tag(name), separator), text).parse(input)
}
