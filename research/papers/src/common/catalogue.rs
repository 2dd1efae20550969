//! The catalogue of a paper's family: its members by name, in one form for all papers.

/// A member's description, available before an index is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Whether many threads may update it at once.
    pub concurrent: bool,
}

/// Makes a paper's `Member` from a table: the variant, its name, whether many threads may update it at
/// once, and one line for people.
///
/// If each member is a separate type, the table begins with the function that creates one, and its rows
/// end with the type; the macro then also defines `build_traced`.
macro_rules! members {
    ($maker:ident; $($(#[$more:meta])* $member:ident $name:literal $concurrent:expr, $about:literal => $form:ty;)*) => {
        $crate::common::catalogue::members! { $($(#[$more])* $member $name $concurrent, $about;)* }

        /// Creates an empty index of the family that reports every access to memory to `T`.
        ///
        /// # Errors
        /// Those of [`build`].
        pub fn build_traced<K: Key, V: Fits<K::Bits>, T: Trace>(
            member: Member,
            options: &Options,
        ) -> Result<Box<dyn OrderedIndex<K, V>>> {
            match member {
                $(Member::$member => $maker::<K, V, $form, T>(options),)*
            }
        }
    };
    ($($(#[$more:meta])* $member:ident $name:literal $concurrent:expr, $about:literal;)*) => {
        /// A member of the family.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Member {
            $(#[doc = concat!("`", $name, "`: ", $about, ".")] $(#[$more])* $member,)*
        }

        impl Member {
            /// The whole family.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$member),*];

            /// Returns its description.
            pub const fn entry(self) -> $crate::common::catalogue::Entry {
                use $crate::common::catalogue::Entry;
                match self {
                    $(Self::$member => Entry { name: $name, about: $about, concurrent: $concurrent },)*
                }
            }

            /// The name on the command line.
            pub const fn name(self) -> &'static str {
                self.entry().name
            }

            /// The member of that name, if the family has one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|member| member.name() == name)
            }
        }
    };
}

pub(crate) use members;

#[cfg(test)]
mod tests {
    members! {
        One "one" true, "the first";
        /// An additional remark.
        Two "two" false, "the second";
    }

    #[test]
    fn a_member_is_found_by_its_name_alone() {
        assert_eq!(Member::ALL, [Member::One, Member::Two]);
        assert_eq!(Member::from_name("two"), Some(Member::Two));
        assert_eq!(Member::from_name("Two"), None);
        let entry = Member::Two.entry();
        assert_eq!((entry.name, entry.about, entry.concurrent), ("two", "the second", false));
    }
}
