//! The example `motion`, run before and after it is rewritten, gives equal outputs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use vop_ptx::module::Module;
use vop_ptx::rewrite::{RewriteOptions, rewrite};
use vop_run::{RunOptions, run_launch_file};

/// The output files of the example on a corner of the frames, with this PTX, and the number of video instructions executed.
fn run(ptx: &[u8]) -> (Vec<Vec<u8>>, u64) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/motion");
    let folder = tempfile::tempdir().unwrap();
    for frame in ["frame0.png", "frame1.png"] {
        std::fs::copy(example.join(frame), folder.path().join(frame)).unwrap();
    }
    let launch = std::fs::read_to_string(example.join("motion.toml")).unwrap();
    assert_eq!(launch.matches("grid = [40, 23]").count(), 2);
    std::fs::write(folder.path().join("motion.toml"), launch.replace("[40, 23]", "[3, 2]")).unwrap();
    std::fs::write(folder.path().join("motion.ptx"), ptx).unwrap();
    let summary = run_launch_file(&folder.path().join("motion.toml"), &RunOptions::default()).unwrap();
    let files = ["motion.npy", "motion.png"].map(|name| std::fs::read(folder.path().join(name)).unwrap());
    (files.into(), summary.launches.iter().map(|launch| launch.report.video).sum())
}

#[test]
fn the_motion_example_gives_equal_outputs() {
    let source = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/motion/motion.ptx")).unwrap();
    let module = Module::parse(str::from_utf8(&source).unwrap());
    let (expected, video) = run(&source);
    assert!(video > 100_000, "{video}");
    for (target, may_raise) in [("sm_75", false), ("sm_90", true), ("sm_120f", true)] {
        let options = RewriteOptions::new(target.parse().unwrap()).may_raise(may_raise);
        let rewritten = rewrite(&module, &options).unwrap();
        let replaced = rewritten.instructions.iter().filter(|one| one.block.is_some()).count();
        assert!(replaced > rewritten.instructions.len() / 2, "{target}: {replaced}");
        let (found, video_now) = run(&rewritten.apply(&source));
        assert!(found == expected, "{target}");
        assert!(video_now < video, "{target}: {video_now} of {video}");
    }
}
