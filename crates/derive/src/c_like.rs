//! C-like enums: an integer that has all discriminants.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DataEnum, DeriveInput, Expr, ExprLit, ExprUnary, Lit, UnOp};

/// Whether no variant has fields.
pub fn is_c_like(data: &DataEnum) -> bool {
    data.variants.iter().all(|variant| variant.fields.is_empty())
}

/// Returns the integer of an enum: that of its `repr`, otherwise the smallest that has all discriminants.
pub fn integer(input: &DeriveInput, data: &DataEnum) -> TokenStream {
    let mut repr = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        // What else may be there, the compiler reads.
        let _ = attribute.parse_nested_meta(|meta| {
            const INTEGERS: [&str; 10] =
                ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];
            if INTEGERS.iter().any(|integer| meta.path.is_ident(integer)) {
                repr = meta.path.get_ident().cloned();
            }
            Ok(())
        });
    }
    if let Some(repr) = repr {
        return quote!(#repr);
    }
    let (mut next, mut low, mut high) = (0i128, 0, 0);
    for variant in &data.variants {
        if let Some((_, discriminant)) = &variant.discriminant {
            match literal(discriminant) {
                Some(number) => next = number,
                // A constant's: what an enum has without a `repr`.
                None => return quote!(isize),
            }
        }
        (low, high) = (low.min(next), high.max(next));
        next += 1;
    }
    let fits = |min: i128, max: i128| min <= low && high <= max;
    match () {
        () if fits(0, 0xff) => quote!(u8),
        () if fits(0, 0xffff) => quote!(u16),
        () if fits(0, 0xffff_ffff) => quote!(u32),
        () if fits(-0x80, 0x7f) => quote!(i8),
        () if fits(-0x8000, 0x7fff) => quote!(i16),
        () if fits(-0x8000_0000, 0x7fff_ffff) => quote!(i32),
        () => quote!(isize),
    }
}

fn literal(discriminant: &Expr) -> Option<i128> {
    match discriminant {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => literal(expr).map(|number| -number),
        Expr::Paren(inner) => literal(&inner.expr),
        Expr::Group(inner) => literal(&inner.expr),
        _ => None,
    }
}

/// Returns a function `of` from an integer to the variant that has it.
pub fn variant_of(input: &DeriveInput, data: &DataEnum, integer: &TokenStream) -> TokenStream {
    let name = &input.ident;
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let constants: Vec<_> = (0..variants.len()).map(|at| format_ident!("V{at}")).collect();
    quote! {
        fn of(number: #integer) -> ::core::option::Option<#name> {
            #(const #constants: #integer = #name::#variants as #integer;)*
            match number {
                #(#constants => ::core::option::Option::Some(#name::#variants),)*
                _ => ::core::option::Option::None,
            }
        }
    }
}
