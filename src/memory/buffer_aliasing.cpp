#include "memory/buffer_aliasing.h"

#include <algorithm>
#include <numeric>

#include "abi/limits.h"

namespace thimble::memory {

using ir::ValueId;

BufferAliasing::BufferAliasing(const engine::Lowered& lowered)
    : lowered_(&lowered),
      call_of_op_(lowered.graph.ops().size(), -1),
      is_view_(lowered.calls.size(), false) {
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    call_of_op_[static_cast<size_t>(lowered.calls[step].ir_op)] = static_cast<int>(step);
  }
  auto of_ops = std::make_shared<std::vector<OpFacts>>();
  for (const ir::Op& op : lowered.graph.ops()) {
    of_ops->push_back({ir::is_alias(lowered.graph, op), ir::view_of(lowered.graph, op)});
  }
  op_facts_ = std::move(of_ops);
  [[maybe_unused]] const bool fits = build();
  assert(fits && "views without a call that cannot share memory");
}

bool BufferAliasing::build() {
  const ir::Graph& graph = lowered_->graph;
  defined_values_.clear();
  values_of_buffer_.clear();
  ranges_.assign(graph.value_count(), {});
  buffer_.assign(graph.value_count(), -1);
  unshifted_offset_.assign(graph.value_count(), 0);
  source_.clear();
  for (size_t i = 0; i < graph.value_count(); ++i) source_.push_back(static_cast<ValueId>(i));
  for (const ir::State& state : graph.states()) define(state.value, -1, /*never_merged=*/true);
  define_planned_inputs();
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    if (is_view_[step]) continue;
    define(call.out, static_cast<int>(step));
    for (const ValueId more : call.extra_outputs) define(more, static_cast<int>(step));
  }
  const std::vector<size_t> views = views_without_call();
  for (const size_t i : views) {
    if (!compute_ranges(i)) return false;
  }
  // Two values can share memory only if all reads allow it.
  find_reads();
  for (const size_t i : views) {
    if (!place_view(i)) return false;
  }
  for (const ir::State& state : graph.states()) {
    if (!merge(state.value, source_of(state.next), 0)) return false;
  }
  compute_buffers();
  return true;
}

/// Operators whose results are views, because they have no call or it was removed.
std::vector<size_t> BufferAliasing::views_without_call() const {
  std::vector<size_t> views;
  for (size_t i = 0; i < lowered_->graph.ops().size(); ++i) {
    const int call = call_of_op_[i];
    const bool has_call = call >= 0 && !is_view_[static_cast<size_t>(call)];
    if (!has_call && lowered_->graph.ops()[i].kind != ir::OpKind::delegate) views.push_back(i);
  }
  return views;
}

void BufferAliasing::define(ValueId value, int step, bool never_merged) {
  ranges_[index(value)] = {{static_cast<int>(defined_values_.size()), 0, bytes(value), 0}};
  buffer_[index(value)] = static_cast<int>(values_of_buffer_.size());
  values_of_buffer_.push_back({static_cast<int>(defined_values_.size())});
  defined_values_.push_back({value, step, never_merged, {}});
}

/// An input has an address in the plan if the program owns its inputs, or if a value aliases it.
void BufferAliasing::define_planned_inputs() {
  const ir::Graph& graph = lowered_->graph;
  if (lowered_->owns_inputs) {
    for (const ValueId input : graph.inputs()) define(input, -1);
    return;
  }
  // source_ is not set yet: compute_ranges() needs the inputs that are defined here.
  std::vector<ValueId> source = source_;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const ir::Op& op = graph.ops()[i];
    if (facts_of(i).is_alias) source[index(op.output)] = source[index(op.inputs[0])];
  }
  for (const ValueId input : graph.inputs()) {
    if (std::ranges::count(source, input) > 1) define(input, -1, /*never_merged=*/true);
  }
}

/// Sets the ranges of the result of operator i, which has no call. Returns false if it cannot be a
/// view.
bool BufferAliasing::compute_ranges(size_t i) {
  const ir::Op& op = lowered_->graph.ops()[i];
  std::vector<ByteRange>& ranges = ranges_[index(op.output)];
  if (facts_of(i).is_alias) {
    source_[index(op.output)] = source_of(op.inputs[0]);
    ranges = ranges_[index(op.inputs[0])];
    return true;
  }
  const std::optional<ir::View>& view = facts_of(i).view;
  if (!view) return false;
  const int64_t size = bytes(op.output);
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (ranges_[index(op.inputs[k])].empty()) return false;  // without a buffer
    if (view->at[k] % abi::kArenaAlignment != 0) return false;
    for (ByteRange range : ranges_[index(op.inputs[k])]) {
      range.value_offset += view->at[k];
      range.begin = std::max(range.begin, -range.value_offset);
      range.end = std::min(range.end, size - range.value_offset);
      if (range.begin < range.end) ranges.push_back(range);
    }
  }
  return true;
}

