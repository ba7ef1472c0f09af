use std::fmt;

use super::Text;
use crate::error::Error;

/// Where in the parameters a field is. It lives on the stack and becomes text only in a complaint.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    outer: Option<&'a At<'a>>,
    step: Step,
}

#[derive(Clone, Copy)]
enum Step {
    Field(&'static str),
    Index(usize),
}

impl<'a> At<'a> {
    /// A field of the parameters.
    pub(crate) const fn new(field: &'static str) -> Self {
        Self { outer: None, step: Step::Field(field) }
    }

    /// A field of the object that is here.
    pub(crate) const fn field(&'a self, field: &'static str) -> Self {
        Self { outer: Some(self), step: Step::Field(field) }
    }

    /// An element of the array that is here.
    pub(crate) const fn index(&'a self, index: usize) -> Self {
        Self { outer: Some(self), step: Step::Index(index) }
    }

    /// What is here is not as it must be.
    #[cold]
    pub(crate) fn invalid(&self, description: impl Into<String>) -> Error {
        Error::invalid_params(self.to_string(), description)
    }

    /// What is here must be given.
    pub(crate) fn required<T>(&self, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| self.invalid("must be given"))
    }

    /// The text here must be given and say something.
    pub(in crate::dialect) fn filled<'de>(&self, text: Option<Text<'de>>) -> Result<Text<'de>, Error> {
        let text = self.required(text)?;
        if text.is_empty() { Err(self.invalid("must not be empty")) } else { Ok(text) }
    }

    /// The number here must not be negative.
    pub(crate) fn count(&self, number: i32) -> Result<u32, Error> {
        u32::try_from(number).map_err(|_| self.invalid("must not be negative"))
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(outer) = self.outer {
            outer.fmt(f)?;
        }
        match self.step {
            Step::Field(field) if self.outer.is_some() => write!(f, ".{field}"),
            Step::Field(field) => f.write_str(field),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}
