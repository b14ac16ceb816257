//! The examples: every output is what plain loops compute, and the pictures equal the committed ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use vop_arrays::{Array, Element};
use vop_run::{Check, RunOptions, Summary, run_launch_file};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// Runs an example. Its output files are in the folder, which is removed when it is dropped.
fn run(name: &str) -> (Summary, tempfile::TempDir) {
    let output = tempfile::tempdir().unwrap();
    let mut options = RunOptions::default();
    options.output = Some(output.path().to_owned());
    let summary = run_launch_file(&example(name).join(format!("{name}.toml")), &options).unwrap();
    (summary, output)
}

/// Grids of examples for the checks, which execute every step: whole pictures take a minute. Parts of a picture, and a smaller one of the
/// whole scene, have all that the kernels do.
const SMALLER: [(&str, &str, &str); 7] = [
    ("motion", "grid = [40, 23]", "grid = [4, 3]"),
    ("stereo", "grid = [6, 18]", "grid = [6, 1]"),
    ("stereo", "grid = [3, 288]", "grid = [3, 16]"),
    ("raytrace", "grid = [50, 75]", "grid = [10, 15]"),
    ("raytrace", "{ i32 = 400 }", "{ i32 = 80 }"),
    ("raytrace", "{ i32 = 300 }", "{ i32 = 60 }"),
    ("steady", "{ i32 = 96 }", "{ i32 = 24 }"),
];

/// Nothing is found in any example, by any check: users start from these files, and copy them.
#[test]
fn examples_pass_all_checks() {
    let folders = std::fs::read_dir(example("")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = files.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    let output = tempfile::tempdir().unwrap();
    let mut options = RunOptions::default().with_output(output.path());
    Check::ALL.iter().for_each(|check| options.launch.check(*check));
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let mut text = std::fs::read_to_string(&file).unwrap();
        for (_, old, new) in SMALLER.iter().filter(|(of, ..)| *of == name) {
            assert!(text.contains(old), "{name}: {old}");
            text = text.replace(old, new);
        }
        // What it names stands beside the file.
        let folder = file.parent().unwrap().display();
        for key in ["ptx = \"", "file = \""] {
            text = text.replace(key, &format!("{key}{folder}/"));
        }
        let smaller = output.path().join("smaller.toml");
        std::fs::write(&smaller, text).unwrap();
        let summary = run_launch_file(&smaller, &options).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        for launch in &summary.launches {
            let found = launch.report.findings.iter().map(|found| format!("{}\n", found.error));
            assert_eq!(found.collect::<String>(), "", "{name}: {}", launch.entry);
        }
    }
}

/// How many video instructions the launches of a kernel executed.
fn video(summary: &Summary, entry: &str) -> u64 {
    summary.launches.iter().filter(|launch| launch.entry == entry).map(|launch| launch.report.video).sum()
}

/// A picture's width, height and samples.
fn read_png(path: &Path) -> (usize, usize, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut samples).unwrap();
    samples.truncate(info.buffer_size());
    (info.width as usize, info.height as usize, samples)
}