/// Sets the buffer and the offset of the result of operator i, which has no call. Returns false if
/// its operands cannot be placed side by side.
bool BufferAliasing::place_view(size_t i) {
  const ir::Op& op = lowered_->graph.ops()[i];
  const ValueId first = op.inputs[0];
  const auto out = index(op.output);
  buffer_[out] = buffer_[index(first)];
  unshifted_offset_[out] = unshifted_offset_[index(first)];
  if (source_of(op.output) != op.output) return true;
  const std::optional<ir::View>& view = facts_of(i).view;
  if (is_never_merged(buffer_[out])) return false;
  unshifted_offset_[out] -= view->at[0];
  for (size_t k = 1; k < op.inputs.size(); ++k) {
    // The first operand fixes the position. The buffer of each other operand is moved to it.
    if (!try_merge(first, op.inputs[k], view->at[k] - view->at[0])) return false;
  }
  return true;
}

void BufferAliasing::find_reads() {
  const auto read = [&](ValueId value, int step) {
    for (const ByteRange& range : ranges_[index(value)]) {
      // Seen from the defined value: the sign changes.
      defined_values_[static_cast<size_t>(range.defined)].reads.push_back(
          {step, range.begin, range.end, -range.value_offset, value});
    }
  };
  const auto end = static_cast<int>(lowered_->calls.size());
  for (int step = 0; step < end; ++step) {
    if (is_view_[static_cast<size_t>(step)]) continue;
    engine::for_each_operand(lowered_->calls[static_cast<size_t>(step)],
                             [&](ValueId value) { read(value, step); });
  }
  for (const ValueId output : lowered_->graph.outputs()) read(output, end);
  for (const ir::State& state : lowered_->graph.states()) read(state.next, end);
}

/// Returns true if no other value may share the memory of this buffer.
bool BufferAliasing::is_never_merged(int buffer) const {
  return std::ranges::any_of(values_of_buffer_[static_cast<size_t>(buffer)], [&](int defined) {
    return defined_values_[static_cast<size_t>(defined)].never_merged;
  });
}

bool BufferAliasing::merge(ValueId a, ValueId b, int64_t distance) {
  const int into = buffer_[index(a)], from = buffer_[index(b)];
  if (into < 0 || from < 0) return false;
  const int64_t shift = unshifted_offset_[index(a)] + distance - unshifted_offset_[index(b)];
  if (into == from) return shift == 0;
  for (size_t value = 0; value < buffer_.size(); ++value) {
    if (buffer_[value] != from) continue;
    buffer_[value] = into;
    unshifted_offset_[value] += shift;
  }
  std::vector<int>& to = values_of_buffer_[static_cast<size_t>(into)];
  std::vector<int>& moved = values_of_buffer_[static_cast<size_t>(from)];
  to.insert(to.end(), moved.begin(), moved.end());
  moved.clear();
  return true;
}

bool BufferAliasing::try_merge(ValueId a, ValueId b, int64_t distance) {
  const int into = buffer_[index(a)], from = buffer_[index(b)];
  if (into < 0 || from < 0) return false;
  if (into == from) return merge(a, b, distance);
  if (is_never_merged(into) || is_never_merged(from)) return false;
  const int64_t shift = unshifted_offset_[index(a)] + distance - unshifted_offset_[index(b)];
  for (const int x : values_of_buffer_[static_cast<size_t>(into)]) {
    for (const int y : values_of_buffer_[static_cast<size_t>(from)]) {
      const DefinedValue& x_value = defined_values_[static_cast<size_t>(x)];
      const DefinedValue& y_value = defined_values_[static_cast<size_t>(y)];
      const int64_t apart =
          unshifted_offset_[index(y_value.value)] + shift - unshifted_offset_[index(x_value.value)];
      if (!can_share_memory(x_value, y_value, apart)) return false;
    }
  }
  return merge(a, b, distance);
}

