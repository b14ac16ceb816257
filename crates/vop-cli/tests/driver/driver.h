/* What the programs of this folder need of the driver API. They find it as programs without a toolkit do: by dlopen and dlsym. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream, *CUevent, *CUgraph, *CUgraphNode, *CUgraphExec, *CUlinkState, *CUarray,
    *CUlibrary, *CUkernel, *CUmemoryPool;

static void *library;

static void *find(const char *name) {
    if (!library) library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s is missing\n", name);
        exit(2);
    }
    return found;
}

/* Calls a function by its name; every argument has the type that it is written with. */
#define CALL(name, types, ...) (((CUresult(*) types)find(#name))(__VA_ARGS__))

/* What must succeed. */
#define OK(call)                                                                        \
    do {                                                                                \
        CUresult result_ = (call);                                                      \
        if (result_) {                                                                  \
            fprintf(stderr, "line %d: %s gave %d\n", __LINE__, #call, result_);         \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

/* What must give an error. */
#define GIVES(status, call)                                                             \
    do {                                                                                \
        CUresult result_ = (call);                                                      \
        if (result_ != (status)) {                                                      \
            fprintf(stderr, "line %d: %s gave %d\n", __LINE__, #call, result_);         \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition);       \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

static CUresult launch(CUfunction function, unsigned grid, unsigned block, CUstream stream, void **arguments) {
    return CALL(cuLaunchKernel,
                (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **),
                function, grid, 1, 1, block, 1, 1, 0, stream, arguments, NULL);
}

static CUresult synchronize(void) { return CALL(cuCtxSynchronize, (void)); }

static CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr pointer = 0;
    OK(CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &pointer, bytes));
    return pointer;
}

static CUresult to_device(CUdeviceptr to, const void *from, size_t bytes) {
    return CALL(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), to, from, bytes);
}

static CUresult to_host(void *to, CUdeviceptr from, size_t bytes) {
    return CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), to, from, bytes);
}

static CUcontext start(void) {
    CUcontext context;
    OK(CALL(cuInit, (unsigned), 0));
    OK(CALL(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice), &context, 0, 0));
    return context;
}

static CUmodule load(const char *text) {
    CUmodule module;
    OK(CALL(cuModuleLoadData, (CUmodule *, const void *), &module, text));
    return module;
}

static CUfunction function(CUmodule module, const char *name) {
    CUfunction found;
    OK(CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &found, module, name));
    return found;
}

static const char *PTX =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 numbers[3] = {7, 8, 9};\n"
    ".visible .entry empty() { ret; }\n"
    /* p[i] += v for i < n */
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .u32 v) {\n"
    " .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<2>;\n"
    " ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [v];\n"
    " mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r3, %r3, %r4, %r5;\n"
    " setp.ge.u32 %p1, %r3, %r1; @%p1 bra END;\n"
    " mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;\n"
    " ld.global.u32 %r6, [%rd3]; add.u32 %r6, %r6, %r2; st.global.u32 [%rd3], %r6;\n"
    "END: ret; }\n"
    ".visible .entry odd(.param .u64 p) {\n"
    " .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    " ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+2]; st.global.u32 [%rd1], %r1; ret; }\n"
    ".visible .entry trap() { trap; ret; }\n"
    ".visible .entry forever(.param .u64 p) {\n"
    " .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;\n"
    " ld.param.u64 %rd1, [p];\n"
    "AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN; ret; }\n";
