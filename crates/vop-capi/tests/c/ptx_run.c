/* `ptx_run`: as callers of gpuocelot's library use it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

static const char *const ADD =
    ".version 7.5\n.target sm_35\n.address_size 64\n"
    ".visible .entry add(.param .u64 out, .param .u64 a, .param .u64 b, .param .u32 n, .param .f32 f) {\n"
    "    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %rd<8>;\n"
    "    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u32 %r1, [n];\n"
    "    ld.param.f32 %f1, [f];\n"
    "    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "    setp.ge.u32 %p1, %r5, %r1; @%p1 ret;\n"
    "    mul.wide.u32 %rd4, %r5, 4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;\n"
    "    ld.global.f32 %f2, [%rd2];\n"
    "    ld.global.f32 %f3, [%rd3];\n"
    "    fma.rn.f32 %f4, %f2, %f1, %f3;\n"
    "    st.global.f32 [%rd1], %f4;\n"
    "    ret;\n"
    "}\n";

/* A value as callers pass it: the bits themselves in the place of a pointer. */
static void *value(uint64_t bits) { return (void *)(uintptr_t)bits; }

static int add(float *out, float *a, float *b, unsigned n) {
    /* 2.0f, and bits above the parameter's that do not count. */
    void *args[5] = {out, a, b, value(n | 0xffffffff00000000u), value(0x40000000)};
    return ptx_run(ADD, 5, args, 32, 1, 1, 4, 1, 1, 0);
}

static float in_data[100];

int main(void) {
    /* On the stack, in the data of the program, and on the heap. */
    float on_stack[100], *on_heap = (float *)malloc(100 * sizeof *on_heap);
    for (int i = 0; i < 100; i++) in_data[i] = (float)i, on_stack[i] = 1000.0f, on_heap[i] = 0;
    for (int round = 0; round < 3; round++) {
        CHECK(add(on_heap, in_data, on_stack, 100) == 0);
        for (int i = 0; i < 100; i++) CHECK(on_heap[i] == 2.0f * (float)i + 1000.0f);
    }
    /* Bad addresses are errors: null, nothing, what may only be read, no access at all, and an address that is no canonical one. */
    CHECK(add(NULL, in_data, on_stack, 100) == VOP_ERROR_LAUNCH);
    CHECK(add(on_heap, (float *)8, on_stack, 100) == VOP_ERROR_LAUNCH);
    CHECK(add(on_heap, (float *)value(0xdead000000000000u), on_stack, 100) == VOP_ERROR_LAUNCH);
    CHECK(add((float *)value((uintptr_t)ADD & ~(uintptr_t)3), in_data, on_stack, 1) == VOP_ERROR_LAUNCH);
    CHECK(add((float *)value((uintptr_t)on_heap + 1), in_data, on_stack, 1) == VOP_ERROR_LAUNCH);
    void *none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(none != MAP_FAILED && add(on_heap, (float *)none, on_stack, 1) == VOP_ERROR_LAUNCH);
    /* A file that is shorter than its mapping. */
    FILE *stream = tmpfile();
    CHECK(stream != NULL);
    int file = fileno(stream);
    CHECK(ftruncate(file, 100) == 0);
    char *mapped = (char *)mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(mapped != MAP_FAILED);
    CHECK(add((float *)(void *)mapped, in_data, on_stack, 25) == 0 && ((float *)(void *)mapped)[24] == 1048.0f);
    CHECK(add((float *)(void *)(mapped + 4096), in_data, on_stack, 1) == VOP_ERROR_LAUNCH);
    CHECK(add((float *)(void *)(mapped + 4 * 4096), in_data, on_stack, 1) == VOP_ERROR_LAUNCH);
    fclose(stream);
    /* Calls that cannot be made. */
    void *args[5] = {on_heap, in_data, on_stack, value(1), value(0)};
    CHECK(ptx_run(NULL, 5, args, 1, 1, 1, 1, 1, 1, 0) == VOP_ERROR_NULL);
    CHECK(ptx_run(ADD, 5, NULL, 1, 1, 1, 1, 1, 1, 0) == VOP_ERROR_NULL);
    CHECK(ptx_run(ADD, 4, args, 1, 1, 1, 1, 1, 1, 0) == VOP_ERROR_ARGUMENT);
    CHECK(ptx_run(ADD, -1, args, 1, 1, 1, 1, 1, 1, 0) == VOP_ERROR_ARGUMENT);
    CHECK(ptx_run(ADD, 5, args, -1, 1, 1, 1, 1, 1, 0) == VOP_ERROR_ARGUMENT);
    CHECK(ptx_run(ADD, 5, args, 1, 1, 1, 1, 1, 1, -1) == VOP_ERROR_ARGUMENT);
    CHECK(ptx_run(ADD, 5, args, 0, 1, 1, 1, 1, 1, 0) == VOP_ERROR_LAUNCH);
    CHECK(ptx_run("nonsense", 0, NULL, 1, 1, 1, 1, 1, 1, 0) == VOP_ERROR_MODULE);
    CHECK(ptx_run(".version 7.5\n.target sm_35\n.address_size 64\n.entry a() { ret; } .entry b() { ret; }", 0, NULL, 1, 1, 1,
                  1, 1, 1, 0) == VOP_ERROR_MODULE);
    free(on_heap);
    puts("ptx_run: as expected");
    return 0;
}
