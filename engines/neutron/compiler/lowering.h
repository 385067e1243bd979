// SPDX-License-Identifier: Apache-2.0
#pragma once
// Implementation of lower(): values of the subgraph become locations, operators become kernels.
//
// A value may have a destination: its position in a graph output or in the result of a
// concat. Destinations are assigned from the end of the subgraph to its start, through reshapes and
// permutes. A kernel writes its result to the destination if it can. Otherwise it writes to a new
// buffer, and a copy to the destination follows.

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engines/neutron/compiler/fusion.h"
#include "engines/neutron/compiler/location.h"
#include "engines/neutron/compiler/lower.h"
#include "engines/neutron/compiler/memory_orders.h"

namespace thimble::engine::neutron {

class Lowering {
 public:
  Lowering(const ir::Graph& graph, const Costs& costs);
  Result<Network> run();

 private:
  // lower.cpp
  Status add_inputs_and_outputs();
  void assign_destinations();
  void assign_operand_destination(const ir::Op& op);
  void assign_destination(ir::ValueId id, const Location& destination);
  void assign_concat_destinations(const ir::Op& concat);
  void assign_destination_from_slices(ir::ValueId id);
  void assign_channels_last_destination(const ir::Op& reshape);
  Status add_op(const ir::Op& op);
  Status add_outputs();

  // lower_value.cpp
  /// Returns the current location of the value; allocates a buffer for a constant.
  const Location& location(ir::ValueId id);
  /// Returns a location with one axis per dimension; adds a copy if necessary.
  Result<Location> simple(ir::ValueId id);
  /// Returns an image [N, C, H, W] with one axis per dimension and contiguous channels.
  Result<Location> image(ir::ValueId id);
  Result<Location> image(ir::ValueId id, const ir::Shape& shape);
  Result<Location> copy_of(ir::ValueId id, const ir::DimOrder& order);
  /// Copies to a new buffer with the layout of `wanted`; the buffer of `wanted` is ignored.
  Result<Location> copy_of(const Location& from, Location wanted);
  int scratch(int64_t bytes);
  Location fresh(ir::ValueId id, const ir::DimOrder& order);
  /// Returns the location where a kernel writes the value: the destination if `fits` returns true
  /// and no operand overlaps it, otherwise a new buffer.
  template <typename Fits>
  Location target(ir::ValueId id, const std::vector<Location>& operands, bool in_place, Fits fits) {
    const auto& destination = destinations_[static_cast<size_t>(id)];
    if (destination && fits(*destination) && !overlaps_operand(*destination, operands, in_place))
      return *destination;
    return fresh(id, orders_[static_cast<size_t>(id)]);
  }
  static bool overlaps_operand(const Location& to, const std::vector<Location>& operands,
                               bool in_place);
  /// Records that a kernel wrote the value at `at`; copies it to its destination if that differs.
  Status finish_result(ir::ValueId id, const Location& at, Kernel copy_kind = Kernel::kCopy);
  Status copy(const Location& from, const Location& to, Kernel copy_kind);
  [[nodiscard]] bool is_made_by_kernel(ir::ValueId id) const;
  [[nodiscard]] const ir::Shape& shape(ir::ValueId id) const { return graph_.type(id).shape; }
  const Fusion& fusion() const { return fusions_[static_cast<size_t>(op_)]; }

  /// Sets ir_op, fused_ops and cycles, and appends the kernel.
  Status append(KernelOp kernel);
  /// Appends the kernel that computes the result of `op` at `y`.
  Status append_result(const ir::Op& op, KernelOp kernel, const Location& y,
                       Kernel copy_kind = Kernel::kCopy);
  void set_table(KernelOp* kernel) const;
  /// Sets rounding, zero point and bounds of the result. If the operator has the attributes `mult`
  /// and `shift`, also sets entry 2 of `multiplier` and `shift`.
  static void set_requantization(const ir::Op& op, KernelOp* kernel);

  // lower_weighted.cpp
  Status convolution(const ir::Op& op);
  Status grouped(const ir::Op& op, const KernelOp& whole, const Location& x, const Location& y);
  Status transposed(const ir::Op& op);
  Status linear(const ir::Op& op);
  Status matmul(const ir::Op& op);
  void set_scales(const ir::Op& op, KernelOp* kernel) const;

  // lower_element.cpp
  Status pair(const ir::Op& op);
  Status table(const ir::Op& op);
  Status prelu(const ir::Op& op);
  Status elementwise(KernelOp kernel, ir::ValueId result, const std::vector<ir::ValueId>& operands);

  // lower_reduce.cpp
  Status reduction(const ir::Op& op);
  Status pool(const ir::Op& op);
  Status adaptive_pool(const ir::Op& op);
  Status softmax(const ir::Op& op);
  Status window(const ir::Op& op, KernelOp kernel);

  // lower_move.cpp
  Status alias(const ir::Op& op);  // the result is a view of the operand
  Status concat(const ir::Op& op);
  Status slice(const ir::Op& op);
  Status expand(const ir::Op& op);
  Status pad(const ir::Op& op);
  Status gather(const ir::Op& op);
  Status resize_bilinear(const ir::Op& op);
  Status resize_nearest(const ir::Op& op);
  Status mirror(const ir::Op& op);
  std::vector<const ir::Op*> gathers(const ir::Op& op) const;
  std::optional<Location> aliased_location(const ir::Op& op, const Location& from) const;

  const ir::Graph& graph_;
  Costs costs_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<ir::DimOrder> orders_;
  std::vector<Fusion> fusions_;
  std::vector<std::optional<Location>> locations_,
      destinations_;                                   // by value: location, destination
  std::vector<bool> at_destination_;                   // by value: it is at its destination
  std::map<ir::ValueId, Location> concat_locations_;   // by concat result: where it is written
  std::vector<std::pair<Location, Location>> copies_;  // copies so far: (source, copy)
  Network net_;
  int op_ = -1;  // the operator being lowered
};

/// Returns a kernel's view of the dimensions `dims`, which must have one axis each.
[[nodiscard]] BufferView view_of(const Location& location, const std::vector<size_t>& dims);
/// Returns a view [N, H, W, C] of an image.
[[nodiscard]] BufferView image_view(const Location& location);
/// Returns the view of location number `which` of the loops; each loop is a dimension.
[[nodiscard]] BufferView loop_view(const Location& location, const std::vector<Loop>& loops,
                                   size_t which);
/// Returns one view per location; each loop is a dimension.
[[nodiscard]] std::vector<BufferView> loop_views(const std::vector<Loop>& loops,
                                                 const std::vector<const Location*>& locations);
[[nodiscard]] bool is_simple(const Location& location);
[[nodiscard]] bool has_contiguous_channels(const Location& image);

}  // namespace thimble::engine::neutron
