#include "emit/buffer_aliasing.h"

#include <algorithm>
#include <numeric>

#include "abi/limits.h"

namespace thimble::emit {

using ir::ValueId;

namespace {

/// Calls visit(value) for every operand of the call, once per occurrence.
template <typename Visit>
void for_each_operand(const engine::KernelCall& call, Visit visit) {
  for (const engine::Argument& argument : call.arguments) {
    if (const auto* ref = std::get_if<engine::ValueRef>(&argument)) visit(ref->id);
    if (const auto* list = std::get_if<engine::ValueList>(&argument)) {
      for (const ValueId value : *list) visit(value);
    }
  }
}

/// Returns true for elementwise operators of two operands that can overwrite either operand.
bool is_symmetric(ir::OpKind kind) {
  switch (kind) {
    case ir::OpKind::maximum:
    case ir::OpKind::minimum:
    case ir::OpKind::qadd:
    case ir::OpKind::qmul:
    case ir::OpKind::qsub:
      return true;
    default:
      return false;
  }
}

}  // namespace

BufferAliasing::BufferAliasing(const engine::Lowered& lowered)
    : lowered_(&lowered),
      call_of_op_(lowered.graph.ops().size(), -1),
      dropped_(lowered.calls.size(), false) {
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    call_of_op_[static_cast<size_t>(lowered.calls[step].ir_op)] = static_cast<int>(step);
  }
  auto of_ops = std::make_shared<std::vector<OpFacts>>();
  for (const ir::Op& op : lowered.graph.ops()) {
    of_ops->push_back({engine::is_alias(lowered.graph, op), engine::view_of(lowered.graph, op)});
  }
  op_facts_ = std::move(of_ops);
  [[maybe_unused]] const bool fits = build();
  assert(fits && "views without a call that cannot share memory");
}

bool BufferAliasing::build() {
  const ir::Graph& graph = lowered_->graph;
  defined_values_.clear();
  values_of_group_.clear();
  ranges_.assign(graph.value_count(), {});
  group_.assign(graph.value_count(), -1);
  offset_in_group_.assign(graph.value_count(), 0);
  source_.clear();
  for (size_t i = 0; i < graph.value_count(); ++i) source_.push_back(static_cast<ValueId>(i));
  for (const ir::State& state : graph.states()) define(state.value, -1, /*fixed=*/true);
  define_planned_inputs();
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    if (dropped_[step]) continue;
    define(call.out, static_cast<int>(step));
    for (const ValueId more : call.extra_outputs) define(more, static_cast<int>(step));
  }
  // First the pieces of all values: whether two values can share memory depends on all reads.
  for (const bool tying : {false, true}) {
    for (size_t i = 0; i < graph.ops().size(); ++i) {
      const int call = call_of_op_[i];
      const ir::Op& op = graph.ops()[i];
      const bool free = call < 0 || dropped_[static_cast<size_t>(call)];
      if (!free || op.kind == ir::OpKind::delegate) continue;
      if (tying ? !place_view(i) : !compute_ranges(i)) return false;
    }
    if (!tying) find_reads();
  }
  for (const ir::State& state : graph.states()) {
    if (!coalesce(state.value, source_of(state.next), 0, /*free=*/false)) return false;
  }
  compute_buffers();
  return true;
}

void BufferAliasing::define(ValueId value, int step, bool fixed) {
  ranges_[index(value)] = {{static_cast<int>(defined_values_.size()), 0, bytes(value), 0}};
  group_[index(value)] = static_cast<int>(values_of_group_.size());
  values_of_group_.push_back({static_cast<int>(defined_values_.size())});
  defined_values_.push_back({value, step, fixed, {}});
}

/// An input has an address in the plan if the program owns its inputs, or if a value aliases it.
void BufferAliasing::define_planned_inputs() {
  const ir::Graph& graph = lowered_->graph;
  if (lowered_->owns_inputs) {
    for (const ValueId input : graph.inputs()) define(input, -1);
    return;
  }
  std::vector<ValueId> names = source_;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const ir::Op& op = graph.ops()[i];
    if (facts_of(i).is_alias) names[index(op.output)] = names[index(op.inputs[0])];
  }
  for (const ValueId input : graph.inputs()) {
    if (std::ranges::count(names, input) > 1) define(input, -1, /*fixed=*/true);
  }
}

