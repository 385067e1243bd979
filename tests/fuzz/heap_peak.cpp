#include "tests/fuzz/heap_peak.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

size_t held_bytes = 0;
size_t peak_bytes = 0;

/// Each block starts with a header that holds its size and keeps the alignment of malloc.
constexpr size_t kHeaderBytes = alignof(std::max_align_t) < 16 ? 16 : alignof(std::max_align_t);

void* allocate(size_t size) {
  void* block = std::malloc(size + kHeaderBytes);
  if (!block) throw std::bad_alloc();
  *static_cast<size_t*>(block) = size;
  held_bytes += size;
  peak_bytes = std::max(peak_bytes, held_bytes);
  return static_cast<char*>(block) + kHeaderBytes;
}

/// As allocate(), with a header as long as the alignment; the size is stored directly before the
/// block.
void* allocate_aligned(size_t size, size_t alignment) {
  const size_t header = std::max(alignment, sizeof(size_t));
  void* block =
      std::aligned_alloc(alignment, (size + header + alignment - 1) / alignment * alignment);
  if (!block) throw std::bad_alloc();
  char* const pointer = static_cast<char*>(block) + header;
  *reinterpret_cast<size_t*>(pointer - sizeof(size_t)) = size;
  held_bytes += size;
  peak_bytes = std::max(peak_bytes, held_bytes);
  return pointer;
}

void release_aligned(void* pointer, size_t alignment) {
  if (!pointer) return;
  held_bytes -= *reinterpret_cast<size_t*>(static_cast<char*>(pointer) - sizeof(size_t));
  std::free(static_cast<char*>(pointer) - std::max(alignment, sizeof(size_t)));
}

void release(void* pointer) {
  if (!pointer) return;
  void* block = static_cast<char*>(pointer) - kHeaderBytes;
  held_bytes -= *static_cast<size_t*>(block);
  std::free(block);
}

}  // namespace

void* operator new(size_t size) {
  return allocate(size);
}
void* operator new[](size_t size) {
  return allocate(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new(size_t size, std::align_val_t alignment) {
  return allocate_aligned(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return allocate_aligned(size, static_cast<size_t>(alignment));
}
void operator delete(void* pointer, std::align_val_t alignment) noexcept {
  release_aligned(pointer, static_cast<size_t>(alignment));
}
void operator delete[](void* pointer, std::align_val_t alignment) noexcept {
  release_aligned(pointer, static_cast<size_t>(alignment));
}
void operator delete(void* pointer, size_t, std::align_val_t alignment) noexcept {
  release_aligned(pointer, static_cast<size_t>(alignment));
}
void operator delete(void* pointer) noexcept {
  release(pointer);
}
void operator delete[](void* pointer) noexcept {
  release(pointer);
}
void operator delete(void* pointer, size_t) noexcept {
  release(pointer);
}
void operator delete[](void* pointer, size_t) noexcept {
  release(pointer);
}

namespace thimble::testing {

HeapPeak::HeapPeak() : start_(held_bytes) {
  peak_bytes = held_bytes;
}
size_t HeapPeak::bytes() const {
  return peak_bytes - start_;
}

}  // namespace thimble::testing
