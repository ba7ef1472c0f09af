use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Uri};

use super::CardError;
use crate::{
    binding::stated_version,
    dialect::{Dialect, card},
    error::Error,
    operation::ProtocolVersion,
    types::AgentCard,
};

/// The text of a card and the tag that stands for it.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) body: Bytes,
    pub(super) etag: HeaderValue,
}

/// The forms that a card is offered in.
#[derive(Clone, Debug)]
pub(super) struct Forms {
    versions: Vec<(ProtocolVersion, Form)>,
    default: Form,
}

/// One form, and its text as long as the card says the same to everyone.
#[derive(Clone, Debug)]
pub(super) struct Form {
    encoder: Encoder,
    pub(super) document: Document,
}

#[derive(Clone)]
enum Encoder {
    V0_3,
    V1_0,
    Union,
    Dialect(Arc<dyn Dialect>),
}

impl Forms {
    /// A form for each version that the card has an interface of, and one for those who ask for none of them.
    pub(super) fn new(card: &AgentCard, dialects: &[Arc<dyn Dialect>]) -> Result<Self, CardError> {
        let offers = |version| {
            let mut offered = card.interfaces.iter().map(|interface| &interface.protocol_version);
            offered.any(|offered| ProtocolVersion::parse(offered) == Some(version))
        };
        let mut versions = Vec::new();
        for dialect in dialects {
            if offers(dialect.version()) {
                versions.push((dialect.version(), Form::new(Encoder::Dialect(Arc::clone(dialect)), card)?));
            }
        }
        let (old, new) = (offers(ProtocolVersion::V0_3), offers(ProtocolVersion::V1_0));
        if old {
            versions.push((ProtocolVersion::V0_3, Form::new(Encoder::V0_3, card)?));
        }
        if new {
            versions.push((ProtocolVersion::V1_0, Form::new(Encoder::V1_0, card)?));
        }
        let default = match (old, new) {
            (true, true) => Encoder::Union,
            (true, false) => Encoder::V0_3,
            (false, _) => Encoder::V1_0,
        };
        Ok(Self { versions, default: Form::new(default, card)? })
    }

    /// The form for this request.
    pub(super) fn pick(&self, headers: &HeaderMap, uri: &Uri) -> &Form {
        let asked = asked_version(headers, uri);
        let picked = self.versions.iter().find(|(version, _)| Some(*version) == asked);
        picked.map_or(&self.default, |(_, form)| form)
    }
}

impl Form {
    fn new(encoder: Encoder, card: &AgentCard) -> Result<Self, CardError> {
        let document =
            encoder.encode(card).map_err(|error| CardError::new("", format!("cannot be written: {error}")))?;
        Ok(Self { encoder, document })
    }

    /// The text of another card in this form.
    pub(super) fn encode(&self, card: &AgentCard) -> Option<Document> {
        self.encoder.encode(card).ok()
    }
}

impl Encoder {
    fn encode(&self, card: &AgentCard) -> Result<Document, Error> {
        let mut body = Vec::with_capacity(1024);
        match self {
            Self::V0_3 => card::encode_0_3(card, &mut body)?,
            Self::V1_0 => card::encode_1_0(card, &mut body)?,
            Self::Union => card::encode_union(card, &mut body)?,
            Self::Dialect(dialect) => dialect.encode_card(card, &mut body)?,
        }
        let etag = HeaderValue::try_from(format!("\"{:032x}\"", fingerprint(&body))).map_err(Error::internal)?;
        Ok(Document { body: body.into(), etag })
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V0_3 => f.write_str("V0_3"),
            Self::V1_0 => f.write_str("V1_0"),
            Self::Union => f.write_str("Union"),
            Self::Dialect(dialect) => write!(f, "Dialect({})", dialect.version()),
        }
    }
}

/// The version that the caller names in the header or, without one, in the query.
fn asked_version(headers: &HeaderMap, uri: &Uri) -> Option<ProtocolVersion> {
    ProtocolVersion::parse(&stated_version(headers, uri)?)
}

/// FNV-1a over 128 bits: the same text has the same tag in every process, so replicas agree.
fn fingerprint(text: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}
