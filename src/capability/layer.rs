use std::sync::Arc;

use tower_layer::Layer;

use super::Capability;
use crate::{
    error::{Error, ErrorKind},
    operation::{Answer, Operation, OperationKind, OperationRequest, ProtocolVersion},
    types::AgentCard,
};

/// Refuses what the agent does not offer. See the [module docs](super).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct CapabilityLayer {
    offered: Offered,
    extended_card: ExtendedCard,
}

/// What can be told from the sort of an operation alone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offered {
    streaming: bool,
    push_notifications: bool,
}

impl Offered {
    /// Why operations of this sort are refused, if they are.
    pub(crate) fn refusal(self, kind: OperationKind) -> Option<Error> {
        if kind.is_streaming() && !self.streaming {
            let words = "the agent's card does not offer streams";
            return Some(Error::new(ErrorKind::UnsupportedOperation).with_detail(words));
        }
        (kind.is_push() && !self.push_notifications).then(|| ErrorKind::PushNotificationNotSupported.into())
    }
}

#[derive(Clone, Debug, Default)]
enum ExtendedCard {
    #[default]
    NotOffered,
    NotSet,
    Fixed(Arc<AgentCard>),
    Inner,
}

impl CapabilityLayer {
    /// Offers nothing beyond the basics.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers what this card says. An extended card that it promises has to be [set](Self::extended_agent_card).
    pub fn from_card(card: &AgentCard) -> Self {
        let offered = &card.capabilities;
        let extended_card = if offered.extended_agent_card { ExtendedCard::NotSet } else { ExtendedCard::NotOffered };
        let offered = Offered { streaming: offered.streaming, push_notifications: offered.push_notifications };
        Self { offered, extended_card }
    }

    /// Whether streams are offered. The default is no.
    pub fn streaming(mut self, offered: bool) -> Self {
        self.offered.streaming = offered;
        self
    }

    /// Whether webhooks are offered. The default is no.
    pub fn push_notifications(mut self, offered: bool) -> Self {
        self.offered.push_notifications = offered;
        self
    }

    /// Answers with this card for those who authenticate. Who they are is for a layer outside to find out.
    pub fn extended_agent_card(mut self, card: impl Into<Arc<AgentCard>>) -> Self {
        self.extended_card = ExtendedCard::Fixed(card.into());
        self
    }

    /// Leaves the extended card to the inner service, for cards that depend on the caller.
    pub fn extended_agent_card_from_inner(mut self) -> Self {
        self.extended_card = ExtendedCard::Inner;
        self
    }

    pub(crate) const fn offered(&self) -> Offered {
        self.offered
    }

    /// What there is to say without asking the inner service; `None` if it has to be asked.
    pub(super) fn verdict(&self, operation: &Operation) -> Option<Result<Answer, Error>> {
        let kind = operation.kind();
        if kind == OperationKind::GetExtendedAgentCard {
            return match &self.extended_card {
                // 0.3 has one error for both; that of 1.0 tells them apart (spec 0.3 §8.2, 1.0 §3.3.4).
                ExtendedCard::NotOffered if operation.version() >= ProtocolVersion::V1_0 => {
                    let words = "the agent has no extended card";
                    Some(Err(Error::new(ErrorKind::UnsupportedOperation).with_detail(words)))
                }
                ExtendedCard::NotOffered | ExtendedCard::NotSet => {
                    Some(Err(Error::new(ErrorKind::ExtendedAgentCardNotConfigured)))
                }
                ExtendedCard::Fixed(card) => Some(Ok(Answer::ExtendedAgentCard(Arc::clone(card)))),
                ExtendedCard::Inner => None,
            };
        }
        if let Some(error) = self.offered.refusal(kind) {
            return Some(Err(error));
        }
        let brings_webhook = match operation.request() {
            OperationRequest::SendMessage(send) | OperationRequest::SendStreamingMessage(send) => {
                send.configuration.push.is_some()
            }
            _ => false,
        };
        if brings_webhook && !self.offered.push_notifications {
            return Some(Err(ErrorKind::PushNotificationNotSupported.into()));
        }
        None
    }
}

impl<S> Layer<S> for CapabilityLayer {
    type Service = Capability<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Capability::new(inner, self.clone())
    }
}