/// Returns true if a and b can share memory when b begins `distance` bytes after a.
bool BufferAliasing::can_share_memory(const DefinedValue& a, const DefinedValue& b,
                                      int64_t distance) const {
  if (a.step > b.step) return can_share_memory(b, a, -distance);
  const int64_t begin = std::max<int64_t>(0, distance);
  const int64_t end = std::min(bytes(a.value), distance + bytes(b.value));
  if (begin >= end) return true;
  if (a.step == b.step) return false;
  return std::ranges::all_of(a.reads, [&](const Read& read) {
    if (read.step < b.step || read.end <= begin || end <= read.begin) return true;
    if (read.step > b.step) return false;
    const engine::KernelCall& call = lowered_->calls[static_cast<size_t>(read.step)];
    return read.operand_offset == distance && may_overwrite(call, read.through);
  });
}

/// Returns true if the result of the call may be written over this operand: the operand
/// KernelCall::in_place, or an operand with the result's shape and memory order, because calls with
/// in_place read every such operand elementwise.
bool BufferAliasing::may_overwrite(const engine::KernelCall& call, ValueId operand) const {
  if (call.in_place < 0 || bytes(operand) != bytes(call.out)) return false;
  const auto* in_place =
      std::get_if<engine::ValueRef>(&call.arguments[static_cast<size_t>(call.in_place)]);
  if (in_place != nullptr && in_place->id == operand) return true;
  const ir::Type& from = lowered_->graph.type(operand);
  const ir::Type& to = lowered_->graph.type(call.out);
  return from.shape == to.shape && ir::same_memory(from.shape, from.dim_order, to.dim_order);
}

void BufferAliasing::reuse_operand_buffers() {
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    if (is_view_[step] || call.in_place < 0) continue;
    std::vector<size_t> choices = {static_cast<size_t>(call.in_place)};
    const ir::Op& op = lowered_->graph.ops()[static_cast<size_t>(call.ir_op)];
    if (ir::category_of(op.kind) == ir::OpCategory::kPair) choices = {0, 1};
    for (const size_t choice : choices) {
      const auto* operand = std::get_if<engine::ValueRef>(&call.arguments[choice]);
      if (operand == nullptr || !may_overwrite(call, operand->id)) continue;
      (void)try_merge(operand->id, call.out, 0);
    }
  }
  compute_buffers();
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    if (!is_view_[step]) reuse_line_buffer(static_cast<int>(step));
  }
}

/// If the call is a slice at the end of its operand's lifetime (the rows that the next line buffer
/// keeps), places the result's buffer at the address of the operand's buffer, so that the next line
/// buffer reuses the memory. Only for buffers whose sizes differ by at most a quarter of the larger
/// one.
void BufferAliasing::reuse_line_buffer(int step) {
  const engine::KernelCall& call = lowered_->calls[static_cast<size_t>(step)];
  if (call.delegate >= 0) return;
  const ir::Op& op = lowered_->graph.ops()[static_cast<size_t>(call.ir_op)];
  if (op.kind != ir::OpKind::slice || buffer_of(op.inputs[0]) < 0) return;
  const int from = buffer_of(op.inputs[0]), to = buffer_of(op.output);
  if (from == to || aliased_buffers_[static_cast<size_t>(from)].life.last != step) return;
  const int64_t old_bytes = aliased_buffers_[static_cast<size_t>(from)].bytes;
  const int64_t new_bytes = aliased_buffers_[static_cast<size_t>(to)].bytes;
  if (new_bytes * 4 < old_bytes * 3 || old_bytes * 4 < new_bytes * 3) return;
  const int64_t distance = offset_of(op.output) - offset_of(op.inputs[0]);
  if (try_merge(op.inputs[0], op.output, distance)) compute_buffers();
}

void BufferAliasing::compute_buffers() {
  aliased_buffers_.assign(values_of_buffer_.size(), {});
  origin_.assign(values_of_buffer_.size(), INT64_MAX);
  std::vector<int64_t> end(values_of_buffer_.size(), INT64_MIN);
  for (size_t value = 0; value < buffer_.size(); ++value) {
    if (buffer_[value] < 0) continue;
    const auto i = static_cast<size_t>(buffer_[value]);
    const auto id = static_cast<ValueId>(value);
    AliasedBuffer& buffer = aliased_buffers_[i];
    origin_[i] = std::min(origin_[i], unshifted_offset_[value]);
    end[i] = std::max(end[i], unshifted_offset_[value] + bytes(id));
    if (buffer.value == ir::kNoValue || bytes(id) > bytes(buffer.value)) buffer.value = id;
  }
  for (size_t i = 0; i < values_of_buffer_.size(); ++i) {
    AliasedBuffer& buffer = aliased_buffers_[i];
    if (values_of_buffer_[i].empty()) continue;
    buffer.bytes = end[i] - origin_[i];
    buffer.life = {};
    for (const int defined : values_of_buffer_[i]) {
      const DefinedValue& one = defined_values_[static_cast<size_t>(defined)];
      buffer.life.add(std::max(0, one.step));
      for (const Read& read : one.reads) buffer.life.add(read.step);
    }
  }
}

