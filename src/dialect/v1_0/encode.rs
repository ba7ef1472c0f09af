use super::names;
use crate::{
    dialect::{
        proto::{self, ProtoForm},
        write::{Object, array},
    },
    operation::ListTasksPage,
    types::{JsonObject, Part, PartContent, PushNotificationConfig, TaskState},
};

/// What only 1.0 writes.
pub(super) enum Form {}

impl ProtoForm for Form {
    const PARTS: &'static str = "parts";
    const REFERENCES: bool = true;
    const FINAL: bool = false;

    fn state(state: TaskState) -> &'static str {
        names::state(state)
    }

    fn tasks(out: &mut Vec<u8>, page: &ListTasksPage) {
        let mut object = Object::new(out);
        array(object.member("tasks"), &page.tasks, proto::task::<Form>);
        object.text("nextPageToken", &page.next_page_token);
        object.number("pageSize", page.page_size.into());
        object.number("totalSize", page.total_size);
        object.end();
    }

    fn part(out: &mut Vec<u8>, part: &Part) {
        let mut object = Object::new(out);
        match &part.content {
            PartContent::Text(text) => object.text("text", text),
            PartContent::Raw(bytes) => object.base64("raw", bytes),
            PartContent::Url(url) => object.text("url", url),
            PartContent::Data(data) => object.json("data", data.get()),
        }
        object.some_json("metadata", part.metadata.as_ref().map(JsonObject::get));
        object.some_text("filename", part.filename.as_deref());
        object.some_text("mediaType", part.media_type.as_deref());
        object.end();
    }

    fn push_config(out: &mut Vec<u8>, config: &PushNotificationConfig) {
        let mut object = Object::new(out);
        object.some_text("id", config.id.as_deref());
        object.some_text("taskId", config.task_id.as_deref());
        object.text("url", &config.url);
        object.some_text("token", config.token.as_deref());
        if let Some(authentication) = &config.authentication {
            let mut object = Object::new(object.member("authentication"));
            object.text("scheme", authentication.schemes.first().map_or("", String::as_str));
            object.some_text("credentials", authentication.credentials.as_deref());
            object.end();
        }
        object.end();
    }
}
