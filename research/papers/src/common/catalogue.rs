//! The members of a paper's family by name: the shape of every paper's table.

/// What there is to say about a member before one is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Whether many threads may update it at once.
    pub concurrent: bool,
}

/// Makes a paper's `Member` from a table: the variant, its name, whether many threads may update it at
/// once, and one line for people.
///
/// Where each member is a type of its own, the table begins with the function that makes one, and its rows
/// end with the type; the macro then writes `build_traced` as well.
macro_rules! members {
    ($maker:ident; $($(#[$more:meta])* $member:ident $name:literal $concurrent:expr, $about:literal => $form:ty;)*) => {
        $crate::common::catalogue::members! { $($(#[$more])* $member $name $concurrent, $about;)* }

        /// An empty index of the family that tells `T` every access to memory.
        ///
        /// # Errors
        /// As [`build`].
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

            /// What there is to say about it.
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
        /// Said in addition.
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
