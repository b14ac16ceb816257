/* Programs that use the driver API: the first argument says which. Each ends with 0, or says what was wrong. */

#include "driver.h"

enum { N = 1000 };

static void **arguments(CUdeviceptr *pointer, unsigned *n, unsigned *value) {
    static __thread void *all[3];
    all[0] = pointer, all[1] = n, all[2] = value;
    return all;
}

static void basic(void) {
    start();
    int count, major, driver;
    char name[64];
    size_t total;
    OK(CALL(cuDeviceGetCount, (int *), &count));
    CHECK(count == 1);
    OK(CALL(cuDeviceGetName, (char *, int, CUdevice), name, sizeof name, 0));
    CHECK(strstr(name, "sm_90"));
    OK(CALL(cuDeviceGetAttribute, (int *, int, CUdevice), &major, 75, 0));
    OK(CALL(cuDriverGetVersion, (int *), &driver));
    CHECK(major == 9 && driver >= 13000);
    OK(CALL(cuDeviceTotalMem_v2, (size_t *, CUdevice), &total, 0));
    CHECK(total > 1 << 20);
    CUmodule module = load(PTX);
    CUfunction add = function(module, "add");
    unsigned values[N], n = N, five = 5;
    for (int i = 0; i < N; i++) values[i] = i;
    CUdeviceptr pointer = allocate(sizeof values);
    OK(to_device(pointer, values, sizeof values));
    OK(launch(add, 4, 256, NULL, arguments(&pointer, &n, &five)));
    OK(synchronize());
    OK(to_host(values, pointer, sizeof values));
    for (int i = 0; i < N; i++) CHECK(values[i] == i + 5u);
    /* Arguments in a buffer. */
    struct {
        CUdeviceptr pointer;
        unsigned n, value;
    } buffer = {pointer, N, 1};
    size_t size = sizeof buffer;
    void *extra[] = {(void *)1, &buffer, (void *)2, &size, NULL};
    OK(CALL(cuLaunchKernel,
            (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **), add, 4,
            1, 1, 256, 1, 1, 0, NULL, NULL, extra));
    OK(to_host(values, pointer, sizeof values));
    for (int i = 0; i < N; i++) CHECK(values[i] == i + 6u);
    /* Variables. */
    CUdeviceptr variable;
    unsigned numbers[3];
    OK(CALL(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), &variable, &size, module, "numbers"));
    OK(to_host(numbers, variable, size));
    CHECK(size == 12 && numbers[0] == 7 && numbers[2] == 9);
    GIVES(500, CALL(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), &variable, &size, module, "none"));
    GIVES(500, CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &add, module, "none"));
    /* Fills, also of rows. */
    OK(CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), pointer, 3, N));
    OK(CALL(cuMemsetD2D8_v2, (CUdeviceptr, size_t, unsigned char, size_t, size_t), pointer, 40, 0xff, 4, 3));
    OK(to_host(values, pointer, sizeof values));
    for (int i = 0; i < N; i++) CHECK(values[i] == (i == 0 || i == 10 || i == 20 ? 0xffffffffu : 3));
    /* Managed memory and memory of the host are the program's as well. */
    CUdeviceptr managed;
    OK(CALL(cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned), &managed, sizeof values, 1));
    unsigned *shared = (unsigned *)(uintptr_t)managed, *host;
    for (int i = 0; i < N; i++) shared[i] = i;
    OK(launch(add, 4, 256, NULL, arguments(&managed, &n, &five)));
    OK(synchronize());
    for (int i = 0; i < N; i++) CHECK(shared[i] == i + 5u);
    OK(CALL(cuMemAllocHost_v2, (void **, size_t), (void **)&host, sizeof values));
    memset(host, 0, sizeof values);
    CUdeviceptr mapped;
    OK(CALL(cuMemHostGetDevicePointer_v2, (CUdeviceptr *, void *, unsigned), &mapped, host, 0));
    OK(launch(add, 4, 256, NULL, arguments(&mapped, &n, &five)));
    OK(synchronize());
    CHECK(host[0] == 5 && host[N - 1] == 5);
    unsigned *own = calloc(N, sizeof *own);
    OK(CALL(cuMemHostRegister_v2, (void *, size_t, unsigned), own, sizeof values, 2));
    GIVES(712, CALL(cuMemHostRegister_v2, (void *, size_t, unsigned), own + 1, 4, 2));
    mapped = (CUdeviceptr)(uintptr_t)own;
    OK(launch(add, 4, 256, NULL, arguments(&mapped, &n, &five)));
    OK(synchronize());
    CHECK(own[0] == 5 && own[N - 1] == 5);
    OK(CALL(cuMemHostUnregister, (void *), own));
    GIVES(713, CALL(cuMemHostUnregister, (void *), own));
    /* What pointers are. */
    unsigned kind, is_managed;
    OK(CALL(cuPointerGetAttribute, (void *, int, CUdeviceptr), &kind, 2, pointer + 8));
    CHECK(kind == 2);
    OK(CALL(cuPointerGetAttribute, (void *, int, CUdeviceptr), &is_managed, 8, managed));
    CHECK(is_managed == 1);
    GIVES(1, CALL(cuPointerGetAttribute, (void *, int, CUdeviceptr), &kind, 2, (CUdeviceptr)(uintptr_t)own));
    CUdeviceptr base;
    OK(CALL(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr), &base, &size, pointer + 100));
    CHECK(base == pointer && size == sizeof values);
    /* Errors of programs. */
    GIVES(1, launch(add, 0, 256, NULL, arguments(&pointer, &n, &five)));
    GIVES(1, launch(add, 1, 2048, NULL, arguments(&pointer, &n, &five)));
    GIVES(1, launch(add, 1, 1, NULL, NULL));
    GIVES(400, launch((CUfunction)0x123456, 1, 1, NULL, NULL));
    GIVES(400, launch(add, 1, 1, (CUstream)0x123456, arguments(&pointer, &n, &five)));
    GIVES(1, CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &base, 0));
    GIVES(2, CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &base, (size_t)1 << 50));
    GIVES(1, CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), NULL, 4));
    GIVES(1, CALL(cuMemFree_v2, (CUdeviceptr), pointer + 4));
    OK(CALL(cuMemFree_v2, (CUdeviceptr), pointer));
    GIVES(1, CALL(cuMemFree_v2, (CUdeviceptr), pointer));
    OK(CALL(cuModuleUnload, (CUmodule), module));
    GIVES(400, launch(add, 1, 1, NULL, arguments(&pointer, &n, &five)));
    GIVES(101, CALL(cuDeviceGet, (CUdevice *, int), &count, 1));
    const char *text;
    OK(CALL(cuGetErrorName, (CUresult, const char **), 700, &text));
    CHECK(!strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    GIVES(1, CALL(cuGetErrorName, (CUresult, const char **), 12345, &text));
}

