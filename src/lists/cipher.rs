//! The cipher of GameSpy v2's lists.

/// A client's challenge, or the key of the cipher.
pub(super) type Key = [u8; 8];

/// The state of GameSpy v2's list cipher, known as *enctypeX*: Johnson's Sapphire II with two of
/// its indices exchanged.
///
/// Source: GameSpy's SDK as published by IGN (`nitrocaster/GameSpy`, `serverbrowsing/sb_crypt.c`;
/// the key: `sb_serverlist.c`).
pub(super) struct Cipher {
    cards: [u8; 256],
    rotor: u8,
    ratchet: u8,
    avalanche: u8,
    last_plain: u8,
    last_cipher: u8,
}

/// The key of a conversation: the client's challenge, mixed with the game's key and the server's
/// challenge.
pub(super) fn mix(mut challenge: Key, game_key: &[u8], server_challenge: &[u8]) -> Key {
    let game_key = game_key.iter().cycle();
    for ((index, byte), game_byte) in server_challenge.iter().enumerate().zip(game_key) {
        let source = challenge.get(index % 8).copied().unwrap_or_default();
        let target = index.wrapping_mul(usize::from(*game_byte)) % 8;
        if let Some(target) = challenge.get_mut(target) {
            *target ^= source ^ byte;
        }
    }
    challenge
}

impl Cipher {
    /// The cipher with this key.
    pub(super) fn new(key: Key) -> Self {
        let mut cards = [0; 256];
        (0..=255)
            .zip(&mut cards)
            .for_each(|(value, card)| *card = value);
        let mut cipher = Self {
            cards,
            rotor: 0,
            ratchet: 0,
            avalanche: 0,
            last_plain: 0,
            last_cipher: 0,
        };
        let mut shuffle = Shuffle {
            key: key.into_iter().enumerate().cycle(),
            sum: 0,
        };
        for last in (1..=255_u8).rev() {
            let other = shuffle.number(last, &cipher);
            cipher.cards.swap(last.into(), other.into());
        }
        cipher.rotor = cipher.card(1);
        cipher.ratchet = cipher.card(3);
        cipher.avalanche = cipher.card(5);
        cipher.last_plain = cipher.card(7);
        cipher.last_cipher = cipher.card(shuffle.sum);
        cipher
    }

    /// Deciphers bytes in place. Call it in the order of the stream.
    pub(super) fn decipher(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.ratchet = self.ratchet.wrapping_add(self.card(self.rotor));
            self.rotor = self.rotor.wrapping_add(1);
            let Self {
                rotor,
                ratchet,
                last_plain,
                last_cipher,
                ..
            } = *self;
            for (one, other) in [
                (last_cipher, ratchet),
                (ratchet, last_plain),
                (last_plain, rotor),
            ] {
                self.cards.swap(one.into(), other.into());
            }
            self.avalanche = self.avalanche.wrapping_add(self.card(self.card(rotor)));
            let one = self.card(self.avalanche).wrapping_add(self.card(rotor));
            let mut three = self.card(last_plain);
            three = three.wrapping_add(self.card(last_cipher));
            three = three.wrapping_add(self.card(ratchet));
            self.last_cipher = *byte;
            *byte ^= self.card(one) ^ self.card(self.card(three));
            self.last_plain = *byte;
        }
    }

    fn card(&self, index: u8) -> u8 {
        self.cards
            .get(usize::from(index))
            .copied()
            .unwrap_or_default()
    }
}

/// Chooses the cards that a new cipher exchanges.
struct Shuffle<I> {
    /// The bytes of the key with their positions, again and again.
    key: I,
    sum: u8,
}

impl<I: Iterator<Item = (usize, u8)>> Shuffle<I> {
    /// The maximum number of attempts for one card.
    const ATTEMPTS: u8 = 12;

    /// A number from 0 to `last`: the first that is small enough, or that of the last attempt,
    /// reduced.
    fn number(&mut self, last: u8, cipher: &Cipher) -> u8 {
        for _ in 1..Self::ATTEMPTS {
            let number = self.attempt(last, cipher);
            if number <= last {
                return number;
            }
        }
        let number = self.attempt(last, cipher);
        number.checked_rem(last).unwrap_or_default()
    }

    /// A number of as many bits as `last` has.
    fn attempt(&mut self, last: u8, cipher: &Cipher) -> u8 {
        if let Some((position, byte)) = self.key.next() {
            // The key's length is added after its last byte.
            let length = if position == 7 { 8 } else { 0 };
            self.sum = cipher.card(self.sum).wrapping_add(byte);
            self.sum = self.sum.wrapping_add(length);
        }
        let bits = u8::MAX >> last.leading_zeros();
        self.sum & bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deciphered(key: [u8; 8], cipher_text: &str) -> Vec<u8> {
        let mut bytes = hex::decode(cipher_text).unwrap();
        Cipher::new(key).decipher(&mut bytes);
        bytes
    }

    /// The expected bytes were made with the SDK's own `sb_crypt.c`.
    #[test]
    fn the_cipher_is_that_of_the_sdk() {
        let cipher = Cipher::new(*b"12345678");
        assert_eq!(hex::encode(&cipher.cards[..8]), "165aab52c886a60e");
        let indices = [
            cipher.rotor,
            cipher.ratchet,
            cipher.avalanche,
            cipher.last_plain,
            cipher.last_cipher,
        ];
        assert_eq!(indices, [90, 82, 134, 14, 67]);
        assert_eq!(
            deciphered(*b"12345678", "3fcd58ae640714ffe0e8339269879f6c"),
            [0; 16]
        );
        assert_eq!(
            deciphered(*b"12345678", "782b9471e245c6bbd5ac3e5390433c2d"),
            b"GameSpy test 123"
        );
        assert_eq!(deciphered([0; 8], "ed17e5572765290d"), [0; 8]);
        assert_eq!(deciphered([0xFF; 8], "ec42de1a4a73b8c2"), [0; 8]);
    }

    #[test]
    fn pieces_of_any_length_are_deciphered_alike() {
        let mut whole = hex::decode("782b9471e245c6bbd5ac3e5390433c2d").unwrap();
        let mut cipher = Cipher::new(*b"12345678");
        whole.chunks_mut(3).for_each(|piece| cipher.decipher(piece));
        assert_eq!(whole, b"GameSpy test 123");
    }

    /// The expected keys follow `InitCryptKey` of the SDK's `sb_serverlist.c`.
    #[test]
    fn keys_are_mixed_as_by_the_sdk() {
        assert_eq!(
            hex::encode(mix(*b"ABCDEFGH", b"tG3j8c", b"SERVERCHAL1234")),
            "58275e364546445b"
        );
        let bytes: Vec<u8> = (1..=0x19).collect();
        assert_eq!(
            hex::encode(mix(*b"!8Gp9Riq", b"secret", &bytes)),
            "195e23096168176c"
        );
    }
}
