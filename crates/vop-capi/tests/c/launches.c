/* Memory, modules and launches. */
#include <pthread.h>

#include "test.h"

static const char *const PTX =
    ".version 8.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".global .align 4 .u32 factor = 3;\n"
    ".visible .entry _Z5scalePjS_i(.param .u64 out, .param .u64 in, .param .u32 n) {\n"
    "    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "    ld.param.u64 %rd1, [out];\n"
    "    ld.param.u64 %rd2, [in];\n"
    "    ld.param.u32 %r1, [n];\n"
    "    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "    mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "    setp.ge.u32 %p1, %r5, %r1;\n"
    "    @%p1 ret;\n"
    "    mul.wide.u32 %rd3, %r5, 4;\n"
    "    add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;\n"
    "    ld.global.u32 %r6, [%rd4];\n"
    "    ld.global.u32 %r7, [factor];\n"
    "    mul.lo.u32 %r6, %r6, %r7;\n"
    "    st.global.u32 [%rd5], %r6;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry race(.param .u64 out) {\n"
    "    .reg .b32 %r<4>; .reg .b64 %rd<2>; .shared .align 4 .u32 place;\n"
    "    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
    "    st.shared.u32 [place], %r1;\n"
    "    ld.shared.u32 %r2, [place];\n"
    "    st.global.u32 [%rd1], %r2;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry forever() {\n"
    "L: bra L;\n"
    "}\n"
    ".visible .entry waits(.param .u64 flag) {\n"
    "    .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd1, [flag];\n"
    "W: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry unknown() {\n"
    "    no_such_instruction.u32 1;\n"
    "    ret;\n"
    "}\n";

static vop_memory *memory;
static vop_module *module_;

static vop_function *function(const char *name) {
    vop_function *found = NULL;
    OK(vop_module_function(module_, name, NUL, &found, &why));
    return found;
}

static uint64_t allocate(const char *name, uint64_t bytes) {
    uint64_t address = 0;
    OK(vop_memory_allocate(memory, name, NUL, bytes, &address, &why));
    CHECK(address != 0 && address % 256 == 0);
    return address;
}

static const vop_dim3 ONE = {1, 1, 1};

