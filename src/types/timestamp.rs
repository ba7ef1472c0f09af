use std::{fmt, time::SystemTime};

use jiff::{fmt::temporal::Pieces, tz::Offset};

/// A moment in UTC with millisecond precision (spec 1.0 §5.6.1).
///
/// It prints as RFC 3339 with a `Z`, such as `2026-01-01T00:00:00.000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Now, by the system's clock.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// A moment so many milliseconds after 1970-01-01T00:00:00Z, kept within the years that RFC 3339 can write.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        // The last second of all has no whole milliseconds that could be made into a moment again.
        Self(millis.clamp(jiff::Timestamp::MIN.as_millisecond(), jiff::Timestamp::MAX.as_second() * 1000))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Reads ISO 8601: any offset is normalised to UTC, a time without a zone counts as UTC,
    /// and digits beyond the millisecond are cut off. Moments are kept as [`from_millis`](Self::from_millis) keeps them.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let pieces = Pieces::parse(text).ok()?;
        let civil = pieces.date().to_datetime(pieces.time().unwrap_or_default());
        let moment = pieces.to_numeric_offset().unwrap_or(Offset::UTC).to_timestamp(civil);
        // Moments end before the last day does, so that they have a civil time in every zone.
        Some(Self::from_millis(match moment {
            Ok(moment) => moment.as_millisecond(),
            Err(_) if civil.year() > 0 => i64::MAX,
            Err(_) => i64::MIN,
        }))
    }
}

impl Timestamp {
    /// The text, digit by digit: each status and each event has one, and a printer for all forms takes longer for it than
    /// everything else that is written of a status. `None` for years before the first, which have a sign.
    pub(crate) fn digits(self) -> Option<[u8; 24]> {
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        let civil = Offset::UTC.to_datetime(moment);
        if civil.year() < 0 {
            return None;
        }
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |last: usize, digits: usize, number: u16| {
            let mut rest = number;
            for place in (last + 1 - digits..=last).rev() {
                text[place] += (rest % 10) as u8;
                rest /= 10;
            }
        };
        put(3, 4, civil.year().unsigned_abs());
        put(6, 2, civil.month().unsigned_abs().into());
        put(9, 2, civil.day().unsigned_abs().into());
        put(12, 2, civil.hour().unsigned_abs().into());
        put(15, 2, civil.minute().unsigned_abs().into());
        put(18, 2, civil.second().unsigned_abs().into());
        put(22, 3, civil.millisecond().unsigned_abs());
        Some(text)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.digits() {
            // Digits and signs are ASCII.
            Some(text) => f.write_str(std::str::from_utf8(&text).unwrap_or_default()),
            None => write!(f, "{:.3}", jiff::Timestamp::from_millisecond(self.0).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn prints_what_a_general_printer_prints(millis: i64, near in -100_000_000_000_000..300_000_000_000_000_i64) {
            for moment in [Timestamp::from_millis(millis), Timestamp::from_millis(near)] {
                let expected = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap();
                prop_assert_eq!(moment.to_string(), format!("{:.3}", expected));
            }
        }
    }

    #[test]
    fn prints_milliseconds_and_z() {
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_millis(1_767_225_600_123).to_string(), "2026-01-01T00:00:00.123Z");
    }

    #[test]
    fn f34_parses_offsets_fractions_and_zoneless_times() {
        let expected = Timestamp::parse("2026-01-01T00:00:00Z");
        assert!(expected.is_some());
        for text in ["2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00", "2026-01-01T00:00:00.000999999Z"] {
            assert_eq!(Timestamp::parse(text), expected, "{text}");
        }
        for text in ["", "yesterday", "1767225600000", "2026-13-01T00:00:00Z", "10000-01-01T00:00:00Z", "2026-02-30"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn f34_the_last_day_of_all_is_a_day_too() {
        let [first, last] = [i64::MIN, i64::MAX].map(Timestamp::from_millis);
        for text in [
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59.999999999Z",
            "9999-12-31T23:59:59",
            "9999-12-31T01:00:00-18:00",
        ] {
            assert_eq!(Timestamp::parse(text), Some(last), "{text}");
        }
        assert_eq!(Timestamp::parse("-009999-01-01T00:00:00Z"), Some(first));
        assert_eq!(Timestamp::parse("9999-12-31T23:59:60Z"), Some(last));
        assert_eq!(Timestamp::parse("9999-12-32T00:00:00Z"), None);
    }
}
