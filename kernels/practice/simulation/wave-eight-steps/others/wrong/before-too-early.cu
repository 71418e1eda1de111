// Makes before now before next has been computed.
// rejected for: wrong_output
// leads to: *after* next
extern "C" __global__ void eight_steps(const float* before, const float* now, float* before_out, float* now_out, int n) {
    __shared__ float strip[2][258];
    int t = threadIdx.x, i = blockIdx.x * 240 + t - 8;
    int cell = (i % n + n) % n;
    float last = before[cell], own = now[cell];
    for (int turn = 0; turn < 8; turn++) {
        float* row = strip[turn % 2] + 1;
        row[t] = own;
        if (t == 0) row[-1] = row[256] = 0.0f;
        __syncthreads();
        last = own;
        float next = 2.0f * own - last + 0.25f * (row[t - 1] - 2.0f * own + row[t + 1]);
        own = next;
    }
    if (t >= 8 && t < 248 && i < n) {
        before_out[i] = last;
        now_out[i] = own;
    }
}
