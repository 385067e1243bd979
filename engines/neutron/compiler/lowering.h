#pragma once
// The work of lower(): values of the region as places, operators as kernels.
//
// A value may have a home: where a caller's output, or the concat that it is a piece of, wants it.
// Homes are given from the end of the region to its start, through reshapes and permutes. A kernel
// writes its result at home if it can; else it writes memory of its own and a copy brings it home.

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engines/neutron/compiler/formats.h"
#include "engines/neutron/compiler/fusion.h"
#include "engines/neutron/compiler/lower.h"
#include "engines/neutron/compiler/strided.h"

namespace thimble::engine::neutron {

class Lowering {
 public:
  Lowering(const ir::Graph& graph, const Costs& costs);
  Result<Network> run();

 private:
  // lower.cpp
  Status add_edges();
  void give_homes();
  void give_homes_of(const ir::Op& op);
  void give_home(ir::ValueId id, const Strided& place);
  void give_homes_of_pieces(const ir::Op& concat);
  void give_home_of_slices(ir::ValueId id);
  void give_turned_home(const ir::Op& reshape);
  Status add_op(const ir::Op& op);
  Status add_outputs();

  // lower_value.cpp
  /// Where the value lies now; constants get a buffer.
  const Strided& place(ir::ValueId id);
  /// The same with one factor in each dimension, moved if it has not.
  Result<Strided> simple(ir::ValueId id);
  /// As an image [N, C, H, W], one factor in each dimension, channels next to each other.
  Result<Strided> image(ir::ValueId id);
  Result<Strided> image(ir::ValueId id, const ir::Shape& shape);
  /// With the last dimension next to each other.
  Result<Strided> rows(ir::ValueId id);
  Result<Strided> moved(ir::ValueId id, const ir::DimOrder& order);
  /// In memory of its own as `wanted` says, whose buffer means nothing.
  Result<Strided> moved(const Strided& from, Strided wanted);
  int scratch(int64_t bytes);
  Strided fresh(ir::ValueId id, const ir::DimOrder& order);
  /// Where a kernel writes the value: at home if `fits` says yes and no operand is in the way.
  template <typename Fits>
  Strided target(ir::ValueId id, const std::vector<Strided>& operands, bool in_place, Fits fits) {
    const auto& home = homes_[static_cast<size_t>(id)];
    if (home && fits(*home) && !in_the_way(*home, operands, in_place)) return *home;
    return fresh(id, orders_[static_cast<size_t>(id)]);
  }
  static bool in_the_way(const Strided& to, const std::vector<Strided>& operands, bool in_place);
  /// A kernel made the value there; brings it home if that is elsewhere.
  Status made(ir::ValueId id, const Strided& at, Kernel why = Kernel::kCopy);
  Status copy(const Strided& from, const Strided& to, Kernel why);
  [[nodiscard]] bool is_made_by_kernel(ir::ValueId id) const;
  [[nodiscard]] const ir::Shape& shape(ir::ValueId id) const { return graph_.type(id).shape; }
  const Fusion& fusion() const { return fusions_[static_cast<size_t>(op_)]; }

  /// Sets what the kernel is for, counts cycles.
  Status append(KernelOp kernel);
  void set_table(KernelOp* kernel) const;

  // lower_weighted.cpp
  Status convolution(const ir::Op& op);
  Status grouped(const ir::Op& op, const KernelOp& whole, const Strided& x, const Strided& y);
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
  Status window(KernelOp kernel, const ir::Op& op);

  // lower_move.cpp
  Status rename(const ir::Op& op);
  Status concat(const ir::Op& op);
  Status slice(const ir::Op& op);
  Status expand(const ir::Op& op);
  Status pad(const ir::Op& op);
  Status gather(const ir::Op& op);
  Status resize_bilinear(const ir::Op& op);
  Status resize_nearest(const ir::Op& op);
  Status mirror(const ir::Op& op);
  std::vector<const ir::Op*> gathers(const ir::Op& op) const;
  std::optional<Strided> rename_view(const ir::Op& op, const Strided& from) const;

  const ir::Graph& graph_;
  Costs costs_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<ir::DimOrder> orders_;
  std::vector<Fusion> fusions_;
  std::vector<std::optional<Strided>> places_, homes_;  // by value
  std::vector<bool> at_home_;                           // by value: its home holds it
  std::map<ir::ValueId, Strided> joints_;               // where pieces of a concat are written
  std::vector<std::pair<Strided, Strided>> moved_;      // as kernels could not and could read them
  Network net_;
  int op_ = -1;  // at hand
};

/// Dimensions `dims` of a place with one factor each, as a kernel walks them.
[[nodiscard]] View view_of(const Strided& place, const std::vector<size_t>& dims);
/// [N, H, W, C]
[[nodiscard]] View image_view(const Strided& place);
/// One view per place of the loops, each of them a dimension.
[[nodiscard]] std::vector<View> loop_views(const std::vector<Loop>& loops,
                                           const std::vector<const Strided*>& places);
[[nodiscard]] bool is_simple(const Strided& place);
[[nodiscard]] bool has_channels_together(const Strided& image);

}  // namespace thimble::engine::neutron
