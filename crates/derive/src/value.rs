//! `#[derive(Value)]`.

use crate::c_like;
use crate::input::{Field, fields, imports, owned, place, words};
use crate::width::{Width, width};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Error, Ident, Result, parse_quote};

/// The most words of a value that is stored beside its key.
const WORDS_MAX: usize = 8;

pub fn implement(input: &DeriveInput) -> Result<TokenStream> {
    const FORMS: &str = "a value's type takes `#[value(words)]` and `#[value(boxed)]`, its parts none";
    owned(input, "a value")?;
    let forms = words(&input.attrs, "value", &["words", "boxed"], FORMS)?;
    let (is_boxed, forced) = (place(&forms, "boxed").is_some(), place(&forms, "words"));
    let has_types = input.generics.type_params().next().is_some();
    let implementations = match &input.data {
        Data::Struct(data) => {
            let fields = fields(&data.fields);
            for field in &fields {
                words(field.attributes, "value", &[], FORMS)?;
            }
            match in_words(input, &fields, forced.is_some()) {
                Some(implementations) if !is_boxed && !has_types => implementations,
                _ => match forced {
                    Some(place) => {
                        return Err(Error::new(
                            place,
                            "a value in words has at most eight of them and no type parameters",
                        ));
                    }
                    None => boxed(input),
                },
            }
        }
        Data::Enum(data) => {
            for variant in &data.variants {
                words(&variant.attrs, "value", &[], FORMS)?;
                for field in fields(&variant.fields) {
                    words(field.attributes, "value", &[], FORMS)?;
                }
            }
            match forced {
                Some(place) => {
                    return Err(Error::new(
                        place,
                        "a C-like enum is always a word, and one with fields never is",
                    ));
                }
                None if is_boxed || data.variants.is_empty() || !c_like::is_c_like(data) => boxed(input),
                None => of_enum(input, data),
            }
        }
        Data::Union(data) => {
            return Err(Error::new(
                data.union_token.span,
                "a union can't be a value: which of its fields is there?",
            ));
        }
    };
    let imports = imports();
    Ok(quote! {
        #[allow(unused_imports, reason = "each form needs some of them")]
        const _: () = { #imports #implementations };
    })
}

fn of_enum(input: &DeriveInput, data: &DataEnum) -> TokenStream {
    let (name, integer) = (&input.ident, c_like::integer(input, data));
    let of = c_like::variant_of(input, data, &integer);
    quote! {
        #of
        impl Value for #name {
            type Bits = <#integer as Value>::Bits;
            const WIDTH_BITS: u32 = <#integer as Value>::WIDTH_BITS;
            #[inline]
            fn encode(self) -> Self::Bits {
                <#integer as Value>::encode(self as #integer)
            }
            #[inline]
            fn decode(bits: Self::Bits) -> Self {
                of(<#integer as Value>::decode(bits)).expect("only values that were stored are decoded")
            }
        }
    }
}

/// A value outside of the tree.
fn boxed(input: &DeriveInput) -> TokenStream {
    let name = &input.ident;
    let mut generics = input.generics.clone();
    let parameters: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    for parameter in parameters {
        let bound = parse_quote!(#parameter: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static);
        generics.make_where_clause().predicates.push(bound);
    }
    let (generics, arguments, bounds) = generics.split_for_impl();
    quote! {
        impl #generics IndexValue for #name #arguments #bounds {
            type Form = InBox;
            type Given<'v> = Self;
            type Lent<'v> = &'v Self;
            fn given(value: Self) -> Self {
                value
            }
            fn lend(&self) -> &Self {
                self
            }
        }
    }
}

/// Where a field is: in a word with those before it, or in words of its own.
enum Place {
    Within(usize),
    Own(usize, usize),
}

/// Places fields in words, narrow ones together. Returns also the number of words, and that of all bits.
/// `None` if a field has no known width.
fn places(fields: &[Field<'_>], forced: bool) -> Option<(Vec<Place>, usize, usize)> {
    let (mut places, mut count, mut sum) = (Vec::new(), 0, 0);
    // The word that narrow fields share, and its bits.
    let (mut shared, mut bits) = (0, 64);
    for field in fields {
        let own = match width(field.ty) {
            Width::Bits(own) => own,
            Width::Words(own) => {
                places.push(Place::Own(count, own));
                (count, sum) = (count + own, sum + 64 * own);
                continue;
            }
            Width::Copy | Width::Unknown if forced => 64,
            Width::Copy | Width::Unknown => return None,
        };
        if bits + own > 64 {
            (shared, bits, count) = (count, 0, count + 1);
        }
        places.push(Place::Within(shared));
        (bits, sum) = (bits + own, sum + own as usize);
    }
    Some((places, count, sum))
}

fn in_words(input: &DeriveInput, fields: &[Field<'_>], forced: bool) -> Option<TokenStream> {
    let (places, count, sum) = places(fields, forced)?;
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let members: Vec<_> = fields.iter().map(|field| &field.member).collect();
    let variables: Vec<_> = (0..fields.len()).map(|at| format_ident!("part{at}")).collect();
    if sum <= 64 && places.iter().all(|place| matches!(place, Place::Within(_))) {
        let word = if sum <= 32 { quote!(u32) } else { quote!(u64) };
        let types: Vec<_> = fields.iter().map(|field| field.ty).collect();
        let (reversed, reversed_types) = (variables.iter().rev(), types.iter().rev());
        return Some(quote! {
            impl #generics Value for #name #arguments #bounds {
                type Bits = #word;
                const WIDTH_BITS: u32 = 0 #(+ <#types as Value>::WIDTH_BITS)*;
                #[inline(always)]
                fn encode(self) -> #word {
                    let bits = 0u64;
                    #(let bits = value_below::<#types>(bits, self.#members);)*
                    <#word as Bits>::truncate(bits)
                }
                #[inline(always)]
                fn decode(bits: #word) -> Self {
                    let mut bits = Bits::to_u64(bits);
                    #(let #reversed = value_from::<#reversed_types>(&mut bits);)*
                    Self { #(#members: #variables),* }
                }
            }
        });
    }
    if count > WORDS_MAX {
        return None;
    }
    let placed = || fields.iter().zip(&places).zip(&variables);
    let to = placed().map(|((Field { member, ty, .. }, place), _)| match place {
        Place::Within(at) => quote!(words[#at] = value_below::<#ty>(words[#at], self.#member);),
        Place::Own(at, count) => {
            quote!(words[#at..#at + #count].copy_from_slice(&<#ty as WideValue<#count>>::to_words(self.#member));)
        }
    });
    let from = placed().rev().map(|((Field { ty, .. }, place), variable)| match place {
        Place::Within(at) => quote!(let #variable = value_from::<#ty>(&mut words[#at]);),
        Place::Own(at, count) => {
            quote!(let #variable = <#ty as WideValue<#count>>::from_words(::core::array::from_fn(|word| words[#at + word]));)
        }
    });
    Some(quote! {
        impl #generics WideValue<#count> for #name #arguments #bounds {
            #[inline]
            fn to_words(self) -> [u64; #count] {
                let mut words = [0; #count];
                #(#to)*
                words
            }
            #[inline]
            fn from_words(mut words: [u64; #count]) -> Self {
                #(#from)*
                Self { #(#members: #variables),* }
            }
        }
        impl #generics BytesValue for #name #arguments #bounds {
            type Form = Words<#count>;
        }
    })
}
