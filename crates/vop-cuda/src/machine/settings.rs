//! What the environment says: `vop exec` sets these variables, and a program may be run with them by hand.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `VOP_CUDA_DEVICES` | how many devices there are: 1 to 8; 1 if it is not set |
//! | `VOP_CUDA_DEVICE` | what they are: `sm_90` if it is not set |
//! | `VOP_CUDA_CHECK` | checks, separated by commas: `races`, `uninit`, `warp`, `heap`, `leaks`, `all` |
//! | `VOP_CUDA_SEMANTICS` | what instructions compute: `isa` or `ptxas`, as of `vop run` |
//! | `VOP_CUDA_PROFILE` | `1`: count what each statement executes |
//! | `VOP_CUDA_CORES` | how many cores run blocks |
//! | `VOP_CUDA_LIMIT` | thread-instructions of one launch, after which it is taken for an endless loop |
//! | `VOP_CUDA_TIMEOUT` | the time of one launch, after which it fails: `500ms`, `10s` |
//! | `VOP_CUDA_MEMORY` | bytes of one device's memory |
//! | `VOP_CUDA_REPORT` | a folder: the process writes a file `PID.json` there, early and at its end |

use std::path::PathBuf;
use std::time::Duration;

use vop_run::{Check, LaunchOptions};

/// The number of devices that there may be.
pub const MAX_DEVICES: usize = 8;

/// What the environment says.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many devices there are.
    pub devices: usize,
    /// The number of the architecture: 90 for `sm_90`.
    pub architecture: u32,
    /// Whether memory that is not freed is reported at the end.
    pub leaks: bool,
    /// Bytes of one device's memory.
    pub memory: Option<u64>,
    /// The folder for the report of the process.
    pub report: Option<PathBuf>,
    /// What every launch starts from: checks, semantics, limits.
    pub launch: LaunchOptions,
}

impl Settings {
    /// Reads the environment.
    ///
    /// # Errors
    /// A sentence for a variable that cannot be read.
    pub fn from_environment() -> Result<Settings, String> {
        Settings::read(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Settings, String> {
        let get = |name: &str| variable(name).filter(|value| !value.is_empty());
        let number = |name: &str| match get(name) {
            None => Ok(None),
            Some(text) => match text.parse::<u64>() {
                Ok(number) if number > 0 => Ok(Some(number)),
                _ => Err(format!("{name} is `{text}`: it must be a number that is not zero")),
            },
        };
        let mut launch = LaunchOptions::default();
        let mut leaks = false;
        for name in get("VOP_CUDA_CHECK").unwrap_or_default().split(',').filter(|name| !name.is_empty()) {
            leaks |= matches!(name, "leaks" | "all");
            match Check::named(name) {
                Some(checks) => checks.iter().for_each(|check| launch.check(*check)),
                None if name == "leaks" => {}
                None => {
                    let all = Check::ALL.iter().map(|check| check.name());
                    let all: Vec<&str> = all.chain(["leaks", "all"]).collect();
                    return Err(format!("VOP_CUDA_CHECK names `{name}`: there are {}", all.join(", ")));
                }
            }
        }
        if let Some(text) = get("VOP_CUDA_SEMANTICS") {
            launch.semantics = text.parse().map_err(|error| format!("VOP_CUDA_SEMANTICS is `{text}`: {error}"))?;
        }
        launch.profile = get("VOP_CUDA_PROFILE").is_some_and(|value| value != "0");
        let cores = number("VOP_CUDA_CORES")?.map(|cores| usize::try_from(cores).unwrap_or(usize::MAX));
        // To ask the system takes longer than a small launch.
        launch.cores = Some(cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)));
        // A program runs as long as it does: `vop exec` has no limit either unless one is given.
        launch.instructions = number("VOP_CUDA_LIMIT")?.unwrap_or(u64::MAX);
        // A kernel may wait for the host; one that waits for what nobody writes shall end one day.
        launch.patience = Duration::from_secs(60);
        if let Some(text) = get("VOP_CUDA_TIMEOUT") {
            let time = duration(&text);
            launch.timeout = Some(time.ok_or_else(|| format!("VOP_CUDA_TIMEOUT is `{text}`: write 500ms or 10s"))?);
        }
        let devices = number("VOP_CUDA_DEVICES")?.unwrap_or(1);
        let devices = usize::try_from(devices).ok().filter(|devices| *devices <= MAX_DEVICES);
        let devices = devices.ok_or_else(|| format!("VOP_CUDA_DEVICES must be 1 to {MAX_DEVICES}"))?;
        let target = get("VOP_CUDA_DEVICE").unwrap_or_else(|| "sm_90".to_owned());
        let digits = target.strip_prefix("sm_").unwrap_or(&target).trim_end_matches(['a', 'f']);
        let architecture = digits.parse().ok().filter(|number| (50..1000).contains(number));
        let architecture = architecture
            .ok_or_else(|| format!("VOP_CUDA_DEVICE is `{target}`: write sm_90, or another architecture"))?;
        let report = get("VOP_CUDA_REPORT").map(PathBuf::from);
        Ok(Settings { devices, architecture, leaks, memory: number("VOP_CUDA_MEMORY")?, report, launch })
    }
}

/// `500ms`, `10s`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s')?, 1.0),
    };
    let seconds = number.parse::<f64>().ok()? * unit;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::read(|name| values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn what_is_not_set_has_a_default() {
        let settings = read(&[]).expect("nothing is wrong");
        assert_eq!((settings.devices, settings.architecture, settings.leaks), (1, 90, false));
        assert!(settings.launch.checks().is_empty());
    }

    #[test]
    fn what_is_set_is_read() {
        let settings = read(&[
            ("VOP_CUDA_DEVICES", "8"),
            ("VOP_CUDA_DEVICE", "sm_120f"),
            ("VOP_CUDA_CHECK", "races,leaks"),
            ("VOP_CUDA_TIMEOUT", "1500ms"),
        ]);
        let settings = settings.expect("nothing is wrong");
        assert_eq!((settings.devices, settings.architecture, settings.leaks), (8, 120, true));
        assert_eq!(settings.launch.checks(), [Check::Races]);
        assert_eq!(settings.launch.timeout, Some(Duration::from_millis(1500)));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (name, value) in [
            ("VOP_CUDA_DEVICES", "9"),
            ("VOP_CUDA_DEVICES", "none"),
            ("VOP_CUDA_DEVICE", "gfx90a"),
            ("VOP_CUDA_CHECK", "race"),
            ("VOP_CUDA_TIMEOUT", "0s"),
            ("VOP_CUDA_SEMANTICS", "cuda"),
        ] {
            let error = read(&[(name, value)]).expect_err(value);
            assert!(error.contains(name), "{error}");
        }
    }
}
