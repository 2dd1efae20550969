//! Threads that reach a limit of a paper's structure together.

use crate::memory::{full_together, is_memory, is_references};

#[test]
fn every_scheme_at_its_limit_loses_nothing() {
    for (name, make) in crate::olfit::with_limit() {
        println!("{name}");
        let limit_bytes = if cfg!(miri) { 12 << 10 } else { 24 << 10 };
        full_together(&*make(Some(limit_bytes), None), Some(limit_bytes), is_memory);
        full_together(&*make(None, Some(if cfg!(miri) { 100 } else { 200 })), None, is_references);
        if cfg!(miri) {
            return;
        }
    }
}

#[test]
fn lists_at_their_limit_lose_nothing() {
    let limit_bytes = Some(if cfg!(miri) { 6 << 10 } else { 24 << 10 });
    full_together(&*crate::cssl::limited(limit_bytes, None), limit_bytes, is_memory);
    let references = Some(if cfg!(miri) { 40 } else { 300 });
    full_together(&*crate::cssl::limited(None, references), None, is_references);
}

#[test]
fn tries_at_their_limit_lose_nothing() {
    let limit_bytes = Some(if cfg!(miri) { 6 << 10 } else { 24 << 10 });
    full_together(&crate::spiderman::trie_with(limit_bytes, u32::MAX), limit_bytes, is_memory);
    let references = if cfg!(miri) { 40 } else { 300 };
    full_together(&crate::spiderman::trie_with(None, references), None, is_references);
}