/// A type of elements.
trait Number: Sized {
    const ELEMENT: Element;
    /// The elements of little-endian bytes.
    fn all(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! numbers {
    ($($ty:ty: $element:ident),+) => {$(
        impl Number for $ty {
            const ELEMENT: Element = Element::$element;
            fn all(bytes: &[u8]) -> Vec<$ty> {
                bytes.as_chunks().0.iter().map(|chunk| <$ty>::from_le_bytes(*chunk)).collect()
            }
        }
    )+};
}

numbers!(u8: U8, i32: I32, u32: U32, u64: U64, f32: F32);

fn read_npy<T: Number>(path: &Path, shape: &[u64]) -> Vec<T> {
    T::all(&Array::read(path, Some(T::ELEMENT), Some(shape), 1 << 30).unwrap().bytes)
}

/// Fails at the first element that differs.
fn assert_equal<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let different = found.iter().zip(expected).position(|(found, expected)| found != expected);
    if let Some(at) = different {
        panic!("{what}: element {at} is {:?}, expected {:?}", found[at], expected[at]);
    }
}

const BLOCK: usize = 16;
const REACH: i32 = 12;
const PRICE_OF_LENGTH: u32 = 32;

/// For each block of `current` the displacement from `previous`. Of all displacements by which the block lies within `previous` the
/// cheapest is taken, of equally cheap ones the shortest, of equally short ones the first by dy, then by dx.
fn motion(previous: &[u8], current: &[u8], width: usize, height: usize) -> Vec<i32> {
    let mut vectors = Vec::new();
    for top in (0..height).step_by(BLOCK) {
        for left in (0..width).step_by(BLOCK) {
            let rows = BLOCK.min(height - top);
            let mut best = None;
            for dy in -REACH..=REACH {
                for dx in -REACH..=REACH {
                    let (x, y) = (left as i32 - dx, top as i32 - dy);
                    if x < 0 || y < 0 || x as usize + BLOCK > width || y as usize + rows > height {
                        continue;
                    }
                    let mut sad = 0;
                    for row in 0..rows {
                        for column in 0..BLOCK {
                            let a = previous[(y as usize + row) * width + x as usize + column];
                            let b = current[(top + row) * width + left + column];
                            sad += u32::from(a.abs_diff(b));
                        }
                    }
                    let length = dx.unsigned_abs() + dy.unsigned_abs();
                    let candidate = (sad + PRICE_OF_LENGTH * length, length, dy, dx);
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
fn motion_finds_the_vectors_of_a_plain_search() {
    let (summary, output) = run("motion");
    assert!(summary.launches.iter().all(|launch| launch.report.video > 1_000_000), "{summary:?}");
    let found: Vec<i32> = read_npy(&output.path().join("motion.npy"), &[23, 40, 2]);

    let (width, height, previous) = read_png(&example("motion/frame0.png"));
    let (_, _, current) = read_png(&example("motion/frame1.png"));
    assert_equal(&found, &motion(&previous, &current, width, height), "vectors");

    // Pixels are compared, not files: another version of the encoder may pack them differently.
    let picture = read_png(&output.path().join("motion.png"));
    assert!(picture == read_png(&example("motion/motion.png")), "the picture differs from the committed motion.png");
}

/// BLOSUM62 as it is published.
const BLOSUM62: &str = "\
   A  R  N  D  C  Q  E  G  H  I  L  K  M  F  P  S  T  W  Y  V  B  Z  X  *
A  4 -1 -2 -2  0 -1 -1  0 -2 -1 -1 -1 -1 -2 -1  1  0 -3 -2  0 -2 -1  0 -4
R -1  5  0 -2 -3  1  0 -2  0 -3 -2  2 -1 -3 -2 -1 -1 -3 -2 -3 -1  0 -1 -4
N -2  0  6  1 -3  0  0  0  1 -3 -3  0 -2 -3 -2  1  0 -4 -2 -3  3  0 -1 -4
D -2 -2  1  6 -3  0  2 -1 -1 -3 -4 -1 -3 -3 -1  0 -1 -4 -3 -3  4  1 -1 -4
C  0 -3 -3 -3  9 -3 -4 -3 -3 -1 -1 -3 -1 -2 -3 -1 -1 -2 -2 -1 -3 -3 -2 -4
Q -1  1  0  0 -3  5  2 -2  0 -3 -2  1  0 -3 -1  0 -1 -2 -1 -2  0  3 -1 -4
E -1  0  0  2 -4  2  5 -2  0 -3 -3  1 -2 -3 -1  0 -1 -3 -2 -2  1  4 -1 -4
G  0 -2  0 -1 -3 -2 -2  6 -2 -4 -4 -2 -3 -3 -2  0 -2 -2 -3 -3 -1 -2 -1 -4
H -2  0  1 -1 -3  0  0 -2  8 -3 -3 -1 -2 -1 -2 -1 -2 -2  2 -3  0  0 -1 -4
I -1 -3 -3 -3 -1 -3 -3 -4 -3  4  2 -3  1  0 -3 -2 -1 -3 -1  3 -3 -3 -1 -4
L -1 -2 -3 -4 -1 -2 -3 -4 -3  2  4 -2  2  0 -3 -2 -1 -2 -1  1 -4 -3 -1 -4
K -1  2  0 -1 -3  1  1 -2 -1 -3 -2  5 -1 -3 -1  0 -1 -3 -2 -2  0  1 -1 -4
M -1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5  0 -2 -1 -1 -1 -1  1 -3 -1 -1 -4
F -2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6 -4 -2 -2  1  3 -1 -3 -3 -1 -4
P -1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7 -1 -1 -4 -3 -2 -2 -1 -2 -4
S  1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4  1 -3 -2 -2  0  0  0 -4
T  0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5 -2 -2  0 -1 -1  0 -4
W -3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11  2 -3 -4 -3 -2 -4
Y -2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7 -1 -3 -2 -1 -4
V  0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4 -3 -2 -1 -4
B -2 -1  3  4 -3  0  1 -1  0 -3 -4  0 -3 -3 -2  0 -1 -4 -3 -3  4  1 -1 -4
Z -1  0  0  1 -3  3  4 -2  0 -3 -3  1 -1 -3 -1  0 -1 -3 -2 -2  1  4 -1 -4
X  0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2  0  0 -2 -1 -1 -1 -1 -1 -4
* -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4  1
";

/// The names and sequences of a FASTA file.
fn read_fasta(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut records: Vec<(String, Vec<u8>)> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        match line.strip_prefix('>') {
            Some(name) => records.push((name.to_owned(), Vec::new())),
            None => records.last_mut().unwrap().1.extend(line.bytes()),
        }
    }
    records
}

/// The score of the best local alignment (Smith and Waterman, with Gotoh's affine gaps: a gap of n residues costs 10 + n).
fn local_alignment(a: &[u8], b: &[u8], score: impl Fn(u8, u8) -> i32) -> i32 {
    const NEVER: i32 = i32::MIN / 2;
    let mut best = 0;
    // Of the row above: the best alignments that end in each cell, and those that end there in a gap of `b`.
    let (mut above, mut gap_of_b) = (vec![0; b.len() + 1], vec![NEVER; b.len() + 1]);
    for residue in a {
        let mut row = vec![0; b.len() + 1];
        let mut gap_of_a = NEVER;
        for j in 1..=b.len() {
            gap_of_a = (gap_of_a - 1).max(row[j - 1] - 11);
            gap_of_b[j] = (gap_of_b[j] - 1).max(above[j] - 11);
            let both = above[j - 1] + score(*residue, b[j - 1]);
            row[j] = both.max(gap_of_a).max(gap_of_b[j]).max(0);
            best = best.max(row[j]);
        }
        above = row;
    }
    best
}

#[test]
fn smith_waterman_scores_are_those_of_a_plain_search() {
    let (summary, output) = run("smith-waterman");
    assert!(video(&summary, "search") > 10_000_000 && video(&summary, "search_again") > 100_000, "{summary:?}");
    let found: Vec<i32> = read_npy(&output.path().join("scores.npy"), &[126]);

    let mut rows = BLOSUM62.lines();
    let columns: Vec<u8> = rows.next().unwrap().bytes().filter(|letter| *letter != b' ').collect();
    let mut scores = [[0; 128]; 128];
    for row in rows {
        let values = row[1..].split_whitespace().map(|value| value.parse::<i32>().unwrap());
        for (column, value) in columns.iter().zip(values) {
            scores[usize::from(row.as_bytes()[0])][usize::from(*column)] = value;
        }
    }
    let database = read_fasta(&example("smith-waterman/database.fasta"));
    let query = &read_fasta(&example("smith-waterman/query.fasta"))[0].1;
    let score = |a, b| scores[usize::from(a)][usize::from(b)];
    let expected: Vec<i32> = database.iter().map(|(_, protein)| local_alignment(query, protein, score)).collect();
    assert_equal(&found, &expected, "scores");

    // What the search is for: close relatives stand out, and their scores need more than a byte.
    let best_stranger =
        database.iter().zip(&found).filter(|((name, _), _)| name.ends_with("random")).map(|(_, s)| *s).max();
    let close = |name: &str| ["95%", "80%", "60%"].iter().any(|kept| name.contains(kept));
    let worst_relative = database.iter().zip(&found).filter(|((name, _), _)| close(name)).map(|(_, s)| *s).min();
    assert!(worst_relative > best_stranger.map(|score| 2 * score), "{worst_relative:?} {best_stranger:?}");
    assert!(worst_relative > Some(127));
}

type Vector = [f32; 3];

fn plus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] + b[i])
}

fn minus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] - b[i])
}

