//! The token in a challenge: it proves an address, and names the status that replies to it are made from.

use crate::reply::Requester;

/// Tells this protocol's tokens from those of others that follow from the same secret.
const PURPOSE: u16 = 4;
/// The bits of a token that name a status, hidden by the random bits of the address: nobody else can read them.
const NAME: u32 = 0xFFF;

/// The token of a requester for a status.
pub(super) fn issue(requester: &Requester, status: u16) -> i32 {
    token(requester.tokens.issue_for(requester.now, requester.address, PURPOSE), status)
}

/// Whether a quoted token is the requester's. `is_known` says whether there is a status of this name; it is called at most
/// once for each time window in which the token can have been issued.
pub(super) fn verify(requester: &Requester, quoted: i32, mut is_known: impl FnMut(u16) -> bool) -> bool {
    let Requester { address, now, tokens, .. } = *requester;
    tokens.verify_for(now, address, PURPOSE, |number| named(number, quoted).is_some_and(&mut is_known))
}

/// The token as the wire spells it: 1–2,147,483,647. 0 would say that no token is demanded, and some tools misread a sign.
fn token(number: u64, status: u16) -> i32 {
    i32::try_from(random(number) ^ (u32::from(status) & NAME)).unwrap_or(i32::MAX)
}

/// The status that a token names if it is of this number.
fn named(number: u64, token: i32) -> Option<u16> {
    let name = random(number) ^ u32::try_from(token).ok()?;
    u16::try_from(name).ok().filter(|&name| u32::from(name) <= NAME)
}

/// 31 bits, of which those above the name are not all 0: so no name makes a token of 0.
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
