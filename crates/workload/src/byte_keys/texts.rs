//! Addresses and words: texts with long common beginnings.

use super::distinct::distinct;
use super::keys::BytesKeys;
use super::words::{Stock, one_of, push_word, skewed};
use crate::ask::Ask;
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use std::io::Write;

/// How many hosts, words and folders there are, as powers of two.
const HOSTS_BITS: u32 = 14;
const MAIL_HOSTS_BITS: u32 = 10;
const WORDS_BITS: u32 = 12;
const FOLDERS_BITS: u32 = 8;

const DOMAINS: [&str; 8] = [".com", ".com", ".com", ".org", ".net", ".de", ".io", ".co.uk"];
const TOPS: [&str; 6] = ["/usr/lib/", "/usr/share/", "/home/", "/var/lib/", "/opt/", "/srv/"];
const ENDINGS: [&str; 8] = [".rs", ".h", ".c", ".py", ".so", ".txt", ".json", ".html"];

/// A scheme, a host, one to four parts of a path, and how it ends.
pub fn urls(ask: Ask, keys: &mut BytesKeys) {
    let mut random = ask.generator(1);
    let hosts = Stock::new(HOSTS_BITS, ask, 2, |host, random| {
        host.extend_from_slice(
            one_of(&["https://www.", "https://", "https://", "http://"], random).as_bytes(),
        );
        push_word(host, random, 2..=2);
        host.extend_from_slice(one_of(&DOMAINS, random).as_bytes());
    });
    let vocabulary = vocabulary(ask);
    distinct(ask, keys, |key| {
        key.extend_from_slice(hosts.draw(&mut random));
        for _ in 0..random.random_range(1..=4) {
            key.push(b'/');
            push_words(key, &vocabulary, &mut random);
        }
        match random.random_range(0..4) {
            0 => key.extend_from_slice(b".html"),
            1 => push_number(key, "?id=", random.random_range(0..1_000_000)),
            2 => key.push(b'/'),
            _ => {}
        }
    });
}

/// First name, last name, perhaps a number, host.
pub fn emails(ask: Ask, keys: &mut BytesKeys) {
    let mut random = ask.generator(1);
    let names = vocabulary(ask);
    let hosts = Stock::new(MAIL_HOSTS_BITS, ask, 2, |host, random| {
        host.push(b'@');
        push_word(host, random, 2..=2);
        host.extend_from_slice(one_of(&DOMAINS, random).as_bytes());
    });
    distinct(ask, keys, |key| {
        key.extend_from_slice(names.draw(&mut random));
        key.extend_from_slice(one_of(&[".", "_", ""], &mut random).as_bytes());
        push_word(key, &mut random, 2..=3);
        if random.random_ratio(1, 2) {
            push_number(key, "", random.random_range(1..10_000));
        }
        key.extend_from_slice(hosts.draw(&mut random));
    });
}

/// Words, each drawn on its own.
pub fn words(ask: Ask, keys: &mut BytesKeys) {
    let mut random = ask.generator(1);
    distinct(ask, keys, |key| push_word(key, &mut random, 2..=4));
}

/// A top folder, one to five folders, a file.
pub fn paths(ask: Ask, keys: &mut BytesKeys) {
    let mut random = ask.generator(1);
    let folders = Stock::new(FOLDERS_BITS, ask, 2, |folder, random| {
        push_word(folder, random, 1..=3);
        folder.push(b'/');
    });
    let vocabulary = vocabulary(ask);
    distinct(ask, keys, |key| {
        key.extend_from_slice(TOPS[skewed(3, &mut random) % TOPS.len()].as_bytes());
        for _ in 0..random.random_range(1..=5) {
            key.extend_from_slice(folders.draw(&mut random));
        }
        push_words(key, &vocabulary, &mut random);
        if random.random_ratio(1, 2) {
            push_number(key, "-", random.random_range(0..10_000));
        }
        key.extend_from_slice(one_of(&ENDINGS, &mut random).as_bytes());
    });
}

/// Words that come again and again.
fn vocabulary(ask: Ask) -> Stock {
    Stock::new(WORDS_BITS, ask, 3, |word, random| push_word(word, random, 2..=2))
}

/// One to three words with hyphens between them.
fn push_words(key: &mut Vec<u8>, vocabulary: &Stock, random: &mut Xoshiro256PlusPlus) {
    for at in 0..random.random_range(1..=3) {
        if at > 0 {
            key.push(b'-');
        }
        key.extend_from_slice(vocabulary.draw(random));
    }
}

fn push_number(key: &mut Vec<u8>, before: &str, number: u32) {
    // Writing to a vector never fails.
    let _ = write!(key, "{before}{number}");
}