fn times(a: Vector, s: f32) -> Vector {
    a.map(|x| x * s)
}

fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

fn unit(a: Vector) -> Vector {
    times(a, 1.0 / dot(a, a).sqrt())
}

/// A corner of a triangle and the ways to the two others.
type Triangle = [Vector; 3];

struct Scene {
    triangles: Vec<Triangle>,
    /// Red, green, blue, and how much a triangle reflects.
    colours: Vec<[f32; 4]>,
    /// Runs of triangles with a ball around each, centre and squared radius, generous enough that rounding doesn't matter: what a ray
    /// passes by need not be asked.
    balls: Vec<(std::ops::Range<usize>, [f64; 3], f64)>,
}

impl Scene {
    fn read() -> Scene {
        let triangles: Vec<f32> = read_npy(&example("raytrace/triangles.npy"), &[4482, 3, 3]);
        let vector = |words: &[f32]| -> Vector { words.try_into().unwrap() };
        let triangles: Vec<Triangle> =
            triangles.chunks(9).map(|words| [vector(&words[..3]), vector(&words[3..6]), vector(&words[6..])]).collect();
        let colours: Vec<f32> = read_npy(&example("raytrace/colours.npy"), &[4482, 4]);
        let colours = colours.chunks(4).map(|words| words.try_into().unwrap()).collect();
        let run = |first: usize| {
            let range = first..(first + 16).min(triangles.len());
            let corners = || {
                triangles[range.clone()].iter().flat_map(|[corner, a, b]| {
                    [*corner, plus(*corner, *a), plus(*corner, *b)].map(|point| point.map(f64::from))
                })
            };
            let count = corners().count() as f64;
            let centre: [f64; 3] = std::array::from_fn(|i| corners().map(|point| point[i]).sum::<f64>() / count);
            let squared = corners().map(|point| (0..3).map(|i| (point[i] - centre[i]).powi(2)).sum::<f64>());
            let radius = squared.fold(0.0, f64::max).sqrt() * 1.01 + 1e-3;
            (range, centre, radius * radius)
        };
        let balls = (0..triangles.len()).step_by(16).map(run).collect();
        Scene { triangles, colours, balls }
    }

