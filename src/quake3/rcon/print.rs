//! A server's answer to `rcon`.

use bytes::Bytes;

use crate::quake3::wire::reply::{Reply, ReplyForm};

/// The datagrams of a server's answer to `rcon`: the text in pieces, one empty piece when there is none.
///
/// ```
/// use queryport::quake3::{ReplyForm, print};
///
/// let datagrams = print(b"map: q3dm17\n", ReplyForm::Quake3);
/// assert_eq!(datagrams, [&b"\xff\xff\xff\xffprint\nmap: q3dm17\n"[..]]);
/// ```
#[must_use]
pub fn print(text: &[u8], form: ReplyForm) -> Vec<Bytes> {
    let most = match form {
        ReplyForm::Quake3 => 1007,
        ReplyForm::DarkPlaces => 1394,
    };
    let empty: [&[u8]; 1] = [b""];
    let pieces = text.chunks(most).chain(empty.into_iter().filter(|_| text.is_empty()));
    pieces
        .map(|text| {
            let mut datagram = Vec::with_capacity(text.len().saturating_add(10));
            Reply::Print { form, text }.put(false, &mut datagram);
            datagram.into()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_go_out_in_pieces() {
        let text: Vec<u8> = (0..2500_u32).map(|n| (n % 95) as u8 + 32).collect();
        for (form, head) in [(ReplyForm::Quake3, 10), (ReplyForm::DarkPlaces, 5)] {
            let datagrams = print(&text, form);
            assert!(datagrams.len() > 1 && datagrams.iter().all(|datagram| datagram.len() <= 1400));
            let joined: Vec<u8> = datagrams.iter().flat_map(|datagram| datagram[head..].to_vec()).collect();
            assert_eq!(joined, text);
        }
        assert_eq!(print(b"", ReplyForm::Quake3), [&b"\xff\xff\xff\xffprint\n"[..]]);
    }
}
