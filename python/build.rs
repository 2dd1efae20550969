//! Tells the code for which interpreter it is compiled: with or without a global lock.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
