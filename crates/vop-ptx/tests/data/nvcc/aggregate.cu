struct Pair { double weight; short tag[3]; char kind; };
extern "C" __global__ void weigh(Pair pair, const Pair *list, float4 *out) {
    Pair other = list[threadIdx.x];
    float w = (float)(pair.weight * other.weight);
    out[threadIdx.x] = make_float4(w, pair.tag[1], other.tag[2], pair.kind);
}
__device__ __noinline__ Pair swap(Pair a, Pair b) { return a.weight < b.weight ? b : a; }
extern "C" __global__ void most(Pair a, Pair *list) { list[threadIdx.x] = swap(a, list[threadIdx.x]); }
