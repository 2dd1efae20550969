//! The connection of standard output.

use std::io::{self, IsTerminal};

/// The width of a line on standard output in cells: the variable `COLUMNS`, or else the terminal's width;
/// `None` for a file or a pipe, where lines may have any length.
pub fn room() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    told.filter(|&columns| columns > 0)
        .or_else(|| terminal_size::terminal_size_of(out).map(|(width, _)| usize::from(width.0)))
}

/// Whether standard output was closed when the program began, as by `>&-`. The standard library
/// puts `/dev/null` there before `main`, so that every answer would seem to be written.
pub fn was_closed() -> bool {
    start::WAS_CLOSED.load(std::sync::atomic::Ordering::Relaxed)
}

/// Checks standard output before the standard library's own start.
mod start {
    use std::sync::atomic::AtomicBool;

    pub static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    #[cfg(target_os = "linux")]
    extern "C" fn look() {
        // SAFETY: reading a descriptor's flags changes nothing, whatever the descriptor is.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        WAS_CLOSED.store(flags == -1, std::sync::atomic::Ordering::Relaxed);
    }

    // SAFETY: the loader calls the functions in this section, once and on one thread, before `main`, with
    // arguments that a C function may ignore. `look` needs nothing that is set up only later.
    #[cfg(target_os = "linux")]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
