//! Owners do not see each other.

use super::{
    Subject,
    make::{ann, made, said, word_of},
};
use crate::{
    owner::Owner,
    task::{ListQuery, TaskStore},
};

pub(super) async fn check<S: Subject>(subject: &S) {
    let store = subject.empty().await;
    made(&store, &ann(), "t").await;
    made(&store, &Owner::anonymous(), "nobodys").await;
    made(&store, &Owner::new(""), "nameless").await;
    for (owner, own) in [(ann(), "t"), (Owner::anonymous(), "nobodys"), (Owner::new(""), "nameless")] {
        for id in ["t", "nobodys", "nameless", "none"].into_iter().filter(|id| *id != own) {
            assert_eq!(word_of(store.get(&owner, id).await), "not found", "{owner:?} gets {id}");
            assert_eq!(
                word_of(store.append(&owner, id, 1, vec![said("x")]).await),
                "not found",
                "{owner:?} writes {id}"
            );
            assert_eq!(
                word_of(store.append(&owner, id, 9, vec![said("x")]).await),
                "not found",
                "{owner:?} writes {id}"
            );
            assert_eq!(word_of(store.read(&owner, id, 0, 1).await), "not found", "{owner:?} reads {id}");
            assert_eq!(word_of(store.grown(&owner, id, 0).await), "not found", "{owner:?} waits for {id}");
        }
        let page = store.list(&owner, &ListQuery::new(10)).await.expect("a list");
        let ids: Vec<_> = page.tasks.iter().map(|task| &*task.id).collect();
        assert_eq!((ids, page.total_size), (vec![own], 1), "what {owner:?} lists");
    }
    let nobody = store.list(&Owner::new("bob"), &ListQuery::new(10)).await.expect("a list");
    assert_eq!((nobody.tasks.len(), nobody.total_size, nobody.next_page_token), (0, 0, None));
}
