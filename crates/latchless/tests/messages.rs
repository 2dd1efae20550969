//! The compiler's messages for a newcomer's mistakes: they name the type that fits. `messages/` has the
//! mistakes, each with its message. `TRYBUILD=overwrite cargo test -p latchless --test messages` writes the
//! current messages.

#![cfg(not(miri))]

#[test]
fn the_compiler_names_the_type_that_fits() {
    // The messages are those of the pinned compiler: the steps with a sanitizer have another one.
    if std::env::var("RUSTUP_TOOLCHAIN").is_ok_and(|toolchain| toolchain.starts_with("nightly")) {
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