static void runs_a_kernel(void) {
    uint32_t in[100], out[100];
    for (uint32_t i = 0; i < 100; i++) in[i] = i;
    uint64_t in_at = allocate("in", sizeof in), out_at = allocate("out", sizeof out), size = 0;
    OK(vop_memory_write(memory, in_at, in, sizeof in, &why));
    OK(vop_memory_size(memory, out_at + 4, &size, &why));
    CHECK(size == sizeof out - 4);

    CHECK(vop_module_entries(module_) == 5 && is(vop_module_entry(module_, 1), "race"));
    vop_function *scale = function("scale");
    CHECK(is(vop_function_name(scale), "_Z5scalePjS_i"));
    CHECK(vop_function_parameters(scale) == 3 && vop_function_parameter_size(scale, 0) == 8);
    CHECK(is(vop_function_parameter_name(scale, 2), "n") && is(vop_function_parameter_type(scale, 2), "u32"));
    CHECK(vop_function_parameter_size(scale, 3) == 0 && is(vop_function_parameter_name(scale, 3), ""));

    uint64_t factor = 0;
    uint32_t five = 5, n = 100;
    OK(vop_module_variable(module_, "factor", NUL, &factor, &size, &why));
    CHECK(size == 4);
    OK(vop_memory_read(memory, factor, &out[0], 4, &why));
    CHECK(out[0] == 3);
    OK(vop_memory_write(memory, factor, &five, 4, &why));

    vop_argument arguments[3] = {{&out_at, 8}, {&in_at, 8}, {&n, 4}};
    vop_dim3 grid = {4, 1, 1}, block = {32, 1, 1};
    vop_report *report = NULL;
    OK(vop_launch(scale, grid, block, arguments, 3, NULL, &report, &why));
    CHECK(vop_report_blocks(report) == 4 && vop_report_video(report) == 0);
    /* 9 statements in each of 128 threads up to the return that 28 take, and 8 in each of the others. */
    CHECK(vop_report_instructions(report) == 128 * 8 + 28 + 100 * 8);
    CHECK(vop_diagnostics_count(vop_report_findings(report)) == 0 && vop_report_left_out(report) == 0);
    vop_report_free(report);
    OK(vop_memory_read(memory, out_at, out, sizeof out, &why));
    for (uint32_t i = 0; i < 100; i++) CHECK(out[i] == 5 * i);

    /* One thread too many: the line, the thread and the address. */
    vop_diagnostics *why = NULL;
    n = 101;
    CHECK(vop_launch(scale, grid, block, arguments, 3, NULL, &report, &why) == VOP_ERROR_LAUNCH && report == NULL);
    const vop_diagnostic *fault = vop_diagnostics_at(why, 0);
    CHECK(vop_diagnostic_line(fault) == 16 && has(vop_diagnostic_statement(fault), "ld.global.u32 %r6, [%rd4];"));
    vop_dim3 in_block, thread;
    uint64_t address = 0;
    CHECK(vop_diagnostic_thread(fault, &in_block, &thread) && in_block.x == 3 && thread.x == 4 && thread.z == 0);
    CHECK(vop_diagnostic_address(fault, &address) && address == in_at + 400);
    CHECK(has(vop_diagnostic_rendered(fault, VOP_FORMAT_TEXT), "16 |"));
    CHECK(vop_diagnostic_code(fault).len > 0 && vop_diagnostic_count(fault) == 1);
    vop_diagnostics_free(why);

    /* Wrong arguments. */
    CHECK(vop_launch(scale, grid, block, arguments, 2, NULL, &report, &why) == VOP_ERROR_ARGUMENT);
    vop_diagnostics_free(why);
    CHECK(vop_launch(scale, grid, block, NULL, 3, NULL, &report, NULL) == VOP_ERROR_NULL);
    arguments[2].size = 8;
    CHECK(vop_launch(scale, grid, block, arguments, 3, NULL, &report, &why) == VOP_ERROR_LAUNCH);
    vop_diagnostics_free(why);
    arguments[2].data = NULL;
    CHECK(vop_launch(scale, grid, block, arguments, 3, NULL, &report, NULL) == VOP_ERROR_NULL);
    /* No block has so many threads. */
    block.x = 2000;
    n = 100;
    arguments[2].data = &n;
    arguments[2].size = 4;
    CHECK(vop_launch(scale, grid, block, arguments, 3, NULL, &report, &why) == VOP_ERROR_LAUNCH);
    vop_diagnostics_free(why);
    vop_function_free(scale);
}

static void finds_races(void) {
    vop_options *options = NULL;
    OK(vop_options_new(&options, &why));
    CHECK(vop_options_add_check(options, "races", NUL) == VOP_OK);
    CHECK(vop_options_add_check(options, "nothing", NUL) == VOP_ERROR_ARGUMENT);
    CHECK(vop_options_set_cores(options, 1) == VOP_OK && vop_options_set_cores(NULL, 1) == VOP_ERROR_NULL);
    vop_function *race = function("race");
    uint64_t out = allocate("out", 4);
    vop_argument argument = {&out, 8};
    vop_dim3 block = {2, 1, 1};
    vop_report *report = NULL;
    OK(vop_launch(race, ONE, block, &argument, 1, options, &report, &why));
    const vop_diagnostics *found = vop_report_findings(report);
    CHECK(vop_diagnostics_errors(found) > 0);
    CHECK(has(vop_diagnostic_message(vop_diagnostics_at(found, 0)), "race"));
    vop_report_free(report);
    vop_function_free(race);
    vop_options_free(options);
}

static void *request(void *stop) {
    vop_stop_request((const vop_stop *)stop);
    return NULL;
}

