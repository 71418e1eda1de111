// The sum over the 32 lanes of a warp; every lane has it afterwards.
__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

// One block of 256 threads for each row.
extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float* rstd, float epsilon, int n) {
    int row = blockIdx.x;
    const float* from = x + (long long)row * n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) squares += from[i] * from[i];
    squares = warp_sum(squares);
    // TODO: this is one warp's sum. Add up all 8 of them, so that every thread knows the row's sum.
    float scale = rsqrtf(squares + epsilon);
    for (int i = threadIdx.x; i < n; i += 256) y[(long long)row * n + i] = from[i] * scale;
    if (threadIdx.x == 0) rstd[row] = scale;
}
