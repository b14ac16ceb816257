// Streams and events: two streams work at once, and a third waits for both.

#include "check.h"

constexpr int COUNT = 1 << 16;

__global__ void fill(int *values, int first, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = first + i;
}

__global__ void add(const int *a, const int *b, int *sum, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}

static void CUDART_CB called(void *data) { *static_cast<int *>(data) += 1; }

int main() {
    cudaStream_t streams[3];
    cudaEvent_t done[2], start, end;
    int *values[3], *result, calls = 0;
    for (int i = 0; i < 3; i++) {
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        CHECK(cudaMalloc(&values[i], COUNT * sizeof(int)));
    }
    CHECK(cudaMallocHost(&result, COUNT * sizeof(int)));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start, streams[2]));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
        fill<<<COUNT / 256, 256, 0, streams[i]>>>(values[i], 1000 * i, COUNT);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(done[i], streams[i]));
        CHECK(cudaStreamWaitEvent(streams[2], done[i], 0));
    }
    add<<<COUNT / 256, 256, 0, streams[2]>>>(values[0], values[1], values[2], COUNT);
    CHECK(cudaMemcpyAsync(result, values[2], COUNT * sizeof(int), cudaMemcpyDeviceToHost, streams[2]));
    CHECK(cudaLaunchHostFunc(streams[2], called, &calls));
    CHECK(cudaEventRecord(end, streams[2]));
    CHECK(cudaEventSynchronize(end));

    int errors = 0;
    for (int i = 0; i < COUNT; i++) errors += result[i] != 1000 + 2 * i;
    expect("sum of two streams", errors == 0);
    expect("host function was called once", calls == 1);
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    expect("time went on", milliseconds > 0 && milliseconds < 60000);
    expect("nothing is left to do", cudaStreamQuery(streams[2]) == cudaSuccess);

    // The same work as a graph: captured once, launched three times.
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaMemset(values[2], 0, COUNT * sizeof(int)));
    CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    add<<<COUNT / 256, 256, 0, streams[0]>>>(values[0], values[2], values[2], COUNT);
    CHECK(cudaMemcpyAsync(result, values[2], COUNT * sizeof(int), cudaMemcpyDeviceToHost, streams[0]));
    CHECK(cudaStreamEndCapture(streams[0], &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(executable, streams[0]));
    CHECK(cudaStreamSynchronize(streams[0]));
    errors = 0;
    for (int i = 0; i < COUNT; i++) errors += result[i] != 3 * i;
    expect("graph launched three times", errors == 0);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));

    for (int i = 0; i < 3; i++) {
        CHECK(cudaFree(values[i]));
        CHECK(cudaStreamDestroy(streams[i]));
    }
    for (cudaEvent_t event : {done[0], done[1], start, end}) CHECK(cudaEventDestroy(event));
    CHECK(cudaFreeHost(result));
    return wrong;
}