/* Copies from and to what is no memory are errors. */
static void wild(void) {
    start();
    size_t large = 4 << 20;
    char *host = malloc(large);
    CUdeviceptr pointer = allocate(large);
    for (size_t bytes = 4; bytes <= large; bytes = bytes == 4 ? large : bytes + 1) {
        GIVES(1, to_device(pointer, (void *)16, bytes));
        GIVES(1, to_host((void *)16, pointer, bytes));
        GIVES(1, to_device(pointer, (void *)(uintptr_t)-4096, bytes));
        GIVES(1, to_device((CUdeviceptr)(uintptr_t)host, host, bytes));
        GIVES(1, to_host(host, 16, bytes));
        /* A constant of the program cannot be written. */
        GIVES(1, to_host((void *)PTX, pointer, bytes));
    }
    GIVES(1, to_device(pointer + 1, host, large));
    GIVES(1, CALL(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t), pointer, 0, large + 1));
    GIVES(1, CALL(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t), 16, 0, 1));
    OK(to_device(pointer, host, large));
}

/* A fault of a kernel stays. */
static void fault(const char *which, CUresult status) {
    CUcontext context = start();
    CUmodule module = load(PTX);
    CUdeviceptr pointer = allocate(4 * N);
    unsigned n = 2 * N, value = 1;
    if (!strcmp(which, "bounds")) {
        OK(launch(function(module, "add"), 2, N, NULL, arguments(&pointer, &n, &value)));
    } else {
        OK(launch(function(module, which), 1, 1, NULL, arguments(&pointer, &n, &value)));
    }
    GIVES(status, synchronize());
    GIVES(status, synchronize());
    GIVES(status, CALL(cuMemFree_v2, (CUdeviceptr), pointer));
    GIVES(status, launch(function(module, "empty"), 1, 1, NULL, NULL));
    /* Another context is as new. */
    OK(CALL(cuCtxDestroy_v2, (CUcontext), context));
    start();
    OK(launch(function(load(PTX), "empty"), 1, 1, NULL, NULL));
    OK(synchronize());
}

static void *work(void *data) {
    OK(CALL(cuCtxSetCurrent, (CUcontext), ((void **)data)[0]));
    CUfunction add = ((void **)data)[1];
    CUstream stream;
    OK(CALL(cuStreamCreate, (CUstream *, unsigned), &stream, 1));
    unsigned values[N] = {0}, n = N, one = 1;
    CUdeviceptr pointer = allocate(sizeof values);
    OK(to_device(pointer, values, sizeof values));
    for (int i = 0; i < 100; i++) OK(launch(add, 4, 256, stream, arguments(&pointer, &n, &one)));
    OK(CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), values, pointer, sizeof values, stream));
    OK(CALL(cuStreamSynchronize, (CUstream), stream));
    for (int i = 0; i < N; i++) CHECK(values[i] == 100);
    OK(CALL(cuStreamDestroy_v2, (CUstream), stream));
    OK(CALL(cuMemFree_v2, (CUdeviceptr), pointer));
    return NULL;
}

static void threads(void) {
    void *data[2] = {start(), function(load(PTX), "add")};
    pthread_t all[8];
    for (int i = 0; i < 8; i++) CHECK(!pthread_create(&all[i], NULL, work, data));
    for (int i = 0; i < 8; i++) CHECK(!pthread_join(all[i], NULL));
}

/* A child of a program that uses the driver cannot use it; the program goes on. */
static void forks(void) {
    start();
    CUfunction empty = function(load(PTX), "empty");
    OK(launch(empty, 1, 1, NULL, NULL));
    pid_t child = fork();
    if (!child) {
        CUdeviceptr pointer;
        GIVES(3, CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &pointer, 4));
        GIVES(3, launch(empty, 1, 1, NULL, NULL));
        GIVES(3, synchronize());
        GIVES(3, CALL(cuInit, (unsigned), 0));
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(launch(empty, 1, 1, NULL, NULL));
    OK(synchronize());
}