static void ends(void) {
    vop_function *forever = function("forever");
    vop_options *options = NULL;
    OK(vop_options_new(&options, &why));
    CHECK(vop_options_set_instructions(options, 100000) == VOP_OK);
    vop_report *report = NULL;
    vop_diagnostics *why = NULL;
    CHECK(vop_launch(forever, ONE, ONE, NULL, 0, options, &report, &why) == VOP_ERROR_LAUNCH);
    vop_diagnostics_free(why);
    CHECK(vop_options_set_instructions(options, UINT64_MAX) == VOP_OK);
    CHECK(vop_options_set_timeout(options, 20) == VOP_OK);
    CHECK(vop_launch(forever, ONE, ONE, NULL, 0, options, &report, NULL) == VOP_ERROR_LAUNCH);
    CHECK(vop_options_set_timeout(options, 0) == VOP_OK);

    /* It waits for what nobody writes. */
    vop_function *waits = function("waits");
    uint64_t flag = allocate("flag", 4);
    uint32_t zero = 0;
    OK(vop_memory_write(memory, flag, &zero, 4, &why));
    vop_argument argument = {&flag, 8};
    CHECK(vop_options_set_patience(options, 0) == VOP_OK);
    CHECK(vop_launch(waits, ONE, ONE, &argument, 1, options, &report, &why) == VOP_ERROR_LAUNCH);
    CHECK(is(vop_diagnostic_code(vop_diagnostics_at(why, 0)), "V0610"));
    vop_diagnostics_free(why);
    vop_function_free(waits);

    vop_stop *stop = NULL;
    OK(vop_stop_new(&stop, &why));
    CHECK(vop_options_set_stop(options, stop) == VOP_OK);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, request, stop) == 0);
    CHECK(vop_launch(forever, ONE, ONE, NULL, 0, options, &report, NULL) == VOP_ERROR_LAUNCH);
    CHECK(pthread_join(thread, NULL) == 0);
    vop_stop_free(stop);
    vop_options_free(options);
    vop_function_free(forever);
}

/* Several threads use one memory and one function. */
static void *scale_in_a_thread(void *shared) {
    const vop_function *scale = (const vop_function *)shared;
    for (int round = 0; round < 5; round++) {
        uint64_t at = allocate("both", 256);
        uint32_t words[64], n = 64;
        for (uint32_t i = 0; i < 64; i++) words[i] = i;
        OK(vop_memory_write(memory, at, words, sizeof words, &why));
        vop_argument arguments[3] = {{&at, 8}, {&at, 8}, {&n, 4}};
        vop_dim3 block = {64, 1, 1};
        vop_report *report = NULL;
        OK(vop_launch(scale, ONE, block, arguments, 3, NULL, &report, &why));
        vop_report_free(report);
        OK(vop_memory_read(memory, at, words, sizeof words, &why));
        for (uint32_t i = 0; i < 64; i++) CHECK(words[i] == 5 * i);
    }
    return NULL;
}

static void threads_share(void) {
    vop_function *scale = function("scale");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, scale_in_a_thread, scale) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    vop_function_free(scale);
}

static void refuses(void) {
    vop_diagnostics *why = NULL;
    vop_function *none = NULL;
    CHECK(vop_module_function(module_, "unknown", NUL, &none, &why) == VOP_ERROR_MODULE && none == NULL);
    CHECK(vop_diagnostic_line(vop_diagnostics_at(why, 0)) == 40);
    vop_diagnostics_free(why);
    CHECK(vop_module_function(module_, "nothing", NUL, &none, &why) == VOP_ERROR_MODULE);
    CHECK(vop_diagnostic_help(vop_diagnostics_at(why, 0)).len > 0);
    vop_diagnostics_free(why);
    CHECK(vop_module_variable(module_, "nothing", NUL, NULL, NULL, NULL) == VOP_ERROR_ARGUMENT);
    vop_module *module2 = NULL;
    CHECK(vop_module_load(memory, "not PTX", NUL, &module2, &why) == VOP_ERROR_MODULE && module2 == NULL);
    vop_diagnostics_free(why);

    uint64_t at = allocate("small", 8);
    char byte = 1;
    CHECK(vop_memory_write(memory, at + 7, &byte, 1, NULL) == VOP_OK);
    CHECK(vop_memory_write(memory, at + 7, "ab", 2, &why) == VOP_ERROR_MEMORY);
    CHECK(has(vop_diagnostics_rendered(why), "`small`"));
    vop_diagnostics_free(why);
    CHECK(vop_memory_read(memory, 0, &byte, 1, NULL) == VOP_ERROR_MEMORY);
    CHECK(vop_memory_read(memory, at, &byte, SIZE_MAX, NULL) == VOP_ERROR_MEMORY);
    CHECK(vop_memory_write(memory, at, NULL, 1, NULL) == VOP_ERROR_NULL);
    CHECK(vop_memory_write(NULL, at, &byte, 1, NULL) == VOP_ERROR_NULL);
    CHECK(vop_memory_allocate(memory, "huge", NUL, UINT64_MAX, &at, &why) == VOP_ERROR_MEMORY);
    vop_diagnostics_free(why);
    CHECK(vop_memory_set_limit(memory, 1, &why) == VOP_ERROR_MEMORY);
    vop_diagnostics_free(why);
    CHECK(vop_report_blocks(NULL) == 0 && vop_report_findings(NULL) == NULL);
}

