// The course's part: adds up the parts of each result.
extern "C" __global__ void combine(const float* partial, float* c, int m, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    float sum = 0.0f;
    for (int part = 0; part < (k + 255) / 256; part++) sum += partial[(long long)part * m * n + i];
    c[i] = sum;
}
