//! `#[derive(Key)]`.

use crate::c_like;
use crate::input::{Field, fields, imports, owned, place, words};
use crate::width::{Width, width};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Error, Ident, Result, Type, parse_quote};

/// The parts of a flat tuple: a last one that has the rest isn't closed, so the bytes are the same.
const FLAT: usize = 5;
/// The panic message for bits or bytes that no key has.
const STORED: &str = "only keys that were stored are decoded";

pub fn implement(input: &DeriveInput) -> Result<TokenStream> {
    owned(input, "a key")?;
    let implementations = match &input.data {
        Data::Struct(data) => of_struct(input, &fields(&data.fields))?,
        Data::Enum(data) => of_enum(input, data)?,
        Data::Union(data) => {
            return Err(Error::new(
                data.union_token.span,
                "a union can't be a key: which of its fields is there?",
            ));
        }
    };
    let imports = imports();
    Ok(quote! {
        #[allow(unused_imports, reason = "each form needs some of them")]
        const _: () = { #imports #implementations };
    })
}

fn of_enum(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    words(&input.attrs, "key", &[], "an enum takes none, because a C-like enum is always stored in a word")?;
    for variant in &data.variants {
        words(&variant.attrs, "key", &[], "`#[key(desc)]` is for fields of structs")?;
        if !variant.fields.is_empty() {
            let message = "an enum with fields can't be a key: a struct of a C-like enum and the fields can";
            return Err(Error::new_spanned(&variant.fields, message));
        }
    }
    let name = &input.ident;
    if data.variants.is_empty() {
        return Err(Error::new_spanned(name, "an enum without variants has no keys"));
    }
    let integer = c_like::integer(input, data);
    let of = c_like::variant_of(input, data, &integer);
    let (text, by_value) = (name.to_string(), by_value_form());
    Ok(quote! {
        #of
        impl Key for #name {
            type Bits = <#integer as Key>::Bits;
            const WIDTH_BITS: u32 = <#integer as Key>::WIDTH_BITS;
            #[inline]
            fn encode(self) -> Self::Bits {
                <#integer as Key>::encode(self as #integer)
            }
            #[inline]
            fn decode(bits: Self::Bits) -> Self {
                of(<#integer as Key>::decode(bits)).expect(#STORED)
            }
        }
        impl IndexKey for #name {
            type Form = InWord<<#integer as Key>::Bits>;
            #by_value
        }
        impl BytesKey for #name {
            const FIXED: ::core::option::Option<usize> = <#integer as BytesKey>::FIXED;
            #[inline]
            fn with_bytes<R>(&self, f: impl ::core::ops::FnOnce(&[u8]) -> R) -> R {
                <#integer as BytesKey>::with_bytes(&(*self as #integer), f)
            }
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                of(<#integer as BytesKey>::from_bytes(bytes)).expect(#STORED)
            }
            fn is_key(bytes: &[u8]) -> bool {
                <#integer as BytesKey>::is_key(bytes) && of(<#integer as BytesKey>::from_bytes(bytes)).is_some()
            }
            fn type_name() -> Cow<'static, str> {
                #text.into()
            }
        }
    })
}

/// How operations take a key that is `Copy`.
fn by_value_form() -> TokenStream {
    quote! {
        type Probe<'q> = Self;
        #[inline(always)]
        fn probe(&self) -> Self {
            *self
        }
        #[inline(always)]
        fn own(probe: Self) -> Self {
            probe
        }
    }
}

/// How operations take any other key.
fn by_reference_form() -> TokenStream {
    quote! {
        type Probe<'q> = &'q Self;
        #[inline(always)]
        fn probe(&self) -> &Self {
            self
        }
        #[inline(always)]
        fn own(probe: &Self) -> Self {
            ::core::clone::Clone::clone(probe)
        }
    }
}

/// A field as a part of the key.
struct Part<'f> {
    field: &'f Field<'f>,
    is_descending: bool,
    /// The name of its part where a key is taken apart.
    variable: Ident,
}