/* A child of one that does not use it yet can. */
static void forks_before(void) {
    find("cuInit");
    pid_t child = fork();
    if (!child) {
        basic();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    basic();
}

static int calls[8], called;

static void host_function(void *data) { calls[called++] = (int)(intptr_t)data; }

static void callback(CUstream stream, CUresult status, void *data) {
    (void)stream;
    GIVES(800, synchronize());
    calls[called++] = 100 * status + (int)(intptr_t)data;
}

static void streams(void) {
    start();
    CUmodule module = load(PTX);
    CUfunction add = function(module, "add"), forever = function(module, "forever");
    CUstream blocking, other;
    CUevent begin, end;
    OK(CALL(cuStreamCreate, (CUstream *, unsigned), &blocking, 0));
    OK(CALL(cuStreamCreate, (CUstream *, unsigned), &other, 1));
    OK(CALL(cuEventCreate, (CUevent *, unsigned), &begin, 0));
    OK(CALL(cuEventCreate, (CUevent *, unsigned), &end, 0));
    unsigned *flag, n = N, one = 1;
    OK(CALL(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&flag, 4, 2));
    *flag = 0;
    CUdeviceptr flag_pointer = (CUdeviceptr)(uintptr_t)flag, pointer = allocate(4 * N);
    OK(CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), pointer, 0, N));
    /* A kernel that waits for the program; meanwhile another stream works. */
    OK(CALL(cuEventRecord, (CUevent, CUstream), begin, blocking));
    void *only[] = {&flag_pointer};
    OK(launch(forever, 1, 1, blocking, only));
    OK(CALL(cuEventRecord, (CUevent, CUstream), end, blocking));
    OK(launch(add, 4, 256, other, arguments(&pointer, &n, &one)));
    OK(CALL(cuStreamSynchronize, (CUstream), other));
    unsigned first;
    OK(CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), &first, pointer, 4, other));
    CHECK(first == 1);
    GIVES(600, CALL(cuStreamQuery, (CUstream), blocking));
    GIVES(600, CALL(cuEventQuery, (CUevent), end));
    float time;
    GIVES(600, CALL(cuEventElapsedTime, (float *, CUevent, CUevent), &time, begin, end));
    /* The default stream waits for blocking streams, and other streams wait for events. */
    OK(launch(add, 4, 256, NULL, arguments(&pointer, &n, &one)));
    GIVES(600, CALL(cuStreamQuery, (CUstream), NULL));
    OK(CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), other, end, 0));
    OK(CALL(cuLaunchHostFunc, (CUstream, void (*)(void *), void *), other, host_function, (void *)1));
    OK(CALL(cuStreamAddCallback, (CUstream, void (*)(CUstream, CUresult, void *), void *, unsigned), other, callback, (void *)2, 0));
    usleep(20000);
    CHECK(called == 0);
    OK(CALL(cuEventSynchronize, (CUevent), begin));
    usleep(20000);
    *(volatile unsigned *)flag = 1;
    OK(CALL(cuStreamSynchronize, (CUstream), other));
    CHECK(called == 2 && calls[0] == 1 && calls[1] == 2);
    OK(synchronize());
    OK(CALL(cuEventElapsedTime, (float *, CUevent, CUevent), &time, begin, end));
    CHECK(time >= 20);
    OK(to_host(&first, pointer, 4));
    CHECK(first == 2);
    /* Words. */
    *flag = 0;
    OK(CALL(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, unsigned, unsigned), blocking, flag_pointer, 5, 1));
    OK(launch(add, 4, 256, blocking, arguments(&pointer, &n, &one)));
    OK(CALL(cuStreamWriteValue32_v2, (CUstream, CUdeviceptr, unsigned, unsigned), other, flag_pointer, 5, 0));
    OK(synchronize());
    OK(to_host(&first, pointer, 4));
    CHECK(first == 3);
    /* A stream that is destroyed ends its work. */
    OK(launch(add, 4, 256, blocking, arguments(&pointer, &n, &one)));
    OK(CALL(cuStreamDestroy_v2, (CUstream), blocking));
    GIVES(400, CALL(cuStreamDestroy_v2, (CUstream), blocking));
    OK(to_host(&first, pointer, 4));
    CHECK(first == 4);
    /* Memory that a stream frees. */
    CUdeviceptr later;
    OK(CALL(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), &later, 4 * N, other));
    OK(CALL(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream), later, 7, N, other));
    OK(CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), &first, later, 4, other));
    OK(CALL(cuMemFreeAsync, (CUdeviceptr, CUstream), later, other));
    OK(CALL(cuStreamSynchronize, (CUstream), other));
    CHECK(first == 7);
    GIVES(1, CALL(cuMemFreeAsync, (CUdeviceptr, CUstream), later, other));
    /* Symbols whose default stream is the thread's own. */
    OK(((CUresult(*)(CUdeviceptr, unsigned, size_t, CUstream))find("cuMemsetD32Async_ptsz"))(pointer, 9, N, NULL));
    OK(((CUresult(*)(CUstream))find("cuStreamSynchronize_ptsz"))(NULL));
    OK(((CUresult(*)(void *, CUdeviceptr, size_t))find("cuMemcpyDtoH_v2_ptds"))(&first, pointer, 4));
    CHECK(first == 9);
    unsigned long long legacy, thread;
    OK(CALL(cuStreamGetId, (CUstream, unsigned long long *), NULL, &legacy));
    OK(((CUresult(*)(CUstream, unsigned long long *))find("cuStreamGetId_ptsz"))(NULL, &thread));
    CHECK(legacy != thread);
}