    /// The nearest triangle that a ray meets and its distance: the one with the lowest number of several (Möller and Trumbore).
    fn trace(&self, origin: Vector, direction: Vector) -> Option<(f32, usize)> {
        let (from, along) = (origin.map(f64::from), direction.map(f64::from));
        let mut hit: Option<(f32, usize)> = None;
        for (range, centre, radius) in &self.balls {
            let to: [f64; 3] = std::array::from_fn(|i| centre[i] - from[i]);
            let ahead = (0..3).map(|i| to[i] * along[i]).sum::<f64>();
            let squared = (0..3).map(|i| to[i] * to[i]).sum::<f64>();
            let length = (0..3).map(|i| along[i] * along[i]).sum::<f64>();
            if squared - ahead * ahead / length > *radius {
                continue;
            }
            for number in range.clone() {
                let [corner, a, b] = self.triangles[number];
                let across = cross(direction, b);
                let scale = 1.0 / dot(a, across);
                let from = minus(origin, corner);
                let u = dot(from, across) * scale;
                let other = cross(from, a);
                let v = dot(direction, other) * scale;
                let distance = dot(b, other) * scale;
                let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0;
                if inside && hit.is_none_or(|(nearest, _)| distance < nearest) {
                    hit = Some((distance, number));
                }
            }
        }
        hit
    }

