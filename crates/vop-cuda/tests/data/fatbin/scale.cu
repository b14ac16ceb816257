// The fat binaries beside this file, by nvcc 13.5:
//   nvcc -fatbin scale.cu -o NAME.fatbin OPTIONS
//     zstd           -arch=compute_75 --compress-mode=size
//     lz4            -arch=compute_75 --compress-mode=speed
//     plain          -arch=compute_75 --compress-mode=none
//     concatenated   --concat -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=compute_90
//     several        -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=compute_90
//                    -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_100f,code=compute_100f
//     machine_code   -arch=sm_75 -gencode arch=compute_75,code=sm_75 (without PTX)
//     lto            -gencode arch=compute_75,code=lto_75
//   scale.cubin: nvcc -cubin -arch=sm_75
extern "C" __global__ void scale(float *values, float by) {
    values[threadIdx.x] *= by;
}
