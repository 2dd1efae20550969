//! `latchless completions` and `latchless man`: what shells and packages need, from the command line's own
//! description.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::print;

/// Print completions for a shell: commands, options and their values.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  latchless completions bash > ~/.local/share/bash-completion/completions/latchless\n  \
                        latchless completions zsh > ~/.zfunc/_latchless"
)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

/// Print a page for `man`, in roff.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  latchless man > latchless.1\n  latchless man query | man -l -")]
pub struct Page {
    /// The command that it is about; without one, all of the program.
    command: Option<String>,
}

/// Prints the completions. `program`: the whole command line.
pub fn completions(args: &Completions, mut program: Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "latchless", &mut text);
    print(&text)
}

/// Prints the page. `program`: the whole command line.
pub fn page(args: &Page, mut program: Command) -> Result<(), Failure> {
    program.build();
    let about = match &args.command {
        None => &program,
        Some(name) => program.find_subcommand(name).ok_or_else(|| {
            let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
            Failure::usage(format!("there is no command {name:?}; there are {}", commands.join(", ")))
        })?,
    };
    let title = args.command.as_ref().map_or("latchless".to_owned(), |name| format!("latchless-{name}"));
    let mut text = Vec::new();
    Man::new(about.clone()).title(title).render(&mut text)?;
    print(&text)
}
