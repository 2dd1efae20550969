//! Options of the linker: the SONAME of the shared library, and that it is never unloaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    // The 1 is LATCHLESS_ABI.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liblatchless.so.1");
    // The thread that prepares memory runs until the process ends, so its code must stay mapped.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
