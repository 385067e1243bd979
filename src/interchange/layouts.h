// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tracks the dimension orders in which each value exists as a tensor of the file.
//
// The image operators of the formats require [N, H, W, C]; the graph's values are logical,
// [N, C, H, W]. An operator requests the order it requires. A transposition is created only if no
// tensor has that order yet, and only once. A permute operator of the graph only renames the
// dimensions of existing tensors and creates no transposition.

#include <functional>
#include <map>
#include <vector>

#include "ir/graph.h"

namespace thimble::interchange {

/// Creates tensors of the file; tensors are identified by their index in the file.
class TensorMaker {
 public:
  virtual ~TensorMaker() = default;
  /// Transposes: dimension k of the result is dimension perms[k] of the tensor.
  virtual int transposed(int tensor, const std::vector<int>& perms, const ir::Shape& shape) = 0;
  virtual int reshaped(int tensor, const ir::Shape& shape) = 0;
  /// Creates a tensor with a constant of the graph, stored in this dimension order.
  virtual int constant(const ir::Value& value, const ir::DimOrder& order) = 0;
};

class Layouts {
 public:
  Layouts(const ir::Graph& graph, TensorMaker& maker) : graph_(graph), maker_(maker) {}

  /// Records that `tensor` holds the value: its dimension k is dimension order[k] of the value.
  void put(ir::ValueId value, ir::DimOrder order, int tensor);
  /// Returns a tensor with this order, created if needed; an empty order is the logical order.
  int get(ir::ValueId value, ir::DimOrder order);
  /// Returns an order in which the value exists: channels last if available, logical for constants.
  [[nodiscard]] ir::DimOrder existing(ir::ValueId value) const;
  /// Declares that `to` is `from` permuted: dimension i of `to` is dimension dims[i] of `from`. All
  /// tensors of `from` are shared.
  void alias_permuted(ir::ValueId from, ir::ValueId to, const std::vector<int64_t>& dims);
  void alias(ir::ValueId from, ir::ValueId to);

  /// Returns the order of an input or output of this type in a format without memory orders:
  /// channels last if the graph's dim_order is channels last, else the logical order.
  [[nodiscard]] static ir::DimOrder io_order(const ir::Type& type);
  /// logical(): 0, 1, 2, ...; image(): 0, 2, 3, 1.
  [[nodiscard]] static ir::DimOrder logical(size_t rank);
  [[nodiscard]] static ir::DimOrder image() { return {0, 2, 3, 1}; }
  [[nodiscard]] static ir::Shape in_order(const ir::Shape& shape, const ir::DimOrder& order);
  /// Returns the dimension of the tensor that is dimension `dim` of the value.
  [[nodiscard]] static int position(const ir::DimOrder& order, int64_t dim);

 private:
  struct OrderedTensor {
    ir::DimOrder order;
    int tensor = -1;
  };
  const ir::Graph& graph_;
  TensorMaker& maker_;
  std::map<ir::ValueId, std::vector<OrderedTensor>> tensors_;
};

}  // namespace thimble::interchange
