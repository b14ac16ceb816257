//! Whether ptxas takes a text, and what it says where it does not.

use std::ffi::OsStr;

use super::toolchain::{Result, Toolchain, ToolchainError, failed, io_error, start};

/// Texts of one call of ptxas.
const BATCH: usize = 500;

/// What a text is judged with.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The module's `.version`, such as `8.0`.
    pub version: &'a str,
    /// The module's `.target`, which is also the GPU that ptxas compiles for.
    pub target: &'a str,
    /// Declarations of the registers that texts name.
    pub declarations: &'a str,
}

/// ptxas's verdict on a text: the words of its first error, if it refuses it.
pub type Verdict = std::result::Result<(), String>;

/// What one call of ptxas says of a list of texts.
struct Said {
    /// The first error of each text that has one.
    errors: Vec<Option<String>>,
    /// The text at which ptxas stopped reading.
    stopped_at: Option<usize>,
}

impl Toolchain {
    /// Judges texts: each is one or several instructions, alone in a kernel.
    ///
    /// # Errors
    /// ptxas refuses the setting, or fails without an error that names a line.
    pub fn judge(&self, texts: &[impl AsRef<str>], setting: Setting<'_>) -> Result<Vec<Verdict>> {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let mut verdicts = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            verdicts.extend(self.judge_batch(batch, setting)?);
        }
        Ok(verdicts)
    }

    /// ptxas checks a module in passes. It stops reading at some errors, and it makes no code of a module that has any. So the
    /// texts behind such a stop are asked again, and so are those without an error, until all that are left are taken together.
    fn judge_batch(&self, texts: &[&str], setting: Setting<'_>) -> Result<Vec<Verdict>> {
        let mut verdicts: Vec<Verdict> = vec![Ok(()); texts.len()];
        let mut open: Vec<usize> = (0..texts.len()).collect();
        loop {
            let mut clean = Vec::new();
            let mut rest = open.as_slice();
            while !rest.is_empty() {
                let asked: Vec<&str> = rest.iter().map(|&i| texts[i]).collect();
                let Said { errors, stopped_at } = self.say(&asked, setting)?;
                let read = stopped_at.map_or(rest.len(), |stop| stop + 1);
                for (&i, error) in rest.iter().zip(errors).take(read) {
                    match error {
                        Some(words) => verdicts[i] = Err(words),
                        None => clean.push(i),
                    }
                }
                if let Some(stop) = stopped_at.filter(|_| rest.len() > 1) {
                    // Where ptxas stops, a neighbour could be to blame: the text is judged alone.
                    let i = rest[stop];
                    let alone = self.say(&[texts[i]], setting)?;
                    verdicts[i] = alone.errors.into_iter().flatten().next().map_or(Ok(()), Err);
                }
                rest = &rest[read..];
            }
            // Once no text has an error, ptxas has compiled them all.
            if clean.len() == open.len() {
                return Ok(verdicts);
            }
            open = clean;
        }
    }

    fn say(&self, texts: &[&str], setting: Setting<'_>) -> Result<Said> {
        let folder = tempfile::tempdir().map_err(|error| io_error(&std::env::temp_dir(), error))?;
        let (ptx, cubin) = (folder.path().join("texts.ptx"), folder.path().join("texts.cubin"));
        let Setting { version, target, declarations } = setting;
        let mut module = format!(".version {version}\n.target {target}\n.address_size 64\n");
        let mut lines = module.lines().count();
        let mut before = Vec::with_capacity(texts.len());
        for (i, text) in texts.iter().enumerate() {
            // A block, or an instruction with its semicolon, is whole.
            let end = if text.starts_with('{') || text.trim_end().ends_with(';') { "" } else { ";" };
            let kernel = format!(".visible .entry k{i}()\n{{\n{declarations}\n{text}{end}\nret;\n}}\n");
            before.push(lines);
            lines += kernel.lines().count();
            module.push_str(&kernel);
        }
        std::fs::write(&ptx, module).map_err(|error| io_error(&ptx, error))?;
        let arch = format!("-arch={target}");
        let output = start(&self.ptxas, [OsStr::new(&arch), ptx.as_os_str(), OsStr::new("-o"), cubin.as_os_str()])?;
        let mut said = Said { errors: vec![None; texts.len()], stopped_at: None };
        if output.status.success() {
            return Ok(said);
        }
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            let Some((number, kind, words)) = complaint(line) else { continue };
            let Some(i) = before.iter().rposition(|&lines| number > lines) else {
                return Err(failed(&self.ptxas, &output));
            };
            said.errors[i].get_or_insert_with(|| words.to_owned());
            if kind == "fatal" {
                said.stopped_at = Some(i);
            }
        }
        // A crash, or an error without a line: it is found by halves.
        match (said.errors.iter().any(Option::is_some), texts) {
            (true, _) => Ok(said),
            (false, [text]) => {
                let ToolchainError::Failed { message, .. } = failed(&self.ptxas, &output) else { unreachable!() };
                Err(ToolchainError::Refused { text: (*text).to_owned(), message })
            }
            (false, _) => {
                let (first, second) = texts.split_at(texts.len() / 2);
                let first = self.say(first, setting)?;
                if first.stopped_at.is_some() {
                    let mut errors = first.errors;
                    errors.resize(texts.len(), None);
                    return Ok(Said { errors, stopped_at: first.stopped_at });
                }
                let offset = first.errors.len();
                let second = self.say(second, setting)?;
                let errors = first.errors.into_iter().chain(second.errors).collect();
                Ok(Said { errors, stopped_at: second.stopped_at.map(|stop| stop + offset) })
            }
        }
    }
}

/// Line, kind (`error` or `fatal`) and words of a line such as `ptxas FILE, line 11; error   : WORDS`.
fn complaint(line: &str) -> Option<(usize, &str, &str)> {
    let (line, rest) = line.split_once(", line ")?.1.split_once(';')?;
    let (kind, words) = rest.split_once(':')?;
    let kind = kind.trim();
    ["error", "fatal"].contains(&kind).then_some((line.parse().ok()?, kind, words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_ptxas() {
        let error = "ptxas x.ptx, line 24; error   : Arguments mismatch for instruction 'add'";
        assert_eq!(complaint(error), Some((24, "error", "Arguments mismatch for instruction 'add'")));
        let fatal = "ptxas x.ptx, line 9; fatal   : Parsing error near '_': syntax error";
        assert_eq!(complaint(fatal), Some((9, "fatal", "Parsing error near '_': syntax error")));
        assert_eq!(complaint("ptxas x.ptx, line 9; warning : something"), None);
        assert_eq!(complaint("ptxas fatal   : Ptx assembly aborted due to errors"), None);
    }
}
