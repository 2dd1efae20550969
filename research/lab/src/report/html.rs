//! The frame that all pages have, and text in them.

use std::fmt::Write as _;

/// The style sheet, in light and dark mode, and printed.
pub const STYLE: &str = include_str!("style.css");

/// Text that is safe inside of an element or an attribute.
pub fn escape(text: &str) -> String {
    latchless_terminal::output::escape(text).replace('"', "&quot;")
}

/// Text with code between backquotes, and emphasis between asterisks, as remarks and reasons have them.
pub fn prose(text: &str) -> String {
    let code = between(&escape(text), '`', ("<code>", "</code>"));
    between(&code, '*', ("<em>", "</em>"))
}

/// What is between two of a mark becomes an element; a mark without a second one stays.
fn between(text: &str, mark: char, (opened, closed): (&str, &str)) -> String {
    let parts: Vec<&str> = text.split(mark).collect();
    let mut out = String::new();
    for (position, part) in parts.iter().enumerate() {
        if position > 0 {
            let last_alone = position == parts.len() - 1 && position % 2 == 1;
            let element = if position % 2 == 1 { opened } else { closed };
            if last_alone { out.push(mark) } else { out.push_str(element) }
        }
        out.push_str(part);
    }
    out
}

/// Returns a name as part of an address: letters, digits and dashes.
pub fn anchor(name: &str) -> String {
    let mut out = String::new();
    for letter in name.to_lowercase().chars() {
        if letter.is_ascii_alphanumeric() {
            out.push(letter);
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_string()
}

/// Where pages lead: to the sources and kept files beside the pages, or nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Pages are in `research/site`, or in a copy that is compared with it.
    Beside,
    /// Pages of a fresh run may be anywhere: names of files are shown and lead nowhere.
    Nowhere,
}

impl Links {
    /// Returns a link to a file below `research`, or only its name.
    pub fn to(self, path: &str, name: &str) -> String {
        let name = prose(name);
        match self {
            Self::Beside => format!("<a href=\"../{}\">{name}</a>", escape(path)),
            Self::Nowhere => format!("<span title=\"research/{}\">{name}</span>", escape(path)),
        }
    }
}

impl Links {
    /// Returns a text of the program whose links lead to sources, with or without them.
    pub fn in_text(self, text: &str) -> String {
        if self == Self::Beside {
            return text.to_string();
        }
        let mut out = String::new();
        for (nth, part) in text.split("<a href=\"../").enumerate() {
            match (nth, part.split_once("\">").and_then(|(_, rest)| rest.split_once("</a>"))) {
                (0, _) | (_, None) => out.push_str(part),
                (_, Some((name, rest))) => out.extend([name, rest]),
            }
        }
        out
    }
}

/// A page of a site: its file, and its name in the navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file.
    pub file: String,
    /// The name.
    pub name: String,
}

/// Opens a page: its title, the style, and the navigation in which it is marked. Without entries the page
/// is alone.
pub fn open(title: &str, here: &str, entries: &[Entry]) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    let _ = writeln!(page, "<title>{}</title>", escape(title));
    if entries.is_empty() {
        let _ = writeln!(page, "<style>\n{STYLE}</style>");
    } else {
        page.push_str("<link rel=\"stylesheet\" href=\"style.css\">\n");
    }
    page.push_str("</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the contents</a>\n");
    if !entries.is_empty() {
        page.push_str("<nav class=\"site\" aria-label=\"Pages\"><div>\n");
        for entry in entries {
            let current = if entry.file == here { " aria-current=\"page\"" } else { "" };
            let _ = writeln!(page, "<a href=\"{}\"{current}>{}</a>", entry.file, escape(&entry.name));
        }
        page.push_str("</div></nav>\n");
    }
    page.push_str("<main id=\"main\">\n");
    page
}

/// Closes a page.
pub fn close(page: &mut String) {
    page.push_str("</main>\n</body>\n</html>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
        assert_eq!(prose("`a<b` and *so*"), "<code>a&lt;b</code> and <em>so</em>");
        assert_eq!(prose("5 * 3, one ` alone"), "5 * 3, one ` alone");
        assert_eq!(prose("`a` and `b` but ` c"), "<code>a</code> and <code>b</code> but ` c");
    }

    #[test]
    fn addresses_are_plain() {
        assert_eq!(anchor("Fig. 3 to 6"), "fig-3-to-6");
        assert_eq!(anchor("§2.2, space"), "2-2-space");
    }

    #[test]
    fn links_lead_beside_the_site_or_nowhere() {
        assert_eq!(Links::Beside.to("docs/pi.md", "PI"), "<a href=\"../docs/pi.md\">PI</a>");
        assert!(!Links::Nowhere.to("docs/pi.md", "PI").contains("href"));
        let text = "see <a href=\"../a.rs\">a</a> and <a href=\"pi.html\">PI</a>";
        assert_eq!(Links::Beside.in_text(text), text);
        assert_eq!(Links::Nowhere.in_text(text), "see a and <a href=\"pi.html\">PI</a>");
    }
}
