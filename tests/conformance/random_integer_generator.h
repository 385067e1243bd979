#pragma once
// The generator behind random_integer_graph(): what it has made so far, and a function per family
// of operators, in random_integer_<family>.cpp. The order of random numbers is part of what a seed
// means.

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
  /// Often of the shape of one that exists, so that they can be exchanged.
  void add_state();
  /// What each state becomes: any value of its shape, through a table if the scale is another.
  void update_states();
  void add_outputs();
  ValueId pick();
  /// Later values more often, so that graphs are deep.
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

  // Of images.
  void conv(ValueId x);
  void image(ValueId x);
  void conv_transpose(ValueId x);
  void resize(ValueId x);
  /// Elements of one dimension in another order, or more than four dimensions exchanged.
  void rearrange(ValueId x);
  void pool(OpKind kind, ValueId x);

  // Element by element.
  ValueId second_operand(ValueId x);
  void binary(OpKind kind, ValueId x);
  /// Another value with x's meaning of codes, so that they may be mixed.
  ValueId comparable(ValueId x);
  /// A bool that broadcasts with x, new or one of before.
  ValueId mask(ValueId x);
  void choice(OpKind kind, ValueId x);
  /// What ExecuTorch's kernels can choose.
  void stock_choice(ValueId x);
  void scaled_pair(OpKind kind, ValueId x);

  // Over dimensions.
  void reduction(OpKind kind, ValueId x);
  void along_dim(OpKind kind, ValueId x);
  void norm(OpKind kind, ValueId x);
  void softmax(OpKind kind, ValueId x);

  // Products and gathering.
  void linear(ValueId x);
  /// By itself or by what happens to fit; a graph without another fit gets a constant.
  void product(ValueId x);
  /// Positions around and beyond the ends.
  void gathered(OpKind kind, ValueId x);
  void recurrent(OpKind kind, ValueId x);

  // Movement.
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
