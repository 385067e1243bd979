// SPDX-License-Identifier: Apache-2.0
#pragma once
// Channels of an integer graph that are removed together.
//
// A convolution or linear produces channels. Operators that compute each channel alone (depthwise
// convolutions, pools, sums of two values, tables, data movement) keep them, and a convolution or
// linear consumes them. All values between are one group: channel c of one is channel c of each.
//
//   conv2d -> relu table -> depthwise conv2d -> add(.., another conv2d) -> conv2d
//   `------------------------ one group --------------------------'
//
// A group is fixed if a value of it is an output or the next value of a state, or if an operator
// reads it that mixes channels in another way (a softmax over channels, a concat along channels).

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::passes {

enum class ChannelRole : uint8_t {
  kMixes,    // each result channel depends on all channels of operand 0: conv2d, linear
  kEach,     // a depthwise convolution: weights per channel
  kFollows,  // each result channel depends on the same channel of the operands
  kOther,
};

/// Elements [c * block, (c + 1) * block) of dimension `dim` belong to channel c. `block` exceeds 1
/// after an image was flattened.
struct ChannelDim {
  size_t dim = 0;
  int64_t block = 1;
  bool operator==(const ChannelDim&) const = default;
};

class ChannelGroups {
 public:
  explicit ChannelGroups(const ir::Graph& graph);

  [[nodiscard]] ChannelRole role(const ir::Op& op) const;
  /// Returns true if the channels of operand 0 are those that a convolution or linear reads: a
  /// linear may read another dimension of it.
  [[nodiscard]] bool reads_channels(const ir::Op& op) const;
  /// Returns where the channels of the value are; nullopt if it belongs to no group.
  [[nodiscard]] const std::optional<ChannelDim>& dim(ir::ValueId id) const {
    return dims_[ir::index_of(id)];
  }
  /// Returns the group of a value that has channels.
  [[nodiscard]] size_t group(ir::ValueId id) const;
  /// Returns the number of channels of a value that has channels.
  [[nodiscard]] int64_t channels(ir::ValueId id) const;
  /// Returns true if the channels of the group cannot be removed.
  [[nodiscard]] bool is_fixed(size_t group) const { return fixed_[group]; }

 private:
  void visit(const ir::Op& op);
  void follow(const ir::Op& op);
  void fix(ir::ValueId id);
  void join(ir::ValueId a, ir::ValueId b);
  [[nodiscard]] std::optional<ChannelDim> after(const ir::Op& op, const ChannelDim& before) const;

  const ir::Graph& graph_;
  std::vector<std::optional<ChannelDim>> dims_;
  std::vector<size_t> parents_;  // of the union-find, by value
  std::vector<bool> fixed_;      // by value; valid for the root of a group
};

/// Index of the dimension of an operand that is aligned with dimension `dim` of a result of `rank`
/// dimensions; nullopt if the operand has no such dimension.
[[nodiscard]] std::optional<size_t> aligned_dim(size_t dim, size_t rank, size_t operand_rank);

}  // namespace thimble::passes
