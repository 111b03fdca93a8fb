//! Where in the world a server says it stands.

use std::fmt;

/// The values of the key `location` in games of the Unreal engine: the order of the engine's own list.
///
/// Other games use the key for other things (Battlefield 1942: a language number of Windows), so a number that
/// is none of these is not an error.
///
/// ```
/// use queryport::gamespy1::Region;
///
/// assert_eq!(Region::from_code(7), Some(Region::ContinentalEurope));
/// assert_eq!(Region::ContinentalEurope.to_string(), "continental Europe");
/// assert_eq!(Region::from_code(1033), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "a list that ended with its games")]
#[repr(u8)]
pub enum Region {
    /// 0: not set, as on most servers.
    Unspecified,
    /// 1: the south-east of the United States.
    SoutheastUs,
    /// 2: the west of the United States.
    WesternUs,
    /// 3: the Midwest of the United States.
    MidwestUs,
    /// 4: the north-west of the United States and western Canada.
    NorthwestUs,
    /// 5: the north-east of the United States and eastern Canada.
    NortheastUs,
    /// 6: the United Kingdom.
    UnitedKingdom,
    /// 7: continental Europe.
    ContinentalEurope,
    /// 8: Central Asia and the Middle East.
    CentralAsia,
    /// 9: south-east Asia and the Pacific.
    SoutheastAsia,
    /// 10: Africa.
    Africa,
    /// 11: Australia, New Zealand and the Pacific.
    Australia,
    /// 12: Central and South America.
    SouthAmerica,
}

impl Region {
    /// Every region, by its code.
    pub const ALL: [Self; 13] = [
        Self::Unspecified,
        Self::SoutheastUs,
        Self::WesternUs,
        Self::MidwestUs,
        Self::NorthwestUs,
        Self::NortheastUs,
        Self::UnitedKingdom,
        Self::ContinentalEurope,
        Self::CentralAsia,
        Self::SoutheastAsia,
        Self::Africa,
        Self::Australia,
        Self::SouthAmerica,
    ];

    /// The region of a code, 0–12.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        usize::try_from(code).ok().and_then(|code| Self::ALL.get(code)).copied()
    }

    /// The code on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// What a person reads.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unspecified => "no region",
            Self::SoutheastUs => "south-eastern US",
            Self::WesternUs => "western US",
            Self::MidwestUs => "midwestern US",
            Self::NorthwestUs => "north-western US, western Canada",
            Self::NortheastUs => "north-eastern US, eastern Canada",
            Self::UnitedKingdom => "United Kingdom",
            Self::ContinentalEurope => "continental Europe",
            Self::CentralAsia => "Central Asia, Middle East",
            Self::SoutheastAsia => "south-east Asia, Pacific",
            Self::Africa => "Africa",
            Self::Australia => "Australia, New Zealand, Pacific",
            Self::SouthAmerica => "Central and South America",
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_go_both_ways() {
        for (code, region) in (0_u8..).zip(Region::ALL) {
            assert_eq!((region.code(), Region::from_code(u32::from(code))), (code, Some(region)));
        }
        assert_eq!(Region::from_code(13), None);
    }
}
