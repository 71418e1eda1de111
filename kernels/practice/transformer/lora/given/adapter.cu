// The course's part: two thin matrices of small numbers, and a base matrix without their product.
__device__ float some_number(unsigned at) {
    at = (at ^ 61) * 2654435761u;
    at = (at ^ at >> 15) * 2246822519u;
    return int(at >> 16 & 1023) * 0.0005f - 0.25f;
}

extern "C" __global__ void make_thin(float* down, float* up, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 8 * k) down[i] = some_number(i);
    else if (i < 8 * (n + k)) up[i - 8 * k] = some_number(i + 12345);
}

extern "C" __global__ void take_away(const float* whole, const float* down, const float* up, float* base, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * k) return;
    int row = i / k, column = i % k;
    float correction = 0.0f;
    for (int j = 0; j < 8; j++) correction += up[row * 8 + j] * down[(long long)j * k + column];
    base[i] = whole[i] - correction;
}