    /// The light that comes from a direction, by up to `bounces` reflections; and what is met first.
    fn light(&self, origin: Vector, direction: Vector, sun: Vector, bounces: u32) -> (Vector, Option<(f32, usize)>) {
        let (mut colour, mut weight, mut ray) = ([0.0; 3], 1.0, (origin, direction));
        let mut first = None;
        for bounce in 0..=bounces {
            let (origin, direction) = ray;
            let hit = self.trace(origin, direction);
            if bounce == 0 {
                first = hit;
            }
            let Some((distance, number)) = hit else {
                let height = direction[1].max(0.0);
                let sky = plus(times([0.75, 0.82, 0.90], 1.0 - height), times([0.18, 0.32, 0.62], height));
                colour = plus(colour, times(sky, weight));
                break;
            };
            let [_, a, b] = self.triangles[number];
            let mut normal = unit(cross(a, b));
            if dot(normal, direction) > 0.0 {
                normal = times(normal, -1.0);
            }
            let point = plus(origin, times(direction, distance));
            let off = plus(point, times(normal, 1e-3));
            let [red, green, blue, mirror] = self.colours[number];
            let mirror = if bounce == bounces { 0.0 } else { mirror };
            // The floor is a chessboard.
            let dark = number < 2 && (point[0].floor() as i32 + point[2].floor() as i32) & 1 == 1;
            let own = if dark { times([red, green, blue], 0.35) } else { [red, green, blue] };
            let facing = dot(normal, sun);
            let direct = if facing > 0.0 && self.trace(off, sun).is_none() { facing } else { 0.0 };
            let shaded = times(own, direct * 0.85 + normal[1] * 0.1 + 0.2);
            colour = plus(colour, times(shaded, weight * (1.0 - mirror)));
            if mirror == 0.0 {
                break;
            }
            weight *= mirror;
            ray = (off, minus(direction, times(normal, 2.0 * dot(normal, direction))));
        }
        (colour, first)
    }
}

/// The first of each `step` rows.
fn rows<T: Clone>(all: &[T], width: usize, step: usize) -> Vec<T> {
    all.chunks(width).step_by(step).flatten().cloned().collect()
}

#[test]
fn raytrace_sees_what_asking_every_triangle_sees() {
    let (summary, output) = run("raytrace");
    assert!(video(&summary, "render") > 10_000_000, "{summary:?}");
    let seen: Vec<i32> = read_npy(&output.path().join("seen.npy"), &[300, 400]);
    let depth: Vec<f32> = read_npy(&output.path().join("depth.npy"), &[300, 400]);
    let picture = read_png(&output.path().join("raytrace.png"));

    let scene = Scene::read();
    let (width, height) = (400, 300);
    let [eye, forward, right, up] =
        [[0.6, 3.4, 7.2], [-0.0831, -0.2838, -0.9553], [0.5579, 0.0, -0.0485], [-0.0103, 0.4027, -0.1188]];
    // Asking takes long: every fourth row, unless all is asked. The whole picture is compared with the committed one.
    let step = if std::env::var_os("VOP_FULL").is_some() { 1 } else { 4 };
    let mut expected = (Vec::new(), Vec::new(), Vec::new());
    for y in (0..height).step_by(step) {
        for x in 0..width {
            let across = (2 * x + 1 - width) as f32 / width as f32;
            let down = (2 * y + 1 - height) as f32 / height as f32;
            let direction = unit(minus(plus(forward, times(right, across)), times(up, down)));
            let (colour, first) = scene.light(eye, direction, [0.4613, 0.7842, 0.4151], 2);
            expected.0.push(first.map_or(-1, |(_, number)| number as i32));
            expected.1.push(first.map_or(1e30, |(distance, _)| distance));
            expected.2.extend(colour.map(|light| (light.min(1.0).sqrt() * 255.0 + 0.5) as u8));
        }
    }
    assert_equal(&rows(&seen, 400, step), &expected.0, "triangles");
    assert_equal(&rows(&depth, 400, step), &expected.1, "distances");
    assert_equal(&rows(&picture.2, 3 * 400, step), &expected.2, "the picture");
    assert!(
        picture == read_png(&example("raytrace/raytrace.png")),
        "the picture differs from the committed raytrace.png"
    );
}

