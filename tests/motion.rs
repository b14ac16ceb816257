//! The example `motion`, to the last bit: its vectors are those of a search in plain loops over pixels, and its picture is the
//! committed one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use vop_run::{RunOptions, run_launch_file};

const SIZE: usize = 16;
const REACH: i32 = 12;
const PRICE: u32 = 32;

/// A picture's width, height and samples.
fn read_png(path: &Path) -> (usize, usize, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut samples).unwrap();
    samples.truncate(info.buffer_size());
    (info.width as usize, info.height as usize, samples)
}

/// For each block of `current` the way it moved: of all displacements by which it lies within `previous`, the cheapest; of equally
/// cheap ones the shortest, of equally short ones the first by dy, then by dx.
fn search(previous: &[u8], current: &[u8], width: usize, height: usize) -> Vec<i32> {
    let mut vectors = Vec::new();
    for top in (0..height).step_by(SIZE) {
        for left in (0..width).step_by(SIZE) {
            let rows = SIZE.min(height - top);
            let mut best = None;
            for dy in -REACH..=REACH {
                for dx in -REACH..=REACH {
                    let (x, y) = (left as i32 - dx, top as i32 - dy);
                    if x < 0 || y < 0 || x as usize + SIZE > width || y as usize + rows > height {
                        continue;
                    }
                    let mut sad = 0;
                    for row in 0..rows {
                        for column in 0..SIZE {
                            let a = previous[(y as usize + row) * width + x as usize + column];
                            let b = current[(top + row) * width + left + column];
                            sad += u32::from(a.abs_diff(b));
                        }
                    }
                    let length = dx.unsigned_abs() + dy.unsigned_abs();
                    let candidate = (sad + PRICE * length, length, dy, dx);
                    if best.is_none_or(|best| candidate < best) {
                        best = Some(candidate);
                    }
                }
            }
            let (.., dy, dx) = best.unwrap();
            vectors.extend([dx, dy]);
        }
    }
    vectors
}

#[test]
fn the_motion_example_is_right_to_the_last_bit() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/motion");
    let output = tempfile::tempdir().unwrap();
    let options = RunOptions { output: Some(output.path().to_owned()), ..RunOptions::default() };
    let summary = run_launch_file(&example.join("motion.toml"), &options).unwrap();
    assert!(summary.launches.iter().all(|launch| launch.report.video > 1_000_000), "{summary:?}");

    let npy = npyz::NpyFile::new(std::fs::File::open(output.path().join("motion.npy")).unwrap()).unwrap();
    assert_eq!(npy.shape(), [23, 40, 2]);
    let found: Vec<i32> = npy.into_vec().unwrap();
    let (width, height, previous) = read_png(&example.join("frame0.png"));
    let (_, _, current) = read_png(&example.join("frame1.png"));
    let expected = search(&previous, &current, width, height);
    for (block, (found, expected)) in found.chunks(2).zip(expected.chunks(2)).enumerate() {
        assert_eq!(found, expected, "the motion of block ({}, {})", block % 40, block / 40);
    }
    assert_eq!(found.len(), expected.len());

    // Pixels, not files: another version of the encoder may pack them differently.
    let picture = read_png(&output.path().join("motion.png"));
    assert!(picture == read_png(&example.join("motion.png")), "the picture differs from the committed motion.png");
}
