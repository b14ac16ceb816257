/*
 * vop: PTX video instructions, and whole kernels on the CPU.
 *
 * This file is written by cbindgen from the crate vop-capi. Link with -lvop; docs/c.md is the guide.
 *
 * Objects. Each type without a definition here is an object. A function whose name ends in `_new`, or that has a parameter `out`, makes one
 * and gives it to the caller, who frees it by the function that ends in `_free`. Objects are independent of the texts and of the objects that
 * they are made from, which may be freed before.
 *
 * Errors. A function that can fail returns a `vop_status`. It always writes to `out`: null if it fails. `diagnostics`, if it is not null, is
 * given null, or for an error a list that says why, which the caller frees. No function lets an exception or a panic through, or ends the
 * process. A null pointer where the description does not allow it is VOP_ERROR_NULL; a question about a null object has an empty answer.
 *
 * Pointers. They must point at what the description says for as long as the call runs. What the library can see is an error: a null pointer, a
 * wrong number, words that are not aligned. What it cannot see is undefined: a pointer to something else, an object that has been freed.
 *
 * Texts. They are UTF-8, with a length in bytes that VOP_NUL_TERMINATED may stand for. What the library gives has a zero byte behind it.
 *
 * Threads. There is no global state. Objects may be used from several threads at once, also by calls that take them without `const`, except
 * that an object is freed, and options are changed, by a thread that is the only one to use them.
 *
 * Versions. Functions, values and types are added. If anything else changes, VOP_ABI_VERSION and the name of the shared library change.
 */

#ifndef VOP_H
#define VOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A length that says: the text ends at its first zero byte.
#define VOP_NUL_TERMINATED SIZE_MAX




// The number of this interface; `vop_abi_version` tells that of the library. It changes when programs must be compiled again.
#define VOP_ABI_VERSION 1

// What a function answers. Every status but `VOP_OK` is an error.
typedef enum vop_status {
    // It did what was asked for.
    VOP_OK = 0,
    // A pointer is null where one is needed.
    VOP_ERROR_NULL = 1,
    // A text is not UTF-8.
    VOP_ERROR_UTF8 = 2,
    // A text is no legal instruction, or no list of declarations. There is a diagnostic for each fault.
    VOP_ERROR_PARSE = 3,
    // A value, a name or a size is not one that the function takes.
    VOP_ERROR_ARGUMENT = 4,
    // An instruction or a module cannot be rewritten as asked for.
    VOP_ERROR_LOWER = 5,
    // A module cannot be loaded, or a kernel cannot be run. Nothing has run.
    VOP_ERROR_MODULE = 6,
    // There is no memory for something, or an address is not in the memory.
    VOP_ERROR_MEMORY = 7,
    // A launch failed. The diagnostics say where, in which thread and why.
    VOP_ERROR_LAUNCH = 8,
    // A fault of the library. What the call worked on must not be used except to be freed.
    VOP_ERROR_BUG = 9,
} vop_status;

// How severe something is.
typedef enum vop_severity {
    // It is wrong.
    VOP_SEVERITY_ERROR = 0,
    // It is legal, and probably not what was meant.
    VOP_SEVERITY_WARNING = 1,
    // Something to know.
    VOP_SEVERITY_NOTE = 2,
} vop_severity;

// How a text is written.
typedef enum vop_format {
    // Plain text.
    VOP_FORMAT_TEXT = 0,
    // Text with ANSI escapes for bold, dim and colour.
    VOP_FORMAT_ANSI = 1,
    // JSON.
    VOP_FORMAT_JSON = 2,
} vop_format;

// What instructions compute.
typedef enum vop_semantics {
    // What the PTX manual says.
    VOP_SEMANTICS_ISA = 0,
    // What the code of ptxas computes, from CUDA 13.3 on.
    VOP_SEMANTICS_PTXAS = 1,
    // What the code of ptxas computes, up to CUDA 13.2.
    VOP_SEMANTICS_PTXAS_TO_13_2 = 2,
} vop_semantics;

// One diagnostic of a list. It belongs to the list.
typedef struct vop_diagnostic vop_diagnostic;

// A list of diagnostics: faults, warnings and notes of a text, or errors and findings of a launch.
typedef struct vop_diagnostics vop_diagnostics;

// A kernel, decoded and ready to launch. It never changes, so threads may share it.
typedef struct vop_function vop_function;

// A legal instruction. It never changes, so threads may share it.
typedef struct vop_instruction vop_instruction;