static void graphs(void) {
    start();
    CUfunction add = function(load(PTX), "add");
    CUstream stream, second;
    OK(CALL(cuStreamCreate, (CUstream *, unsigned), &stream, 1));
    OK(CALL(cuStreamCreate, (CUstream *, unsigned), &second, 1));
    unsigned n = N, one = 1, first;
    CUdeviceptr pointer = allocate(4 * N);
    OK(CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), pointer, 0, N));
    /* Captured in two streams. */
    CUevent fork_event, join_event;
    OK(CALL(cuEventCreate, (CUevent *, unsigned), &fork_event, 2));
    OK(CALL(cuEventCreate, (CUevent *, unsigned), &join_event, 2));
    OK(CALL(cuStreamBeginCapture_v2, (CUstream, unsigned), stream, 0));
    OK(launch(add, 4, 256, stream, arguments(&pointer, &n, &one)));
    OK(CALL(cuEventRecord, (CUevent, CUstream), fork_event, stream));
    OK(CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), second, fork_event, 0));
    OK(launch(add, 4, 256, second, arguments(&pointer, &n, &one)));
    OK(CALL(cuEventRecord, (CUevent, CUstream), join_event, second));
    OK(CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), stream, join_event, 0));
    OK(CALL(cuLaunchHostFunc, (CUstream, void (*)(void *), void *), stream, host_function, (void *)5));
    CUgraph graph;
    OK(CALL(cuStreamEndCapture, (CUstream, CUgraph *), stream, &graph));
    size_t count = 0;
    OK(CALL(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *), graph, NULL, &count));
    CHECK(count == 3);
    CUgraphExec instance;
    OK(CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &instance, graph, 0));
    CHECK(called == 0);
    for (int i = 0; i < 3; i++) OK(CALL(cuGraphLaunch, (CUgraphExec, CUstream), instance, stream));
    OK(CALL(cuStreamSynchronize, (CUstream), stream));
    OK(to_host(&first, pointer, 4));
    CHECK(first == 6 && called == 3 && calls[2] == 5);
    OK(CALL(cuGraphExecDestroy, (CUgraphExec), instance));
    OK(CALL(cuGraphDestroy, (CUgraph), graph));
    /* What would wait is not allowed meanwhile. */
    OK(CALL(cuStreamBeginCapture_v2, (CUstream, unsigned), stream, 0));
    GIVES(900, synchronize());
    GIVES(900, CALL(cuStreamSynchronize, (CUstream), stream));
    GIVES(901, CALL(cuStreamEndCapture, (CUstream, CUgraph *), stream, &graph));
    /* A capture that is not joined. */
    OK(CALL(cuStreamBeginCapture_v2, (CUstream, unsigned), stream, 2));
    OK(CALL(cuEventRecord, (CUevent, CUstream), fork_event, stream));
    OK(CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), second, fork_event, 0));
    OK(launch(add, 4, 256, second, arguments(&pointer, &n, &one)));
    GIVES(904, CALL(cuStreamEndCapture, (CUstream, CUgraph *), stream, &graph));
    CHECK(!graph);
    OK(CALL(cuStreamSynchronize, (CUstream), second));
    /* Node by node, and changed. */
    struct {
        CUfunction function;
        unsigned grid[3], block[3], shared;
        void **parameters, **extra;
        void *kernel, *context;
    } kernel = {add, {4, 1, 1}, {256, 1, 1}, 0, arguments(&pointer, &n, &one), NULL, NULL, NULL};
    struct {
        CUdeviceptr to;
        size_t pitch;
        unsigned value, element;
        size_t width, height;
    } fill = {pointer, 0, 40, 4, N, 1};
    CUcontext context;
    OK(CALL(cuCtxGetCurrent, (CUcontext *), &context));
    CUgraphNode set, plus;
    OK(CALL(cuGraphCreate, (CUgraph *, unsigned), &graph, 0));
    OK(CALL(cuGraphAddMemsetNode, (CUgraphNode *, CUgraph, CUgraphNode *, size_t, void *, CUcontext), &set, graph, NULL, 0, &fill,
            context));
    OK(CALL(cuGraphAddKernelNode_v2, (CUgraphNode *, CUgraph, CUgraphNode *, size_t, void *), &plus, graph, &set, 1, &kernel));
    OK(CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &instance, graph, 0));
    OK(CALL(cuGraphLaunch, (CUgraphExec, CUstream), instance, NULL));
    OK(to_host(&first, pointer, 4));
    CHECK(first == 41);
    unsigned two = 2;
    kernel.parameters = arguments(&pointer, &n, &two);
    OK(CALL(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, CUgraphNode, void *), instance, plus, &kernel));
    OK(CALL(cuGraphLaunch, (CUgraphExec, CUstream), instance, NULL));
    OK(to_host(&first, pointer, 4));
    CHECK(first == 42);
    GIVES(1, CALL(cuGraphAddKernelNode_v2, (CUgraphNode *, CUgraph, CUgraphNode *, size_t, void *), &plus, graph,
                  (CUgraphNode *)&context, 1, &kernel));
    kernel.parameters = NULL;
    OK(CALL(cuGraphKernelNodeGetParams_v2, (CUgraphNode, void *), plus, &kernel));
    CHECK(kernel.function == add && kernel.grid[0] == 4 && *(unsigned *)kernel.parameters[2] == 1);
}

static int released;

static void wait_until_released(void *data) {
    (void)data;
    while (!__atomic_load_n(&released, __ATOMIC_ACQUIRE)) usleep(1000);
}

