//! Hands the program the facts about its own build that only cargo knows: compiler, target, processor
//! features, profile.

use std::env;
use std::process::Command;

/// Settings of the profile that an environment can change. A build script sees no others.
const CHANGED: [&str; 3] = ["LTO", "CODEGEN_UNITS", "OPT_LEVEL"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = Command::new(variable("RUSTC")).arg("-V").output();
    let version = compiler.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    hand("VERSION", &version.unwrap_or_default());
    hand("TARGET", &variable("TARGET"));
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let mut flags = flags.split('\x1f').map(|flag| flag.trim_start_matches("-C"));
    hand("CPU", flags.find_map(|flag| flag.strip_prefix("target-cpu=")).unwrap_or("generic"));
    hand("FEATURES", &variable("CARGO_CFG_TARGET_FEATURE"));
    let profile = variable("PROFILE");
    let mut settings = format!("{profile}, opt-level {}", variable("OPT_LEVEL"));
    for name in CHANGED {
        let variable = format!("CARGO_PROFILE_{}_{name}", profile.to_uppercase());
        println!("cargo:rerun-if-env-changed={variable}");
        if let Ok(value) = env::var(&variable) {
            settings += &format!(", {variable}={value}");
        }
    }
    hand("PROFILE", &settings);
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn hand(name: &str, value: &str) {
    println!("cargo:rustc-env=LATCHLESS_BUILD_{name}={value}");
}
