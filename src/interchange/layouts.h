#pragma once
// In which orders of dimensions a value exists as a tensor of the file.
//
// The formats' image operators want [N, H, W, C]; the graph's values are logical, [N, C, H, W]. An
// operator asks for the order it wants, and a transposition is made only where no tensor has it
// yet, once. Permutations of the graph are a new name for what exists: they make none.

#include <functional>
#include <map>
#include <vector>

#include "ir/graph.h"

namespace thimble::interchange {

/// Makes tensors of the file; the numbers are the file's own.
class TensorMaker {
 public:
  virtual ~TensorMaker() = default;
  /// Dimension k of the result is dimension perms[k] of the tensor.
  virtual int transposed(int tensor, const std::vector<int>& perms, const ir::Shape& shape) = 0;
  virtual int reshaped(int tensor, const ir::Shape& shape) = 0;
  /// A constant of the graph as it lies in this order.
  virtual int constant(const ir::Value& value, const ir::DimOrder& order) = 0;
};

class Layouts {
 public:
  Layouts(const ir::Graph& graph, TensorMaker& maker) : graph_(graph), maker_(maker) {}

  /// The tensor holds the value with dimension order[k] of the value as its dimension k.
  void put(ir::ValueId value, ir::DimOrder order, int tensor);
  /// A tensor with this order; an empty one is logical order.
  int get(ir::ValueId value, ir::DimOrder order);
  /// An order in which it exists: channels last where there is a choice, logical for constants.
  [[nodiscard]] ir::DimOrder existing(ir::ValueId value) const;
  /// `to` is `from` with dimension i of the result being dimension dims[i]: all tensors serve both.
  void alias_permuted(ir::ValueId from, ir::ValueId to, const std::vector<int64_t>& dims);
  void alias(ir::ValueId from, ir::ValueId to);

  /// 0, 1, 2, ... and 0, 2, 3, 1.
  /// How an input or output of this type lies in a format that has no memory orders: channels last
  /// if the graph says so, else as its dimensions stand.
  [[nodiscard]] static ir::DimOrder at_border(const ir::Type& type);
  [[nodiscard]] static ir::DimOrder logical(size_t rank);
  [[nodiscard]] static ir::DimOrder image() { return {0, 2, 3, 1}; }
  [[nodiscard]] static ir::Shape in_order(const ir::Shape& shape, const ir::DimOrder& order);
  /// The dimension of the tensor that is dimension `dim` of the value.
  [[nodiscard]] static int position(const ir::DimOrder& order, int64_t dim);

 private:
  struct Form {
    ir::DimOrder order;
    int tensor = -1;
  };
  const ir::Graph& graph_;
  TensorMaker& maker_;
  std::map<ir::ValueId, std::vector<Form>> forms_;
};

}  // namespace thimble::interchange
