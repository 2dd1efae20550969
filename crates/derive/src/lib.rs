//! `#[derive(Key)]` and `#[derive(Value)]` of [latchless](https://docs.rs/latchless), which re-exports
//! them with its feature `derive`. Depend on that crate.
//!
//! A struct becomes a key by the implementation of its fields' tuple: what is generated calls that, and
//! encodes nothing by itself. The names of the fields' types tell whether they fit a word.

mod c_like;
mod input;
mod key;
mod value;
mod width;

use proc_macro::TokenStream;

/// Implements `IndexKey` for a struct or a C-like enum, and the trait of its form.
///
/// Keys have the order of their fields, from the first to the last, as `#[derive(Ord)]` has it, and enums
/// that of their discriminants. Each field is a key: a number, a string, a tuple, a type of this derive.
/// Floats have the order of `total_cmp`. A field with `#[key(desc)]` is in descending order.
///
/// * Numbers, `bool`s, `char`s, short byte arrays, IPv4 addresses and `Reverse`s of these, of at most 64 bits
///   together, are stored in a word, and passed by value. The type is `Copy` and `Debug`.
/// * All else is stored as bytes, as the tuple of the fields would be, and passed by reference
///   (`index.get(&page)`), or by value if all fields are of the types above, whatever their width. The
///   type is `Clone` and `Debug`.
///
/// The macro sees the names of types only. `#[key(word)]` on the struct or enum stores fields of other
/// types in a word, if their encodings (`Key`) have at most 64 bits; `#[key(bytes)]` stores bytes in any
/// case; `#[key(copy)]` passes a key that is stored as bytes by value.
///
/// Type parameters are bound by `BytesKey`, and such keys are stored as bytes.
///
/// ```
/// use latchless::{Index, Key};
///
/// /// Newest first, within an account.
/// #[derive(Key, Debug, Clone, Copy, PartialEq)]
/// struct Order {
///     account: u32,
///     #[key(desc)]
///     number: u32,
/// }
///
/// let orders = Index::<Order, u64>::new()?;
/// orders.insert(Order { account: 7, number: 1 }, 250)?;
/// orders.insert(Order { account: 7, number: 2 }, 300)?;
/// assert_eq!(orders.get(Order { account: 7, number: 1 }), Some(250));
/// assert_eq!(orders.first(), Some((Order { account: 7, number: 2 }, 300)));
///
/// #[derive(Key, Debug, Clone, Copy, PartialEq)]
/// enum Level {
///     Info,
///     Warning = 10,
/// }
///
/// #[derive(Key, Debug, Clone, PartialEq)]
/// struct Line {
///     level: Level,
///     text: String,
/// }
///
/// let lines = Index::<Line, u64>::new()?;
/// let line = Line { level: Level::Warning, text: "disk full".to_owned() };
/// lines.insert(&line, 1)?;
/// assert_eq!(lines.get(&line), Some(1));
/// # Ok::<(), latchless::Error>(())
/// ```
#[proc_macro_derive(Key, attributes(key))]
pub fn key(input: TokenStream) -> TokenStream {
    expand(input, key::implement)
}

/// Implements `IndexValue` for a struct or an enum, and the trait of its form.
///
/// * A struct of numbers, `bool`s, `char`s, byte arrays and IP addresses of at most 64 bits together, and
///   a C-like enum, is a `Value`: stored in a word. It is `Copy` and `Debug`.
/// * One of at most eight words is a `WideValue`, stored beside its key. It is `Copy` and `Debug`, too.
/// * All else is stored outside of the tree and returned as a clone.
///
/// The macro sees the names of types only. `#[value(words)]` stores fields of other types that are a
/// `Value` in a word each; `#[value(boxed)]` stores any type outside of the tree.
///
/// ```
/// use latchless::{Index, Value};
///
/// #[derive(Value, Debug, Clone, Copy, PartialEq)]
/// struct Place {
///     file: u16,
///     page: u32,
/// }
///
/// #[derive(Value, Debug, Clone, PartialEq)]
/// struct Page {
///     title: String,
///     links: Vec<u64>,
/// }
///
/// let places = Index::<u64, Place>::new()?;
/// places.insert(7, Place { file: 3, page: 9 })?;
/// assert_eq!(places.get(7), Some(Place { file: 3, page: 9 }));
/// let pages = Index::<String, Page>::new()?;
/// pages.insert("/home", Page { title: "Home".to_owned(), links: vec![7] })?;
/// assert_eq!(pages.get_with("/home", |page| page.links.len()), Some(1));
/// # Ok::<(), latchless::Error>(())
/// ```
#[proc_macro_derive(Value, attributes(value))]
pub fn value(input: TokenStream) -> TokenStream {
    expand(input, value::implement)
}

fn expand(
    input: TokenStream,
    implement: fn(&syn::DeriveInput) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let implemented = syn::parse(input).and_then(|input| implement(&input));
    implemented.unwrap_or_else(syn::Error::into_compile_error).into()
}