/* Graphs within graphs, their memory and their order; captures that nobody ends. */
static void more_graphs(void) {
    start();
    CUfunction add = function(load(PTX), "add");
    CUcontext context;
    CUstream stream, blocking;
    CUevent event;
    CUgraph graph, inner, copy;
    CUgraphNode first, second, third;
    CUgraphExec instance;
    unsigned n = N, one = 1, value;
    CUdeviceptr pointer = allocate(4 * N);
    OK(CALL(cuCtxGetCurrent, (CUcontext *), &context));
    OK(CALL(cuStreamCreate, (CUstream *, unsigned), &stream, 1));
    OK(CALL(cuStreamCreate, (CUstream *, unsigned), &blocking, 0));
    OK(CALL(cuEventCreate, (CUevent *, unsigned), &event, 0));
    /* An event of a graph within a graph is recorded by the launch. */
    OK(CALL(cuGraphCreate, (CUgraph *, unsigned), &inner, 0));
    OK(CALL(cuGraphAddHostNode, (CUgraphNode *, CUgraph, CUgraphNode *, size_t, void *), &first, inner, NULL, 0,
            (void *[]){(void *)wait_until_released, NULL}));
    OK(CALL(cuGraphAddEventRecordNode, (CUgraphNode *, CUgraph, CUgraphNode *, size_t, CUevent), &second, inner, &first, 1, event));
    OK(CALL(cuGraphCreate, (CUgraph *, unsigned), &graph, 0));
    OK(CALL(cuGraphAddChildGraphNode, (CUgraphNode *, CUgraph, CUgraphNode *, size_t, CUgraph), &first, graph, NULL, 0, inner));
    OK(CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &instance, graph, 0));
    OK(CALL(cuGraphLaunch, (CUgraphExec, CUstream), instance, stream));
    GIVES(600, CALL(cuEventQuery, (CUevent), event));
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    OK(CALL(cuEventSynchronize, (CUevent), event));
    OK(CALL(cuStreamSynchronize, (CUstream), stream));
    /* Memory of a graph may be freed by the program; the next launch has it again. */
    CUdeviceptr own;
    OK(CALL(cuStreamBeginCapture_v2, (CUstream, unsigned), stream, 0));
    OK(CALL(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), &own, 4 * N, stream));
    OK(CALL(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream), own, 7, N, stream));
    OK(launch(add, 4, 256, stream, arguments(&own, &n, &one)));
    OK(CALL(cuStreamEndCapture, (CUstream, CUgraph *), stream, &graph));
    OK(CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &instance, graph, 0));
    for (int i = 0; i < 2; i++) {
        if (i) {
            OK(CALL(cuGraphLaunch, (CUgraphExec, CUstream), instance, stream));
            OK(CALL(cuMemFreeAsync, (CUdeviceptr, CUstream), own, stream));
        }
        OK(CALL(cuGraphLaunch, (CUgraphExec, CUstream), instance, stream));
        OK(CALL(cuStreamSynchronize, (CUstream), stream));
        OK(to_host(&value, own, 4));
        CHECK(value == 8);
        if (i) OK(CALL(cuMemFreeAsync, (CUdeviceptr, CUstream), own, stream));
        else OK(CALL(cuMemFree_v2, (CUdeviceptr), own));
        GIVES(1, CALL(cuMemFree_v2, (CUdeviceptr), own));
    }
    /* An instance takes the values of a graph of the same shape, and of no other. */
    CUgraph graphs[2];
    CUgraphNode nodes[2][3];
    struct {
        CUdeviceptr to;
        size_t pitch;
        unsigned value, element;
        size_t width, height;
    } fill = {pointer, 0, 1, 4, N, 1};
    for (int i = 0; i < 2; i++) {
        OK(CALL(cuGraphCreate, (CUgraph *, unsigned), &graphs[i], 0));
        for (int j = 0; j < 3; j++) {
            fill.value = 10 * i + j;
            /* One behind another, or the last two behind the first. */
            CUgraphNode *before = j ? &nodes[i][i ? 0 : j - 1] : NULL;
            OK(CALL(cuGraphAddMemsetNode, (CUgraphNode *, CUgraph, CUgraphNode *, size_t, void *, CUcontext), &nodes[i][j], graphs[i],
                    before, j ? 1 : 0, &fill, context));
        }
    }
    struct {
        int result;
        CUgraphNode node, from;
    } updated;
    OK(CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &instance, graphs[0], 0));
    GIVES(910, CALL(cuGraphExecUpdate_v2, (CUgraphExec, CUgraph, void *), instance, graphs[1], &updated));
    OK(CALL(cuGraphClone, (CUgraph *, CUgraph), &copy, graphs[0]));
    OK(CALL(cuGraphNodeFindInClone, (CUgraphNode *, CUgraphNode, CUgraph), &third, nodes[0][2], copy));
    fill.value = 77;
    OK(CALL(cuGraphMemsetNodeSetParams, (CUgraphNode, void *), third, &fill));
    OK(CALL(cuGraphExecUpdate_v2, (CUgraphExec, CUgraph, void *), instance, copy, &updated));
    OK(CALL(cuGraphLaunch, (CUgraphExec, CUstream), instance, stream));
    OK(CALL(cuStreamSynchronize, (CUstream), stream));
    OK(to_host(&value, pointer, 4));
    CHECK(value == 77);
    /* A stream may be destroyed once it has come back to the one that the capture began in, but not before. */
    for (int joins = 1; joins >= 0; joins--) {
        CUstream side;
        OK(CALL(cuStreamCreate, (CUstream *, unsigned), &side, 1));
        OK(CALL(cuStreamBeginCapture_v2, (CUstream, unsigned), stream, 0));
        OK(CALL(cuEventRecord, (CUevent, CUstream), event, stream));
        OK(CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), side, event, 0));
        OK(launch(add, 4, 256, side, arguments(&pointer, &n, &one)));
        OK(CALL(cuEventRecord, (CUevent, CUstream), event, side));
        if (joins) OK(CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), stream, event, 0));
        OK(CALL(cuStreamDestroy_v2, (CUstream), side));
        GIVES(joins ? 0 : 904, CALL(cuStreamEndCapture, (CUstream, CUgraph *), stream, &graph));
    }
    OK(synchronize());
    /* A capture whose stream is destroyed forbids nothing any more. */
    OK(CALL(cuStreamBeginCapture_v2, (CUstream, unsigned), stream, 0));
    OK(CALL(cuStreamDestroy_v2, (CUstream), stream));
    OK(synchronize());
    /* Who waits for the default stream waits for what blocking streams have got since. */
    __atomic_store_n(&released, 0, __ATOMIC_RELEASE);
    OK(launch(add, 4, 256, NULL, arguments(&pointer, &n, &one)));
    OK(synchronize());
    OK(CALL(cuLaunchHostFunc, (CUstream, void (*)(void *), void *), blocking, wait_until_released, NULL));
    GIVES(600, CALL(cuStreamQuery, (CUstream), NULL));
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    OK(CALL(cuStreamSynchronize, (CUstream), NULL));
    OK(CALL(cuStreamQuery, (CUstream), blocking));
    /* A stream that is given a lot holds the program back, so that it cannot take all memory. */
    for (int i = 0; i < 20000; i++) {
        OK(CALL(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), &own, 64, blocking));
        OK(CALL(cuMemFreeAsync, (CUdeviceptr, CUstream), own, blocking));
    }
    OK(CALL(cuStreamSynchronize, (CUstream), blocking));
}

/* A managed variable is the host's, too. */
static void managed_variable(void) {
    const char *text = ".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 plain = 1;\n"
                       ".visible .global .attribute(.managed) .align 4 .u32 both = 10;\n";
    start();
    CUmodule module = load(text);
    CUdeviceptr pointer, plain;
    OK(CALL(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), &pointer, NULL, module, "both"));
    OK(CALL(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), &plain, NULL, module, "plain"));
    unsigned managed;
    void *host;
    OK(CALL(cuPointerGetAttribute, (void *, int, CUdeviceptr), &managed, 8, pointer));
    OK(CALL(cuPointerGetAttribute, (void *, int, CUdeviceptr), &host, 4, pointer));
    CHECK(managed == 1 && *(unsigned *)host == 10);
    OK(CALL(cuPointerGetAttribute, (void *, int, CUdeviceptr), &managed, 8, plain));
    CHECK(managed == 0);
    GIVES(1, CALL(cuMemFree_v2, (CUdeviceptr), pointer));
}

