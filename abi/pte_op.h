// SPDX-License-Identifier: Apache-2.0
#pragma once
// An operator of a `.pte`: what its row in pte_ops.def says, and its key in records.

#include <cstdint>

#include "abi/freestanding.h"

namespace thimble::abi {

/// The rows of pte_ops.def; pte_ops.h defines the enumerators.
enum class PteOp : uint16_t;

/// Element type of the activations; values of ScalarType (abi/pte_format.h).
enum class OpType : uint8_t {
  kI8 = 1,
  kI16 = 2,
  kF32 = 6,
  kBool = 11,
  kAny = 15,  // the kernel accepts several types
};

/// Form of an operator's constants and arguments.
enum class Packing : uint8_t {
  kPlain = 0,   // constants in logical order, or in the order of a parameter struct
  kPacked = 1,  // all parameters in constants, for one memory order (abi/packed_ops.h)
  kTable = 2,   // same, with a lookup table
  kNest = 3,    // same, for any memory order, as a nest of loops
  kDsp = 4,     // weights for the DSP extension (abi/matmul_dsp.h)
  kMve = 5,     // weights for Helium (abi/matmul_mve.h, abi/depthwise_mve.h)
  kScalar = 6,  // weights for cores without DSP instructions (abi/matmul_scalar.h)
};

/// The key of an operator in records, one word. Each row of the tables has its own key.
struct OperatorKey {
  uint16_t number;  // the operator, without type and packing
  uint8_t types;    // bits 0 to 3: OpType; bits 4 to 7: bits per weight / 4, 0 without weights
  uint8_t packing;  // Packing
};

struct PteOpInfo {
  const char* id;
  const char* name;       // "cortex_m::quantized_add.out"
  const char* arguments;  // letters, the out tensor last
  OperatorKey key;
};

constexpr PteOpInfo pte_op_info(const char* id, uint16_t number, const char* name, OpType type,
                                uint8_t weight_bits, Packing packing, const char* arguments) {
  const auto types = static_cast<uint8_t>(static_cast<uint8_t>(type) | weight_bits / 4 << 4);
  return {id, name, arguments, {number, types, static_cast<uint8_t>(packing)}};
}

/// Returns the bits per weight; 0 for an operator without weights.
constexpr int32_t weight_bits(const OperatorKey& key) {
  return (key.types >> 4) * 4;
}

/// Returns the word of a key: packing, types and number, from the highest byte to the lowest.
constexpr uint32_t word_of(const OperatorKey& key) {
  return static_cast<uint32_t>(key.packing) << 24 | static_cast<uint32_t>(key.types) << 16 |
         key.number;
}

/// Column `params` of an operator.
template <const PteOpInfo& kOp>
struct ParamsColumn;
template <const PteOpInfo& kFirst, const PteOpInfo&... kOthers>
struct CommonParams {
  using Type = typename ParamsColumn<kFirst>::Type;
  static_assert((kIsSame<Type, typename ParamsColumn<kOthers>::Type> && ...),
                "the operators have different structs");
};

/// The struct that the constant of an operator starts with, or of several operators with the same
/// struct. Writers and kernels take the type from here: code that uses another struct does not
/// compile.
template <const PteOpInfo&... kOps>
using ParamsOf = typename CommonParams<kOps...>::Type;
/// The struct of operators without parameters.
struct NoParams {};

}  // namespace thimble::abi

/// A row of the operator tables as constant op_info::<id>. A header of abi/ops sets THIMBLE_PTE_OP
/// to it.
#define THIMBLE_PTE_OP_CONSTANT(id, number, name, type, bits, packing, arguments)      \
  namespace thimble::abi::op_info {                                                    \
  inline constexpr PteOpInfo id =                                                      \
      pte_op_info(#id, number, name, OpType::type, bits, Packing::packing, arguments); \
  }
#define THIMBLE_NATIVE_OP_CONSTANT(id, number, name, type, bits, packing, arguments, params) \
  THIMBLE_PTE_OP_CONSTANT(id, number, name, type, bits, packing, arguments)                  \
  namespace thimble::abi {                                                                   \
  struct params;                                                                             \
  template <>                                                                                \
  struct ParamsColumn<op_info::id> {                                                         \
    using Type = params;                                                                     \
  };                                                                                         \
  }
