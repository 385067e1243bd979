// SPDX-License-Identifier: Apache-2.0
#pragma once
// Implementation of lower(): values of the subgraph become maps, operators become layers.

#include <optional>
#include <vector>

#include "engines/axon/compiler/lower.h"

namespace thimble::engine::axon {

class Lowering {
 public:
  Lowering(const ir::Graph& graph, std::span<const StatePair> states)
      : graph_(graph),
        states_(states.begin(), states.end()),
        producers_(graph.producers()),
        maps_(graph.value_count()) {}

  Result<Network> run();

 private:
  // lower.cpp
  Status add_inputs();
  Status add_outputs();
  Status add_op(const ir::Op& op);
  Status assign_variable(const StatePair& state, const BufferView& content);
  /// Returns the map that a layer wrote for the value. Its dimensions may differ from the value's
  /// shape, but the elements have the same order.
  Result<BufferView> raw(ir::ValueId id);
  /// Returns a map with the value's own shape as [C][H][W]; adds a reshape layer if necessary.
  Result<BufferView> map(ir::ValueId id);
  Result<BufferView> reshaped(const BufferView& from, const Dims& dims);
  /// Returns the map before reshapes, for readers that need only the order of elements.
  Result<BufferView> flat(ir::ValueId id);
  Result<BufferView> constant(ir::ValueId id);
  Result<Dims> dims_of(ir::ValueId id) const;
  /// Returns the axis of the value's dimension `dim`; nothing for the batch dimension.
  [[nodiscard]] std::optional<Axis> axis_of(ir::ValueId id, int64_t dim) const;

  BufferView new_map(const Dims& dims, int64_t element_bytes, int64_t zero_point);
  /// Checks the limits, computes the cycles and appends the layer. Returns its output.
  Result<BufferView> append(Layer layer);
  /// Appends the layer that computes the result of `op`.
  Status append_result(const ir::Op& op, Layer layer);
  void set(ir::ValueId id, const BufferView& map) { maps_[static_cast<size_t>(id)] = map; }
  /// Returns a new map for the result of `op`; element size and zero point are attributes of `op`.
  [[nodiscard]] BufferView result_of(const ir::Op& op, const Dims& dims);
  static void set_requantize(const ir::Op& op, Layer* layer);
  [[nodiscard]] Status check_bounds(const ir::Op& op) const;
  [[nodiscard]] const ir::Op* producer(ir::ValueId id) const;
  [[nodiscard]] double scale_of(int op) const;
  [[nodiscard]] bool feeds_softmax(ir::ValueId id) const;

  // lower_weighted.cpp
  Status linear(const ir::Op& op);
  /// A linear layer of the NPU has one row; each further row is a layer with the same constants.
  Status linear_rows(const ir::Op& op, int64_t rows);
  Status convolution(const ir::Op& op);
  /// One convolution per group, on the group's channels.
  Status grouped(const ir::Op& op, const Layer& window, int64_t groups);
  Result<Layer> weighted_layer(const ir::Op& op, Operation operation);
  Result<Layer> window_layer(const ir::Op& op, Operation operation);
  /// A candidate layer for a convolution. `sliced`: a slice before the layer applies the stride.
  struct Choice {
    Layer layer;
    bool sliced = false;
  };
  static std::vector<Choice> choices(const Layer& window);
  Result<BufferView> pointwise_input(const BufferView& input, const Choice& choice,
                                     const ir::Op& op);
  Status append_fully_connected(const ir::Op& op, const Layer& whole);
  Status split_fully_connected(const ir::Op& op, const Layer& whole);

  // lower_element.cpp
  Status pair(const ir::Op& op);
  Status mean(const ir::Op& op);
  Status pool(const ir::Op& op);
  Status curve(const ir::Op& op);
  Status softmax(const ir::Op& op);

  // lower_move.cpp
  Status concat(const ir::Op& op);
  Status slice(const ir::Op& op);
  Status pad(const ir::Op& op);
  Result<BufferView> joined(const BufferView& a, const BufferView& b, Axis axis);
  Result<BufferView> copied(const BufferView& from);
  /// Returns the map, or a copy if it is not in an interlayer buffer with aligned rows.
  Result<BufferView> interlayer(const BufferView& from);
  /// Returns `count` indices along the outermost axis of an interlayer map, as a piece of its
  /// buffer.
  Result<BufferView> piece_of(const BufferView& image, Axis axis, int64_t begin, int64_t count);
  /// Joins adjacent pieces of one buffer, which are at their final position.
  Result<BufferView> joined_in_place(const std::vector<BufferView>& pieces, Axis axis);
  Result<BufferView> sliced(const BufferView& from, const Dims& begin, const Dims& end,
                            const Dims& step, const Dims& dims);
  bool move_into(BufferView* piece, int buffer, int64_t offset);

  const ir::Graph& graph_;
  std::vector<StatePair> states_;
  std::vector<int> producers_;
  std::vector<std::optional<BufferView>> maps_;  // indexed by value
  Network net_;
  int op_ = -1;  // the operator being lowered
};

/// Returns the offset in bytes of a piece along the axis, if such pieces are consecutive in memory.
[[nodiscard]] std::optional<int64_t> outer_offset(const BufferView& whole, Axis axis,
                                                  int64_t begin);

}  // namespace thimble::engine::axon
