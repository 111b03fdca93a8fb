//! The token in a challenge: it proves an address, and names the status that replies to it are made from.
//!
//! A data request that is delivered twice has two replies with one request id. Made from two statuses, their datagrams could be
//! put together to what never was. GameSpy's own code (QR2 SDK, qr2.c) takes each challenge once, which also refuses a client
//! that asks again because the reply was lost. Here the token names the status that was current when it was issued: asking
//! again with it brings the same reply.

use crate::reply::Requester;

/// Separates this protocol's tokens from those of others that derive from the same secret.
const PURPOSE: u16 = 4;
/// The bits of a token that name a status, hidden by the random bits of the address: nobody else can read them.
const NAME: u32 = 0xFFF;

/// The name of a status in tokens: the last 12 bits of its number.
pub(crate) fn name(number: u64) -> u32 {
    u32::try_from(number & u64::from(NAME)).unwrap_or_default()
}

/// The token of a requester for a status.
pub(super) fn issue(requester: &Requester, name: u32) -> i32 {
    token(requester.tokens.issue(requester.now, requester.address, PURPOSE), name)
}

/// The names of the statuses that a quoted token can have been issued to this requester for, one for each time window. The
/// token is valid if there is a status of such a name.
pub(crate) fn names(requester: &Requester, quoted: i32) -> impl Iterator<Item = u32> {
    let valid = requester.tokens.valid(requester.now, requester.address, PURPOSE);
    valid.filter_map(move |number| named(number, quoted))
}

/// The token as the wire spells it: 1–2,147,483,647. 0 would say that no token is demanded, and some tools misread a sign.
fn token(number: u64, name: u32) -> i32 {
    i32::try_from(random(number) ^ (name & NAME)).unwrap_or(i32::MAX)
}

/// The name in a token that was made from this number.
fn named(number: u64, token: i32) -> Option<u32> {
    let name = random(number) ^ u32::try_from(token).ok()?;
    (name <= NAME).then_some(name)
}

/// 31 bits. Those above the name are never all 0: so no name makes a token of 0.
fn random(number: u64) -> u32 {
    let bits = u32::try_from(number & u64::from(i32::MAX.unsigned_abs())).unwrap_or_default();
    if bits > NAME { bits } else { bits | 1 << 30 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_positive_and_names_its_status() {
        for number in (0..10_000).chain([u64::MAX, 1 << 31, 1 << 63, 0x7FFF_FFFF]) {
            for status in [0, 1, 63, 64, 0xFFF] {
                let token = token(number, status);
                assert!(token > 0, "{number}");
                assert_eq!(named(number, token), Some(status));
                assert_eq!(named(number, token ^ 1 << 12), None, "of another number");
                assert_eq!(named(number, -token), None);
            }
        }
    }
}
