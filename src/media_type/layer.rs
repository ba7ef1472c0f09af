use std::sync::Arc;

use tower_layer::Layer;

use super::{
    MediaType,
    mode::{Mode, stated},
};
use crate::{
    error::{Error, ErrorKind},
    operation::OperationRequest,
    types::AgentCard,
};

/// How many characters of a media type are told back to whoever stated it: two names of at most 127 and a slash (RFC 6838
/// §4.2).
const SHOWN: usize = 255;

/// Refuses parts of media types that the agent does not take. See the [module docs](super).
#[derive(Clone, Debug)]
#[must_use]
pub struct MediaTypeLayer {
    modes: Arc<[Mode<Box<str>>]>,
    /// As they were given, for whoever states another.
    listed: Arc<str>,
}

impl MediaTypeLayer {
    /// Takes these media types.
    pub fn new<M: Into<String>>(modes: impl IntoIterator<Item = M>) -> Self {
        let given: Vec<String> = modes.into_iter().map(Into::into).collect();
        let modes = given.iter().map(|mode| Mode::read(mode).to_owned()).collect();
        Self { modes, listed: given.join(", ").into() }
    }

    /// Takes the default input modes of this card and those of its skills.
    pub fn from_card(card: &AgentCard) -> Self {
        let skills = card.skills.iter().flat_map(|skill| &skill.input_modes);
        let mut modes: Vec<&String> = card.default_input_modes.iter().chain(skills).collect();
        modes.sort_unstable();
        modes.dedup();
        Self::new(modes.into_iter().cloned())
    }

    /// # Errors
    /// If a part states a type that is not taken.
    pub(super) fn check(&self, request: &OperationRequest) -> Result<(), Error> {
        let (OperationRequest::SendMessage(send) | OperationRequest::SendStreamingMessage(send)) = request else {
            return Ok(());
        };
        let stated = send.message.parts.iter().enumerate().filter_map(|(at, part)| Some((at, stated(part)?)));
        for (at, media_type) in stated {
            if !self.modes.iter().any(|mode| mode.covers(media_type)) {
                return Err(self.refusal(at, media_type));
            }
        }
        Ok(())
    }

    fn refusal(&self, at: usize, media_type: &str) -> Error {
        let shown = media_type.char_indices().nth(SHOWN).map_or(media_type, |(end, _)| &media_type[..end]);
        Error::new(ErrorKind::ContentTypeNotSupported)
            .with_detail(format!("message.parts[{at}] is {shown}, the agent takes {}", self.listed))
            .with_info("mediaType", shown)
            .with_info("supportedMediaTypes", &*self.listed)
    }
}

impl<S> Layer<S> for MediaTypeLayer {
    type Service = MediaType<S>;

    fn layer(&self, inner: S) -> Self::Service {
        MediaType::new(inner, self.clone())
    }
}
