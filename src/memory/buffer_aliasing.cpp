// SPDX-License-Identifier: Apache-2.0
#include "memory/buffer_aliasing.h"

#include <algorithm>
#include <numeric>

#include "abi/limits.h"

namespace thimble::memory {

using ir::ValueId;

BufferAliasing::BufferAliasing(const engine::Lowered& lowered, bool* fits)
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
  for (size_t i = 0; i < lowered.graph.value_count(); ++i) {
    bytes_.push_back(static_cast<int64_t>(lowered.graph.type(static_cast<ValueId>(i)).bytes()));
  }
  *fits = build();
}

BufferAliasing::BufferAliasing(const engine::Lowered& lowered)
    : BufferAliasing(lowered, &views_fit_) {
  assert(views_fit_ && "views without a call that cannot share memory");
}

bool BufferAliasing::views_fit(const engine::Lowered& lowered) {
  bool fits = false;
  const BufferAliasing aliasing(lowered, &fits);
  return fits;
}

bool BufferAliasing::build() {
  const ir::Graph& graph = lowered_->graph;
  defined_values_.clear();
  values_of_buffer_.clear();
  ranges_.clear();
  ranges_of_value_.assign(graph.value_count(), {0, 0});
  defined_.assign(graph.value_count(), -1);
  buffer_.assign(graph.value_count(), -1);
  unshifted_offset_.assign(graph.value_count(), 0);
  next_value_.assign(graph.value_count(), ir::kNoValue);
  source_.resize(graph.value_count());
  std::iota(source_.begin(), source_.end(), ValueId{0});
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
  defined_[index(value)] = static_cast<int>(defined_values_.size());
  ranges_of_value_[index(value)] = {ranges_.size(), ranges_.size() + 1};
  ranges_.push_back({defined_[index(value)], 0, bytes(value), 0});
  values_of_buffer_.push_back({ir::kNoValue, ir::kNoValue, never_merged});
  add_to_buffer(value, static_cast<int>(values_of_buffer_.size()) - 1, 0);
  defined_values_.push_back({value, step, 0, 0});
}

void BufferAliasing::add_to_buffer(ValueId value, int buffer, int64_t unshifted_offset) {
  buffer_[index(value)] = buffer;
  unshifted_offset_[index(value)] = unshifted_offset;
  if (buffer < 0) return;
  BufferValues& values = values_of_buffer_[static_cast<size_t>(buffer)];
  (values.first == ir::kNoValue ? values.first : next_value_[index(values.last)]) = value;
  values.last = value;
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
  if (facts_of(i).is_alias) {
    source_[index(op.output)] = source_of(op.inputs[0]);
    ranges_of_value_[index(op.output)] = ranges_of_value_[index(op.inputs[0])];
    return true;
  }
  const std::optional<ir::View>& view = facts_of(i).view;
  if (!view) return false;
  const int64_t size = bytes(op.output);
  const size_t first = ranges_.size();
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const auto [begin, end] = ranges_of_value_[index(op.inputs[k])];
    if (begin == end) return false;  // without a buffer
    if (view->at[k] % abi::kArenaAlignment != 0) return false;
    for (size_t r = begin; r < end; ++r) {
      ByteRange range = ranges_[r];
      range.value_offset += view->at[k];
      range.begin = std::max(range.begin, -range.value_offset);
      range.end = std::min(range.end, size - range.value_offset);
      if (range.begin < range.end) ranges_.push_back(range);
    }
  }
  ranges_of_value_[index(op.output)] = {first, ranges_.size()};
  return true;
}

/// Sets the buffer and the offset of the result of operator i, which has no call. Returns false if
/// its operands cannot be placed side by side.
bool BufferAliasing::place_view(size_t i) {
  const ir::Op& op = lowered_->graph.ops()[i];
  const ValueId first = op.inputs[0];
  const auto out = index(op.output);
  const bool is_alias = source_of(op.output) != op.output;
  const std::optional<ir::View>& view = facts_of(i).view;
  add_to_buffer(op.output, buffer_[index(first)],
                unshifted_offset_[index(first)] - (is_alias ? 0 : view->at[0]));
  if (is_alias) return true;
  if (is_never_merged(buffer_[out])) return false;
  for (size_t k = 1; k < op.inputs.size(); ++k) {
    // The first operand fixes the position. The buffer of each other operand is moved to it.
    if (!try_merge(first, op.inputs[k], view->at[k] - view->at[0])) return false;
  }
  return true;
}