// The memory of a device: buffers, the variables of modules, and what kernels printed. Threads may share it: launches, copies and
// allocations may go on at once. If a launch uses bytes that a copy changes at the same time, either may see any of the values. Modules and
// functions keep it alive.
typedef struct vop_memory vop_memory;

// A PTX module that is loaded into a memory. It never changes, so threads may share it.
typedef struct vop_module vop_module;

// What a launch needs to know beside its shape and arguments. Threads may share it for launches; whoever changes it must be the only one who
// uses it.
typedef struct vop_options vop_options;

// A form, ready to be applied to arrays. It never changes, so threads may share it.
typedef struct vop_plan vop_plan;

// What a launch did.
typedef struct vop_report vop_report;

// Ends launches from another thread.
typedef struct vop_stop vop_stop;

// A text that the caller frees.
typedef struct vop_text vop_text;

// A text of the library: `len` bytes of UTF-8, with a zero byte behind them. It belongs to the object that was asked for it, and is valid
// until that is freed. `data` is never null; where there is nothing to say, the text is empty.
typedef struct vop_str {
    // The first byte.
    const char *data;
    // The number of bytes, without the zero byte.
    size_t len;
} vop_str;

// Three sizes or three indexes.
typedef struct vop_dim3 {
    // Along x.
    uint32_t x;
    // Along y.
    uint32_t y;
    // Along z.
    uint32_t z;
} vop_dim3;

// An argument of a launch: the bytes of a parameter. Its size must be that of the parameter. A pointer parameter takes an address, which
// `vop_memory_allocate` told.
typedef struct vop_argument {
    // The first byte.
    const void *data;
    // The number of bytes.
    size_t size;
} vop_argument;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Prepares the form of an instruction. Its operands are not looked at: each source is an array. The instruction may be freed afterwards.
// `semantics` is a `vop_semantics`.
enum vop_status vop_plan_new(const struct vop_instruction *instruction,
                             int32_t semantics,
                             struct vop_plan **out,
                             struct vop_diagnostics **diagnostics);

// Frees a plan; null is nothing to free.
void vop_plan_free(struct vop_plan *plan);

// `d[i] = plan(a[i], b[i], c[i])` for `count` words, in the processor's vector registers.
//
// A stride is the distance of two words in bytes: 4 for an array, 0 if one word stands for all, negative for an array from its end. `c` may
// be null if the form does not read it. Arrays may overlap: the words are computed in ascending order, and a source that is read after a
// result was written over it is that result. `threads` is the number of threads that share the work at most; 0 stands for all of the
// machine.
enum vop_status vop_plan_run(const struct vop_plan *plan,
                             const uint32_t *a,
                             ptrdiff_t a_stride,
                             const uint32_t *b,
                             ptrdiff_t b_stride,
                             const uint32_t *c,
                             ptrdiff_t c_stride,
                             uint32_t *d,
                             ptrdiff_t d_stride,
                             size_t count,
                             size_t threads,
                             struct vop_diagnostics **diagnostics);

// The number of diagnostics in the list; 0 for null.
size_t vop_diagnostics_count(const struct vop_diagnostics *diagnostics);

// The number of errors in the list, which may also have warnings and notes; 0 for null.
size_t vop_diagnostics_errors(const struct vop_diagnostics *diagnostics);

// The number of video instructions that `vop_check` found; 0 for other lists.
size_t vop_diagnostics_instructions(const struct vop_diagnostics *diagnostics);

// The number of video instructions that `vop_check` found and cannot judge, as a part of their text is not in the source.
size_t vop_diagnostics_unjudged(const struct vop_diagnostics *diagnostics);

// A diagnostic of the list, from 0; null if there is none. It is valid until the list is freed.
const struct vop_diagnostic *vop_diagnostics_at(const struct vop_diagnostics *diagnostics, size_t index);

// All diagnostics of the list as plain text for people.
struct vop_str vop_diagnostics_rendered(const struct vop_diagnostics *diagnostics);

// Frees a list, with its diagnostics; null is nothing to free.
void vop_diagnostics_free(struct vop_diagnostics *diagnostics);

// The stable code, such as `V0207`; empty if the diagnostic has none. `vop_explain_code` says what it means.
struct vop_str vop_diagnostic_code(const struct vop_diagnostic *diagnostic);

// How severe it is.
enum vop_severity vop_diagnostic_severity(const struct vop_diagnostic *diagnostic);

// What is wrong, in a sentence.
struct vop_str vop_diagnostic_message(const struct vop_diagnostic *diagnostic);

