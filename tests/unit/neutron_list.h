#pragma once
// Kernel lists made by hand, run by the integer model in memories of exactly their size.

#include <cstdint>
#include <random>
#include <vector>

#include "engines/neutron/model/model.h"
#include "engines/neutron/container/program.h"
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

/// Codes in the order of their dimensions, the last one fastest.
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

/// Element [0, 0, ...] at `offset`, dense.
View dense_view(Memory memory, uint32_t index, uint32_t offset, const Dims& dims);
/// Byte of an element in the memory of its view.
size_t byte_of(const View& view, const Dims& index);
Dims dims_of(const View& view);

using Bytes = std::vector<uint8_t>;

class List {
 public:
  neutron::Header header = {};  // sizes that build() does not compute
  std::vector<IoRecord> inputs, outputs;
  std::vector<KernelRecord> kernels;
  Bytes weights;

  /// Appends constants at a multiple of 4.
  uint32_t bytes(const Bytes& content);
  uint32_t codes(const std::vector<int8_t>& content);
  uint32_t ints(const std::vector<int32_t>& content);
  /// New places.
  uint32_t input(uint32_t bytes);
  uint32_t output(uint32_t bytes);
  uint32_t scratch(uint32_t bytes);

  /// A record without constants, factors 0, that clamps to int8.
  KernelRecord& kernel(Kernel kernel, const std::vector<View>& operands, const View& output);

  /// Sections and hash as they must be; a multiple of 16 bytes.
  [[nodiscard]] Bytes program() const;
};

/// The hash that the content has.
void rehash(Bytes& program, const Bytes& weights);

/// What check() says to these bytes at multiples of 16.
Status check_bytes(const Bytes& program, const Bytes& weights, uint32_t* kernel = nullptr);
Status check_list(const List& list);

/// Runs a list that check() accepts; memories are full of rubbish before, and guarded.
struct Outcome {
  std::vector<Bytes> outputs;
  Bytes profile;
  bool intact = true;  // no memory was left
};
enum class Prefetch { kInPlace, kByModel, kByHooks };
Outcome run_bytes(const Bytes& program, const Bytes& weights, const std::vector<Bytes>& inputs,
              Prefetch prefetch = Prefetch::kByHooks, uint8_t rubbish = 0xA7);

}  // namespace thimble::neutron_test
