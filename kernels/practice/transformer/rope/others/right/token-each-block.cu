// A block for each token, cosine and sine of the token in shared memory.
// lockstep: rotate.grid = tokens
// lockstep: rotate.block = 64
extern "C" __global__ void rotate(const float* x, const float* cosine, const float* sine, float* rotated, int tokens, int heads, int d) {
    __shared__ float c[64], s[64];
    int half = d / 2, t = threadIdx.x;
    for (int first = 0; first < half; first += 64) {
        if (first + t < half) c[t] = cosine[blockIdx.x * half + first + t], s[t] = sine[blockIdx.x * half + first + t];
        __syncthreads();
        int count = min(64, half - first);
        for (int i = t; i < heads * count; i += 64) {
            int pair = i % count;
            size_t at = ((size_t)blockIdx.x * heads + i / count) * d + first + pair;
            float u = x[at], v = x[at + half];
            rotated[at] = fmaf(u, c[pair], -v * s[pair]);
            rotated[at + half] = fmaf(u, s[pair], v * c[pair]);
        }
        __syncthreads();
    }
}