// A few words about the place itself.
struct vop_str vop_diagnostic_label(const struct vop_diagnostic *diagnostic);

// What to write or do instead.
struct vop_str vop_diagnostic_help(const struct vop_diagnostic *diagnostic);

// The number of notes.
size_t vop_diagnostic_notes(const struct vop_diagnostic *diagnostic);

// A note, from 0.
struct vop_str vop_diagnostic_note(const struct vop_diagnostic *diagnostic, size_t index);

// Where it is in the text: the offsets of its first byte and of the byte behind its last. False, and nothing is written, if it has no place.
// Either pointer may be null.
bool vop_diagnostic_span(const struct vop_diagnostic *diagnostic,
                         size_t *start,
                         size_t *end);

// Its line in the text, from 1; 0 if it has no place.
size_t vop_diagnostic_line(const struct vop_diagnostic *diagnostic);

// Its column, in characters from 1; 0 if it has no place.
size_t vop_diagnostic_column(const struct vop_diagnostic *diagnostic);

// The PTX statement of an error or finding of a launch.
struct vop_str vop_diagnostic_statement(const struct vop_diagnostic *diagnostic);

// The source file that the PTX statement was compiled from, if the PTX says so (`.loc`).
struct vop_str vop_diagnostic_source_file(const struct vop_diagnostic *diagnostic);

// The line in that source file, from 1; 0 if it is not known.
uint32_t vop_diagnostic_source_line(const struct vop_diagnostic *diagnostic);

// The thread that failed: `%ctaid` and `%tid`. False, and nothing is written, if no thread did. Either pointer may be null.
bool vop_diagnostic_thread(const struct vop_diagnostic *diagnostic,
                           struct vop_dim3 *block,
                           struct vop_dim3 *thread);

// The address that an access failed at. False, and nothing is written, if no access did.
bool vop_diagnostic_address(const struct vop_diagnostic *diagnostic, uint64_t *address);

// How often a launch found it at this place; 1 for everything else.
uint64_t vop_diagnostic_count(const struct vop_diagnostic *diagnostic);

// The diagnostic as text for people, under the lines that it is about. `format` is `VOP_FORMAT_ANSI`, or anything else for plain text.
struct vop_str vop_diagnostic_rendered(const struct vop_diagnostic *diagnostic,
                                       int32_t format);

// What the code of a diagnostic means, as plain text or with ANSI escapes.
enum vop_status vop_explain_code(const char *code,
                                 size_t code_len,
                                 int32_t format,
                                 struct vop_text **out,
                                 struct vop_diagnostics **diagnostics);

// Reads an instruction, as ptxas does. Operands may be left out: `vadd4.u32.u32.u32` is an instruction.
//
// `declarations` declares registers, such as `.reg .b32 %r<9>;`, and operands are judged by their types then. If it is null, every name is
// a register of 32 bits.
enum vop_status vop_parse(const char *text,
                          size_t text_len,
                          const char *declarations,
                          size_t declarations_len,
                          struct vop_instruction **out,
                          struct vop_diagnostics **diagnostics);

// Frees an instruction; null is nothing to free.
void vop_instruction_free(struct vop_instruction *instruction);

// Judges the text of an instruction. The list has every fault if the text is illegal, otherwise every lint: what is legal and strange. It
// is empty if there is nothing to say.
//
// The status is `VOP_OK` for a text that is illegal, too: `vop_diagnostics_errors(*out)` counts its faults. `declarations` is as for
// `vop_parse`.
enum vop_status vop_judge(const char *text,
                          size_t text_len,
                          const char *declarations,
                          size_t declarations_len,
                          struct vop_diagnostics **out,
                          struct vop_diagnostics **diagnostics);

// The instruction in its canonical spelling.
struct vop_str vop_instruction_text(const struct vop_instruction *instruction);

// Its form: the instruction with the names a, b, c and d in the place of its operands. Equal forms mean the same.
struct vop_str vop_instruction_form(const struct vop_instruction *instruction);

// What it computes, in a sentence.
struct vop_str vop_instruction_meaning(const struct vop_instruction *instruction);

// Its guard, such as `@!p`; empty if it has none.
struct vop_str vop_instruction_guard(const struct vop_instruction *instruction);

// The operand d.
struct vop_str vop_instruction_d(const struct vop_instruction *instruction);

// The operand a.
struct vop_str vop_instruction_a(const struct vop_instruction *instruction);

// The operand b.
struct vop_str vop_instruction_b(const struct vop_instruction *instruction);

