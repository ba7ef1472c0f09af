pub(super) mod card;

/// Version 0.3 over JSON-RPC.
#[derive(Clone, Debug, Default)]
pub struct V0_3 {}
