//! How the shared library is linked: under which name programs look for it, and that it stays in memory.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    // The number of the binary interface: LATCHLESS_ABI.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liblatchless.so.1");
    // The thread that makes memory ready runs to the end of the process, so its code must stay.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
