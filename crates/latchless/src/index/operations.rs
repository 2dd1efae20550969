//! The common operations of [`Index`](super::Index) and [`Exclusive`](super::Exclusive): each is declared
//! and documented once, and this macro generates it for both.
//!
//! A declaration is a method in the form of [`Exclusive`](super::Exclusive). Operations that change the
//! index are declared with `&mut self`; [`Index`](super::Index) has them with `&self`. `self.access()`
//! accesses the tree in the mode of the type, so a body calls an operation of
//! [`Access`](super::access::Access), which is generic over the mode. The examples run once, as those of
//! `Index`. A file that uses the macro imports both types.

macro_rules! exclusive {
    ($(
        $(#[$about:meta])*
        pub fn $name:ident $(<$generic:ident>)? ($($parameters:tt)*) $(-> $returned:ty)? $body:block
    )*) => {
        impl<K: Key, V: Value> Exclusive<'_, K, V> {
            $(
                $(#[$about])*
                pub fn $name $(<$generic>)? ($($parameters)*) $(-> $returned)? $body
            )*
        }
    };
}

macro_rules! operations {
    ($(
        $(#[$about:meta])*
        pub fn $name:ident $(<$generic:ident $(: $bound:path)?>)? ($($parameters:tt)*) $(-> $returned:ty)?
        $(where $key:ident: $trait:path)? $body:block
    )*) => {
        impl<K: Key, V: Value> Index<K, V> {
            $($crate::index::operations::shared! {
                [$(#[$about])*] [$name $(<$generic $(: $bound)?>)?] ($($parameters)*)
                [$(-> $returned)? $(where $key: $trait)?] $body
            })*
        }

        impl<K: Key, V: Value> Exclusive<'_, K, V> {
            $(
                $(#[cfg_attr(not(doctest), $about)])*
                pub fn $name $(<$generic $(: $bound)?>)? ($($parameters)*) $(-> $returned)?
                $(where $key: $trait)? $body
            )*
        }
    };
}

/// Generates one operation of a shared index: changes need no `&mut`.
macro_rules! shared {
    ([$($about:tt)*] [$($name:tt)*] (&mut $self:ident $($more:tt)*) [$($returned:tt)*] $body:block) => {
        $($about)*
        pub fn $($name)*(&$self $($more)*) $($returned)* $body
    };
    ([$($about:tt)*] [$($name:tt)*] $parameters:tt [$($returned:tt)*] $body:block) => {
        $($about)*
        pub fn $($name)* $parameters $($returned)* $body
    };
}

pub(super) use {exclusive, operations, shared};