/// For each pixel of `image` the disparity at which an 11 x 9 window is most like that of `other`, `direction` * disparity pixels to the
/// right; beyond its edges a picture goes on as it is there.
fn disparities(image: &[u8], other: &[u8], width: usize, height: usize, direction: i32) -> Vec<u8> {
    let at = |picture: &[u8], x: i32, y: i32| {
        let (x, y) = (x.clamp(0, width as i32 - 1), y.clamp(0, height as i32 - 1));
        i32::from(picture[y as usize * width + x as usize])
    };
    let mut best = vec![(i32::MAX, 0); width * height];
    for d in 0..48u8 {
        // The differences of each row of windows, those above and below the picture included.
        let mut rows = vec![0; width * (height + 8)];
        for y in 0..height + 8 {
            for x in 0..width {
                let (x, line, there) = (x as i32, y as i32 - 4, x as i32 + direction * i32::from(d));
                let differences = (-5..=5).map(|i| (at(image, x + i, line) - at(other, there + i, line)).abs());
                rows[y * width + x as usize] = differences.sum();
            }
        }
        for y in 0..height {
            for x in 0..width {
                let there = x as i32 + direction * i32::from(d);
                let sum: i32 = (0..9).map(|row| rows[(y + row) * width + x]).sum();
                if (0..width as i32).contains(&there) && sum < best[y * width + x].0 {
                    best[y * width + x] = (sum, d);
                }
            }
        }
    }
    best.into_iter().map(|(_, d)| d).collect()
}

#[test]
fn stereo_finds_the_disparities_of_a_plain_search() {
    let (summary, output) = run("stereo");
    assert!(video(&summary, "match") > 10_000_000, "{summary:?}");
    let found: Vec<u8> = read_npy(&output.path().join("disparity.npy"), &[288, 384]);

    let (width, height, left) = read_png(&example("stereo/left.png"));
    let (_, _, right) = read_png(&example("stereo/right.png"));
    let from_left = disparities(&left, &right, width, height, -1);
    let from_right = disparities(&right, &left, width, height, 1);
    let confirmed = |(i, d): (usize, &u8)| if d.abs_diff(from_right[i - usize::from(*d)]) <= 1 { *d } else { 255 };
    let expected: Vec<u8> = from_left.iter().enumerate().map(confirmed).collect();
    assert_equal(&found, &expected, "disparities");

    // What the search is for: nearly all of what both cameras see is found, and right.
    let (_, _, truth) = read_png(&example("stereo/truth.png"));
    let visible = || truth.iter().zip(&found).filter(|(truth, _)| **truth != 255);
    let answered = visible().filter(|(_, found)| **found != 255).count();
    let right = visible().filter(|(truth, found)| truth.abs_diff(**found) <= 1).count();
    let visible = visible().count();
    assert!(20 * answered > 19 * visible && 20 * right > 18 * visible, "{answered} and {right} of {visible}");

    let picture = read_png(&output.path().join("stereo.png"));
    assert!(picture == read_png(&example("stereo/stereo.png")), "the picture differs from the committed stereo.png");
}

/// A pixel of a picture that moved by quarters of pixels, between its pixels by their distances; beyond the edges, the edge pixels repeat.
fn moved_pixel(pixels: &[u8], width: i32, height: i32, x: i32, y: i32) -> i32 {
    // A pixel is read as a float from 0 to 1.
    let at = |x: i32, y: i32| {
        let (x, y) = (x.clamp(0, width - 1), y.clamp(0, height - 1));
        f64::from(f32::from(pixels[(y * width + x) as usize]) / 255.0)
    };
    let (left, top, right, bottom) = (x.div_euclid(4), y.div_euclid(4), x.rem_euclid(4), y.rem_euclid(4));
    let mix = |a: f64, b: f64, quarters: i32| a + (b - a) * f64::from(quarters) / 4.0;
    let upper = mix(at(left, top), at(left + 1, top), right);
    let lower = mix(at(left, top + 1), at(left + 1, top + 1), right);
    let fraction = mix(upper, lower, bottom) as f32;
    (fraction * 255.0).round_ties_even() as i32
}

