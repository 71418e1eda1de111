// One thread for each result: neighboring threads read rows that are k numbers apart.
// does not reach: Loads along the rows
// lockstep: project_down.grid = 1, m
// lockstep: project.grid = ceil_div(n, 128), m
extern "C" __global__ void project_down(const float* x, const float* down, float* t, int m, int k) {
    int row = blockIdx.y, j = threadIdx.x;
    if (j >= 8) return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += x[(long long)row * k + i] * down[(long long)j * k + i];
    t[row * 8 + j] = sum;
}

extern "C" __global__ void project(const float* x, const float* base, const float* t, const float* up, float* y, int n, int k) {
    int row = blockIdx.y, column = blockIdx.x * 128 + threadIdx.x;
    if (column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += x[(long long)row * k + i] * base[(long long)column * k + i];
    for (int j = 0; j < 8; j++) sum += t[row * 8 + j] * up[column * 8 + j];
    y[(long long)row * n + column] = sum;
}
