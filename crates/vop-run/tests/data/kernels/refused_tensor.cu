// What cannot be run must be refused by name, before anything runs: instructions of tensor cores.
//
// nvcc -arch=sm_75
// launch refused_tensor grid=1 block=32
// buffer a u16 *256
// buffer b u16 *256
// buffer c f32 *256
// fails wmma.
#include "kernel.h"

#ifndef HOST
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void refused_tensor(const __half *a, const __half *b, float *c) {
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
#endif
