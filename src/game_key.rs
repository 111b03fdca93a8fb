//! Proof of a game's key: the answer to `\secure\challenge`.
//!
//! Servers prove to masters, and clients to list servers, that they know the key of their game. It
//! has six characters, is the same in every copy, and has long been public.
//!
//! The proof is the challenge, encrypted and written as base64. The stream cipher is keyed like
//! RC4, but its output also depends on the plain text. The proof authenticates nobody: trying all
//! keys of six characters takes hours. The key therefore comes from the caller, and a server
//! without one does not answer.
//!
//! Sources: 333networks' masters (Masterserver-Perl, lib/MasterServer/Core/Secure.pm) and OpenSpy
//! compute the proof like this. Clients that announce an *enctype* use two more steps, which no
//! game server needs.

use std::fmt;

use crate::error::EncodeError;

/// Longest challenge to answer, in bytes.
pub(crate) const MAX_CHALLENGE: usize = 64;

/// The key of a game. `Debug` hides it.
///
/// ```
/// use queryport::GameKey;
///
/// let key = GameKey::new("Nm3aZ9")?;
/// assert_eq!(key.validate(b"LRPOPQ")?, "hMwdTNWS");
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct GameKey(Vec<u8>);

impl GameKey {
    /// A key, in practice of six letters and digits.
    ///
    /// Some games of the Unreal engine use six spaces.
    ///
    /// # Errors
    /// [`EncodeError::Empty`] for an empty key, [`EncodeError::TooLong`] above 256 bytes.
    pub fn new(key: impl AsRef<[u8]>) -> Result<Self, EncodeError> {
        let key = key.as_ref();
        EncodeError::check("game key", key, 1..=256, |_| false)?;
        Ok(Self(key.to_vec()))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The answer to a challenge: base64 without padding, four characters per three bytes or fewer.
    ///
    /// # Errors
    /// [`EncodeError::Empty`] for an empty challenge, [`EncodeError::TooLong`] above 64 bytes.
    pub fn validate(&self, challenge: &[u8]) -> Result<String, EncodeError> {
        EncodeError::check("challenge", challenge, 1..=MAX_CHALLENGE, |_| false)?;
        let mut text = encrypted(challenge, &self.0);
        // Padding bytes are encoded as data.
        text.resize(text.len().next_multiple_of(3), 0);
        Ok(text
            .as_chunks::<3>()
            .0
            .iter()
            .flat_map(|three| base64(*three))
            .collect())
    }
}

impl fmt::Debug for GameKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GameKey(..)")
    }
}

/// RC4, except that the first index also moves by the plain byte.
fn encrypted(plain: &[u8], key: &[u8]) -> Vec<u8> {
    let mut table = [0_u8; 256];
    for (value, slot) in (0..=255).zip(&mut table) {
        *slot = value;
    }
    let at =
        |table: &[u8; 256], index: u8| table.get(usize::from(index)).copied().unwrap_or_default();
    let mut j = 0_u8;
    for (i, key) in (0..=255_u8).zip(key.iter().cycle()) {
        j = j.wrapping_add(at(&table, i)).wrapping_add(*key);
        table.swap(usize::from(i), usize::from(j));
    }
    let mut encrypted = Vec::with_capacity(plain.len());
    let (mut x, mut y) = (0_u8, 0_u8);
    for byte in plain {
        x = x.wrapping_add(*byte).wrapping_add(1);
        y = y.wrapping_add(at(&table, x));
        table.swap(usize::from(x), usize::from(y));
        let index = at(&table, x).wrapping_add(at(&table, y));
        encrypted.push(byte ^ at(&table, index));
    }
    encrypted
}

fn base64([a, b, c]: [u8; 3]) -> [char; 4] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let six = |bits: u8| {
        char::from(
            ALPHABET
                .get(usize::from(bits & 63))
                .copied()
                .unwrap_or(b'A'),
        )
    };
    [
        six(a >> 2),
        six(a << 4 | b >> 4),
        six(b << 2 | c >> 6),
        six(c),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_are_those_of_the_original() {
        // The first is from a trace of Bridge Commander, the second from 333networks' master
        // (version 0.28).
        for (challenge, key, proof) in [
            ("LRPOPQ", "Nm3aZ9", "hMwdTNWS"),
            ("QHTAQZ", "Z5Nfb0", "0Ag3WVDH"),
            ("fT9YlX", "HpWx9z", "2oaeSnzh"),
            ("ABCDEF", "kbeafe", "iJbjNilG"),
            ("AAAAAA", "abcdef", "v+2/hegZ"),
            ("SECURE", "SECRET", "AFk5iciv"),
            ("ZZZZZZ", "ZZZZZZ", "2nbEuaB9"),
            ("XYZ", "abc", "AVfR"),
            ("A", "k", "VAAA"),
            ("AB", "key", "I5wA"),
            ("ABCDEFG", "abcdef", "v95gKttW/QAA"),
            ("0123456789", "s3cr3t", "GZFWLATV31r9pAAA"),
        ] {
            let key = GameKey::new(key).unwrap();
            assert_eq!(key.validate(challenge.as_bytes()).unwrap(), proof);
        }
    }

    #[test]
    fn keys_and_challenges_out_of_range_are_refused() {
        assert_eq!(GameKey::new(""), Err(EncodeError::Empty("game key")));
        assert!(GameKey::new([b'x'; 256]).is_ok());
        assert!(GameKey::new([b'x'; 257]).is_err());
        let key = GameKey::new("      ").unwrap();
        assert!(key.validate(b"").is_err());
        assert!(key.validate(&[b'x'; 65]).is_err());
        assert_eq!(key.validate(&[b'x'; 64]).unwrap().len(), 88);
        assert_eq!(format!("{key:?}"), "GameKey(..)");
    }
}
