// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_HPP
#define THIMBLE_HPP
// The C interface (thimble.h) as a class, without heap and exceptions. C++17.
//
//   alignas(16) static unsigned char memory[digits_cnn_MEMORY_BYTES];
//   static thimble::Network network;
//   network.init(digits_cnn_pte, digits_cnn_pte_bytes, digits_cnn_kernels(), memory, sizeof memory);
//   network.set_input(0, pixels);
//   network.run();
//   for (float score : network.output<float>(0)) ...

#include "thimble.h"

namespace thimble {

/// The elements of an input or output. Empty if the element type has another size, or if the model
/// has no such value, or no buffer for it.
template <class T>
struct Elements {
  T* data = nullptr;
  size_t count = 0;

  [[nodiscard]] T* begin() const { return data; }
  [[nodiscard]] T* end() const { return data + count; }
  [[nodiscard]] size_t size() const { return count; }
  [[nodiscard]] T& operator[](size_t i) const { return data[i]; }
};

/// A loaded model. All functions return a status; 0 is success (thimble_status_text).
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] thimble_status init(const void* pte, size_t pte_bytes,
                                    const thimble_kernels* kernels, void* memory,
                                    size_t memory_bytes) {
    return thimble_init(&model_, pte, pte_bytes, kernels, memory, memory_bytes);
  }
  /// One of several methods of the file, which share the arena and the states.
  [[nodiscard]] thimble_status init_method(const void* pte, size_t pte_bytes,
                                           const thimble_kernels* kernels, const char* method,
                                           void* arena, size_t arena_bytes, void* state,
                                           size_t state_bytes) {
    return thimble_init_method(&model_, pte, pte_bytes, kernels, method, arena, arena_bytes, state,
                               state_bytes);
  }
  [[nodiscard]] thimble_status run() { return thimble_run(&model_); }
  [[nodiscard]] thimble_status reset() { return thimble_reset(&model_); }

  [[nodiscard]] uint32_t input_count() const { return thimble_input_count(&model_); }
  [[nodiscard]] uint32_t output_count() const { return thimble_output_count(&model_); }

  template <class T, size_t kCount>
  [[nodiscard]] thimble_status set_input(uint32_t index, const T (&data)[kCount]) {
    return thimble_set_input(&model_, index, data, sizeof data);
  }
  template <class T>
  [[nodiscard]] thimble_status set_input(uint32_t index, const T* data, size_t count) {
    return thimble_set_input(&model_, index, data, count * sizeof(T));
  }
  /// The buffer in the arena of an input that is planned there, to be written in place.
  template <class T>
  [[nodiscard]] Elements<T> input(uint32_t index) {
    thimble_view view = {};
    if (thimble_input(&model_, index, &view) != 0) return {};
    return elements_of<T>(view);
  }
  template <class T>
  [[nodiscard]] Elements<const T> output(uint32_t index) const {
    thimble_view view = {};
    if (thimble_output(&model_, index, &view) != 0) return {};
    return elements_of<const T>(view);
  }

  [[nodiscard]] thimble_model* c_model() { return &model_; }

 private:
  template <class T>
  static Elements<T> elements_of(const thimble_view& view) {
    size_t count = 1;
    for (uint8_t i = 0; i < view.rank; ++i) count *= static_cast<size_t>(view.sizes[i]);
    if (view.data == nullptr || count * sizeof(T) != view.bytes) return {};
    return {static_cast<T*>(view.data), count};
  }

  thimble_model model_ = {};
};

}  // namespace thimble
#endif  // THIMBLE_HPP
