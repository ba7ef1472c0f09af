use std::{fmt, time::SystemTime};

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
        Self(millis.clamp(jiff::Timestamp::MIN.as_millisecond(), jiff::Timestamp::MAX.as_millisecond()))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Reads ISO 8601: any offset is normalised to UTC, a time without a zone counts as UTC,
    /// and digits beyond the millisecond are cut off.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let moment = text.parse::<jiff::Timestamp>().ok().or_else(|| {
            let civil = text.parse::<jiff::civil::DateTime>().ok()?;
            jiff::tz::Offset::UTC.to_timestamp(civil).ok()
        })?;
        Some(Self(moment.as_millisecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        write!(f, "{moment:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for text in ["", "yesterday", "1767225600000", "2026-13-01T00:00:00Z"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