/* Memory without an address, put at addresses that are reserved: at two at once, side by side, and away again. */
static void mapping(void) {
    enum { PIECE = 2 << 20 };
    start();
    CUfunction add = function(load(PTX), "add");
    struct {
        unsigned kind, handles;
        struct {
            unsigned kind;
            int id;
        } location;
        void *windows;
        unsigned char flags[8];
    } properties = {1, 0, {1, 0}, NULL, {0}}, found;
    struct {
        unsigned kind;
        int id;
        unsigned flags;
    } access = {1, 0, 3};
    size_t granularity, free_before, free_after, total;
    OK(CALL(cuMemGetAllocationGranularity, (size_t *, void *, unsigned), &granularity, &properties, 0));
    CHECK(granularity && PIECE % granularity == 0);
    CUdeviceptr range, again;
    unsigned long long memory[2], more, flags;
    OK(CALL(cuMemGetInfo_v2, (size_t *, size_t *), &free_before, &total));
    OK(CALL(cuMemAddressReserve, (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long), &range, 4 * PIECE, 8 * PIECE, 0, 0));
    CHECK(range % (8 * PIECE) == 0);
    for (int i = 0; i < 2; i++) {
        OK(CALL(cuMemCreate, (unsigned long long *, size_t, void *, unsigned long long), &memory[i], PIECE, &properties, 0));
        OK(CALL(cuMemMap, (CUdeviceptr, size_t, size_t, unsigned long long, unsigned long long), range + i * PIECE, PIECE, 0, memory[i], 0));
    }
    OK(CALL(cuMemGetInfo_v2, (size_t *, size_t *), &free_after, &total));
    CHECK(free_before - free_after == 2 * PIECE);
    GIVES(1, CALL(cuMemMap, (CUdeviceptr, size_t, size_t, unsigned long long, unsigned long long), range, PIECE, 0, memory[1], 0));
    GIVES(1, CALL(cuMemCreate, (unsigned long long *, size_t, void *, unsigned long long), &more, 1000, &properties, 0));
    GIVES(1, CALL(cuMemSetAccess, (CUdeviceptr, size_t, void *, size_t), range, 3 * PIECE, &access, 1));
    /* One piece at a time gets access, and then they are one. */
    OK(CALL(cuMemSetAccess, (CUdeviceptr, size_t, void *, size_t), range, PIECE, &access, 1));
    GIVES(1, CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), range, 5, 2 * PIECE / 4));
    OK(CALL(cuMemSetAccess, (CUdeviceptr, size_t, void *, size_t), range + PIECE, PIECE, &access, 1));
    OK(CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), range, 5, 2 * PIECE / 4));
    OK(CALL(cuMemGetAccess, (unsigned long long *, void *, CUdeviceptr), &flags, &properties.location, range + PIECE));
    CHECK(flags == 3);
    unsigned n = 2 * PIECE / 4, one = 1, values[2];
    OK(launch(add, n / 256, 256, NULL, arguments(&range, &n, &one)));
    OK(to_host(values, range + PIECE - 4, 8));
    CHECK(values[0] == 6 && values[1] == 6);
    /* The second piece at another address, too. */
    OK(CALL(cuMemRetainAllocationHandle, (unsigned long long *, void *), &more, (void *)(uintptr_t)(range + PIECE + 5)));
    CHECK(more == memory[1]);
    OK(CALL(cuMemGetAllocationPropertiesFromHandle, (void *, unsigned long long), &found, more));
    CHECK(found.kind == 1 && found.location.kind == 1 && found.location.id == 0);
    OK(CALL(cuMemAddressReserve, (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long), &again, PIECE, 0, 0, 0));
    OK(CALL(cuMemMap, (CUdeviceptr, size_t, size_t, unsigned long long, unsigned long long), again, PIECE, 0, more, 0));
    OK(CALL(cuMemSetAccess, (CUdeviceptr, size_t, void *, size_t), again, PIECE, &access, 1));
    OK(CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), again, 9, 1));
    OK(to_host(values, range + PIECE - 4, 8));
    CHECK(values[0] == 6 && values[1] == 9);
    /* What is taken away is out of reach; what is left is not. */
    GIVES(1, CALL(cuMemAddressFree, (CUdeviceptr, size_t), range, 4 * PIECE));
    OK(CALL(cuMemUnmap, (CUdeviceptr, size_t), range, PIECE));
    OK(to_host(values, range + PIECE, 4));
    CHECK(values[0] == 9);
    OK(CALL(cuMemUnmap, (CUdeviceptr, size_t), again, PIECE));
    for (int i = 0; i < 2; i++) OK(CALL(cuMemRelease, (unsigned long long), memory[i]));
    GIVES(1, CALL(cuMemRelease, (unsigned long long), memory[0]));
    OK(CALL(cuMemUnmap, (CUdeviceptr, size_t), range + PIECE, PIECE));
    OK(CALL(cuMemGetInfo_v2, (size_t *, size_t *), &free_after, &total));
    CHECK(free_before == free_after);
    n = 1;
    OK(launch(add, 1, 1, NULL, arguments(&range, &n, &one)));
    GIVES(700, synchronize());
    OK(CALL(cuMemAddressFree, (CUdeviceptr, size_t), range, 4 * PIECE));
    OK(CALL(cuMemAddressFree, (CUdeviceptr, size_t), again, PIECE));
}

static void leave(void *data) { exit((int)(intptr_t)data); }

/* The program ends in a function that a stream calls; without what is registered for its end; and at once, behind a fault. */
static void ends(const char *how) {
    start();
    CUfunction add = function(load(PTX), "add");
    CUdeviceptr pointer = allocate(4);
    unsigned n = 1, one = 1;
    OK(launch(add, 1, 1, NULL, arguments(&pointer, &n, &one)));
    OK(synchronize());
    if (!strcmp(how, "in-callback")) {
        OK(CALL(cuLaunchHostFunc, (CUstream, void (*)(void *), void *), NULL, leave, NULL));
        for (;;) pause();
    }
    if (!strcmp(how, "quickly")) quick_exit(0);
    n = 100;
    OK(launch(add, 1, 128, NULL, arguments(&pointer, &n, &one)));
    GIVES(700, synchronize());
    _exit(0);
}

