pub(super) mod card;

/// Version 1.0.
#[derive(Clone, Debug, Default)]
pub struct V1_0 {}
