/* The memories that the NPU reads and writes. */
#ifndef NPU_H
#define NPU_H
#include <stddef.h>

#ifdef SIMULATED_NPU
void npu_connect(const void* file, size_t file_bytes, void* memory, size_t memory_bytes);
#else
/* Hardware reads all memories of the bus. */
static inline void npu_connect(const void* file, size_t file_bytes, void* memory,
                               size_t memory_bytes) {
  (void)file, (void)file_bytes, (void)memory, (void)memory_bytes;
}
#endif

#endif
