use std::fmt;

use a2a_layers::call::Binding;

use crate::wire::Version;

/// A binding in a version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) binding: Binding,
    pub(crate) version: Version,
}

impl Way {
    /// The one that the others are held against, and they.
    pub(crate) const ALL: [Self; 6] = [
        Self { binding: Binding::JsonRpc, version: Version::New },
        Self { binding: Binding::JsonRpc, version: Version::Old },
        Self { binding: Binding::HttpJson, version: Version::New },
        Self { binding: Binding::HttpJson, version: Version::Old },
        Self { binding: Binding::Grpc, version: Version::New },
        Self { binding: Binding::Grpc, version: Version::Old },
    ];

    pub(crate) fn is_old(self) -> bool {
        self.version == Version::Old
    }

    /// True where 0.3 speaks the JSON of its proto, and not that of its schema.
    pub(crate) fn is_old_proto(self) -> bool {
        self.is_old() && self.binding != Binding::JsonRpc
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.binding.name(), if self.is_old() { "0.3" } else { "1.0" })
    }
}