impl Part<'_> {
    /// The type whose encoding it has.
    fn ty(&self) -> TokenStream {
        let ty = self.field.ty;
        if self.is_descending { quote!(Reverse<#ty>) } else { quote!(#ty) }
    }

    /// A value of that type, from an expression for the field's.
    fn wrapped(&self, value: &TokenStream) -> TokenStream {
        if self.is_descending { quote!(Reverse(#value)) } else { quote!(#value) }
    }
}

/// Puts parts into tuples whose last element has the rest.
fn nested(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => quote!(#one),
        _ if parts.len() <= FLAT + 1 => quote!((#(#parts),*)),
        _ => {
            let (first, rest) = parts.split_at(FLAT);
            let rest = nested(rest);
            quote!((#(#first,)* #rest))
        }
    }
}

fn of_struct(input: &DeriveInput, fields: &[Field<'_>]) -> Result<TokenStream> {
    const FORMS: &str =
        "a struct takes `#[key(word)]`, `#[key(bytes)]` and `#[key(copy)]`, a field `#[key(desc)]`";
    let forms = words(&input.attrs, "key", &["word", "bytes", "copy"], FORMS)?;
    if fields.is_empty() {
        return Err(Error::new_spanned(
            &input.ident,
            "a struct without fields has one key only: there is nothing to order",
        ));
    }
    let mut parts = Vec::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate() {
        let found = words(field.attributes, "key", &["desc"], FORMS)?;
        let variable = format_ident!("part{at}");
        parts.push(Part { field, is_descending: place(&found, "desc").is_some(), variable });
    }
    let widths: Vec<_> = fields.iter().map(|field| width(field.ty)).collect();
    let bits = widths.iter().try_fold(0, |sum, width| match width {
        Width::Bits(bits) => Some(sum + bits),
        _ => None,
    });
    let has_types = input.generics.type_params().next().is_some();
    let forced = place(&forms, "word");
    if let (Some(place), true) = (forced, has_types) {
        return Err(Error::new(place, "a key with type parameters is stored as bytes"));
    }
    let fits = bits.is_some_and(|bits| bits <= 64) && place(&forms, "bytes").is_none() && !has_types;
    let bytes = in_bytes(input, &parts);
    // A type that is no key is an error at its place; elsewhere the compiler points at the derive.
    let are_keys = fields.iter().filter(|_| !has_types).map(|Field { ty, .. }| {
        quote_spanned!(ty.span()=> const _: () = { const fn is_key<K: BytesKey>() {} is_key::<#ty>() };)
    });
    let are_keys = quote!(#(#are_keys)*);
    let form = if forced.is_some() || fits {
        in_word(input, &parts, bits.unwrap_or(64), forced)
    } else {
        let by_value = place(&forms, "copy").is_some() || widths.iter().all(|width| *width != Width::Unknown);
        by_bytes(input, by_value)
    };
    Ok(quote!(#are_keys #bytes #form))
}

fn in_word(input: &DeriveInput, parts: &[Part<'_>], bits: u32, forced: Option<Span>) -> TokenStream {
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    let (variables, types): (Vec<_>, Vec<_>) = parts.iter().map(|part| (&part.variable, part.ty())).unzip();
    let members: Vec<_> = parts.iter().map(|part| &part.field.member).collect();
    let wrapped = parts.iter().map(|part| {
        let member = &part.field.member;
        part.wrapped(&quote!(self.#member))
    });
    let taken: Vec<_> = parts
        .iter()
        .map(|part| {
            part.wrapped(&{
                let variable = &part.variable;
                quote!(#variable)
            })
        })
        .collect();
    let (reversed_taken, reversed_types) = (taken.iter().rev(), types.iter().rev());
    let (word, by_value) = (if bits <= 32 { quote!(u32) } else { quote!(u64) }, by_value_form());
    let check = forced.map(|place| {
        let message = format!(
            "the fields of `{name}` have more than 64 bits: without `#[key(word)]` it is stored as bytes"
        );
        quote_spanned!(place=> const _: () = assert!(#(<#types as Key>::WIDTH_BITS)+* <= 64, #message);)
    });
    quote! {
        #check
        impl #generics Key for #name #arguments #bounds {
            type Bits = #word;
            const WIDTH_BITS: u32 = 0 #(+ <#types as Key>::WIDTH_BITS)*;
            #[inline(always)]
            fn encode(self) -> #word {
                let bits = 0u64;
                #(let bits = key_below::<#types>(bits, #wrapped);)*
                <#word as Bits>::truncate(bits)
            }
            #[inline(always)]
            fn decode(bits: #word) -> Self {
                let mut bits = Bits::to_u64(bits);
                #(let #reversed_taken = key_from::<#reversed_types>(&mut bits);)*
                Self { #(#members: #variables),* }
            }
        }
        impl #generics IndexKey for #name #arguments #bounds {
            type Form = InWord<#word>;
            #by_value
        }
    }
}

/// The generics of a type, with bounds for its parameters.
fn bounded(input: &DeriveInput, by_value: bool) -> syn::Generics {
    let mut generics = input.generics.clone();
    let parameters: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    for parameter in parameters {
        let copy = if by_value { quote!(::core::marker::Copy) } else { quote!(::core::clone::Clone) };
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(#parameter: BytesKey + Debug + 'static + #copy));
    }
    generics
}

fn by_bytes(input: &DeriveInput, by_value: bool) -> TokenStream {
    let (name, generics) = (&input.ident, bounded(input, by_value));
    let (generics, arguments, bounds) = generics.split_for_impl();
    let probe = if by_value { by_value_form() } else { by_reference_form() };
    quote! {
        impl #generics IndexKey for #name #arguments #bounds {
            type Form = InBytes;
            #probe
        }
    }
}

/// The bytes of the tuple of the fields; keys in words have them, too, as parts of other keys.
fn in_bytes(input: &DeriveInput, parts: &[Part<'_>]) -> TokenStream {
    let (name, generics) = (&input.ident, bounded(input, false));
    let (generics, arguments, bounds) = generics.split_for_impl();
    let types: Vec<_> = parts.iter().map(Part::ty).collect();
    let tuple = nested(&types);
    let borrowed_types: Vec<_> = parts.iter().map(|part| borrowed(part.field.ty, part)).collect();
    let borrowed_tuple = nested(&borrowed_types);
    let values: Vec<_> = parts
        .iter()
        .map(|part| {
            let member = &part.field.member;
            part.wrapped(&quote!(&self.#member))
        })
        .collect();
    let value = nested(&values);
    let pattern = nested(
        &parts
            .iter()
            .map(|part| {
                part.wrapped(&{
                    let variable = &part.variable;
                    quote!(#variable)
                })
            })
            .collect::<Vec<_>>(),
    );
    let (members, variables): (Vec<_>, Vec<_>) =
        parts.iter().map(|part| (&part.field.member, &part.variable)).unzip();
    quote! {
        impl #generics BytesKey for #name #arguments #bounds {
            const FIXED: ::core::option::Option<usize> = <#tuple as BytesKey>::FIXED;
            #[inline]
            fn with_bytes<__R>(&self, f: impl ::core::ops::FnOnce(&[u8]) -> __R) -> __R {
                <#borrowed_tuple as BytesKey<#tuple>>::with_bytes(&#value, f)
            }
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let #pattern = <#tuple as BytesKey>::from_bytes(bytes);
                Self { #(#members: #variables),* }
            }
            fn is_key(bytes: &[u8]) -> bool {
                <#tuple as BytesKey>::is_key(bytes)
            }
            fn type_name() -> Cow<'static, str> {
                <#tuple as BytesKey>::type_name()
            }
        }
    }
}

fn borrowed(ty: &Type, part: &Part<'_>) -> TokenStream {
    if part.is_descending { quote!(Reverse<&#ty>) } else { quote!(&#ty) }
}
