use http::Request;

use super::speaker::Speaker;
use crate::{
    binding::stated_version,
    call::{Binding, Call},
    capability::Offered,
    dialect::Dialect,
    error::{Error, ErrorKind},
    operation::ProtocolVersion,
};

/// Which versions a mount speaks.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    /// In the order of their versions, at least one. A version may have several, for different bindings.
    speakers: Vec<Speaker>,
    /// The version of those that name none.
    granted: ProtocolVersion,
    pub(super) lenient: bool,
    /// What the agent offers, if that is known here.
    pub(super) offered: Option<Offered>,
}

impl Offer {
    pub(super) fn new(speakers: Vec<Speaker>, granted: ProtocolVersion) -> Self {
        Self { speakers, granted, lenient: false, offered: None }
    }

    /// With one more speaker, before those of the same version; those whose every binding it speaks too are gone.
    pub(super) fn add(&mut self, speaker: Speaker) {
        let version = speaker.dialect().version();
        self.speakers.retain(|known| {
            let lost = |binding: &Binding| known.speaks(version, *binding) && !speaker.speaks(version, *binding);
            known.dialect().version() != version || Binding::ALL.iter().any(lost)
        });
        let place = self.speakers.partition_point(|known| known.dialect().version() < version);
        self.speakers.insert(place, speaker);
    }

    /// Who speaks the version of this request over its binding.
    pub(super) fn choose(&self, request: &Request<Call>) -> Result<&Speaker, Error> {
        let call = request.body();
        let of_path = call.version();
        let version = match stated_version(request.headers(), request.uri()) {
            Some(text) => ProtocolVersion::parse(&text).filter(|stated| of_path.is_none_or(|path| path == *stated)),
            None if of_path.is_some() => of_path,
            None => {
                let granted = self.find(self.granted, call.binding()).filter(|speaker| speaker.knows(call));
                let other = || self.speakers.iter().find(|speaker| speaker.knows(call));
                if let Some(speaker) = granted.or_else(other).filter(|_| self.lenient) {
                    return Ok(speaker);
                }
                Some(self.granted)
            }
        };
        let speaker = version.and_then(|version| self.find(version, call.binding()));
        speaker.ok_or_else(|| self.refusal(version.or(of_path), of_path.is_some(), call.binding()))
    }

    /// What is really wrong with a call that could not be read. What the agent does not offer it does not offer, however
    /// the parameters are. Where a method is not known because it is one of another version, says so: callers forget the
    /// header.
    #[cold]
    pub(super) fn explain(&self, error: Error, speaker: &Speaker, call: &Call) -> Error {
        if error.kind() == ErrorKind::InvalidParams
            && let (Some(offered), Some(kind)) = (self.offered, speaker.dialect().operation(call.method()))
        {
            return offered.refusal(kind).unwrap_or(error);
        }
        if error.kind() != ErrorKind::MethodNotFound || speaker.knows(call) {
            return error;
        }
        let Some(other) = self.speakers.iter().rfind(|speaker| speaker.knows(call)) else { return error };
        let (theirs, ours) = (other.dialect().version(), speaker.dialect().version());
        let method = call.method();
        match call.binding() {
            // There the path is found, and it is the version that does not go with it.
            Binding::HttpJson => Error::new(ErrorKind::VersionNotSupported)
                .with_detail(format!(
                    "this is a path of {theirs}, and this request is in {ours}; send A2A-Version: {theirs}"
                ))
                .with_info("supportedVersions", self.known(call.binding())),
            _ => error.with_detail(format!(
                "{method} is a method of {theirs}, and this request is in {ours}; send A2A-Version: {theirs}"
            )),
        }
    }

    fn find(&self, version: ProtocolVersion, binding: Binding) -> Option<&Speaker> {
        self.speakers.iter().find(|speaker| speaker.speaks(version, binding))
    }

    /// The versions that are spoken over a binding, in their order.
    fn known(&self, binding: Binding) -> String {
        let mut versions: Vec<_> = self.speakers.iter().map(Speaker::dialect).collect();
        versions.retain(|dialect| dialect.speaks(binding));
        let mut versions: Vec<_> = versions.into_iter().map(Dialect::version).collect();
        versions.dedup();
        let versions: Vec<_> = versions.iter().map(ToString::to_string).collect();
        versions.join(", ")
    }