// The operand c; empty if there is none.
struct vop_str vop_instruction_c(const struct vop_instruction *instruction);

// Whether d depends on c.
bool vop_instruction_reads_c(const struct vop_instruction *instruction);

// The number of machine instructions that ptxas makes of it for a target, such as `sm_90`.
enum vop_status vop_instruction_cost(const struct vop_instruction *instruction,
                                     const char *target,
                                     size_t target_len,
                                     uint32_t *cost,
                                     struct vop_diagnostics **diagnostics);

// The value of d for values of the sources: one for each source in order, or one for each source that is a register. A value of c may be
// left out where d does not depend on c. A guard is not looked at. `semantics` is a `vop_semantics`.
enum vop_status vop_eval(const struct vop_instruction *instruction,
                         int32_t semantics,
                         const uint32_t *values,
                         size_t count,
                         uint32_t *d,
                         struct vop_diagnostics **diagnostics);

// Every stage from the sources to d. `format` is a `vop_format`; JSON has what `vop explain --format json` has in `stages`. `semantics` and
// `values` are as for `vop_eval`; with a `count` of 0 the library chooses values that show every stage.
enum vop_status vop_explain(const struct vop_instruction *instruction,
                            int32_t semantics,
                            const uint32_t *values,
                            size_t count,
                            int32_t format,
                            struct vop_text **out,
                            struct vop_diagnostics **diagnostics);

// The instruction as the cheapest ordinary PTX for a target, such as `sm_90`: a block that computes the same d. `semantics` is what the
// block computes. `before` and `after` are the costs of the instruction and of the block in machine instructions; either may be null.
enum vop_status vop_lower(const struct vop_instruction *instruction,
                          const char *target,
                          size_t target_len,
                          int32_t semantics,
                          struct vop_text **out,
                          uint32_t *before,
                          uint32_t *after,
                          struct vop_diagnostics **diagnostics);

// Makes options: all cores, no check, what the manual says.
enum vop_status vop_options_new(struct vop_options **out, struct vop_diagnostics **diagnostics);

// Frees options; null is nothing to free.
void vop_options_free(struct vop_options *options);

// Sets the number of cores that run blocks; 0 stands for all of the machine.
enum vop_status vop_options_set_cores(struct vop_options *options, size_t cores);

// Sets the number of bytes of dynamic shared memory of each block.
enum vop_status vop_options_set_dynamic_shared(struct vop_options *options, size_t bytes);

// Sets what instructions compute: a `vop_semantics`.
enum vop_status vop_options_set_semantics(struct vop_options *options, int32_t semantics);

// Adds a check: `races`, `uninit`, `warp`, `heap`, or `all`. What checks find is in the report, and the launch goes on.
enum vop_status vop_options_add_check(struct vop_options *options, const char *name, size_t name_len);

// Sets the number of thread-instructions after which a launch is taken for a runaway loop, and fails.
enum vop_status vop_options_set_instructions(struct vop_options *options, uint64_t instructions);

// Sets the time after which a launch fails, in milliseconds; 0 stands for no limit.
enum vop_status vop_options_set_timeout(struct vop_options *options, uint64_t milliseconds);

// Sets how long blocks may all wait for memory to change before the launch fails, in milliseconds: another thread of the host may change it.
// The default is 10 seconds; 0 finds kernels that wait for each other at once.
enum vop_status vop_options_set_patience(struct vop_options *options,
                                         uint64_t milliseconds);

// Sets the number of bytes that a launch may take, with all buffers; 0 stands for the limit of the memory.
enum vop_status vop_options_set_memory(struct vop_options *options, uint64_t bytes);

// Sets the number of bytes of the stack of a thread: 512 KiB at most, which is also the default.
enum vop_status vop_options_set_stack(struct vop_options *options, size_t bytes);

// Lets a `vop_stop` end launches with these options. It may be freed afterwards; null takes it away.
enum vop_status vop_options_set_stop(struct vop_options *options, const struct vop_stop *stop);

// Makes something that ends launches. Threads may share it.
enum vop_status vop_stop_new(struct vop_stop **out, struct vop_diagnostics **diagnostics);

// Ends the launches that run with it, and every later one. It takes no lock, so a signal handler may call it.
void vop_stop_request(const struct vop_stop *stop);

// Frees it; null is nothing to free. Launches that run with it go on.
void vop_stop_free(struct vop_stop *stop);

