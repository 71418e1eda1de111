extern "C" __global__ void decode_split() {}
extern "C" __global__ void decode_merge() {}
