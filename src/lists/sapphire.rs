//! The cipher of GameSpy v2's lists, known as *enctypeX*: Johnson's Sapphire II with two of its indices exchanged.
//!
//! Source: GameSpy's SDK as published by IGN (`nitrocaster/GameSpy`, `serverbrowsing/sb_crypt.c`; the key:
//! `sb_serverlist.c`).

/// Bytes of a client's challenge.
pub(super) const CHALLENGE: usize = 8;

/// The state of the cipher: 256 cards, five indices.
#[derive(Debug, Clone)]
pub(super) struct Cipher {
    cards: [u8; 256],
    rotor: u8,
    ratchet: u8,
    avalanche: u8,
    last_plain: u8,
    last_cipher: u8,
}

/// The key of a conversation: the client's challenge, with the game's key and the server's challenge mixed in.
pub(super) fn mix(
    mut challenge: [u8; CHALLENGE],
    game_key: &[u8],
    server_challenge: &[u8],
) -> [u8; CHALLENGE] {
    let key_bytes = game_key.iter().cycle();
    for ((index, byte), game_key) in server_challenge.iter().enumerate().zip(key_bytes) {
        let mixed = challenge.get(index % CHALLENGE).copied().unwrap_or_default() ^ byte;
        let target = index.wrapping_mul(usize::from(*game_key)) % CHALLENGE;
        if let Some(target) = challenge.get_mut(target) {
            *target ^= mixed;
        }
    }
    challenge
}

impl Cipher {
    pub(super) fn new(key: [u8; CHALLENGE]) -> Self {
        let mut cards = [0; 256];
        (0..=255).zip(&mut cards).for_each(|(value, card)| *card = value);
        let mut cipher = Self { cards, rotor: 0, ratchet: 0, avalanche: 0, last_plain: 0, last_cipher: 0 };
        let (mut sum, mut position) = (0_u8, 0_usize);
        for last in (1..=255_u8).rev() {
            let other = cipher.draw(last, &key, &mut sum, &mut position);
            cipher.cards.swap(usize::from(last), usize::from(other));
        }
        [cipher.rotor, cipher.ratchet, cipher.avalanche, cipher.last_plain] =
            [1, 3, 5, 7].map(|n| cipher.card(n));
        cipher.last_cipher = cipher.card(sum);
        cipher
    }

    /// Replaces cipher text by plain text.
    pub(super) fn decipher(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.ratchet = self.ratchet.wrapping_add(self.card(self.rotor));
            self.rotor = self.rotor.wrapping_add(1);
            let saved = self.card(self.last_cipher);
            self.set_card(self.last_cipher, self.card(self.ratchet));
            self.set_card(self.ratchet, self.card(self.last_plain));
            self.set_card(self.last_plain, self.card(self.rotor));
            self.set_card(self.rotor, saved);
            self.avalanche = self.avalanche.wrapping_add(self.card(saved));
            let one = self.card(self.avalanche).wrapping_add(self.card(self.rotor));
            let three = [self.last_plain, self.last_cipher, self.ratchet].map(|index| self.card(index));
            let three = three.into_iter().fold(0_u8, u8::wrapping_add);
            self.last_cipher = *byte;
            *byte ^= self.card(one) ^ self.card(self.card(three));
            self.last_plain = *byte;
        }
    }

    /// A number from 0 to `limit` that follows from the key.
    fn draw(&self, limit: u8, key: &[u8; CHALLENGE], sum: &mut u8, position: &mut usize) -> u8 {
        let mask = u8::MAX >> limit.leading_zeros();
        for attempt in 1_u8.. {
            let key_byte = key.get(*position).copied().unwrap_or_default();
            *sum = self.card(*sum).wrapping_add(key_byte);
            *position = position.wrapping_add(1);
            if *position >= CHALLENGE {
                *position = 0;
                *sum = sum.wrapping_add(8);
            }
            let mut number = *sum & mask;
            if attempt >= 12 {
                number = number.checked_rem(limit).unwrap_or_default();
            }
            if number <= limit {
                return number;
            }
        }
        0
    }

    fn card(&self, index: u8) -> u8 {
        self.cards.get(usize::from(index)).copied().unwrap_or_default()
    }

    fn set_card(&mut self, index: u8, value: u8) {
        if let Some(card) = self.cards.get_mut(usize::from(index)) {
            *card = value;
        }
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

    /// Made with the SDK's own `sb_crypt.c`.
    #[test]
    fn the_cipher_is_that_of_the_sdk() {
        let cipher = Cipher::new(*b"12345678");
        assert_eq!(hex::encode(&cipher.cards[..8]), "165aab52c886a60e");
        let indices = [cipher.rotor, cipher.ratchet, cipher.avalanche, cipher.last_plain, cipher.last_cipher];
        assert_eq!(indices, [90, 82, 134, 14, 67]);
        assert_eq!(deciphered(*b"12345678", "3fcd58ae640714ffe0e8339269879f6c"), [0; 16]);
        assert_eq!(deciphered(*b"12345678", "782b9471e245c6bbd5ac3e5390433c2d"), b"GameSpy test 123");
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

    /// As `InitCryptKey` of the SDK's `sb_serverlist.c` mixes them.
    #[test]
    fn keys_are_mixed_as_by_the_sdk() {
        assert_eq!(hex::encode(mix(*b"ABCDEFGH", b"tG3j8c", b"SERVERCHAL1234")), "58275e364546445b");
        let bytes: Vec<u8> = (1..=0x19).collect();
        assert_eq!(hex::encode(mix(*b"!8Gp9Riq", b"secret", &bytes)), "195e23096168176c");
    }
}