static void linking(void) {
    start();
    const char *definition = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .u32 shared_value = 11;\n";
    const char *use = ".version 7.0\n.target sm_75\n.address_size 64\n.extern .global .u32 shared_value;\n"
                      ".visible .entry read(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
                      " ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [shared_value]; st.global.u32 [%rd1], %r1; ret; }\n";
    CUlinkState state;
    void *image;
    size_t size;
    typedef CUresult (*AddData)(CUlinkState, unsigned, const void *, size_t, const char *, unsigned, void *, void *);
    AddData add_data = (AddData)find("cuLinkAddData_v2");
    OK(CALL(cuLinkCreate_v2, (unsigned, void *, void *, CUlinkState *), 0, NULL, NULL, &state));
    OK(add_data(state, 1, definition, strlen(definition) + 1, "a", 0, NULL, NULL));
    OK(add_data(state, 1, use, strlen(use) + 1, "b", 0, NULL, NULL));
    OK(CALL(cuLinkComplete, (CUlinkState, void **, size_t *), state, &image, &size));
    CHECK(size > strlen(definition) + strlen(use));
    CUmodule module = load(image);
    OK(CALL(cuLinkDestroy, (CUlinkState), state));
    CUdeviceptr pointer = allocate(4);
    void *only[] = {&pointer};
    unsigned value;
    OK(launch(function(module, "read"), 1, 1, NULL, only));
    OK(to_host(&value, pointer, 4));
    CHECK(value == 11);
    /* Errors are in the log. */
    char log[200] = "";
    int options[] = {5, 6};
    void *values[] = {log, (void *)sizeof log};
    GIVES(218, CALL(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, int *, void **), &module,
                    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry broken() { add.u32 %r1, %r2; }\n", 2, options,
                    values));
    CHECK(strstr(log, "line 4") && (size_t)values[1] == strlen(log));
    GIVES(209, CALL(cuModuleLoadData, (CUmodule *, const void *), &module, ".version 9.0\n.target sm_121\n.address_size 64\n"));
    /* Libraries are for all contexts. */
    CUlibrary library_;
    CUkernel kernel;
    OK(CALL(cuLibraryLoadData, (CUlibrary *, const void *, void *, void *, unsigned, void *, void *, unsigned), &library_, PTX, NULL,
            NULL, 0, NULL, NULL, 0));
    OK(CALL(cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *), &kernel, library_, "empty"));
    OK(launch(kernel, 1, 1, NULL, NULL));
    OK(synchronize());
    OK(CALL(cuLibraryUnload, (CUlibrary), library_));
    GIVES(400, launch(kernel, 1, 1, NULL, NULL));
}

static void names(void) {
    CUresult (*get)(const char *, void **, int, uint64_t, int *) = find("cuGetProcAddress_v2");
    void *found;
    int status;
    OK(get("cuMemAlloc", &found, 12000, 0, &status));
    CHECK(found == find("cuMemAlloc_v2") && status == 0);
    OK(get("cuMemAlloc", &found, 3000, 0, &status));
    CHECK(found == find("cuMemAlloc"));
    OK(get("cuLaunchKernel", &found, 12000, 2, &status));
    CHECK(found == find("cuLaunchKernel_ptsz"));
    GIVES(500, get("cuGreenCtxCreate", &found, 12000, 0, &status));
    CHECK(!found && status == 2);
    GIVES(500, get("cuNothing", &found, 12000, 0, &status));
    CHECK(!found && status == 1);
    /* Before initialisation. */
    GIVES(3, synchronize());
    start();
    /* What is not there says so. */
    GIVES(801, CALL(cuGreenCtxCreate, (void *, void *, int, unsigned), NULL, NULL, 0, 0));
    GIVES(801, CALL(cuGreenCtxCreate, (void *, void *, int, unsigned), NULL, NULL, 0, 0));
}

typedef struct {
    size_t x, y;
    unsigned kind;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch;
} Side2D;

typedef struct {
    Side2D from, to;
    size_t width, height;
} Copy2D;