/* Addresses that are pointers. */
static void shares_addresses(void) {
    vop_memory *device = memory;
    vop_module *in_device = module_;
    OK(vop_memory_new_host(&memory, &why));
    OK(vop_module_load(memory, PTX, NUL, &module_, &why));
    enum { BYTES = 256 };
    uint32_t *in = (uint32_t *)malloc(BYTES), *out, n = 64;
    for (uint32_t i = 0; i < 64; i++) in[i] = i;
    uint64_t out_at = allocate("out", BYTES), in_at = (uintptr_t)in;
    out = (uint32_t *)(uintptr_t)out_at;
    vop_diagnostics *why = NULL;
    OK(vop_memory_register(memory, "in", NUL, in, BYTES, true, &why));
    CHECK(vop_memory_register(memory, "again", NUL, in + 1, 4, true, &why) == VOP_ERROR_MEMORY);
    CHECK(has(vop_diagnostics_rendered(why), "`in`"));
    vop_diagnostics_free(why);
    CHECK(vop_memory_register(device, "in", NUL, in, BYTES, true, NULL) == VOP_ERROR_MEMORY);
    CHECK(vop_memory_register(memory, "in", NUL, NULL, 1, true, NULL) == VOP_ERROR_NULL);
    vop_function *scale = function("scale");
    vop_argument arguments[3] = {{&out_at, 8}, {&in_at, 8}, {&n, 4}};
    vop_dim3 block = {64, 1, 1};
    vop_report *report = NULL;
    OK(vop_launch(scale, ONE, block, arguments, 3, NULL, &report, &why));
    for (uint32_t i = 0; i < 64; i++) CHECK(out[i] == 3 * i);
    vop_report_free(report);
    /* It may be read only. */
    arguments[0].data = &in_at;
    CHECK(vop_launch(scale, ONE, block, arguments, 3, NULL, &report, &why) == VOP_ERROR_LAUNCH);
    CHECK(has(vop_diagnostics_rendered(why), "may only be read"));
    vop_diagnostics_free(why);
    arguments[0].data = &out_at;
    /* It is gone. */
    CHECK(vop_memory_release(memory, in_at + 4, NULL) == VOP_ERROR_MEMORY);
    OK(vop_memory_release(memory, in_at, &why));
    CHECK(vop_memory_release(memory, in_at, NULL) == VOP_ERROR_MEMORY);
    CHECK(vop_launch(scale, ONE, block, arguments, 3, NULL, &report, NULL) == VOP_ERROR_LAUNCH);
    OK(vop_memory_release(memory, out_at, &why));
    /* Kernels have other memory there. */
    CHECK(vop_memory_register(memory, "in", NUL, (void *)(uintptr_t)0x1fff000000, 16, true, &why) == VOP_ERROR_MEMORY);
    CHECK(has(vop_diagnostics_rendered(why), "other memory"));
    vop_diagnostics_free(why);
    free(in);
    /* The variables of a module go with its last object. */
    uint64_t factor = 0;
    OK(vop_module_variable(module_, "factor", NUL, &factor, NULL, &why));
    vop_module_free(module_);
    CHECK(vop_memory_size(memory, factor, &out_at, NULL) == VOP_OK && out_at == 4);
    vop_function_free(scale);
    CHECK(vop_memory_size(memory, factor, &out_at, NULL) == VOP_ERROR_MEMORY);
    vop_memory_free(memory);
    memory = device;
    module_ = in_device;
}

int main(void) {
    OK(vop_memory_new(&memory, &why));
    OK(vop_module_load(memory, PTX, NUL, &module_, &why));
    runs_a_kernel();
    finds_races();
    ends();
    threads_share();
    shares_addresses();
    refuses();
    /* Objects do not need those that they were made from. */
    vop_function *scale = function("scale");
    vop_memory_free(memory);
    vop_module_free(module_);
    CHECK(vop_function_parameters(scale) == 3);
    vop_function_free(scale);
    puts("launches: as expected");
    return 0;
}