/// Sets the pieces of the result of an operator without a call. Returns false if it cannot be a
/// view.
bool BufferAliasing::compute_ranges(size_t i) {
  const ir::Op& op = lowered_->graph.ops()[i];
  std::vector<ByteRange>& pieces = ranges_[index(op.output)];
  if (facts_of(i).is_alias) {
    source_[index(op.output)] = source_of(op.inputs[0]);
    pieces = ranges_[index(op.inputs[0])];
    return true;
  }
  const std::optional<engine::View>& view = facts_of(i).view;
  if (!view) return false;
  const int64_t size = bytes(op.output);
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (ranges_[index(op.inputs[k])].empty()) return false;  // without a buffer
    if (view->at[k] % abi::kArenaAlignment != 0) return false;
    for (ByteRange piece : ranges_[index(op.inputs[k])]) {
      piece.start += view->at[k];
      piece.begin = std::max(piece.begin, -piece.start);
      piece.end = std::min(piece.end, size - piece.start);
      if (piece.begin < piece.end) pieces.push_back(piece);
    }
  }
  return true;
}

/// Sets the group and the offset of that result. Returns false if the operands cannot be placed.
bool BufferAliasing::place_view(size_t i) {
  const ir::Op& op = lowered_->graph.ops()[i];
  const ValueId first = op.inputs[0];
  const auto out = index(op.output);
  group_[out] = group_[index(first)];
  offset_in_group_[out] = offset_in_group_[index(first)];
  if (source_of(op.output) != op.output) return true;
  const std::optional<engine::View>& view = facts_of(i).view;
  if (is_fixed(group_[out])) return false;
  offset_in_group_[out] -= view->at[0];
  for (size_t k = 1; k < op.inputs.size(); ++k) {
    // The first operand fixes the position. The group of each other operand is moved to it.
    if (!coalesce(first, op.inputs[k], view->at[k] - view->at[0], /*free=*/true)) return false;
  }
  return true;
}

void BufferAliasing::find_reads() {
  const auto read = [&](ValueId value, int step) {
    for (const ByteRange& piece : ranges_[index(value)]) {
      defined_values_[static_cast<size_t>(piece.made)].reads.push_back(
          {step, piece.begin, piece.end, -piece.start, value});
    }
  };
  const auto end = static_cast<int>(lowered_->calls.size());
  for (int step = 0; step < end; ++step) {
    if (dropped_[static_cast<size_t>(step)]) continue;
    for_each_operand(lowered_->calls[static_cast<size_t>(step)],
                     [&](ValueId value) { read(value, step); });
  }
  for (const ValueId output : lowered_->graph.outputs()) read(output, end);
  for (const ir::State& state : lowered_->graph.states()) read(state.next, end);
}

/// Returns true if the group's memory is reserved from before the first call until after the last.
bool BufferAliasing::is_fixed(int group) const {
  return std::ranges::any_of(values_of_group_[static_cast<size_t>(group)], [&](int made) {
    return defined_values_[static_cast<size_t>(made)].fixed;
  });
}

bool BufferAliasing::coalesce(ValueId a, ValueId b, int64_t distance, bool free) {
  const int into = group_[index(a)], from = group_[index(b)];
  if (into < 0 || from < 0) return false;
  const int64_t shift = offset_in_group_[index(a)] + distance - offset_in_group_[index(b)];
  if (into == from) return shift == 0;
  if (free) {
    if (is_fixed(into) || is_fixed(from)) return false;
    for (const int x : values_of_group_[static_cast<size_t>(into)]) {
      for (const int y : values_of_group_[static_cast<size_t>(from)]) {
        const DefinedValue& old_one = defined_values_[static_cast<size_t>(x)];
        const DefinedValue& new_one = defined_values_[static_cast<size_t>(y)];
        const int64_t apart =
            offset_in_group_[index(new_one.value)] + shift - offset_in_group_[index(old_one.value)];
        if (!can_share_memory(old_one, new_one, apart)) return false;
      }
    }
  }
  for (size_t value = 0; value < group_.size(); ++value) {
    if (group_[value] != from) continue;
    group_[value] = into;
    offset_in_group_[value] += shift;
  }
  std::vector<int>& to = values_of_group_[static_cast<size_t>(into)];
  std::vector<int>& moved = values_of_group_[static_cast<size_t>(from)];
  to.insert(to.end(), moved.begin(), moved.end());
  moved.clear();
  return true;
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
    return call.in_place >= 0 && read.start == distance && bytes(read.through) == bytes(b.value);
  });
}

