// Copies each score where the list agrees with it. A NaN marks a score above the eighth that is not listed, and one that is
// listed twice or after a smaller one.
extern "C" __global__ void agree(const float* x, const int* best, float* y, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* scores = x + (size_t)row * n;
    float eighth = INFINITY;
    for (int k = 0; k < 8; k++) {
        int column = best[row * 8 + k];
        if (column >= 0 && column < n) eighth = fminf(eighth, scores[column]);
    }
    for (int i = lane; i < n; i += 32) {
        int times = 0;
        bool descends = true;
        for (int k = 0; k < 8; k++) {
            int column = best[row * 8 + k], before = k > 0 ? best[row * 8 + k - 1] : column;
            if (column != i) continue;
            times++;
            if (before >= 0 && before < n && scores[before] < scores[i]) descends = false;
        }
        bool agrees = descends && (times == 1 || (times == 0 && scores[i] <= eighth));
        y[(size_t)row * n + i] = agrees ? scores[i] : NAN;
    }
}
