//! What both derives read of a type: its fields and its attributes.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput, Error, GenericParam, Index, Result, Type};

/// A field of a struct.
pub struct Field<'f> {
    /// Its name, or its place in a tuple struct.
    pub member: TokenStream,
    pub ty: &'f Type,
    pub attributes: &'f [Attribute],
}

/// Returns the fields of a struct.
pub fn fields(fields: &syn::Fields) -> Vec<Field<'_>> {
    let member = |at: usize, field: &syn::Field| match &field.ident {
        Some(name) => name.to_token_stream(),
        None => Index::from(at).to_token_stream(),
    };
    let fields = fields.iter().enumerate();
    fields
        .map(|(at, field)| Field { member: member(at, field), ty: &field.ty, attributes: &field.attrs })
        .collect()
}

/// Returns which words of `known` are in the attributes called `name`, each with its place.
///
/// # Errors
/// Any other word, at its place; `known_here` says which there are.
pub fn words(
    attributes: &[Attribute],
    name: &str,
    known: &[&'static str],
    known_here: &str,
) -> Result<Vec<(&'static str, Span)>> {
    let mut found = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        attribute.parse_nested_meta(|meta| {
            let word = known.iter().find(|word| meta.path.is_ident(word));
            let word =
                word.ok_or_else(|| Error::new(meta.path.span(), format!("unknown attribute: {known_here}")))?;
            found.push((*word, meta.path.span()));
            Ok(())
        })?;
    }
    Ok(found)
}

/// Returns the place of a word.
pub fn place(found: &[(&str, Span)], word: &str) -> Option<Span> {
    found.iter().find(|(own, _)| *own == word).map(|(_, place)| *place)
}

/// Refuses lifetimes: an index owns its keys and values.
pub fn owned(input: &DeriveInput, what: &str) -> Result<()> {
    let mut parameters = input.generics.params.iter();
    let borrowed = parameters.find(|parameter| matches!(parameter, GenericParam::Lifetime(_)));
    let complain = |parameter: &GenericParam| {
        Err(Error::new(
            parameter.span(),
            format!("{what} owns its parts: store a `String` in place of a `&str`"),
        ))
    };
    borrowed.map_or(Ok(()), complain)
}

/// Returns what generated code imports: the names that it uses, from the crate that users have.
pub fn imports() -> TokenStream {
    quote! {
        use ::latchless::derived::{
            Bits, BytesKey, BytesValue, Cow, Debug, InBox, InBytes, InWord, IndexKey, IndexValue, Key, Reverse, Value,
            WideValue, Words, key_below, key_from, value_below, value_from,
        };
    }
}
