//! The effects of a power failure: each file keeps the bytes of its last sync, and any part of the later
//! writes, in pieces as a disk writes them; a length with or without its bytes; any part of the names.

use super::{Draw, Moment, Node, State, Write};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that a disk writes whole or not at all. A real one's are more.
const PIECE: usize = 64;

/// The writes that a power failure keeps.
#[derive(Debug, Clone, Copy)]
enum Keeps {
    All,
    Nothing,
    /// Those before a moment.
    Until(u64),
    /// All but those of this draw, or only these.
    But(u64),
    Only(u64),
    /// This many of eight.
    Some(u64),
}

/// The writes that one power failure keeps, and the file's content in place of the others.
struct Chance<'a> {
    keeps: Keeps,
    at: u64,
    draw: &'a mut Draw,
}

impl Chance<'_> {
    fn keeps(&mut self) -> bool {
        self.at += 1;
        match self.keeps {
            Keeps::All => true,
            Keeps::Nothing => false,
            Keeps::Until(end) => self.at <= end,
            Keeps::But(one) => self.at != one,
            Keeps::Only(one) => self.at == one,
            Keeps::Some(of_eight) => self.draw.below(8) < of_eight,
        }
    }
}

fn any_way(draw: &mut Draw, writes: u64) -> Keeps {
    let one = 1 + draw.below(writes.max(1));
    match draw.below(8) {
        0 => Keeps::All,
        1 => Keeps::Nothing,
        2 => Keeps::Until(one),
        3 => Keeps::But(one),
        4 => Keeps::Only(one),
        5 => Keeps::Some(1),
        6 => Keeps::Some(7),
        _ => Keeps::Some(4),
    }
}

/// Does a write to these bytes.
pub fn apply(write: &Write, bytes: &mut Vec<u8>) {
    match write {
        Write::Bytes { at, bytes: new } => {
            let end = at + new.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[*at..end].copy_from_slice(new);
        }
        Write::Length(len) => bytes.resize(*len, 0),
    }
}

/// The pieces of a write.
fn pieces(write: &Write) -> Vec<Write> {
    let Write::Bytes { at, bytes } = write else { return vec![write.clone()] };
    let (mut pieces, mut from) = (Vec::new(), 0);
    while from < bytes.len() {
        let end = ((at + from) / PIECE * PIECE + PIECE - at).min(bytes.len());
        pieces.push(Write::Bytes { at: at + from, bytes: bytes[from..end].into() });
        from = end;
    }
    pieces
}

/// A file's bytes on the disk, with any part of the writes since its last sync.
pub(super) fn some_of(node: &Node, draw: &mut Draw) -> Vec<u8> {
    let pieces: Vec<Write> = node.pending.iter().flat_map(pieces).collect();
    let keeps = any_way(draw, pieces.len() as u64);
    let mut chance = Chance { keeps, at: 0, draw };
    let (mut bytes, mut longest) = (node.on_disk.clone(), node.on_disk.len());
    let mut shortest = longest;
    for piece in &pieces {
        if chance.keeps() {
            apply(piece, &mut bytes);
        }
        match piece {
            Write::Bytes { at, bytes } => longest = longest.max(at + bytes.len()),
            Write::Length(len) => shortest = shortest.min(*len),
        }
    }
    // The length is another piece; a longer file has zeros there, or bytes of other files.
    let draw = chance.draw;
    let len = match draw.below(4) {
        0 => longest,
        1 => shortest + draw.below((longest - shortest) as u64 + 1) as usize,
        _ => bytes.len(),
    };
    let filler = if draw.below(4) == 0 { draw.below(256) as u8 } else { 0 };
    bytes.resize(len.max(shortest), filler);
    bytes
}

/// The state after a power failure at this moment and a restart of the machine.
pub fn power_failure(moment: &Moment, seed: u64) -> State {
    let mut draw = Draw::new(seed);
    let State { nodes, names_on_disk, naming, .. } = &moment.state;
    let keeps = any_way(&mut draw, naming.len() as u64);
    let mut names = names_on_disk.clone();
    let mut chance = Chance { keeps, at: 0, draw: &mut draw };
    naming.iter().filter(|_| chance.keeps()).for_each(|naming| naming.apply(&mut names));
    let lost: Vec<_> = names.keys().filter(|path| !is_reached(path, &names)).cloned().collect();
    names.retain(|path, _| !lost.contains(path));
    let left = |(at, node): (usize, &Arc<Node>)| {
        if node.is_folder || (node.pending.is_empty() && node.seen == node.on_disk) {
            return node.clone();
        }
        if !names.values().any(|&named| named == at) {
            return Arc::default();
        }
        let bytes = some_of(node, &mut draw);
        Arc::new(Node { seen: bytes.clone(), on_disk: bytes, pending: Vec::new(), is_folder: false })
    };
    let nodes = nodes.iter().enumerate().map(left).collect();
    State { nodes, names_on_disk: names.clone(), names, naming: Vec::new() }
}

/// Whether all folders above a path have their names.
fn is_reached(path: &Path, names: &BTreeMap<PathBuf, usize>) -> bool {
    let above = path.ancestors().skip(1).filter(|above| above.parent().is_some());
    above.into_iter().all(|above| names.contains_key(above))
}
