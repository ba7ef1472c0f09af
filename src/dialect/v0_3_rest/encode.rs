use super::names;
use crate::{
    dialect::{
        proto::{self, ProtoForm},
        v0_3::encode::{marked, webhook},
        write::{Object, array},
    },
    operation::ListTasksPage,
    types::{InlineBytes, JsonObject, Part, PartContent, PushNotificationConfig, TaskState},
};

/// What only the proto of 0.3 writes, with the bytes of files encoded once or twice.
pub(super) enum Form<const TWICE: bool> {}

impl<const TWICE: bool> ProtoForm for Form<TWICE> {
    const PARTS: &'static str = "content";
    const REFERENCES: bool = false;
    const FINAL: bool = true;

    fn state(state: TaskState) -> &'static str {
        names::state(state)
    }

    fn tasks(out: &mut Vec<u8>, page: &ListTasksPage) {
        array(out, &page.tasks, proto::task::<Self>);
    }

    fn part(out: &mut Vec<u8>, part: &Part) {
        let mut object = Object::new(out);
        match &part.content {
            PartContent::Text(text) => object.text("text", text),
            PartContent::Raw(bytes) => {
                let mut file = Object::new(object.member("file"));
                if TWICE {
                    file.base64("fileWithBytes", &InlineBytes::new(bytes.to_base64()));
                } else {
                    file.base64("fileWithBytes", bytes);
                }
                end_file(file, part);
            }
            PartContent::Url(url) => {
                let mut file = Object::new(object.member("file"));
                file.text("fileWithUri", url);
                end_file(file, part);
            }
            PartContent::Data(data) => {
                let mut outer = Object::new(object.member("data"));
                if data.is_object() {
                    outer.json("data", data.get());
                } else {
                    let mut wrapped = Object::new(outer.member("data"));
                    wrapped.json("value", data.get());
                    wrapped.end();
                }
                outer.end();
                if !data.is_object() {
                    object.json("metadata", marked(part.metadata.as_ref()).get());
                    return object.end();
                }
            }
        }
        object.some_json("metadata", part.metadata.as_ref().map(JsonObject::get));
        object.end();
    }

    fn push_config(out: &mut Vec<u8>, config: &PushNotificationConfig) {
        let (task_id, id) = (config.task_id.as_deref().unwrap_or_default(), config.id.as_deref().unwrap_or_default());
        let mut object = Object::new(out);
        object.text("name", &format!("tasks/{task_id}/pushNotificationConfigs/{id}"));
        webhook(object.member("pushNotificationConfig"), config);
        object.end();
    }
}

fn end_file(mut file: Object<'_>, part: &Part) {
    file.some_text("mimeType", part.media_type.as_deref());
    file.some_text("name", part.filename.as_deref());
    file.end();
}