void BufferAliasing::reuse_operand_buffers() {
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    if (dropped_[step] || call.in_place < 0) continue;
    std::vector<size_t> choices = {static_cast<size_t>(call.in_place)};
    if (is_symmetric(lowered_->graph.ops()[static_cast<size_t>(call.ir_op)].kind)) {
      choices = {0, 1};
    }
    for (const size_t choice : choices) {
      const auto* operand = std::get_if<engine::ValueRef>(&call.arguments[choice]);
      if (operand == nullptr || bytes(operand->id) != bytes(call.out)) continue;
      (void)coalesce(operand->id, call.out, 0, /*free=*/true);
    }
  }
  compute_buffers();
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    if (!dropped_[step]) reuse_line_buffer(static_cast<int>(step));
  }
}

/// Reuses a line buffer: its last rows are the first rows of the next line buffer of similar size,
/// so the next one is placed where these rows need no copy.
void BufferAliasing::reuse_line_buffer(int step) {
  const engine::KernelCall& call = lowered_->calls[static_cast<size_t>(step)];
  if (call.delegate >= 0) return;
  const ir::Op& op = lowered_->graph.ops()[static_cast<size_t>(call.ir_op)];
  if (op.kind != ir::OpKind::slice || buffer_of(op.inputs[0]) < 0) return;
  const int from = buffer_of(op.inputs[0]), to = buffer_of(op.output);
  if (from == to || aliased_buffers_[static_cast<size_t>(from)].last != step) return;
  const int64_t old_bytes = aliased_buffers_[static_cast<size_t>(from)].bytes;
  const int64_t new_bytes = aliased_buffers_[static_cast<size_t>(to)].bytes;
  if (new_bytes * 4 < old_bytes * 3 || old_bytes * 4 < new_bytes * 3) return;
  const int64_t distance = offset_of(op.output) - offset_of(op.inputs[0]);
  if (coalesce(op.inputs[0], op.output, distance, /*free=*/true)) compute_buffers();
}

void BufferAliasing::compute_buffers() {
  aliased_buffers_.assign(values_of_group_.size(), {});
  origin_.assign(values_of_group_.size(), INT64_MAX);
  std::vector<int64_t> end(values_of_group_.size(), INT64_MIN);
  for (size_t value = 0; value < group_.size(); ++value) {
    if (group_[value] < 0) continue;
    const auto group = static_cast<size_t>(group_[value]);
    const auto id = static_cast<ValueId>(value);
    AliasedBuffer& home = aliased_buffers_[group];
    origin_[group] = std::min(origin_[group], offset_in_group_[value]);
    end[group] = std::max(end[group], offset_in_group_[value] + bytes(id));
    if (home.value == ir::kNoValue || bytes(id) > bytes(home.value)) home.value = id;
  }
  for (size_t group = 0; group < values_of_group_.size(); ++group) {
    AliasedBuffer& home = aliased_buffers_[group];
    if (values_of_group_[group].empty()) continue;
    home.bytes = end[group] - origin_[group];
    home.first = INT32_MAX;
    for (const int made : values_of_group_[group]) {
      const DefinedValue& one = defined_values_[static_cast<size_t>(made)];
      home.first = std::min(home.first, std::max(0, one.step));
      home.last = std::max(home.last, one.step);
      for (const Read& read : one.reads) home.last = std::max(home.last, read.step);
    }
  }
}

int64_t BufferAliasing::offset_of(ValueId value) const {
  return offset_in_group_[index(value)] - origin_[static_cast<size_t>(group_[index(value)])];
}

