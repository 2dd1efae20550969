//! Detection of the character that separates a text's fields.

/// The usual separators, in the order of preference if a header leaves it open.
const USUAL: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The delimiter of a text: the only usual one that is in the first line, or else the comma.
pub fn detected(text: &str) -> u8 {
    let line = text.trim_start_matches(['\r', '\n']).as_bytes();
    let (mut found, mut is_quoted) = ([false; USUAL.len()], false);
    for &byte in line {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'\r' | b'\n' => break,
            _ => {
                if let Some(place) = USUAL.iter().position(|&usual| usual == byte) {
                    found[place] = true;
                }
            }
        }
    }
    let mut there =
        USUAL.iter().zip(found).filter(|(_, is_there)| *is_there).map(|(&delimiter, _)| delimiter);
    match (there.next(), there.next()) {
        (Some(only), None) => only,
        _ => USUAL[0],
    }
}

/// Its notation as an argument.
pub fn written(delimiter: u8) -> String {
    if delimiter == b'\t' { "tab".to_owned() } else { format!("'{}'", char::from(delimiter)) }
}

/// The delimiter with which there would be a column of that name: these columns are several in one then.
pub fn that_has<'n>(name: &str, columns: impl Iterator<Item = &'n str> + Clone) -> Option<u8> {
    let name = name.to_lowercase();
    USUAL.into_iter().find(|&delimiter| {
        let delimiter = char::from(delimiter);
        let mut several = columns.clone().filter(|column| column.contains(delimiter));
        several.any(|column| {
            column.split(delimiter).any(|column| column.trim_matches('"').to_lowercase() == name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_what_separates_it() {
        for (text, expected) in [
            ("a,b\n1;2\n", b','),
            ("a;b\n1,5;2\n", b';'),
            ("\r\na\tb\n", b'\t'),
            ("a|b", b'|'),
            ("\"a,b\";c\n", b';'),
            ("\"a;\nb\",c\n", b','),
            ("a;b,c\n", b','),
            ("a\nb;c\n", b','),
            ("", b','),
        ] {
            assert_eq!(detected(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_may_be_in_a_column_that_is_several() {
        let of = |name, columns: &[&'static str]| that_has(name, columns.iter().copied());
        assert_eq!(of("preis", &["id;Preis;name"]), Some(b';'));
        assert_eq!(of("c", &["a\tb", "\"c\"\td"]), Some(b'\t'));
        assert_eq!(of("c", &["a;b", "d"]), None);
    }
}