    fn refusal(&self, version: Option<ProtocolVersion>, is_of_path: bool, binding: Binding) -> Error {
        let known = self.known(binding);
        let detail = match version {
            Some(version) if is_of_path && self.find(version, binding).is_some() => {
                format!("this is a path of {version}, and A2A-Version says otherwise")
            }
            _ if known.is_empty() => format!("no version is spoken over {}", binding.name()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{V0_3, V0_3Rest, V1_0};

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

    fn all() -> Offer {
        let mut offer = both();
        offer.add(Speaker::new(V0_3Rest::new()));
        offer
    }

    /// The version, or what is said of it, for a request by a path of this version or of none.
    fn chosen_by_path(
        offer: &Offer,
        header: Option<&str>,
        of_path: Option<ProtocolVersion>,
        method: &str,
    ) -> Result<String, String> {
        let mut request = Request::builder();
        if let Some(header) = header {
            request = request.header("A2A-Version", header);
        }
        let call = Call::new(Binding::HttpJson, method).with_version(of_path);
        let request = request.body(call).unwrap();
        let speaker = offer.choose(&request).map_err(|error| error.to_string())?;
        assert!(speaker.dialect().speaks(Binding::HttpJson));
        let version = speaker.dialect().version().to_string();
        match speaker.dialect().operation(method) {
            Some(_) => Ok(version),
            None => Err(offer.explain(ErrorKind::MethodNotFound.into(), speaker, request.body()).to_string()),
        }
    }

    #[test]
    fn a_path_of_a_version_states_it_and_others_are_not_that_version() {
        let offer = all();
        let old = Some(ProtocolVersion::V0_3);
        for header in [None, Some(""), Some("0.3"), Some("0.3.0")] {
            assert_eq!(chosen_by_path(&offer, header, old, "message/send"), Ok("0.3".into()));
        }
        let refused = |header, of_path, method| chosen_by_path(&offer, header, of_path, method).unwrap_err();
        let prefix = "This protocol version is not supported: ";
        for header in ["1.0", "9.9", "x"] {
            let words = refused(Some(header), old, "message/send");
            assert_eq!(words, format!("{prefix}this is a path of 0.3, and A2A-Version says otherwise"));
        }
        assert_eq!(chosen_by_path(&offer, Some("1.0"), None, "SendMessage"), Ok("1.0".into()));
        for header in [None, Some("0.3")] {
            let words = refused(header, None, "SendMessage");
            let detail = "this is a path of 1.0, and this request is in 0.3; send A2A-Version: 1.0";
            assert_eq!(words, format!("{prefix}{detail}"));
        }
        assert_eq!(refused(Some("9.9"), None, "SendMessage"), format!("{prefix}9.9 is none of 0.3, 1.0"));
    }

    #[test]
    fn a_path_without_a_version_is_taken_where_one_is_granted_or_the_mount_is_lenient() {
        let mut offer = all();
        offer.lenient = true;
        assert_eq!(chosen_by_path(&offer, None, None, "SendMessage"), Ok("1.0".into()));
        offer.lenient = false;
        offer.granted = ProtocolVersion::V1_0;
        assert_eq!(chosen_by_path(&offer, None, None, "SendMessage"), Ok("1.0".into()));
        assert_eq!(chosen_by_path(&offer, None, Some(ProtocolVersion::V0_3), "message/send"), Ok("0.3".into()));
        let only_new = Offer::new(vec![Speaker::new(V1_0::new())], ProtocolVersion::V1_0);
        let words = chosen_by_path(&only_new, None, Some(ProtocolVersion::V0_3), "message/send").unwrap_err();
        assert!(words.ends_with("0.3 is none of 1.0"), "{words}");
        let only_json_rpc = Offer::new(vec![Speaker::new(V0_3::new())], ProtocolVersion::V0_3);
        let words = chosen_by_path(&only_json_rpc, None, Some(ProtocolVersion::V0_3), "message/send").unwrap_err();
        assert!(words.ends_with("no version is spoken over HTTP+JSON"), "{words}");
    }

    #[test]
    fn a_speaker_replaces_those_whose_every_binding_it_speaks() {
        let count = |offer: &Offer| offer.speakers.len();
        let mut offer = all();
        assert_eq!((count(&offer), offer.known(Binding::HttpJson)), (3, "0.3, 1.0".into()));
        assert_eq!((offer.known(Binding::JsonRpc), offer.known(Binding::Grpc)), ("0.3, 1.0".into(), "".into()));
        offer.add(Speaker::new(V0_3::new()));
        offer.add(Speaker::new(V0_3Rest::new()));
        offer.add(Speaker::new(V1_0::new()));
        assert_eq!(count(&offer), 3);
    }
}
