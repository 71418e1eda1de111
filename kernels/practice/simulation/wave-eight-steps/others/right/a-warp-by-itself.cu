// A warp takes 16 cells and 8 on both sides; neighbors are lanes. No shared memory, no barrier, and twice the loads.
extern "C" __global__ void eight_steps(const float* before, const float* now, float* before_out, float* now_out, int n) {
    int lane = threadIdx.x % 32;
    for (int piece = threadIdx.x / 32; piece < 15; piece += 8) {
        int i = blockIdx.x * 240 + piece * 16 + lane - 8, cell = (i % n + n) % n;
        float a = before[cell], b = now[cell];
        for (int k = 0; k < 8; k++) {
            float left = __shfl_up_sync(0xffffffffu, b, 1), right = __shfl_down_sync(0xffffffffu, b, 1);
            float c = 2.0f * b - a + 0.25f * (left - 2.0f * b + right);
            a = b;
            b = c;
        }
        if (lane >= 8 && lane < 24 && i < n) before_out[i] = a, now_out[i] = b;
    }
}