// Runs a kernel on a grid of blocks, and returns when it has ended. `options` may be null, for the defaults.
//
// The status is `VOP_OK` if every thread ran to its end, also if checks found errors: `vop_report_findings(*out)` has them.
enum vop_status vop_launch(const struct vop_function *function,
                           struct vop_dim3 grid,
                           struct vop_dim3 block,
                           const struct vop_argument *arguments,
                           size_t count,
                           const struct vop_options *options,
                           struct vop_report **out,
                           struct vop_diagnostics **diagnostics);

// Frees a report, with its findings; null is nothing to free.
void vop_report_free(struct vop_report *report);

// The number of statements that were executed, one for each thread that executed it.
uint64_t vop_report_instructions(const struct vop_report *report);

// The number of video instructions among them.
uint64_t vop_report_video(const struct vop_report *report);

// The number of blocks that ran.
uint64_t vop_report_blocks(const struct vop_report *report);

// What checks found. It belongs to the report: it is valid until that is freed, and is not freed itself.
const struct vop_diagnostics *vop_report_findings(const struct vop_report *report);

// The number of findings that are not in the list, as they are at too many places.
uint64_t vop_report_left_out(const struct vop_report *report);

// Makes an empty memory. Its addresses are its own, and the same in every run; kernels that keep addresses in 32 bits can use it.
enum vop_status vop_memory_new(struct vop_memory **out,
                               struct vop_diagnostics **diagnostics);

// Makes an empty memory whose addresses are those of the process: the address of a buffer is a pointer that C may use as well, and
// `vop_memory_register` adds memory that C has. It is checked as exactly as other memory.
enum vop_status vop_memory_new_host(struct vop_memory **out,
                                    struct vop_diagnostics **diagnostics);

// Frees a memory, when no module and no function of it is left; null is nothing to free.
void vop_memory_free(struct vop_memory *memory);

// Sets the number of bytes that all buffers together may have, and what launches take beside them. Without, it is three quarters of the
// machine's memory.
enum vop_status vop_memory_set_limit(struct vop_memory *memory,
                                     uint64_t bytes,
                                     struct vop_diagnostics **diagnostics);

// Adds a buffer of `bytes` bytes, and tells its address, which kernels take. Its content counts as not written: the check `uninit` finds
// kernels that read it. The name stands in errors.
enum vop_status vop_memory_allocate(struct vop_memory *memory,
                                    const char *name,
                                    size_t name_len,
                                    uint64_t bytes,
                                    uint64_t *address,
                                    struct vop_diagnostics **diagnostics);

// Adds memory that the caller keeps: to a memory of `vop_memory_new_host`. Kernels may reach these bytes at their own addresses, and no others
// around them. The bytes must stay until `vop_memory_release`, and until all launches that started before it have ended.
enum vop_status vop_memory_register(struct vop_memory *memory,
                                    const char *name,
                                    size_t name_len,
                                    void *data,
                                    uint64_t bytes,
                                    bool read_only,
                                    struct vop_diagnostics **diagnostics);

// Takes a buffer or registered memory out again. `address` must be its first byte. Launches that run may still use it.
enum vop_status vop_memory_release(struct vop_memory *memory, uint64_t address, struct vop_diagnostics **diagnostics);

// Tells the number of bytes from an address to the end of its buffer or variable.
enum vop_status vop_memory_size(const struct vop_memory *memory,
                                uint64_t address,
                                uint64_t *bytes,
                                struct vop_diagnostics **diagnostics);

// Copies bytes into a buffer or a variable. Nothing is copied if not all of them fit.
enum vop_status vop_memory_write(struct vop_memory *memory,
                                 uint64_t address,
                                 const void *data,
                                 size_t bytes,
                                 struct vop_diagnostics **diagnostics);

// Copies bytes out of a buffer or a variable. Nothing is copied if it has fewer.
enum vop_status vop_memory_read(const struct vop_memory *memory,
                                uint64_t address,
                                void *data,
                                size_t bytes,
                                struct vop_diagnostics **diagnostics);

// Takes what kernels printed (`printf`) since the last call. What is not UTF-8 is replaced by U+FFFD.
enum vop_status vop_memory_take_printed(struct vop_memory *memory,
                                        struct vop_text **out,
                                        struct vop_diagnostics **diagnostics);

// Reads a PTX module and puts its variables into a memory. The memory may be freed afterwards.
//
// A kernel that cannot be run is an error of `vop_module_function`, not of this.
enum vop_status vop_module_load(struct vop_memory *memory,
                                const char *ptx,
                                size_t ptx_len,
                                struct vop_module **out,
                                struct vop_diagnostics **diagnostics);

