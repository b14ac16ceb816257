//! `vop man`.

use std::io::Write;
use std::path::PathBuf;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::{Cli, Failure, Outcome, output};

/// Write man pages: vop.1, and one for each subcommand.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  vop man --output ~/.local/share/man/man1
  vop man check | man -l -")]
pub(crate) struct Args {
    /// The subcommand whose page is printed; without, vop's own.
    #[arg(conflicts_with = "output")]
    subcommand: Option<String>,
    /// Write all pages into this folder instead of printing one.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let mut cli = Cli::command().disable_help_subcommand(true);
    // Names of subcommands then have the command's before them.
    cli.build();
    let subcommands: Vec<Command> = cli.get_subcommands().filter(|one| one.get_name() != "help").cloned().collect();
    if let Some(folder) = args.output {
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::Misuse(format!("cannot create {}: {error}", folder.display())))?;
        for command in std::iter::once(cli).chain(subcommands) {
            let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
            output::write(&folder.join(format!("{name}.1")), &page(command)?)?;
        }
        return Ok(Outcome::Fine);
    }
    let command = match args.subcommand {
        None => cli,
        Some(name) => subcommands
            .into_iter()
            .find(|one| one.get_name() == name)
            .ok_or_else(|| Failure::Misuse(format!("there is no subcommand `{name}`; `vop --help` lists them")))?,
    };
    let mut out = output::stdout();
    out.write_all(&page(command)?)?;
    out.flush()?;
    Ok(Outcome::Fine)
}

/// The page of a command. Its examples stay as they are laid out.
fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    // The page of a subcommand is called as its file is, `vop-check`.
    let title = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let has_subcommands = command.get_subcommands().next().is_some();
    // Its version section needs one.
    let man = Man::new(command.version(env!("CARGO_PKG_VERSION")))
        .title(title)
        .source(format!("vop {}", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_subcommands {
        man.render_subcommands_section(&mut page)?;
    }
    if !examples.is_empty() {
        page.extend_from_slice(b".SH \"NOTES AND EXAMPLES\"\n.nf\n");
        for line in examples.lines() {
            // A dot or an apostrophe in front would begin a request.
            let line = line.replace('\\', "\\e").replace('-', "\\-");
            let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
            writeln!(page, "{guard}{line}")?;
        }
        page.extend_from_slice(b".fi\n");
    }
    man.render_version_section(&mut page)?;
    Ok(page)
}
