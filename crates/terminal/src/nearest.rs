//! "Did you mean": the known names that are most similar to an unknown one.

/// How alike two names must be to be mistaken for each other, from 0 to 1.
const ALIKE: f64 = 0.75;
/// The least similarity of a name with another one that it is a part of.
const PART: f64 = 0.8;
/// The most names that are suggested.
const NAMES_MAX: usize = 3;

/// The names most like `given`, the likeliest first; none if nothing is like it.
pub fn nearest<'n>(given: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let given = given.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        let is_part = |part: &str, whole: &str| part.chars().count() > 2 && whole.contains(part);
        let part = if is_part(&given, &name) || is_part(&name, &given) { PART } else { 0.0 };
        strsim::jaro_winkler(&given, &name).max(part)
    };
    let mut alike: Vec<(f64, &str)> = known
        .into_iter()
        .map(|name| (likeness(name), name))
        .filter(|&(likeness, _)| likeness > ALIKE)
        .collect();
    alike.sort_by(|left, right| right.0.total_cmp(&left.0));
    alike.dedup_by_key(|&mut (_, name)| name);
    alike.into_iter().take(NAMES_MAX).map(|(_, name)| name).collect()
}

/// ` (did you mean a, b or c?)`, or nothing if no name is like `given`.
pub fn did_you_mean<'n>(given: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    match &nearest(given, known)[..] {
        [] => String::new(),
        [only] => format!(" (did you mean {only}?)"),
        [others @ .., last] => format!(" (did you mean {} or {last}?)", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_names_are_recognized() {
        let known = ["btreemap", "sorted-array", "index", "p8", "p8i", "p16i", "skip-list", "masstree"];
        assert_eq!(nearest("BTreMap", known)[0], "btreemap");
        assert_eq!(nearest("indx", known)[0], "index");
        assert_eq!(nearest("skiplist", known)[0], "skip-list");
        assert_eq!(nearest("p16", known)[0], "p16i");
        assert_eq!(nearest("array", known), ["sorted-array"]);
        assert_eq!(nearest("zzz", known), [""; 0]);
    }

    #[test]
    fn suggestions_make_a_sentence() {
        assert_eq!(did_you_mean("q", ["a"]), "");
        assert_eq!(did_you_mean("posn", ["pos", "chrom"]), " (did you mean pos?)");
        assert_eq!(did_you_mean("name", ["name1", "name2"]), " (did you mean name1 or name2?)");
    }
}
