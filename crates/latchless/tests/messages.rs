//! What the compiler says to a newcomer's mistakes: it names the type that fits. `messages/` has them, each
//! with what is said. `TRYBUILD=overwrite cargo test -p latchless --test messages` writes what is said today.

#![cfg(not(miri))]

#[test]
fn the_compiler_names_the_type_that_fits() {
    // What it says is that of the pinned compiler: the steps with a sanitizer have another one.
    if std::env::var("RUSTUP_TOOLCHAIN").is_ok_and(|toolchain| toolchain.starts_with("nightly")) {
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