std::vector<plan::Overlap> BufferAliasing::overlaps() const {
  std::vector<plan::Overlap> overlaps;
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    if (dropped_[step] || !call.lead) continue;
    const auto* x = std::get_if<engine::ValueRef>(&call.arguments[0]);
    if (x == nullptr || buffer_of(x->id) < 0) continue;
    const int operand = buffer_of(x->id), result = buffer_of(call.out);
    if (operand == result || is_fixed(operand) || is_fixed(result)) continue;
    const auto at = static_cast<int>(step);
    const bool dies = aliased_buffers_[static_cast<size_t>(operand)].last == at;
    const bool begins = aliased_buffers_[static_cast<size_t>(result)].first == at;
    if (!dies || !begins) continue;
    const int64_t lead = *call.lead + offset_of(call.out) - offset_of(x->id);
    overlaps.push_back({operand, result, std::max<int64_t>(1, lead)});
  }
  return overlaps;
}

int64_t BufferAliasing::live_bytes() const {
  std::vector<plan::Buffer> buffers;
  for (const AliasedBuffer& home : aliased_buffers_)
    buffers.push_back({home.bytes, home.first, home.last});
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    const auto at = static_cast<int>(step);
    for (const engine::Argument& argument : call.arguments) {
      const auto* scratch = std::get_if<engine::Scratch>(&argument);
      if (scratch != nullptr) buffers.push_back({scratch->bytes, at, at});
    }
  }
  return plan::live_bytes(buffers, abi::kArenaAlignment, overlaps());
}

engine::Lowered elide_moves(engine::Lowered lowered) {
  BufferAliasing aliased_buffers(lowered);
  const auto needs = [](BufferAliasing copy) {
    copy.reuse_operand_buffers();
    return copy.live_bytes();
  };
  const int64_t before = needs(aliased_buffers);
  BufferAliasing all = aliased_buffers;
  if (!all.drop_calls()) return lowered;
  if (needs(all) <= before) {
    aliased_buffers = std::move(all);
  } else {
    int64_t least = before;
    for (size_t step = 0; step < lowered.calls.size(); ++step) {
      BufferAliasing without = aliased_buffers;
      if (!without.drop_call(step)) continue;
      const int64_t bytes = needs(without);
      if (bytes > least) continue;
      least = bytes;
      aliased_buffers = std::move(without);
    }
  }
  std::vector<engine::KernelCall> calls;
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    if (!aliased_buffers.dropped(step)) calls.push_back(std::move(lowered.calls[step]));
  }
  lowered.calls = std::move(calls);
  return lowered;
}

bool BufferAliasing::can_drop(size_t step) const {
  const engine::KernelCall& call = lowered_->calls[step];
  if (call.delegate >= 0 || dropped_[step]) return false;
  const bool is_view = facts_of(static_cast<size_t>(call.ir_op)).view.has_value();
  return is_view && !is_fixed(buffer_of(call.out));
}

bool BufferAliasing::drop_call(size_t step) {
  const size_t one[] = {step};
  return drop(one);
}

bool BufferAliasing::drop_calls() {
  std::vector<size_t> steps(lowered_->calls.size());
  std::iota(steps.begin(), steps.end(), size_t{0});
  return drop(steps);
}

/// Tries all steps at once, then each half. The result equals that of one step at a time, because
/// any subset of steps that fit together also fits. Most steps fit.
bool BufferAliasing::drop(std::span<const size_t> steps) {
  std::vector<size_t> droppable;
  std::ranges::copy_if(steps, std::back_inserter(droppable),
                       [&](size_t step) { return can_drop(step); });
  if (droppable.empty()) return false;
  for (const size_t step : droppable) dropped_[step] = true;
  if (build()) return true;
  for (const size_t step : droppable) dropped_[step] = false;
  [[maybe_unused]] const bool fits = build();
  assert(fits);
  if (droppable.size() == 1) return false;
  const std::span<const size_t> all = droppable;
  const bool first = drop(all.first(all.size() / 2));
  const bool second = drop(all.subspan(all.size() / 2));
  return first || second;
}

}  // namespace thimble::emit
