// SPDX-License-Identifier: Apache-2.0
#pragma once
// The generator behind random_integer_graph(): the values made so far, and one function per
// operator family, in random_integer_<family>.cpp. The order of random numbers must not change:
// it determines the graph of a seed.

#include <string>
#include <utility>
#include <vector>

#include "../unit/ir_random_graph.h"
#include "ir/graph.h"
#include "random_integer_graph.h"

namespace thimble::test {

class IntegerGraphGenerator {
 public:
  using Attrs = ir::Attrs;
  using OpKind = ir::OpKind;
  using Shape = ir::Shape;
  using ValueId = ir::ValueId;

  IntegerGraphGenerator(uint64_t seed, const IntegerGraphOptions& options)
      : random_(seed), options_(options) {}

  ir::Graph run();

 private:
  ir::Quant quant();
  ir::DimOrder maybe_channels_last(const Shape& shape);
  void add_input(int i);
  /// Adds a state, often with the shape of an existing one, so that states can be swapped.
  void add_state();
  /// Assigns each state a value of its shape, through a lookup table if the scales differ.
  void update_states();
  void add_outputs();
  ValueId pick();
  /// Returns the last value more often than others, so that graphs are deep.
  ValueId pick_recent() { return random_.chance(60) ? values_.back() : pick(); }
  const Shape& shape(ValueId value) { return graph_.type(value).shape; }
  int64_t code() { return random_.between(-128, 127); }
  ValueId constant(ir::Tensor tensor);
  ValueId codes(const Shape& shape);
  std::pair<ValueId, ValueId> multipliers(int64_t count, double magnitude);
  void set_clamp(Attrs* attrs);
  bool keep(OpKind kind, std::vector<ValueId> inputs, Attrs attrs, bool fresh_quant);
  void add_op();
  void make(OpKind kind, ValueId x);
  std::vector<int64_t> pair(int64_t low, int64_t high);
  std::vector<int64_t> padding();
  ir::Tensor small_i32(int64_t count);
  void set_multiplier(Attrs* attrs, double real);

  // Operators on images.
  void conv(ValueId x);
  void image(ValueId x);
  void conv_transpose(ValueId x);
  void resize(ValueId x);
  /// Permutes the elements of one dimension, or permutes more than four dimensions.
  void rearrange(ValueId x);
  void pool(OpKind kind, ValueId x);

  // Elementwise operators.
  ValueId second_operand(ValueId x);
  void binary(OpKind kind, ValueId x);
  /// Returns another value with the scale and zero point of x, so that both can be combined.
  ValueId comparable(ValueId x);
  /// Returns a bool value that broadcasts with x, new or existing.
  ValueId mask(ValueId x);
  void choice(OpKind kind, ValueId x);
  /// Adds a choice operator that ExecuTorch's kernels support.
  void stock_choice(ValueId x);
  void scaled_pair(OpKind kind, ValueId x);

  // Operators over dimensions.
  void reduction(OpKind kind, ValueId x);
  void along_dim(OpKind kind, ValueId x);
  void norm(OpKind kind, ValueId x);
  void softmax(OpKind kind, ValueId x);

  // Products and gathers.
  void linear(ValueId x);
  /// Multiplies x by itself or by any value of fitting shape, else by a constant.
  void product(ValueId x);
  /// Gathers at positions around the ends and beyond them.
  void gathered(OpKind kind, ValueId x);
  void recurrent(OpKind kind, ValueId x);

  // Data movement.
  void movement(OpKind kind, ValueId x);
  void reshape(ValueId x);

  Random random_;
  IntegerGraphOptions options_;
  ir::Graph graph_;
  std::vector<ValueId> values_;
  std::vector<ValueId> masks_;  // bool
  int made_ = 0;
};

}  // namespace thimble::test
