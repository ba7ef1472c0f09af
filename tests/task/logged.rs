use a2a_layers::task::TaskLayer;

use super::*;

/// Keeps what is logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<String>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("a2a_layers")
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut log = self.0.lock().unwrap();
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            *log += &format!("{field}={value:?} ");
        });
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn b122_the_cause_of_a_failure_is_logged_with_the_id_of_its_task() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let server = Server::new(TaskLayer::new(), failing(|| "password is hunter2".into()));
    let id = server.send("go").await.unwrap().task().id.clone();
    let logged = log.0.lock().unwrap().clone();
    assert!(logged.contains("hunter2") && logged.contains(&*id), "{logged}");
}
