// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/heap_peak.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define THIMBLE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define THIMBLE_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define THIMBLE_ADDRESS_SANITIZER 0
#endif

namespace {

std::atomic<size_t> held_bytes = 0;
std::atomic<size_t> peak_bytes = 0;

void add(size_t bytes) {
  const size_t held = held_bytes += bytes;
  if (held > peak_bytes) peak_bytes = held;
}

}  // namespace

// The sanitizer's own allocator stays in use, because it finds each access outside of a block.
#if THIMBLE_ADDRESS_SANITIZER

extern "C" int __sanitizer_install_malloc_and_free_hooks(
    void (*allocated)(const volatile void* block, size_t bytes),
    void (*released)(const volatile void* block));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void* block);

namespace {

[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, size_t bytes) { add(bytes); },
    [](const volatile void* block) {
      if (block != nullptr) held_bytes -= __sanitizer_get_allocated_size(block);
    });

}  // namespace

#else

namespace {

/// Each block starts with a header that holds its size and keeps the alignment of malloc.
constexpr size_t kHeaderBytes = alignof(std::max_align_t) < 16 ? 16 : alignof(std::max_align_t);

void* allocate(size_t size) {
  void* block = std::malloc(size + kHeaderBytes);
  if (!block) throw std::bad_alloc();
  *static_cast<size_t*>(block) = size;
  add(size);
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
  add(size);
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
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
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

#endif

namespace thimble::testing {

HeapPeak::HeapPeak() : start_(held_bytes) {
  peak_bytes = held_bytes.load();
}
size_t HeapPeak::bytes() const {
  return peak_bytes - start_;
}

}  // namespace thimble::testing