// Frees a module; null is nothing to free. Its functions stay valid. When the last of them is freed, its variables are taken out of the
// memory.
void vop_module_free(struct vop_module *module);

// The number of kernels that the module has.
size_t vop_module_entries(const struct vop_module *module);

// The name of a kernel in the PTX, from 0; empty if there is none.
struct vop_str vop_module_entry(const struct vop_module *module, size_t index);

// Finds a `.global` or `.const` variable by its name in PTX or C++, and tells its address and size. Either place may be null.
enum vop_status vop_module_variable(const struct vop_module *module,
                                    const char *name,
                                    size_t name_len,
                                    uint64_t *address,
                                    uint64_t *bytes,
                                    struct vop_diagnostics **diagnostics);

// Decodes a kernel, by its name in PTX or C++: `ns::scale<float>(float*, int)`, or an end of that which no other kernel has, such as
// `scale`. If something in it cannot be run, there is a diagnostic for each such statement. The module may be freed afterwards.
enum vop_status vop_module_function(const struct vop_module *module,
                                    const char *name,
                                    size_t name_len,
                                    struct vop_function **out,
                                    struct vop_diagnostics **diagnostics);

// Frees a function; null is nothing to free.
void vop_function_free(struct vop_function *function);

// The kernel's name in the PTX.
struct vop_str vop_function_name(const struct vop_function *function);

// The number of its parameters.
size_t vop_function_parameters(const struct vop_function *function);

// The name of a parameter in the PTX, from 0; empty if there is none.
struct vop_str vop_function_parameter_name(const struct vop_function *function, size_t index);

// The PTX type of a parameter, or of its elements if it is an array: `u64`, `f32`, `b8`. Empty if there is none.
struct vop_str vop_function_parameter_type(const struct vop_function *function, size_t index);

// The size of a parameter in bytes; 0 if there is none.
size_t vop_function_parameter_size(const struct vop_function *function, size_t index);

// Runs the kernel of a PTX module on memory of the process, as the function of gpuocelot's shared library with this name does.
//
// `args[i]` is the value of parameter i itself: a pointer, or an integer in the low bits; a parameter of 4 bytes takes the lower 4. (Unlike
// `cuLaunchKernel`, whose array points at the values.) `lx` to `lz` is the shape of a block, `gx` to `gz` that of the grid, and `shared` the
// number of bytes of dynamic shared memory. The module must have one kernel, and variables of the module are new in each call.
//
// It returns 0, or a `vop_status` after it has written to standard error what is wrong, with line, thread and address. What the kernel prints
// goes to standard output. An address that the process has not mapped, or may not write to, is such an error, never a signal. Bounds within
// mapped memory are not known here: `vop_memory_register` and `vop_launch` check them. No thread may unmap memory meanwhile.
int ptx_run(const char *ptx,
            int n,
            void **args,
            int lx,
            int ly,
            int lz,
            int gx,
            int gy,
            int gz,
            int shared);

// Judges every video instruction of a source: PTX, or a language whose strings have PTX. `path` is the name of its file: the extension tells
// the language, such as `kernel.cu` or `.ptx`, and the name stands in the rendered text. No file is opened.
//
// The list has what `vop check` reports. `vop_diagnostics_instructions(*out)` is the number of instructions that were found. The status is
// `VOP_OK` whatever is found. The source need not be UTF-8.
enum vop_status vop_check(const char *source,
                          size_t source_len,
                          const char *path,
                          size_t path_len,
                          struct vop_diagnostics **out,
                          struct vop_diagnostics **diagnostics);

// A PTX module whose video instructions are rewritten as ordinary PTX, where that is cheaper for a target, such as `sm_90`, or where ptxas's
// code disagrees with `semantics`. All else stays as it is, byte for byte. `may_raise` says whether `.version` and `.target` may be raised.
enum vop_status vop_lower_module(const char *ptx,
                                 size_t ptx_len,
                                 const char *target,
                                 size_t target_len,
                                 int32_t semantics,
                                 bool may_raise,
                                 struct vop_text **out,
                                 struct vop_diagnostics **diagnostics);

// What the text is. It is valid until the text is freed.
struct vop_str vop_text_get(const struct vop_text *text);

// Frees a text; null is nothing to free.
void vop_text_free(struct vop_text *text);

// The version of the library, such as `0.1.0`.
struct vop_str vop_version(void);

// The number of the interface that the library has. A program compares it with `VOP_ABI_VERSION` of its header.
uint32_t vop_abi_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* VOP_H */
