// Copies each score where the list agrees with it. A NaN marks a score above the eighth that is not listed, and one that is
// listed twice or after a smaller one. A listed column that is not in the row counts as a score below all others.
extern "C" __global__ void agree(const float* x, const int* best, float* y, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* scores = x + (size_t)row * n;
    int listed = lane < 8 ? best[row * 8 + lane] : -1;
    bool is_column = listed >= 0 && listed < n;
    float none = lane < 8 ? -INFINITY : INFINITY;
    float score = is_column ? scores[listed] : none, eighth = score;
    for (int distance = 16; distance > 0; distance /= 2)
        eighth = fminf(eighth, __shfl_xor_sync(0xffffffffu, eighth, distance));
    float before = __shfl_up_sync(0xffffffffu, score, 1);
    bool is_late = lane > 0 && lane < 8 && before < score;
    for (int first = 0; first < n; first += 32) {
        int i = first + lane, times = 0;
        bool descends = true;
        for (int k = 0; k < 8; k++) {
            int column = __shfl_sync(0xffffffffu, listed, k);
            bool late = __shfl_sync(0xffffffffu, is_late, k);
            if (column != i) continue;
            times++;
            if (late) descends = false;
        }
        if (i >= n) continue;
        float own = scores[i];
        bool agrees = descends && (times == 1 || (times == 0 && own <= eighth));
        y[(size_t)row * n + i] = agrees ? own : NAN;
    }
}
