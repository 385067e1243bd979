// SPDX-License-Identifier: Apache-2.0
#pragma once
// Direct operators: operators of the device whose call has the operands of one IR operator, and its
// attributes in a struct of abi/params (direct.def).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "abi/pte_op.h"
#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine {

/// A member of a parameter struct: an int32, an abi::IntList or an abi::IntTail.
struct ParamField {
  ir::AttrId attr{};
  size_t offset = 0;  // in bytes
  enum class Kind : uint8_t { kInt, kList, kTail } kind = Kind::kInt;
  int32_t items = 1;  // of kList
};

/// A row of direct.def.
struct DirectOp {
  ir::OpKind kind{};
  abi::PteOp op{};
  size_t params_bytes = 0;  // without the items of an IntTail; 0: no parameters
  std::span<const ParamField> fields;
};

/// Returns null if the IR operator has no direct operator.
[[nodiscard]] const DirectOp* direct_op(ir::OpKind kind);
/// Returns null if the operator of the device is not direct.
[[nodiscard]] const DirectOp* direct_op(abi::PteOp op);

/// Returns the parameters of a direct operator. An integer that does not fit 32 bits is an
/// unsupported error. Default values are written, so the meaning of a file does not change when a
/// default changes.
[[nodiscard]] Result<Bytes> direct_params(const DirectOp& direct, const ir::Op& op);
/// Inverse of direct_params(). Returns a bad-input error for a wrong size or length of a list.
[[nodiscard]] Result<ir::Attrs> attrs_from_params(const DirectOp& direct, ByteView params);

/// Returns the size of the kernel's scratch, for operators with an argument `s` in abi/pte_ops.def.
[[nodiscard]] int64_t direct_scratch_bytes(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine
