use std::borrow::Cow;

use serde::Deserialize;

use crate::types::{Json, Part};

/// A file as an agent names it in plain JSON. Anything beside these members is data and stays data.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOutput<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    uri: String,
    #[serde(rename = "mimeType")]
    media_type: Option<String>,
    name: Option<String>,
}

/// The file that data names, if it names one.
pub(super) fn file_output(data: &Json) -> Option<Part> {
    // Most data is no file, and whether it can be one is told from the text alone.
    if !data.is_object() || !data.get().contains("\"uri\"") {
        return None;
    }
    let file: FileOutput<'_> = serde_json::from_str(data.get()).ok()?;
    (file.kind == "file").then(|| {
        let mut part = Part::url(file.uri);
        part.media_type = file.media_type;
        part.filename = file.name;
        part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b056_only_what_says_it_is_a_file_is_one() {
        let read = |text: &str| file_output(&Json::parse(text).unwrap());
        let file = read(r#"{"kind":"file","uri":"s3://b/k","mimeType":"image/png","name":"a.png"}"#);
        assert_eq!(file, Some(Part::url("s3://b/k").with_media_type("image/png").with_filename("a.png")));
        assert_eq!(read(r#"{ "uri": "u", "kind": "file" }"#), Some(Part::url("u")));
        for text in [
            r#"{"uri":"u"}"#,
            r#"{"kind":"link","uri":"u"}"#,
            r#"{"kind":"file","uri":1}"#,
            r#"{"kind":"file","uri":"u","rows":[]}"#,
            r#"[{"kind":"file","uri":"u"}]"#,
            r#""uri""#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
