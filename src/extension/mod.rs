//! To be written.
use std::sync::Arc;
/// Activated.
#[derive(Clone, Debug)]
pub struct ActivatedExtensions(Arc<[String]>);
impl std::ops::Deref for ActivatedExtensions {
    type Target = [String];
    fn deref(&self) -> &[String] {
        &self.0
    }
}
