// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds kernel lists and runs them on the integer model, in memories of exactly the required size.

#include <cstdint>
#include <random>
#include <vector>

#include "engines/neutron/container/program.h"
#include "engines/neutron/model/model.h"
#include "runtime_support.h"

namespace thimble::neutron_test {

using neutron::IoRecord;
using neutron::Kernel;
using neutron::KernelRecord;
using neutron::Memory;
using neutron::Status;
using neutron::View;
using runtime_test::AlignedBytes;

using Dims = std::vector<uint32_t>;

/// A dense tensor of quantized values, the last dimension fastest.
struct Dense {
  Dims dims;
  std::vector<int8_t> values;
  [[nodiscard]] int8_t& at(const Dims& index);
  [[nodiscard]] int8_t at(const Dims& index) const;
};
size_t elements(const Dims& dims);

/// Calls `each(index)` for every index, the last dimension fastest.
template <class Each>
void for_each_index(const Dims& dims, Each each) {
  Dims index(dims.size(), 0);
  for (size_t i = 0, all = elements(dims); i < all; ++i) {
    each(static_cast<const Dims&>(index));
    for (size_t k = dims.size(); k-- > 0;) {
      if (++index[k] < dims[k]) break;
      index[k] = 0;
    }
  }
}

/// Returns a dense view whose element [0, 0, ...] is at `offset`.
View dense_view(Memory memory, uint32_t index, uint32_t offset, const Dims& dims);
/// Returns the byte offset of an element in the memory of its view.
size_t byte_of(const View& view, const Dims& index);
Dims dims_of(const View& view);

using Bytes = std::vector<uint8_t>;

class List {
 public:
  neutron::Header header = {};  // sizes that program() does not compute
  std::vector<IoRecord> inputs, outputs;
  std::vector<KernelRecord> kernels;
  Bytes weights;

  /// Appends constants, aligned to 4 bytes.
  uint32_t bytes(const Bytes& content);
  uint32_t codes(const std::vector<int8_t>& content);
  uint32_t ints(const std::vector<int32_t>& content);
  /// Adds an input or output, or allocates scratch.
  uint32_t input(uint32_t bytes);
  uint32_t output(uint32_t bytes);
  uint32_t scratch(uint32_t bytes);

  /// Adds a record without constants, with factors 0, that clamps to int8.
  KernelRecord& kernel(Kernel kernel, const std::vector<View>& operands, const View& output);

  /// Serializes the list with valid sections and hash, padded to a multiple of 16 bytes.
  [[nodiscard]] Bytes program() const;
};

/// Writes the hash of the content into the program.
void rehash(Bytes& program, const Bytes& weights);

/// Returns check()'s status for these bytes, aligned to 16.
Status check_bytes(const Bytes& program, const Bytes& weights, uint32_t* kernel = nullptr);
Status check_list(const List& list);

/// Result of run_bytes(). It runs an accepted list in guarded memories filled with `fill_byte`.
struct Outcome {
  std::vector<Bytes> outputs;
  Bytes profile;
  bool intact = true;  // no byte outside the memories was written
};
enum class Prefetch { kInPlace, kByModel, kByHooks };
Outcome run_bytes(const Bytes& program, const Bytes& weights, const std::vector<Bytes>& inputs,
                  Prefetch prefetch = Prefetch::kByHooks, uint8_t fill_byte = 0xA7);

}  // namespace thimble::neutron_test
