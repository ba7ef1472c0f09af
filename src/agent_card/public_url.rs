use std::sync::Arc;

use http::{HeaderMap, HeaderName, Uri, header, uri::Authority};

use super::{CardError, builder::host_and_port};
use crate::types::AgentCard;

/// How long a host and a prefix from a header may be, in bytes: a DNS name has at most 253, and a port behind it.
const MAX_LENGTH: usize = 260;

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// Where a card's addresses come from.
///
/// Headers are believed only if this says so, and then those alone that it names: anyone can send them, so the proxy in
/// front **must** set or remove every one of them, or a caller can put its own host on the card.
#[derive(Clone, Debug, Default)]
pub struct PublicUrl(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    Fixed,
    Forwarded(Arc<str>),
    XForwarded(Arc<str>),
}

impl PublicUrl {
    /// The addresses as they stand on the card; headers change nothing. This is the default.
    #[must_use]
    pub const fn fixed() -> Self {
        Self(Source::Fixed)
    }

    /// Addresses that begin with `base` (such as `http://localhost:8000`) get the scheme and the host of the request's
    /// `Forwarded` header (RFC 7239) instead. Of several proxies' entries the last one counts, which the nearest wrote.
    pub fn from_forwarded(base: impl Into<Arc<str>>) -> Self {
        Self(Source::Forwarded(base.into()))
    }

    /// Addresses that begin with `base` (such as `http://localhost:8000`) get the scheme, host and path prefix of
    /// the request's `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix` instead. Of several values the last
    /// one counts, which the nearest proxy wrote.
    pub fn from_x_forwarded(base: impl Into<Arc<str>>) -> Self {
        Self(Source::XForwarded(base.into()))
    }

    /// The headers that the card depends on.
    pub(super) const fn vary(&self) -> &'static str {
        match self.0 {
            Source::Fixed => "",
            Source::Forwarded(_) => ", Forwarded, Host",
            Source::XForwarded(_) => ", X-Forwarded-Proto, X-Forwarded-Host, X-Forwarded-Prefix, Host",
        }
    }

    /// # Errors
    /// If nothing on the card would ever be replaced.
    pub(super) fn check(&self, card: &AgentCard) -> Result<(), CardError> {
        let Some(base) = self.base() else { return Ok(()) };
        if card.interfaces.iter().any(|interface| path_behind(base, &interface.url).is_some()) {
            return Ok(());
        }
        Err(CardError::new("supportedInterfaces", format!("has no URL that begins with {base}")))
    }

    fn base(&self) -> Option<&str> {
        match &self.0 {
            Source::Fixed => None,
            Source::Forwarded(base) | Source::XForwarded(base) => Some(base.trim_end_matches('/')),
        }
    }

    /// The card as this request's caller has to see it; `None` if that is as it stands.
    pub(super) fn apply(&self, card: &AgentCard, headers: &HeaderMap, uri: &Uri) -> Option<AgentCard> {
        let base = self.base()?;
        let public = match self.0 {
            Source::Fixed => return None,
            Source::Forwarded(_) => forwarded(headers, uri)?,
            Source::XForwarded(_) => x_forwarded(headers, uri)?,
        };
        if base == public {
            return None;
        }
        let mut card = card.clone();
        // An address of gRPC is no URL, but a host and a port.
        let bare = |url: &str| url.parse().ok().and_then(|uri| host_and_port(&uri));
        if let (Some(ours), Some(theirs)) = (bare(base), bare(&public)) {
            let alike = card.interfaces.iter_mut().filter(|interface| interface.url == ours);
            alike.for_each(|interface| interface.url.clone_from(&theirs));
        }
        let addresses = card.interfaces.iter_mut().map(|interface| &mut interface.url);
        for address in addresses.chain(&mut card.documentation_url).chain(&mut card.icon_url) {
            if let Some(path) = path_behind(base, address) {
                *address = format!("{public}{path}");
            }
        }
        Some(card)
    }
}

/// What follows the base in an address that begins with it.
fn path_behind<'a>(base: &str, address: &'a str) -> Option<&'a str> {
    address.strip_prefix(base).filter(|path| path.is_empty() || path.starts_with('/'))
}

fn forwarded(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let value = headers.get_all(header::FORWARDED).iter().next_back()?.to_str().ok()?;
    let (mut proto, mut host) = (None, None);
    for pair in value.rsplit(',').next()?.split(';') {
        let (name, value) = pair.split_once('=')?;
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        match name.trim() {
            name if name.eq_ignore_ascii_case("proto") => proto = Some(value),
            name if name.eq_ignore_ascii_case("host") => host = Some(value),
            _ => {}
        }
    }
    public_base(proto?, host.or_else(|| own_host(headers, uri))?, "")
}

fn x_forwarded(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let last = |name: &HeaderName| {
        let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
        value.rsplit(',').next().map(str::trim).filter(|value| !value.is_empty())
    };
    let host = last(&FORWARDED_HOST).or_else(|| own_host(headers, uri))?;
    public_base(last(&FORWARDED_PROTO)?, host, last(&FORWARDED_PREFIX).unwrap_or_default())
}

/// The host that the proxy itself called, which many pass through.
fn own_host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    uri.authority().map(Authority::as_str).or_else(|| headers.get(header::HOST)?.to_str().ok())
}

/// The beginning of public addresses; `None` if any piece of it is not what it should be.
fn public_base(proto: &str, host: &str, prefix: &str) -> Option<String> {
    let scheme = ["http", "https"].into_iter().find(|scheme| proto.eq_ignore_ascii_case(scheme))?;
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let well_formed = host.len() <= MAX_LENGTH && host.bytes().all(is_host) && host.parse::<Authority>().is_ok();
    let prefix = prefix.trim_end_matches('/');
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let plain = prefix.len() <= MAX_LENGTH && prefix.bytes().all(is_path) && !prefix.contains("//");
    let rooted = prefix.is_empty() || (prefix.starts_with('/') && !prefix.split('/').any(|segment| segment == ".."));
    (well_formed && plain && rooted).then(|| format!("{scheme}://{}{prefix}", host.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f103_only_well_formed_pieces_make_an_address() {
        assert_eq!(
            public_base("HTTPS", "Agent.Example:8443", "/a/b/").as_deref(),
            Some("https://agent.example:8443/a/b")
        );
        assert_eq!(public_base("http", "[::1]:80", "").as_deref(), Some("http://[::1]:80"));
        for (proto, host, prefix) in [
            ("ftp", "h", ""),
            ("https", "", ""),
            ("https", "user@h", ""),
            ("https", "h/path", ""),
            ("https", "h\"x", ""),
            ("https", "h<x>", ""),
            ("https", "h", "a"),
            ("https", "h", "//evil"),
            ("https", "h", "/a/../b"),
            ("https", "h", "/a?b"),
        ] {
            assert_eq!(public_base(proto, host, prefix), None, "{proto} {host} {prefix}");
        }
        assert!(public_base("http", &"h".repeat(MAX_LENGTH), "").is_some());
        assert_eq!(public_base("http", &"h".repeat(MAX_LENGTH + 1), ""), None);
        assert!(public_base("http", "h", &format!("/{}", "p".repeat(MAX_LENGTH - 1))).is_some());
        assert_eq!(public_base("http", "h", &format!("/{}", "p".repeat(MAX_LENGTH))), None);
    }
}
