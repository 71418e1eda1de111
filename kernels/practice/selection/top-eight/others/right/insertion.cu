// One thread a row keeps the eight best in order while it walks along.
// lockstep: top_eight.grid = ceil_div(rows, block_x)
// lockstep: top_eight.block = 64
extern "C" __global__ void top_eight(const float* x, int* best, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float score[8];
    int column[8];
    for (int k = 0; k < 8; k++) score[k] = -INFINITY, column[k] = -1;
    for (int i = 0; i < n; i++) {
        float s = x[(size_t)row * n + i];
        int c = i;
        for (int k = 0; k < 8; k++)
            if (s > score[k]) {
                float a = score[k];
                int b = column[k];
                score[k] = s, column[k] = c;
                s = a, c = b;
            }
    }
    for (int k = 0; k < 8; k++) best[row * 8 + k] = column[k];
}
