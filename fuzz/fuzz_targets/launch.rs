//! No launch file, and no launch by options, makes the reader of jobs or a run of what it has read panic or take memory without bound.
//! The files that it names lie in one folder, what it saves in another.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use vop_run::LaunchOptions;
use vop_run::job::{CommandLine, Job, RunOptions};

const PTX: &str = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .const .align 4 .b8 table[16];\n\
.visible .global .align 4 .u32 count;\n\
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .align 4 .b8 pair[8])\n{\n\
.reg .b32 %r<4>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n\
st.global.u32 [%rd2], %r1;\nret;\n}\n.visible .entry other()\n{\nret;\n}\n";

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("vop-fuzz-launch-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("out")).expect("a folder");
    std::fs::write(folder.join("k.ptx"), PTX).expect("a file");
    std::fs::write(folder.join("a.raw"), [7; 64]).expect("a file");
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (4,), }";
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(format!("{header:<117}\n").bytes());
    npy.extend([1; 16]);
    std::fs::write(folder.join("a.npy"), npy).expect("a file");
    std::env::set_current_dir(&folder).expect("a folder");
    folder
});

fuzz_target!(|input: (u8, &str)| {
    let (kind, text) = input;
    // Nothing outside the folder is named.
    let text: String = text.chars().map(|c| if c == '/' { '_' } else { c }).collect();
    let folder = &*FOLDER;
    if kind % 2 == 0 {
        let file = folder.join("launch.toml");
        std::fs::write(&file, &text).expect("a file");
        if let Ok(job) = Job::read(&file) {
            assert!(job.launches() < 1 << 20);
            run(&job);
        }
        return;
    }
    // Lines of variables begin with a mark.
    let (variables, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('$'));
    let mut lines = lines.into_iter();
    let mut line = || lines.next().unwrap_or_default().to_owned();
    let (grid, block, entry) = (line(), line(), line());
    let line = CommandLine {
        ptx: folder.join("k.ptx"),
        entry: (!entry.is_empty()).then_some(entry),
        grid,
        block,
        shared: usize::from(kind),
        args: lines.map(str::to_owned).collect(),
        variables: variables.into_iter().map(|line| line[1..].to_owned()).collect(),
    };
    let _ = line.text();
    if let Ok(job) = line.job() {
        run(&job);
    }
});

fn run(job: &Job) {
    if job.launches() > 100 || job.blocks() > 1000 {
        return;
    }
    let launch = LaunchOptions::default().with_instructions(1 << 20).with_memory(1 << 24).with_cores(1);
    let options = RunOptions::default().with_output(FOLDER.join("out")).with_launch(launch);
    if let Ok(summary) = job.run(&options, &mut |_| {}) {
        for file in summary.files {
            std::fs::remove_file(file).expect("a file that was saved");
        }
    }
}
