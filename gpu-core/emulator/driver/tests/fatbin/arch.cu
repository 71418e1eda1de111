// `nvcc -fatbin` made the files beside this one of it: `several.fatbin` with -gencode arch=compute_75,code=compute_75
// -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=[compute_90,sm_90], `fast.fatbin` with
// --compress-mode=speed for compute_75, and `machine.fatbin` with code=sm_90 alone.
extern "C" __global__ void arch(int *out) { out[threadIdx.x] = __CUDA_ARCH__; }
