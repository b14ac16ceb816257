//! The C library of vop. `include/vop.h` is its interface: cbindgen writes it from this crate, and a test compares the two.
//!
//! Each function checks its pointers, catches what panics, and gives objects to C as boxes that one function frees.
//! docs/c.md says how C programs use it.
#![allow(non_camel_case_types, reason = "the names are C's")]
#![allow(clippy::missing_safety_doc, reason = "the header says at its top what pointers must be")]
#![allow(clippy::too_many_arguments, reason = "C has no strings with a length, and no results with a value")]

mod bulk;
mod diagnostic;
mod guard;
mod instruction;
mod launch;
mod memory;
mod module;
#[cfg(target_os = "linux")]
mod ptx_run;
mod source;
mod text;

pub use bulk::{vop_plan, vop_plan_free, vop_plan_new, vop_plan_run};
pub use diagnostic::{
    vop_diagnostic, vop_diagnostic_address, vop_diagnostic_code, vop_diagnostic_column, vop_diagnostic_count,
    vop_diagnostic_help, vop_diagnostic_label, vop_diagnostic_line, vop_diagnostic_message, vop_diagnostic_note,
    vop_diagnostic_notes, vop_diagnostic_rendered, vop_diagnostic_severity, vop_diagnostic_source_file,
    vop_diagnostic_source_line, vop_diagnostic_span, vop_diagnostic_statement, vop_diagnostic_thread, vop_diagnostics,
    vop_diagnostics_at, vop_diagnostics_count, vop_diagnostics_errors, vop_diagnostics_free,
    vop_diagnostics_instructions, vop_diagnostics_rendered, vop_diagnostics_unjudged, vop_explain_code, vop_severity,
};
pub use guard::vop_status;
pub use instruction::{
    vop_eval, vop_explain, vop_instruction, vop_instruction_a, vop_instruction_b, vop_instruction_c,
    vop_instruction_cost, vop_instruction_d, vop_instruction_form, vop_instruction_free, vop_instruction_guard,
    vop_instruction_meaning, vop_instruction_reads_c, vop_instruction_text, vop_judge, vop_lower, vop_parse,
    vop_semantics,
};
pub use launch::{
    vop_argument, vop_dim3, vop_launch, vop_options, vop_options_add_check, vop_options_free, vop_options_new,
    vop_options_set_cores, vop_options_set_dynamic_shared, vop_options_set_instructions, vop_options_set_memory,
    vop_options_set_patience, vop_options_set_semantics, vop_options_set_stack, vop_options_set_stop,
    vop_options_set_timeout, vop_report, vop_report_blocks, vop_report_findings, vop_report_free,
    vop_report_instructions, vop_report_left_out, vop_report_video, vop_stop, vop_stop_free, vop_stop_new,
    vop_stop_request,
};
pub use memory::{
    vop_memory, vop_memory_allocate, vop_memory_free, vop_memory_new, vop_memory_new_host, vop_memory_read,
    vop_memory_register, vop_memory_release, vop_memory_set_limit, vop_memory_size, vop_memory_take_printed,
    vop_memory_write,
};
pub use module::{
    vop_function, vop_function_free, vop_function_name, vop_function_parameter_name, vop_function_parameter_size,
    vop_function_parameter_type, vop_function_parameters, vop_module, vop_module_entries, vop_module_entry,
    vop_module_free, vop_module_function, vop_module_load, vop_module_variable,
};
#[cfg(target_os = "linux")]
pub use ptx_run::ptx_run;
pub use source::{vop_check, vop_lower_module};
pub use text::{
    VOP_ABI_VERSION, VOP_NUL_TERMINATED, vop_abi_version, vop_format, vop_str, vop_text, vop_text_free, vop_text_get,
    vop_version,
};

// What the header says of threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<vop_diagnostics>();
    shared::<vop_function>();
    shared::<vop_instruction>();
    shared::<vop_memory>();
    shared::<vop_module>();
    shared::<vop_options>();
    shared::<vop_plan>();
    shared::<vop_report>();
    shared::<vop_stop>();
    shared::<vop_text>();
};
