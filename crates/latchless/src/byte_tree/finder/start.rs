//! The start of an operation: a leaf that is likely to have the key, and how it was found.

use super::positions::Aim;
use crate::blink::Edit;
use crate::tree::Share;
use latchless_core::mem::node_ref::NodeRef;

/// Where an operation begins.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// The leaf that a descent or a guess has reached.
    pub leaf: NodeRef,
    pub by: StartBy,
    /// The key's likely place in the leaf, if it is worth a look.
    pub share: Option<Share>,
}

impl Start {
    pub const fn new(leaf: NodeRef, by: StartBy) -> Self {
        Self { leaf, by, share: None }
    }
}

/// How an operation came to the leaf where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartBy {
    Descent,
    /// By the key's hash.
    Hash,
    /// By the key's position.
    Position,
    /// The thread's last edit was at an end of all keys.
    End,
}

/// The purpose of an edit.
#[inline(always)]
pub fn aim_of<V>(edit: &Edit<V>) -> Aim {
    match edit {
        Edit::Put(_) | Edit::Add(_) => Aim::Add,
        _ => Aim::Find,
    }
}