#[test]
fn steady_finds_the_shift() {
    let (summary, output) = run("steady");
    // Two rounds of 81 shifts, each of 112 x 80 pixels.
    assert_eq!(video(&summary, "score"), 2 * 81 * 112 * 80 / 4);
    let (width, height, still) = read_png(&example("steady/still.png"));
    let (_, _, moved) = read_png(&example("steady/moved.png"));
    let (width, height) = (width as i32, height as i32);
    let score = |dx: i32, dy: i32| -> i32 {
        let all = (8..height - 8).flat_map(|y| (8..width - 8).map(move |x| (x, y)));
        let apart = all.map(|(x, y)| {
            let pixel = moved_pixel(&moved, width, height, 4 * x + dx, 4 * y + dy);
            (i32::from(still[(y * width + x) as usize]) - pixel).abs()
        });
        apart.sum()
    };
    let best = |[x, y]: [i32; 2], step: i32| {
        let shifts = (-4..=4).flat_map(|j| (-4..=4).map(move |i| [x + i * step, y + j * step]));
        shifts.min_by_key(|[dx, dy]| score(*dx, *dy)).unwrap()
    };
    let expected = best(best([0, 0], 4), 1);
    let shift: Vec<i32> = read_npy(&output.path().join("shift.npy"), &[2]);
    assert_equal(&shift, &expected, "the shift");
    // What scene.py drew.
    assert_equal(&shift, &[11, -6], "the shift");
    let steadied = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let steadied = steadied.map(|(x, y)| moved_pixel(&moved, width, height, 4 * x + shift[0], 4 * y + shift[1]) as u8);
    let (_, _, picture) = read_png(&output.path().join("steady.png"));
    assert_equal(&picture, &steadied.collect::<Vec<u8>>(), "the picture");
}

#[test]
fn histogram_counts_and_equalises() {
    let (_, output) = run("histogram");
    let (width, height, pixels) = read_png(&example("motion/frame0.png"));
    let mut counts = [0u32; 256];
    for pixel in &pixels {
        counts[usize::from(*pixel)] += 1;
    }
    let found: Vec<u32> = read_npy(&output.path().join("histogram.npy"), &[256]);
    assert_equal(&found, &counts, "the histogram");

    let sum: u64 = pixels.iter().map(|pixel| u64::from(*pixel)).sum();
    let squares: u64 = pixels.iter().map(|pixel| u64::from(*pixel).pow(2)).sum();
    let (darkest, brightest) = (u64::from(*pixels.iter().min().unwrap()), u64::from(*pixels.iter().max().unwrap()));
    let found: Vec<u64> = read_npy(&output.path().join("statistics.npy"), &[4]);
    assert_eq!(found, [sum, squares, 255 - darkest, brightest]);

    // A level becomes the share of the pixels at most as bright, without those of the darkest level, rounded to nearest.
    let dark = pixels.iter().filter(|pixel| u64::from(**pixel) == darkest).count();
    let level = |level: usize| {
        let up_to = counts[..=level].iter().map(|count| *count as usize).sum::<usize>();
        let span = pixels.len() - dark;
        ((up_to.saturating_sub(dark) * 255 + span / 2) / span) as u8
    };
    let levels: Vec<u8> = (0..256).map(level).collect();
    let equalised: Vec<u8> = pixels.iter().map(|pixel| levels[usize::from(*pixel)]).collect();
    let (found_width, found_height, found) = read_png(&output.path().join("equalised.png"));
    assert_eq!((found_width, found_height), (width, height));
    assert_equal(&found, &equalised, "the equalised picture");

    let picture = read_png(&output.path().join("histogram.png"));
    assert!(
        picture == read_png(&example("histogram/histogram.png")),
        "the picture differs from the committed histogram.png"
    );
}
