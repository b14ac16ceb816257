//! Arrays of bytes as the words that instructions take.
//!
//! Here, since this crate is optimised in tests and those that need long arrays are not.

/// Bytes by xorshift64*, the same every time.
pub fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
        })
        .collect()
}

/// The words of rows of `row` bytes. The last word of a row may have fewer bytes than four; the others are 0.
pub fn words(bytes: &[u8], row: usize) -> Vec<u32> {
    let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    bytes.chunks(row).flat_map(|row| row.chunks(4).map(word)).collect()
}

/// What an instruction makes of the words of two arrays, in their own layout.
pub fn results(a: &[u8], b: &[u8], row: usize, eval: &dyn Fn(u32, u32) -> u32) -> Vec<u8> {
    let d: Vec<u32> = words(a, row).iter().zip(&words(b, row)).map(|(a, b)| eval(*a, *b)).collect();
    let per_row = row.div_ceil(4);
    d.chunks(per_row).flat_map(|words| words.iter().flat_map(|word| word.to_le_bytes()).take(row)).collect()
}
