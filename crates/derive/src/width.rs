//! How wide a type is that the derives know by its name.

use syn::{Expr, ExprLit, GenericArgument, Lit, PathArguments, Type};

/// The room that a field takes.
#[derive(Clone, Copy, PartialEq)]
pub enum Width {
    /// This many bits of a word.
    Bits(u32),
    /// This many words of its own, as a value; as a key, bytes.
    Words(usize),
    /// Any other type that is `Copy`.
    Copy,
    Unknown,
}

/// Returns the width of a type by its name.
pub fn width(ty: &Type) -> Width {
    match ty {
        Type::Paren(inner) => width(&inner.elem),
        Type::Group(inner) => width(&inner.elem),
        Type::Array(array) => of_array(width(&array.elem), &array.elem, &array.len),
        Type::Tuple(parts) if parts.elems.iter().all(|part| width(part) != Width::Unknown) => Width::Copy,
        Type::Path(path) if path.qself.is_none() => path.path.segments.last().map_or(Width::Unknown, of_name),
        _ => Width::Unknown,
    }
}

fn of_name(segment: &syn::PathSegment) -> Width {
    let bits = match segment.ident.to_string().as_str() {
        "bool" => 1,
        "char" => 21,
        "u8" | "i8" | "NonZeroU8" | "NonZeroI8" => 8,
        "u16" | "i16" | "NonZeroU16" | "NonZeroI16" => 16,
        "u32" | "i32" | "f32" | "NonZeroU32" | "NonZeroI32" | "Ipv4Addr" => 32,
        "u64" | "i64" | "f64" | "usize" | "isize" | "NonZeroU64" | "NonZeroI64" | "Nanos" => 64,
        "u128" | "i128" | "Ipv6Addr" | "Uuid" => return Width::Words(2),
        "Reverse" => return inner(segment),
        "NonZero" => match inner(segment) {
            Width::Words(_) => return Width::Copy,
            width => return width,
        },
        "Option" if inner(segment) != Width::Unknown => return Width::Copy,
        _ => return Width::Unknown,
    };
    Width::Bits(bits)
}

/// The width of a type's only argument.
fn inner(segment: &syn::PathSegment) -> Width {
    match &segment.arguments {
        PathArguments::AngleBracketed(list) => match list.args.first() {
            Some(GenericArgument::Type(ty)) if list.args.len() == 1 => width(ty),
            _ => Width::Unknown,
        },
        _ => Width::Unknown,
    }
}

fn of_array(element: Width, ty: &Type, len: &Expr) -> Width {
    let is = |name| matches!(ty, Type::Path(path) if path.path.is_ident(name));
    let number = match len {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse::<usize>().ok(),
        _ => None,
    };
    match number {
        _ if element == Width::Unknown => Width::Unknown,
        Some(len @ 1..=8) if is("u8") => Width::Bits(8 * len as u32),
        Some(len @ 9..=64) if is("u8") => Width::Words(len.div_ceil(8)),
        Some(len @ 1..=8) if is("u64") || is("i64") || is("f64") => Width::Words(len),
        _ => Width::Copy,
    }
}
