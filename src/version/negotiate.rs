use std::borrow::Cow;

use http::{HeaderName, Request};

use super::speaker::Speaker;
use crate::{
    call::Call,
    error::{Error, ErrorKind},
    operation::ProtocolVersion,
};

const HEADER: HeaderName = HeaderName::from_static("a2a-version");
const PARAMETER: &str = "A2A-Version";

/// Which versions a mount speaks.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    /// In the order of their versions, at least one.
    speakers: Vec<Speaker>,
    /// The version of those that name none.
    granted: ProtocolVersion,
    pub(super) lenient: bool,
}

impl Offer {
    pub(super) fn new(speakers: Vec<Speaker>, granted: ProtocolVersion) -> Self {
        Self { speakers, granted, lenient: false }
    }

    pub(super) fn add(&mut self, speaker: Speaker) {
        let version = speaker.dialect().version();
        match self.speakers.binary_search_by_key(&version, |known| known.dialect().version()) {
            Ok(found) => self.speakers[found] = speaker,
            Err(place) => self.speakers.insert(place, speaker),
        }
    }

    /// Who speaks the version of this request.
    pub(super) fn choose(&self, request: &Request<Call>) -> Result<&Speaker, Error> {
        let version = match stated(request) {
            Some(text) => ProtocolVersion::parse(&text),
            None => {
                let method = request.body().method();
                let knows = |speaker: &&Speaker| speaker.dialect().operation(method).is_some();
                let granted = self.find(self.granted).filter(knows);
                let other = || self.speakers.iter().find(knows);
                if let Some(speaker) = granted.or_else(other).filter(|_| self.lenient) {
                    return Ok(speaker);
                }
                Some(self.granted)
            }
        };
        version.and_then(|version| self.find(version)).ok_or_else(|| self.refusal(version))
    }

    /// Where a method is not known because it is one of another version, says so: callers forget the header.
    pub(super) fn explain(&self, error: Error, speaker: &Speaker, method: &str) -> Error {
        let knows = |speaker: &&Speaker| speaker.dialect().operation(method).is_some();
        if error.kind() != ErrorKind::MethodNotFound || knows(&speaker) {
            return error;
        }
        match self.speakers.iter().rfind(knows) {
            Some(other) => {
                let (theirs, ours) = (other.dialect().version(), speaker.dialect().version());
                error.with_detail(format!(
                    "{method} is a method of {theirs}, and this request is in {ours}; send A2A-Version: {theirs}"
                ))
            }
            None => error,
        }
    }

    fn find(&self, version: ProtocolVersion) -> Option<&Speaker> {
        self.speakers.iter().find(|speaker| speaker.dialect().version() == version)
    }

    fn refusal(&self, version: Option<ProtocolVersion>) -> Error {
        let known: Vec<_> = self.speakers.iter().map(|speaker| speaker.dialect().version().to_string()).collect();
        let known = known.join(", ");
        let detail = match version {
            Some(version) => format!("{version} is none of {known}"),
            None => format!("A2A-Version must be one of {known}"),
        };
        let error =
            Error::new(ErrorKind::VersionNotSupported).with_detail(detail).with_info("supportedVersions", known);
        // The caller's version being unknown, the newest one's way to say it is as good as any.
        match self.speakers.last() {
            Some(speaker) => speaker.error(error),
            None => error,
        }
    }
}

/// What the caller says about the version; `None` if that is nothing.
fn stated(request: &Request<Call>) -> Option<Cow<'_, str>> {
    let header = request.headers().get(HEADER).map(|value| String::from_utf8_lossy(value.as_bytes().trim_ascii()));
    header.filter(|text| !text.is_empty()).or_else(|| parameter(request.uri().query()?))
}

fn parameter(query: &str) -> Option<Cow<'_, str>> {
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.find(|(name, _)| percent_decoded(name).eq_ignore_ascii_case(PARAMETER))?;
    Some(percent_decoded(value)).filter(|value| !value.is_empty())
}

fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let escaped = others.get(..2).filter(|_| *first == b'%').and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u8::from_str_radix(digits, 16).ok()
        });
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &others[2..] } else { others };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        call::Binding,
        dialect::{V0_3, V1_0},
    };

    fn both() -> Offer {
        let mut offer = Offer::new(Vec::new(), ProtocolVersion::V0_3);
        offer.add(Speaker::new(V1_0::new()));
        offer.add(Speaker::new(V0_3::new()));
        offer
    }

    fn chosen(offer: &Offer, uri: &str, header: Option<&str>, method: &str) -> Result<String, i32> {
        let mut request = Request::builder().uri(uri);
        if let Some(header) = header {
            request = request.header("A2A-Version", header);
        }
        let request = request.body(Call::new(Binding::JsonRpc, method)).unwrap();
        offer.choose(&request).map(|speaker| speaker.dialect().version().to_string()).map_err(|error| error.code())
    }

    #[test]
    fn the_header_wins_over_the_query_and_an_empty_one_says_nothing() {
        let offer = both();
        for (uri, header, expected) in [
            ("/", None, Ok("0.3")),
            ("/", Some(""), Ok("0.3")),
            ("/", Some(" "), Ok("0.3")),
            ("/", Some("1.0"), Ok("1.0")),
            ("/?A2A-Version=1.0", None, Ok("1.0")),
            ("/?x=1&a2a-version=1%2E0&y", None, Ok("1.0")),
            ("/?A2A%2DVersion=1.0", Some(""), Ok("1.0")),
            ("/?A2A-Version=1.0", Some("0.3"), Ok("0.3")),
            ("/?A2A-Version=", None, Ok("0.3")),
            ("/?A2A-Version=%zz", None, Err(-32009)),
            ("/?A2A-Version=%E4%2", None, Err(-32009)),
            ("/?A2A-Version=9", None, Err(-32009)),
            ("/", Some("ä"), Err(-32009)),
            ("/", Some("1.0, 0.3"), Err(-32009)),
        ] {
            assert_eq!(chosen(&offer, uri, header, "m"), expected.map(str::to_owned), "{uri} {header:?}");
        }
    }

    #[test]
    fn the_lenient_look_at_the_method_only_where_no_version_is_named() {
        let mut offer = both();
        assert_eq!(chosen(&offer, "/", None, "SendMessage"), Ok("0.3".into()));
        offer.lenient = true;
        assert_eq!(chosen(&offer, "/", None, "SendMessage"), Ok("1.0".into()));
        assert_eq!(chosen(&offer, "/", None, "message/send"), Ok("0.3".into()));
        assert_eq!(chosen(&offer, "/", None, "nonsense"), Ok("0.3".into()));
        assert_eq!(chosen(&offer, "/", Some("0.3"), "SendMessage"), Ok("0.3".into()));
    }

    #[test]
    fn without_0_3_no_version_is_refused_unless_one_is_taken_for_granted() {
        let mut offer = Offer::new(vec![Speaker::new(V1_0::new())], ProtocolVersion::V0_3);
        assert_eq!(chosen(&offer, "/", None, "SendMessage"), Err(-32009));
        offer.granted = ProtocolVersion::V1_0;
        assert_eq!(chosen(&offer, "/", None, "SendMessage"), Ok("1.0".into()));
        assert_eq!(chosen(&offer, "/", Some("0.3"), "message/send"), Err(-32009));
    }
}