static void textures(void) {
    start();
    CUmodule module = load(
        ".version 7.0\n.target sm_75\n.address_size 64\n.global .texref old;\n"
        ".visible .entry fetch(.param .u64 out, .param .u64 image) {\n"
        " .reg .b64 %rd<3>; .reg .f32 %f<7>;\n"
        " ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [image]; mov.f32 %f1, 0f3FC00000; mov.f32 %f2, 0f40200000;\n"
        " tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%f1, %f2}]; st.global.f32 [%rd1], %f3; ret; }\n"
        ".visible .entry fetch_old(.param .u64 out) {\n"
        " .reg .b64 %rd<2>; .reg .f32 %f<7>;\n"
        " ld.param.u64 %rd1, [out]; mov.f32 %f1, 0f3FC00000; mov.f32 %f2, 0f40200000;\n"
        " tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [old, {%f1, %f2}]; st.global.f32 [%rd1], %f3; ret; }\n"
        ".visible .entry store(.param .u64 image) {\n"
        " .reg .b64 %rd<2>; .reg .b32 %r<4>;\n"
        " ld.param.u64 %rd1, [image]; mov.u32 %r1, 4; mov.u32 %r2, 2; mov.b32 %r3, 0f42280000;\n"
        " sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3}; ret; }\n");
    struct {
        size_t width, height;
        unsigned format, channels;
    } descriptor = {4, 4, 0x20, 1};
    CUarray array;
    OK(CALL(cuArrayCreate_v2, (CUarray *, void *), &array, &descriptor));
    float texels[16], value;
    for (int i = 0; i < 16; i++) texels[i] = i;
    Copy2D copy = {{0, 0, 1, texels, 0, NULL, 16}, {0, 0, 3, NULL, 0, array, 0}, 16, 4};
    OK(CALL(cuMemcpy2D_v2, (void *), &copy));
    struct {
        unsigned kind, padding;
        void *array;
        unsigned long long rest[15];
        unsigned flags;
    } resource = {0, 0, array, {0}, 0};
    struct {
        unsigned address[3], filter, flags, rest[21];
    } description = {{1, 1, 1}, 0, 0, {0}};
    unsigned long long texture, surface;
    OK(CALL(cuTexObjectCreate, (unsigned long long *, void *, void *, void *), &texture, &resource, &description, NULL));
    OK(CALL(cuSurfObjectCreate, (unsigned long long *, void *), &surface, &resource));
    CUdeviceptr out = allocate(4);
    void *two[] = {&out, &texture}, *one[] = {&surface};
    OK(launch(function(module, "fetch"), 1, 1, NULL, two));
    OK(to_host(&value, out, 4));
    CHECK(value == 9);
    OK(launch(function(module, "store"), 1, 1, NULL, one));
    OK(launch(function(module, "fetch"), 1, 1, NULL, two));
    OK(to_host(&value, out, 4));
    CHECK(value == 42);
    void *reference;
    GIVES(500, CALL(cuModuleGetTexRef, (void **, CUmodule, const char *), &reference, module, "new"));
    OK(CALL(cuModuleGetTexRef, (void **, CUmodule, const char *), &reference, module, "old"));
    OK(CALL(cuTexRefSetArray, (void *, CUarray, unsigned), reference, array, 1));
    OK(CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), out, 0, 1));
    OK(launch(function(module, "fetch_old"), 1, 1, NULL, two));
    OK(to_host(&value, out, 4));
    CHECK(value == 42);
    /* Back from the array; what does not fit. */
    Copy2D back = {{4, 2, 3, NULL, 0, array, 0}, {0, 0, 1, texels, 0, NULL, 16}, 4, 1};
    OK(CALL(cuMemcpy2D_v2, (void *), &back));
    CHECK(texels[0] == 42);
    back.height = 3;
    GIVES(1, CALL(cuMemcpy2D_v2, (void *), &back));
    OK(CALL(cuTexObjectDestroy, (unsigned long long), texture));
    GIVES(1, CALL(cuTexObjectDestroy, (unsigned long long), texture));
    GIVES(1, CALL(cuTexObjectDestroy, (unsigned long long), surface));
    OK(CALL(cuSurfObjectDestroy, (unsigned long long), surface));
    OK(CALL(cuArrayDestroy, (CUarray), array));
    GIVES(400, CALL(cuArrayDestroy, (CUarray), array));
    /* Levels of a mip map are arrays. */
    struct {
        size_t width, height, depth;
        unsigned format, channels, flags;
    } levels = {8, 8, 0, 1, 4, 0}, level;
    void *map;
    OK(CALL(cuMipmappedArrayCreate, (void **, void *, unsigned), &map, &levels, 9));
    OK(CALL(cuMipmappedArrayGetLevel, (CUarray *, void *, unsigned), &array, map, 2));
    OK(CALL(cuArray3DGetDescriptor_v2, (void *, CUarray), &level, array));
    CHECK(level.width == 2 && level.height == 2 && level.format == 1);
    GIVES(1, CALL(cuMipmappedArrayGetLevel, (CUarray *, void *, unsigned), &array, map, 4));
    OK(CALL(cuMipmappedArrayDestroy, (void *), map));
}

/* The program ends while a kernel runs. */
static void end_early(void) {
    start();
    CUdeviceptr pointer = allocate(4);
    void *only[] = {&pointer};
    OK(CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), pointer, 0, 1));
    OK(launch(function(load(PTX), "forever"), 1, 1, NULL, only));
    usleep(20000);
}

static void devices(void) {
    int count;
    CUcontext contexts[2];
    start();
    OK(CALL(cuDeviceGetCount, (int *), &count));
    CHECK(count == 2);
    CUdeviceptr pointers[2];
    unsigned n = 1, one = 1, value;
    CUfunction adds[2];
    for (int i = 0; i < 2; i++) {
        OK(CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &contexts[i], i));
        OK(CALL(cuCtxSetCurrent, (CUcontext), contexts[i]));
        pointers[i] = allocate(4);
        OK(CALL(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), pointers[i], 10 * i, 1));
        adds[i] = function(load(PTX), "add");
    }
    /* Copies go anywhere; kernels of the second device reach the first one when they may. */
    OK(CALL(cuCtxEnablePeerAccess, (CUcontext, unsigned), contexts[0], 0));
    GIVES(704, CALL(cuCtxEnablePeerAccess, (CUcontext, unsigned), contexts[0], 0));
    OK(launch(adds[1], 1, 1, NULL, arguments(&pointers[0], &n, &one)));
    OK(synchronize());
    OK(to_host(&value, pointers[0], 4));
    CHECK(value == 1);
    OK(CALL(cuMemcpy, (CUdeviceptr, CUdeviceptr, size_t), pointers[0], pointers[1], 4));
    OK(to_host(&value, pointers[0], 4));
    CHECK(value == 10);
    OK(CALL(cuCtxDisablePeerAccess, (CUcontext), contexts[0]));
    OK(launch(adds[1], 1, 1, NULL, arguments(&pointers[0], &n, &one)));
    GIVES(700, synchronize());
    OK(CALL(cuCtxSetCurrent, (CUcontext), contexts[0]));
    OK(launch(adds[0], 1, 1, NULL, arguments(&pointers[0], &n, &one)));
    OK(synchronize());
}

int main(int count, char **words) {
    const char *which = count > 1 ? words[1] : "";
    if (!strcmp(which, "basic")) basic();
    else if (!strcmp(which, "wild")) wild();
    else if (!strcmp(which, "bounds")) fault("bounds", 700);
    else if (!strcmp(which, "odd")) fault("odd", 716);
    else if (!strcmp(which, "trap")) fault("trap", 719);
    else if (!strcmp(which, "forever")) fault("forever", 702);
    else if (!strcmp(which, "threads")) threads();
    else if (!strcmp(which, "forks")) forks();
    else if (!strcmp(which, "forks-before")) forks_before();
    else if (!strcmp(which, "streams")) streams();
    else if (!strcmp(which, "graphs")) graphs();
    else if (!strcmp(which, "more-graphs")) more_graphs();
    else if (!strcmp(which, "mapping")) mapping();
    else if (!strcmp(which, "managed-variable")) managed_variable();
    else if (!strncmp(which, "ends-", 5)) ends(which + 5);
    else if (!strcmp(which, "linking")) linking();
    else if (!strcmp(which, "names")) names();
    else if (!strcmp(which, "textures")) textures();
    else if (!strcmp(which, "end-early")) end_early();
    else if (!strcmp(which, "devices")) devices();
    else return 3;
    return 0;
}
