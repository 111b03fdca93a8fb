//! Keys that mean something, told apart from all others in one pass over a server's pairs.

/// Words that are looked for among keys in any ASCII case.
#[derive(Debug)]
pub(crate) struct Words<const N: usize> {
    /// The shortest first.
    words: [&'static str; N],
    /// First and last byte of each in lower case: nearly all other keys differ there.
    ends: [[u8; 2]; N],
    /// How many words are shorter than so many bytes.
    shorter: [usize; LONGEST + 2],
}

/// No word is longer.
const LONGEST: usize = 30;

impl<const N: usize> Words<N> {
    /// Evaluated by the compiler, which refuses words out of order.
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "constants")]
    pub(crate) const fn new(words: [&'static str; N]) -> Self {
        let mut shorter = [0; LONGEST + 2];
        let mut length = 0;
        while length < shorter.len() {
            while shorter[length] < N && words[shorter[length]].len() < length {
                shorter[length] += 1;
            }
            length += 1;
        }
        let mut ends = [[0; 2]; N];
        let mut next = 0;
        while next < N {
            let word = words[next].as_bytes();
            assert!(!word.is_empty() && word.len() <= LONGEST, "out of range");
            assert!(next == 0 || words[next - 1].len() <= word.len(), "out of order");
            ends[next] = [word[0].to_ascii_lowercase(), word[word.len() - 1].to_ascii_lowercase()];
            next += 1;
        }
        Self { words, ends, shorter }
    }

    /// Where a word stands, for [`Named::get`]: for constants, so that the compiler refuses words that are not looked for.
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::panic, reason = "constants")]
    pub(crate) const fn at(&self, word: &str) -> usize {
        let mut place = 0;
        while place < N {
            let (known, wanted) = (self.words[place].as_bytes(), word.as_bytes());
            let mut same = 0;
            while known.len() == wanted.len() && same < known.len() && known[same] == wanted[same] {
                same += 1;
            }
            if known.len() == wanted.len() && same == known.len() {
                return place;
            }
            place += 1;
        }
        panic!("none of the words");
    }

    /// Where each of some words stands.
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "constants")]
    pub(crate) const fn all<const M: usize>(&self, words: [&str; M]) -> [usize; M] {
        let mut places = [0; M];
        let mut next = 0;
        while next < M {
            places[next] = self.at(words[next]);
            next += 1;
        }
        places
    }

    /// Which of the words a key is.
    #[inline]
    pub(crate) fn place(&self, key: &[u8]) -> Option<usize> {
        let (start, end) = (*self.shorter.get(key.len())?, *self.shorter.get(key.len().checked_add(1)?)?);
        let ends = [key.first()?.to_ascii_lowercase(), key.last()?.to_ascii_lowercase()];
        for (word, place) in self.ends.get(start..end)?.iter().zip(start..) {
            if *word == ends
                && let Some(word) = self.words.get(place)
                && (key == word.as_bytes() || key.eq_ignore_ascii_case(word.as_bytes()))
            {
                return Some(place);
            }
        }
        None
    }
}

/// Where a word stands among the `WORDS` in sight, as a constant.
macro_rules! word {
    ($word:expr) => {
        const { WORDS.at($word) }
    };
}

/// Where each of some words stands among the `WORDS` in sight, as a constant.
macro_rules! words {
    ($($word:expr),+) => {
        const { &WORDS.all([$($word),+]) }
    };
}

pub(crate) use {word, words};

/// The values that stand under some words.
#[derive(Debug, Clone)]
pub(crate) struct Named<'a, const N: usize> {
    words: &'static Words<N>,
    values: [Option<&'a [u8]>; N],
}

impl<'a, const N: usize> Named<'a, N> {
    pub(crate) const fn new(words: &'static Words<N>) -> Self {
        Self { words, values: [None; N] }
    }

    /// Takes a pair in. The first value of a word stays.
    #[inline]
    pub(crate) fn note(&mut self, key: &[u8], value: &'a [u8]) {
        if let Some(slot) = self.slot(key) {
            slot.get_or_insert(value);
        }
    }

    /// The same, where the first value that is not empty stays.
    #[inline]
    pub(crate) fn note_filled(&mut self, key: &[u8], value: &'a [u8]) {
        if let Some(slot) = self.slot(key)
            && slot.is_none_or(<[u8]>::is_empty)
        {
            *slot = Some(value);
        }
    }

    /// The value of the word at this place.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&'a [u8]> {
        self.values.get(place).copied().flatten()
    }

    /// The first of these words that says something: an empty value does not.
    pub(crate) fn first(&self, places: &[usize]) -> Option<&'a [u8]> {
        places.iter().find_map(|&place| self.get(place).filter(|value| !value.is_empty()))
    }

    fn slot(&mut self, key: &[u8]) -> Option<&mut Option<&'a [u8]>> {
        self.values.get_mut(self.words.place(key)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static WORDS: Words<5> = Words::new(["map", "mop", "mapname", "version", "hostname"]);

    #[test]
    fn words_are_found_in_any_case_and_nothing_else_is() {
        for (place, word) in WORDS.words.iter().enumerate() {
            assert_eq!(WORDS.place(word.to_uppercase().as_bytes()), Some(place), "{word}");
        }
        for other in
            ["", "m", "mip", "mapnamE_", "hostnamf", &"x".repeat(30), &"x".repeat(31), &"x".repeat(99)]
        {
            assert_eq!(WORDS.place(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn first_values_and_first_filled_ones() {
        let (mut first, mut filled) = (Named::new(&WORDS), Named::new(&WORDS));
        for (key, value) in [("map", ""), ("Map", "a"), ("MAP", "b"), ("mapname", "c"), ("other", "d")] {
            first.note(key.as_bytes(), value.as_bytes());
            filled.note_filled(key.as_bytes(), value.as_bytes());
        }
        assert_eq!(
            (first.get(WORDS.at("map")), filled.get(WORDS.at("map"))),
            (Some(&b""[..]), Some(&b"a"[..]))
        );
        assert_eq!(first.first(&WORDS.all(["map", "mapname"])), Some(&b"c"[..]));
        assert_eq!(first.get(WORDS.at("version")), None);
    }
}
