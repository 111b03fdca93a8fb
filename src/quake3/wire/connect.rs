//! `connect` as it stands in a datagram.

use bytes::BufMut;

/// What follows the word `connect`.
///
/// ```
/// use queryport::quake3::{Command, ConnectRequest, Request};
///
/// let mut packed = Vec::new();
/// ConnectRequest::pack(br"\challenge\1\qport\2\protocol\68", &mut packed)?;
/// let mut datagram = Vec::new();
/// Request::new(Command::Connect(ConnectRequest::Compressed(&packed))).encode(&mut datagram)?;
/// assert_eq!(datagram.len(), 50);
///
/// let Command::Connect(connect) = Request::parse(&datagram)?.command else { panic!() };
/// assert_eq!(&connect.userinfo()?[..], br"\challenge\1\qport\2\protocol\68");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectRequest<'a> {
    /// After one blank, in the coding of [`huffman`](crate::quake3::huffman): the quoted userinfo (Quake 3 and its
    /// family).
    Compressed(&'a [u8]),
    /// Without a blank, as it is: the userinfo without quotes (DarkPlaces).
    Plain(&'a [u8]),
}

impl<'a> ConnectRequest<'a> {
    /// Reads what follows mark and direction byte; `None` when it is another command. Servers look for the word at its
    /// offset, in lower case, before they read a line.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let rest = text.strip_prefix(b"connect")?;
        match rest.first() {
            Some(b' ') => Some(Self::Compressed(rest.get(1..).unwrap_or_default())),
            Some(b'\\') => Some(Self::Plain(rest)),
            _ => None,
        }
    }

    /// Appends what follows the word.
    pub(super) fn put(&self, out: &mut impl BufMut) {
        match self {
            Self::Compressed(packed) => {
                out.put_u8(b' ');
                out.put_slice(packed);
            }
            Self::Plain(userinfo) => out.put_slice(userinfo),
        }
    }
}