int64_t BufferAliasing::offset_of(ValueId value) const {
  return unshifted_offset_[index(value)] - origin_[static_cast<size_t>(buffer_[index(value)])];
}

std::vector<Overlap> BufferAliasing::overlaps() const {
  std::vector<Overlap> overlaps;
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    if (is_view_[step] || !call.lead) continue;
    const auto* x = std::get_if<engine::ValueRef>(&call.arguments[0]);
    if (x == nullptr || buffer_of(x->id) < 0) continue;
    const int operand = buffer_of(x->id), result = buffer_of(call.out);
    if (operand == result || is_never_merged(operand) || is_never_merged(result)) continue;
    const auto at = static_cast<int>(step);
    const bool dies = aliased_buffers_[static_cast<size_t>(operand)].life.last == at;
    const bool begins = aliased_buffers_[static_cast<size_t>(result)].life.first == at;
    if (!dies || !begins) continue;
    const int64_t lead = *call.lead + offset_of(call.out) - offset_of(x->id);
    overlaps.push_back({operand, result, std::max<int64_t>(1, lead)});
  }
  return overlaps;
}

int64_t BufferAliasing::lower_bound_bytes() const {
  std::vector<Buffer> buffers(aliased_buffers_.begin(), aliased_buffers_.end());
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    const auto at = static_cast<int>(step);
    const int64_t scratch_bytes = engine::scratch_bytes(call);
    if (scratch_bytes > 0) buffers.push_back({scratch_bytes, {at, at}});
  }
  return memory::lower_bound_bytes(buffers, abi::kArenaAlignment, overlaps());
}

bool BufferAliasing::can_be_view(size_t step) const {
  const engine::KernelCall& call = lowered_->calls[step];
  if (call.delegate >= 0 || is_view_[step]) return false;
  const bool moves_bytes_only = facts_of(static_cast<size_t>(call.ir_op)).view.has_value();
  return moves_bytes_only && !is_never_merged(buffer_of(call.out));
}

bool BufferAliasing::make_view(size_t step) {
  const size_t one[] = {step};
  return make_views(one);
}

bool BufferAliasing::make_views() {
  std::vector<size_t> steps(lowered_->calls.size());
  std::iota(steps.begin(), steps.end(), size_t{0});
  return make_views(steps);
}

/// Tries all steps at once, then each half. The result equals that of one step at a time, because
/// any subset of steps that fit together also fits. Most steps fit.
bool BufferAliasing::make_views(std::span<const size_t> steps) {
  std::vector<size_t> candidates;
  std::ranges::copy_if(steps, std::back_inserter(candidates),
                       [&](size_t step) { return can_be_view(step); });
  if (candidates.empty()) return false;
  for (const size_t step : candidates) is_view_[step] = true;
  if (build()) return true;
  for (const size_t step : candidates) is_view_[step] = false;
  [[maybe_unused]] const bool fits = build();
  assert(fits);
  if (candidates.size() == 1) return false;
  const std::span<const size_t> all = candidates;
  const bool first = make_views(all.first(all.size() / 2));
  const bool second = make_views(all.subspan(all.size() / 2));
  return first || second;
}

engine::Lowered remove_copies(engine::Lowered lowered) {
  BufferAliasing aliasing(lowered);
  const auto needs = [](BufferAliasing copy) {
    copy.reuse_operand_buffers();
    return copy.lower_bound_bytes();
  };
  const int64_t before = needs(aliasing);
  BufferAliasing all = aliasing;
  if (!all.make_views()) return lowered;
  if (needs(all) <= before) {
    aliasing = std::move(all);
  } else {
    // Together they need more memory: keep those that alone do not.
    int64_t least = before;
    for (size_t step = 0; step < lowered.calls.size(); ++step) {
      BufferAliasing without = aliasing;
      if (!without.make_view(step)) continue;
      const int64_t bytes = needs(without);
      if (bytes > least) continue;
      least = bytes;
      aliasing = std::move(without);
    }
  }
  std::vector<engine::KernelCall> calls;
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    if (!aliasing.is_view(step)) calls.push_back(std::move(lowered.calls[step]));
  }
  lowered.calls = std::move(calls);
  return lowered;
}

}  // namespace thimble::memory
