//! How much code the kernels of a file that ptxas wrote have, read from the file itself: a tenth of the work of disassembling it.

/// Bytes of an instruction, of all GPUs from sm_70 on.
const INSTRUCTION: usize = 16;

/// What a guard of an instruction says that is always executed.
const ALWAYS: u64 = 7;
const EXIT: u64 = 0x94d;
const NOP: u64 = 0x918;

/// The number of instructions of the kernels `k0`, `k1`, … of an ELF file, `count` of them, as [`Code::size`](super::Code::size) counts
/// them; or what is missing.
pub(super) fn sizes(file: &[u8], count: usize) -> Result<Vec<usize>, String> {
    let mut sizes = vec![None; count];
    let sections = sections(file).ok_or("sections of ELF")?;
    for (name, content) in sections {
        let number = name.strip_prefix(b".text.k").and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        if let Some(size) = number.and_then(|number: usize| sizes.get_mut(number)) {
            *size = Some(size_of(content));
        }
    }
    sizes.into_iter().enumerate().map(|(i, size)| size.ok_or_else(|| format!("code of k{i}"))).collect()
}

/// The instructions up to the end of the code, without those that do nothing.
fn size_of(code: &[u8]) -> usize {
    let mut size = 0;
    for instruction in code.as_chunks::<INSTRUCTION>().0 {
        let word = u64::from(u16::from_le_bytes([instruction[0], instruction[1]]));
        let (opcode, guard) = (word & 0xfff, word >> 12);
        let is_always = guard == ALWAYS;
        size += usize::from(!(opcode == NOP && is_always));
        if opcode == EXIT && is_always {
            break;
        }
    }
    size
}

/// The sections of an ELF file of 64 bits: name and content.
fn sections(file: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let number = |start: usize, ahead: usize, bytes: usize| {
        let at = start.checked_add(ahead)?;
        let all = file.get(at..at.checked_add(bytes)?)?;
        usize::try_from(all.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))).ok()
    };
    let is_elf = file.starts_with(b"\x7fELF\x02\x01");
    let (table, size) = (is_elf.then(|| number(0, 0x28, 8))??, number(0, 0x3a, 2)?);
    if table == 0 {
        return None;
    }
    let header = |i: usize| table.checked_add(i.checked_mul(size)?);
    let content = |i: usize| {
        let (offset, size) = (number(header(i)?, 0x18, 8)?, number(header(i)?, 0x20, 8)?);
        file.get(offset..offset.checked_add(size)?)
    };
    // Where there are many sections, the first one says how many, and which has their names.
    let count = match number(0, 0x3c, 2)? {
        0 => number(header(0)?, 0x20, 8)?,
        count => count,
    };
    let names = content(match number(0, 0x3e, 2)? {
        0xffff => number(header(0)?, 0x28, 4)?,
        index => index,
    })?;
    let mut found = Vec::new();
    for i in 1..count {
        // Some sections, such as those of shared memory, have no bytes in the file.
        if number(header(i)?, 4, 4)? == NOBITS {
            continue;
        }
        let name = names.get(number(header(i)?, 0, 4)?..)?;
        found.push((&name[..name.iter().position(|&byte| byte == 0)?], content(i)?));
    }
    Some(found)
}

/// The type of a section that has no bytes in the file.
const NOBITS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_up_to_the_end_of_the_code() {
        let code = |words: &[u16]| -> Vec<u8> {
            words.iter().flat_map(|word| [&word.to_le_bytes()[..], &[0xff; 14]].concat()).collect()
        };
        // MOV, @P0 EXIT, NOP, EXIT, BRA, NOP.
        assert_eq!(size_of(&code(&[0x7a02, 0x094d, 0x7918, 0x794d, 0x7947, 0x7918])), 3);
        assert_eq!(size_of(&code(&[0x7a02, 0x7947])), 2);
        assert_eq!(size_of(&[]), 0);
    }

    #[test]
    fn what_is_no_file_of_ptxas_is_refused() {
        assert_eq!(sizes(b"", 1), Err("sections of ELF".to_owned()));
        assert_eq!(
            sizes(&[b"\x7fELF\x02\x01".as_slice(), &[0xff; 100]].concat(), 1),
            Err("sections of ELF".to_owned())
        );
        let mut empty = b"\x7fELF\x02\x01".to_vec();
        empty.resize(0x40, 0);
        // A header without a section: there are no names.
        assert_eq!(sizes(&empty, 1), Err("sections of ELF".to_owned()));
    }
}
