extern "C" __global__ void __launch_bounds__(256, 2) pick(unsigned *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = data[i];
    switch (x & 15) {
    case 0: x = __brev(x); break;
    case 1: x = __popc(x); break;
    case 2: x = x * 77 + 1; break;
    case 3: x = __clz(x); break;
    case 4: x ^= x << 13; break;
    case 5: x = __vadd4(x, 0x01010101u); break;
    case 6: x = __byte_perm(x, i, 0x3210); break;
    case 7: x = x / 10; break;
    case 8: x = x % 7; break;
    default: atomicAdd(data, x); return;
    }
    data[i] = x;
}
