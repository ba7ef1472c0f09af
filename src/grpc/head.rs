//! What the head of a call says.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};

use crate::{
    binding::version_of_header,
    error::{Error, ErrorKind},
    operation::ProtocolVersion,
};

/// True if it is a call of gRPC's, in protobuf.
pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    kind.eq_ignore_ascii_case(b"application/grpc") || kind.eq_ignore_ascii_case(b"application/grpc+proto")
}

/// Refuses a call whose caller thinks of another version than that of the package it calls, which is one of these.
pub(super) fn check_version(
    headers: &HeaderMap,
    version: ProtocolVersion,
    offered: &[ProtocolVersion],
) -> Result<(), Error> {
    match version_of_header(headers) {
        Some(text) if ProtocolVersion::parse(&text) != Some(version) => {
            // From the oldest on, as over the other bindings.
            let offered: Vec<_> = offered.iter().rev().map(ToString::to_string).collect();
            Err(Error::new(ErrorKind::VersionNotSupported)
                .with_detail(format!("this is a package of {version}, and A2A-Version says otherwise"))
                .with_info("supportedVersions", offered.join(", ")))
        }
        _ => Ok(()),
    }
}

/// After how much time the caller gives up: `grpc-timeout`, up to eight digits and a unit.
pub(super) fn timeout(headers: &HeaderMap) -> Result<Option<Duration>, Error> {
    let Some(value) = headers.get("grpc-timeout") else { return Ok(None) };
    let read = || {
        let (unit, digits) = value.as_bytes().split_last()?;
        if !(1..=8).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(match unit {
            b'H' => Duration::from_secs(number * 3600),
            b'M' => Duration::from_secs(number * 60),
            b'S' => Duration::from_secs(number),
            b'm' => Duration::from_millis(number),
            b'u' => Duration::from_micros(number),
            b'n' => Duration::from_nanos(number),
            _ => return None,
        })
    };
    let refusal = || Error::invalid_params("grpc-timeout", "must be up to eight digits and one of H, M, S, m, u and n");
    read().map(Some).ok_or_else(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn content_types() {
        for kind in ["application/grpc", "application/grpc+proto", "Application/GRPC; charset=x"] {
            assert!(is_grpc(&headers("content-type", kind)), "{kind}");
        }
        for kind in ["", "application/json", "application/grpc-web", "application/grpc+json", "application/grpcx"] {
            assert!(!is_grpc(&headers("content-type", kind)), "{kind}");
        }
        assert!(!is_grpc(&HeaderMap::new()));
    }

    #[test]
    fn timeouts() {
        for (text, expected) in [
            ("1H", Duration::from_secs(3600)),
            ("2M", Duration::from_secs(120)),
            ("3S", Duration::from_secs(3)),
            ("4m", Duration::from_millis(4)),
            ("5u", Duration::from_micros(5)),
            ("99999999n", Duration::from_nanos(99_999_999)),
            ("99999999H", Duration::from_secs(99_999_999 * 3600)),
        ] {
            assert_eq!(timeout(&headers("grpc-timeout", text)).unwrap(), Some(expected), "{text}");
        }
        for text in ["", "1", "S", "-1S", "+1S", "1.5S", "123456789S", "1s", "1 S"] {
            assert!(timeout(&headers("grpc-timeout", text)).is_err(), "{text}");
        }
        assert_eq!(timeout(&HeaderMap::new()).unwrap(), None);
    }

    #[test]
    fn f14_a_version_that_is_not_the_packages_is_refused() {
        const BOTH: [ProtocolVersion; 2] = [ProtocolVersion::V1_0, ProtocolVersion::V0_3];
        for text in ["1.0", "1.0.1", "", " 1.0 "] {
            assert!(check_version(&headers("a2a-version", text), ProtocolVersion::V1_0, &BOTH).is_ok(), "{text}");
        }
        for text in ["0.3", "1.1", "9", "x"] {
            let error = check_version(&headers("a2a-version", text), ProtocolVersion::V1_0, &BOTH).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::VersionNotSupported, "{text}");
            assert_eq!(error.info(), [("supportedVersions", "0.3, 1.0".to_owned())]);
        }
        let mut both = headers("a2a-version", "1.0");
        both.append("a2a-version", "0.3".parse().unwrap());
        assert!(check_version(&both, ProtocolVersion::V1_0, &BOTH).is_err());
    }
}