void BufferAliasing::find_reads() {
  unsorted_reads_.clear();
  const auto read = [&](ValueId value, int call, int step) {
    for (const ByteRange& range : ranges_of(value)) {
      // Seen from the defined value: the sign changes.
      unsorted_reads_.push_back(
          {range.defined, call, step, range.begin, range.end, -range.value_offset, value});
    }
  };
  const auto end = static_cast<int>(lowered_->calls.size());
  for (int step = 0; step < end; ++step) {
    if (is_view_[static_cast<size_t>(step)]) continue;
    const engine::KernelCall& call = lowered_->calls[static_cast<size_t>(step)];
    const int last = step + call.overlap;
    engine::for_each_operand(call, [&](ValueId value) { read(value, step, last); });
    if (call.overlap == 0) continue;
    // Results have memory while the delegate works, even if nothing reads them.
    read(call.out, step, last);
    for (const ValueId more : call.extra_outputs) read(more, step, last);
  }
  for (const ValueId output : lowered_->graph.outputs()) read(output, end, end);
  for (const ir::State& state : lowered_->graph.states()) read(state.next, end, end);
  sort_reads();
}

/// Sets reads_ by defined value, from unsorted_reads_.
void BufferAliasing::sort_reads() {
  for (const Read& read : unsorted_reads_) {
    ++defined_values_[static_cast<size_t>(read.defined)]
          .end_read;  // the count, until the next loop
  }
  size_t first = 0;
  for (DefinedValue& defined : defined_values_) {
    const size_t count = defined.end_read;
    defined.first_read = defined.end_read = first;
    first += count;
  }
  reads_.resize(unsorted_reads_.size());
  for (const Read& read : unsorted_reads_) {
    reads_[defined_values_[static_cast<size_t>(read.defined)].end_read++] = read;
  }
}

bool BufferAliasing::merge(ValueId a, ValueId b, int64_t distance) {
  const int into = buffer_[index(a)], from = buffer_[index(b)];
  if (into < 0 || from < 0) return false;
  const int64_t shift = unshifted_offset_[index(a)] + distance - unshifted_offset_[index(b)];
  if (into == from) return shift == 0;
  BufferValues& to = values_of_buffer_[static_cast<size_t>(into)];
  BufferValues& moved = values_of_buffer_[static_cast<size_t>(from)];
  for (ValueId value = moved.first; value != ir::kNoValue; value = next_value_[index(value)]) {
    buffer_[index(value)] = into;
    unshifted_offset_[index(value)] += shift;
  }
  next_value_[index(to.last)] = moved.first;
  to.last = moved.last;
  to.never_merged = to.never_merged || moved.never_merged;
  moved = {};
  return true;
}

