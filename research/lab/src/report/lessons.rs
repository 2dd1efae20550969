//! The page of what each paper taught `Index`.

use super::html::{Entry, Links, close, open};

/// Its file.
pub const FILE: &str = "index-lessons.html";

/// Returns the page.
pub fn page(links: Links, entries: &[Entry]) -> String {
    let mut page = open("What each paper taught Index", FILE, entries);
    page.push_str(&links.in_text(include_str!("lessons.html")));
    close(&mut page);
    page
}
