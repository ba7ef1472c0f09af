//! What is printed.

use std::fmt;

/// What a row is to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach {
    AtLeast(f64),
    AtMost(f64),
    /// Said for the record.
    Shown,
}

impl Reach {
    fn met(self, figure: f64) -> Option<bool> {
        match self {
            Self::AtLeast(reach) => Some(figure >= reach),
            Self::AtMost(reach) => Some(figure <= reach),
            Self::Shown => None,
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(reach) => write!(f, "≥ {}", short(*reach)),
            Self::AtMost(reach) => write!(f, "≤ {}", short(*reach)),
            Self::Shown => f.write_str("–"),
        }
    }
}

/// One line of the table.
pub(crate) struct Line {
    pub(crate) work: String,
    pub(crate) reach: Reach,
    /// Of all rounds.
    pub(crate) figures: Vec<f64>,
    pub(crate) note: String,
}

impl Line {
    pub(crate) fn new(work: impl Into<String>, reach: Reach, figure: f64, note: impl Into<String>) -> Self {
        Self { work: work.into(), reach, figures: vec![figure], note: note.into() }
    }
}

/// The one in the middle.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A figure with as many digits as it is worth.
pub(crate) fn short(figure: f64) -> String {
    match figure.abs() {
        10_000.0.. => {
            let digits = format!("{figure:.0}");
            let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
            groups.join(",")
        }
        100.0.. => format!("{figure:.0}"),
        10.0.. => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

pub(crate) const HEAD: &str =
    "| work | reach | median | min | max | | more |\n| --- | --- | --- | --- | --- | --- | --- |";

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let middle = median(&self.figures);
        let least = self.figures.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let met = match self.reach.met(middle) {
            Some(true) => "met",
            Some(false) => "**short**",
            None => "",
        };
        let (work, reach, note) = (&self.work, self.reach, &self.note);
        if self.figures.is_empty() {
            return write!(f, "| {work} | {reach} | – | – | – | | {note} |");
        }
        let (middle, least, most) = (short(middle), short(least), short(most));
        write!(f, "| {work} | {reach} | {middle} | {least} | {most} | {met} | {note} |")
    }
}
