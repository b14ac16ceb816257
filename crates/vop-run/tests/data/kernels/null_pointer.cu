// A mistake: a pointer in memory was never set.
//
// nvcc -arch=sm_75
// launch null_pointer grid=1 block=32
// buffer out u32 *32
// fails V0606
#include "kernel.h"

struct List {
    int value;
    List *next;
};

__device__ List last = {3, nullptr}, first = {2, &last};

extern "C" __global__ void null_pointer(unsigned *out) {
    const List *list = &first;
    for (unsigned i = 0; i <= threadIdx.x / 11; i++)
        list = list->next;
    out[threadIdx.x] = list->value;
}
EACH_THREAD(null_pointer)
