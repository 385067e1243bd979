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

/// As allocate(), with a header of `alignment` bytes.
void* allocate_aligned(size_t size, std::align_val_t alignment) {
  const auto align = std::max(static_cast<size_t>(alignment), kHeaderBytes);
  void* const block = std::aligned_alloc(align, (size + 2 * align - 1) / align * align);
  if (!block) throw std::bad_alloc();
  *static_cast<size_t*>(block) = size;
  held_bytes += size;
  peak_bytes = std::max(peak_bytes, held_bytes);
  return static_cast<char*>(block) + align;
}

void release_aligned(void* pointer, std::align_val_t alignment) {
  if (!pointer) return;
  void* const block =
      static_cast<char*>(pointer) - std::max(static_cast<size_t>(alignment), kHeaderBytes);
  held_bytes -= *static_cast<size_t*>(block);
  std::free(block);
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

void* operator new(size_t size, std::align_val_t alignment) {
  return allocate_aligned(size, alignment);
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return allocate_aligned(size, alignment);
}
void operator delete(void* pointer, std::align_val_t alignment) noexcept {
  release_aligned(pointer, alignment);
}
void operator delete[](void* pointer, std::align_val_t alignment) noexcept {
  release_aligned(pointer, alignment);
}
void operator delete(void* pointer, size_t, std::align_val_t alignment) noexcept {
  release_aligned(pointer, alignment);
}
void operator delete[](void* pointer, size_t, std::align_val_t alignment) noexcept {
  release_aligned(pointer, alignment);
}

namespace thimble::testing {

HeapPeak::HeapPeak() : start_(held_bytes) {
  peak_bytes = held_bytes;
}
size_t HeapPeak::bytes() const {
  return peak_bytes - start_;
}

}  // namespace thimble::testing
