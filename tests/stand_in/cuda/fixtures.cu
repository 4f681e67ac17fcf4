extern "C" __global__ void nothing(double2 a){}
