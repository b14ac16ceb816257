//! The names of PTX's special registers (PTX ISA 10), the one list of them.

/// The special registers of 32 or 64 bits whose names stand alone.
const SINGLE: [&str; 24] = [
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "gridid",
    "cluster_ctarank",
    "cluster_nctarank",
    "is_explicit_cluster",
    "clock",
    "clock_hi",
    "clock64",
    "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "current_graph_exec",
];

/// The special registers that are vectors, with elements `.x`, `.y`, `.z` and `.w`.
const VECTORS: [&str; 8] =
    ["tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"];

/// Families whose names end in a number: `%pm0`, `%envreg31`.
const NUMBERED: [&str; 2] = ["pm", "envreg"];

/// Whether a name, with its `%` and without an element, is that of a special register.
///
/// ```
/// use vop::isa::special::is_special;
/// assert!(is_special("%laneid") && is_special("%tid") && is_special("%envreg3"));
/// assert!(!is_special("laneid") && !is_special("%r1") && !is_special("%tid.x"));
/// ```
pub fn is_special(name: &str) -> bool {
    let Some(name) = name.strip_prefix('%') else { return false };
    let numbered = |prefix: &&str| {
        name.strip_prefix(*prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    SINGLE.contains(&name)
        || VECTORS.contains(&name)
        || NUMBERED.iter().any(numbered)
        || name.starts_with("reserved_smem_offset_")
}

/// Whether a special register, by its name with its `%`, has 64 bits and cannot be read as 32: `%clock64`.
pub(crate) fn is_wide(name: &str) -> bool {
    matches!(name, "%clock64" | "%globaltimer" | "%current_graph_exec") || name.ends_with("_64")
}

/// Whether a name, with its `%` and without an element, is that of a special register which is a vector.
pub fn is_vector(name: &str) -> bool {
    name.strip_prefix('%').is_some_and(|name| VECTORS.contains(&name))
}
