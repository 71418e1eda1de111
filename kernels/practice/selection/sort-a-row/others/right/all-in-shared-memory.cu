// Every round goes through shared memory.
// does not reach: Short distances stay in the warp
#define LENGTH 1024
#define ALL 0xffffffffu

extern "C" __global__ void sort_rows(const float* x, float* sorted, int* origin, int n) {
    __shared__ float keys[LENGTH];
    __shared__ int places[LENGTH];
    int i = threadIdx.x;
    size_t row = (size_t)blockIdx.x * n;
    float key = i < n ? x[row + i] : INFINITY;
    int place = i;
    for (int size = 2; size <= LENGTH; size *= 2) {
        for (int distance = size / 2; distance > 0; distance /= 2) {
            float other;
            int there;
            {
                keys[i] = key;
                places[i] = place;
                __syncthreads();
                other = keys[i ^ distance];
                there = places[i ^ distance];
                __syncthreads();
            }
            bool keeps_smaller = ((i & distance) == 0) == ((i & size) == 0);
            bool other_is_smaller = other < key || (other == key && there < place);
            if (keeps_smaller == other_is_smaller) {
                key = other;
                place = there;
            }
        }
    }
    if (i < n) {
        sorted[row + i] = key;
        origin[row + i] = place;
    }
}
