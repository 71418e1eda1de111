// Adds up the parts of others at once.
// rejected for: race
// leads to: __syncthreads
// lockstep: grid = ceil_div(n, 128), ceil_div(k, 256)
// lockstep: block = 32, 8
extern "C" __global__ void row_times_matrix(const float* x, const float* a, float* y, int k, int n) {
    __shared__ float parts[8][4][33];
    int column = 4 * (blockIdx.x * 32 + threadIdx.x);
    int end = min(k, int(blockIdx.y + 1) * 256);
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int row = blockIdx.y * 256 + threadIdx.y; row < end; row += 8) {
        const float* from = a + (long long)row * n + column;
        float factor = x[row];
        if (n % 4 == 0) {
            if (column >= n) break;
            float4 four = *reinterpret_cast<const float4*>(from);
            sum[0] += factor * four.x;
            sum[1] += factor * four.y;
            sum[2] += factor * four.z;
            sum[3] += factor * four.w;
        } else {
            for (int j = 0; j < 4; j++) {
                if (column + j < n) sum[j] += factor * from[j];
            }
        }
    }
    for (int j = 0; j < 4; j++) parts[threadIdx.y][j][threadIdx.x] = sum[j];
    if (threadIdx.y >= 4 || column + int(threadIdx.y) >= n) return;
    float total = 0.0f;
    for (int part = 0; part < 8; part++) total += parts[part][threadIdx.y][threadIdx.x];
    atomicAdd(&y[column + threadIdx.y], total);
}