bool BufferAliasing::try_merge(ValueId a, ValueId b, int64_t distance) {
  const int into = buffer_[index(a)], from = buffer_[index(b)];
  if (into < 0 || from < 0) return false;
  if (into == from) return merge(a, b, distance);
  if (is_never_merged(into) || is_never_merged(from)) return false;
  const int64_t shift = unshifted_offset_[index(a)] + distance - unshifted_offset_[index(b)];
  const ValueId first_y = values_of_buffer_[static_cast<size_t>(from)].first;
  for (ValueId x = values_of_buffer_[static_cast<size_t>(into)].first; x != ir::kNoValue;
       x = next_value_[index(x)]) {
    if (defined_[index(x)] < 0) continue;
    for (ValueId y = first_y; y != ir::kNoValue; y = next_value_[index(y)]) {
      if (defined_[index(y)] < 0) continue;
      const int64_t apart = unshifted_offset_[index(y)] + shift - unshifted_offset_[index(x)];
      if (!can_share_memory(defined_values_[static_cast<size_t>(defined_[index(x)])],
                            defined_values_[static_cast<size_t>(defined_[index(y)])], apart)) {
        return false;
      }
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
  return std::ranges::all_of(reads_of(a), [&](const Read& read) {
    if (read.step < b.step || read.end <= begin || end <= read.begin) return true;
    if (read.step > b.step || read.call != b.step) return false;
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
  if (!try_merge(op.inputs[0], op.output, distance)) return;
  compute_buffer(from);
  compute_buffer(to);
}

void BufferAliasing::compute_buffers() {
  aliased_buffers_.resize(values_of_buffer_.size());
  origin_.resize(values_of_buffer_.size());
  for (size_t i = 0; i < values_of_buffer_.size(); ++i) compute_buffer(static_cast<int>(i));
}

void BufferAliasing::compute_buffer(int buffer_index) {
  AliasedBuffer& buffer = aliased_buffers_[static_cast<size_t>(buffer_index)];
  int64_t& origin = origin_[static_cast<size_t>(buffer_index)];
  buffer = {};
  origin = INT64_MAX;
  int64_t end = INT64_MIN;
  ValueId value = values_of_buffer_[static_cast<size_t>(buffer_index)].first;
  if (value == ir::kNoValue) return;
  buffer.life = {};
  for (; value != ir::kNoValue; value = next_value_[index(value)]) {
    origin = std::min(origin, unshifted_offset_[index(value)]);
    end = std::max(end, unshifted_offset_[index(value)] + bytes(value));
    const bool is_larger = buffer.value == ir::kNoValue || bytes(value) > bytes(buffer.value) ||
                           (bytes(value) == bytes(buffer.value) && value < buffer.value);
    if (is_larger) buffer.value = value;
    if (defined_[index(value)] < 0) continue;
    const DefinedValue& one = defined_values_[static_cast<size_t>(defined_[index(value)])];
    buffer.life.add(std::max(0, one.step));
    for (const Read& read : reads_of(one)) buffer.life.add(read.step);
  }
  buffer.bytes = end - origin;
}

int64_t BufferAliasing::offset_of(ValueId value) const {
  return unshifted_offset_[index(value)] - origin_[static_cast<size_t>(buffer_[index(value)])];
}

bool BufferAliasing::is_read_in_background(int buffer, int step) const {
  for (int at = 0; at < step; ++at) {
    const engine::KernelCall& call = lowered_->calls[static_cast<size_t>(at)];
    if (at + call.overlap < step) continue;
    bool reads = false;
    engine::for_each_operand(call,
                             [&](ValueId value) { reads = reads || buffer_of(value) == buffer; });
    if (reads) return true;
  }
  return false;
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
    if (!dies || !begins || is_read_in_background(operand, at)) continue;
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

void BufferAliasing::undo_view(size_t step) {
  is_view_[step] = false;
  undo_reuse();
}

void BufferAliasing::undo_reuse() {
  [[maybe_unused]] const bool fits = build();
  assert(fits);
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

namespace {

int64_t bytes_with_reuse(BufferAliasing& aliasing) {
  aliasing.reuse_operand_buffers();
  return aliasing.lower_bound_bytes();
}

}  // namespace

int64_t lower_bound_bytes(const engine::Lowered& lowered) {
  BufferAliasing aliasing(lowered);
  return bytes_with_reuse(aliasing);
}

engine::Lowered remove_copies(engine::Lowered lowered) {
  BufferAliasing aliasing(lowered);
  int64_t least = bytes_with_reuse(aliasing);
  BufferAliasing all(lowered);
  if (!all.make_views()) return lowered;
  if (bytes_with_reuse(all) <= least) {
    aliasing = std::move(all);
  } else {
    // Together they need more memory: keep those that alone do not.
    aliasing.undo_reuse();
    for (size_t step = 0; step < lowered.calls.size(); ++step) {
      if (!aliasing.make_view(step)) continue;
      const int64_t bytes = bytes_with_reuse(aliasing);
      if (bytes > least) {
        aliasing.undo_view(step);
      } else {
        least = bytes;
        aliasing.undo_reuse();
      }
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
