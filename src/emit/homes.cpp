#include "emit/homes.h"

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

Homes::Homes(const engine::Lowered& lowered)
    : lowered_(&lowered),
      call_of_op_(lowered.graph.ops().size(), -1),
      dropped_(lowered.calls.size(), false) {
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    call_of_op_[static_cast<size_t>(lowered.calls[step].ir_op)] = static_cast<int>(step);
  }
  auto of_ops = std::make_shared<std::vector<OfOp>>();
  for (const ir::Op& op : lowered.graph.ops()) {
    of_ops->push_back({engine::is_alias(lowered.graph, op), engine::view_of(lowered.graph, op)});
  }
  of_ops_ = std::move(of_ops);
  [[maybe_unused]] const bool fits = build();
  assert(fits && "views without a call that do not get along");
}

bool Homes::build() {
  const ir::Graph& graph = lowered_->graph;
  made_.clear();
  tied_.clear();
  pieces_.assign(graph.value_count(), {});
  group_.assign(graph.value_count(), -1);
  at_.assign(graph.value_count(), 0);
  source_.clear();
  for (size_t i = 0; i < graph.value_count(); ++i) source_.push_back(static_cast<ValueId>(i));
  for (const ir::State& state : graph.states()) make(state.value, -1, /*fixed=*/true);
  make_planned_inputs();
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    if (dropped_[step]) continue;
    make(call.out, static_cast<int>(step));
    for (const ValueId more : call.more_out) make(more, static_cast<int>(step));
  }
  // First the pieces of all values: whether two values can share memory depends on all reads.
  for (const bool tying : {false, true}) {
    for (size_t i = 0; i < graph.ops().size(); ++i) {
      const int call = call_of_op_[i];
      const ir::Op& op = graph.ops()[i];
      const bool free = call < 0 || dropped_[static_cast<size_t>(call)];
      if (!free || op.kind == ir::OpKind::delegate) continue;
      if (tying ? !settle_view(i) : !settle(i)) return false;
    }
    if (!tying) find_reads();
  }
  for (const ir::State& state : graph.states()) {
    if (!tie(state.value, source_of(state.next), 0, /*free=*/false)) return false;
  }
  find_homes();
  return true;
}

void Homes::make(ValueId value, int step, bool fixed) {
  pieces_[index(value)] = {{static_cast<int>(made_.size()), 0, bytes(value), 0}};
  group_[index(value)] = static_cast<int>(tied_.size());
  tied_.push_back({static_cast<int>(made_.size())});
  made_.push_back({value, step, fixed, {}});
}

/// An input has an address in the plan if the program owns its inputs, or if a value aliases it.
void Homes::make_planned_inputs() {
  const ir::Graph& graph = lowered_->graph;
  if (lowered_->owns_inputs) {
    for (const ValueId input : graph.inputs()) make(input, -1);
    return;
  }
  std::vector<ValueId> names = source_;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const ir::Op& op = graph.ops()[i];
    if (of_op(i).is_alias) names[index(op.output)] = names[index(op.inputs[0])];
  }
  for (const ValueId input : graph.inputs()) {
    if (std::ranges::count(names, input) > 1) make(input, -1, /*fixed=*/true);
  }
}

/// Sets the pieces of the result of an operator without a call. Returns false if it cannot be a
/// view.
bool Homes::settle(size_t i) {
  const ir::Op& op = lowered_->graph.ops()[i];
  std::vector<Piece>& pieces = pieces_[index(op.output)];
  if (of_op(i).is_alias) {
    source_[index(op.output)] = source_of(op.inputs[0]);
    pieces = pieces_[index(op.inputs[0])];
    return true;
  }
  const std::optional<engine::View>& view = of_op(i).view;
  if (!view) return false;
  const int64_t size = bytes(op.output);
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (pieces_[index(op.inputs[k])].empty()) return false;  // without a buffer
    if (view->at[k] % abi::kArenaAlignment != 0) return false;
    for (Piece piece : pieces_[index(op.inputs[k])]) {
      piece.start += view->at[k];
      piece.begin = std::max(piece.begin, -piece.start);
      piece.end = std::min(piece.end, size - piece.start);
      if (piece.begin < piece.end) pieces.push_back(piece);
    }
  }
  return true;
}

/// Sets the group and the offset of that result. Returns false if the operands cannot be placed.
bool Homes::settle_view(size_t i) {
  const ir::Op& op = lowered_->graph.ops()[i];
  const ValueId first = op.inputs[0];
  const auto out = index(op.output);
  group_[out] = group_[index(first)];
  at_[out] = at_[index(first)];
  if (source_of(op.output) != op.output) return true;
  const std::optional<engine::View>& view = of_op(i).view;
  if (is_fixed(group_[out])) return false;
  at_[out] -= view->at[0];
  for (size_t k = 1; k < op.inputs.size(); ++k) {
    // The first operand fixes the position. The group of each other operand is moved to it.
    if (!tie(first, op.inputs[k], view->at[k] - view->at[0], /*free=*/true)) return false;
  }
  return true;
}

void Homes::find_reads() {
  const auto read = [&](ValueId value, int step) {
    for (const Piece& piece : pieces_[index(value)]) {
      made_[static_cast<size_t>(piece.made)].reads.push_back(
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
bool Homes::is_fixed(int group) const {
  return std::ranges::any_of(tied_[static_cast<size_t>(group)],
                             [&](int made) { return made_[static_cast<size_t>(made)].fixed; });
}

bool Homes::tie(ValueId a, ValueId b, int64_t distance, bool free) {
  const int into = group_[index(a)], from = group_[index(b)];
  if (into < 0 || from < 0) return false;
  const int64_t shift = at_[index(a)] + distance - at_[index(b)];
  if (into == from) return shift == 0;
  if (free) {
    if (is_fixed(into) || is_fixed(from)) return false;
    for (const int x : tied_[static_cast<size_t>(into)]) {
      for (const int y : tied_[static_cast<size_t>(from)]) {
        const Made& old_one = made_[static_cast<size_t>(x)];
        const Made& new_one = made_[static_cast<size_t>(y)];
        const int64_t apart = at_[index(new_one.value)] + shift - at_[index(old_one.value)];
        if (!get_along(old_one, new_one, apart)) return false;
      }
    }
  }
  for (size_t value = 0; value < group_.size(); ++value) {
    if (group_[value] != from) continue;
    group_[value] = into;
    at_[value] += shift;
  }
  std::vector<int>& to = tied_[static_cast<size_t>(into)];
  std::vector<int>& moved = tied_[static_cast<size_t>(from)];
  to.insert(to.end(), moved.begin(), moved.end());
  moved.clear();
  return true;
}

/// Returns true if a and b can share memory when b begins `distance` bytes after a.
bool Homes::get_along(const Made& a, const Made& b, int64_t distance) const {
  if (a.step > b.step) return get_along(b, a, -distance);
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

void Homes::take_over_operands() {
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
      (void)tie(operand->id, call.out, 0, /*free=*/true);
    }
  }
  find_homes();
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    if (!dropped_[step]) roll(static_cast<int>(step));
  }
}

/// Reuses a line buffer: its last rows are the first rows of the next line buffer of similar size,
/// so the next one is placed where these rows need no copy.
void Homes::roll(int step) {
  const engine::KernelCall& call = lowered_->calls[static_cast<size_t>(step)];
  if (call.delegate >= 0) return;
  const ir::Op& op = lowered_->graph.ops()[static_cast<size_t>(call.ir_op)];
  if (op.kind != ir::OpKind::slice || home_of(op.inputs[0]) < 0) return;
  const int from = home_of(op.inputs[0]), to = home_of(op.output);
  if (from == to || homes_[static_cast<size_t>(from)].last != step) return;
  const int64_t old_bytes = homes_[static_cast<size_t>(from)].bytes;
  const int64_t new_bytes = homes_[static_cast<size_t>(to)].bytes;
  if (new_bytes * 4 < old_bytes * 3 || old_bytes * 4 < new_bytes * 3) return;
  const int64_t distance = offset_of(op.output) - offset_of(op.inputs[0]);
  if (tie(op.inputs[0], op.output, distance, /*free=*/true)) find_homes();
}

void Homes::find_homes() {
  homes_.assign(tied_.size(), {});
  origin_.assign(tied_.size(), INT64_MAX);
  std::vector<int64_t> end(tied_.size(), INT64_MIN);
  for (size_t value = 0; value < group_.size(); ++value) {
    if (group_[value] < 0) continue;
    const auto group = static_cast<size_t>(group_[value]);
    const auto id = static_cast<ValueId>(value);
    Home& home = homes_[group];
    origin_[group] = std::min(origin_[group], at_[value]);
    end[group] = std::max(end[group], at_[value] + bytes(id));
    if (home.value == ir::kNoValue || bytes(id) > bytes(home.value)) home.value = id;
  }
  for (size_t group = 0; group < tied_.size(); ++group) {
    Home& home = homes_[group];
    if (tied_[group].empty()) continue;
    home.bytes = end[group] - origin_[group];
    home.first = INT32_MAX;
    for (const int made : tied_[group]) {
      const Made& one = made_[static_cast<size_t>(made)];
      home.first = std::min(home.first, std::max(0, one.step));
      home.last = std::max(home.last, one.step);
      for (const Read& read : one.reads) home.last = std::max(home.last, read.step);
    }
  }
}

int64_t Homes::offset_of(ValueId value) const {
  return at_[index(value)] - origin_[static_cast<size_t>(group_[index(value)])];
}

std::vector<plan::Overlap> Homes::overlaps() const {
  std::vector<plan::Overlap> overlaps;
  for (size_t step = 0; step < lowered_->calls.size(); ++step) {
    const engine::KernelCall& call = lowered_->calls[step];
    if (dropped_[step] || !call.lead) continue;
    const auto* x = std::get_if<engine::ValueRef>(&call.arguments[0]);
    if (x == nullptr || home_of(x->id) < 0) continue;
    const int operand = home_of(x->id), result = home_of(call.out);
    if (operand == result || is_fixed(operand) || is_fixed(result)) continue;
    const auto at = static_cast<int>(step);
    const bool dies = homes_[static_cast<size_t>(operand)].last == at;
    const bool begins = homes_[static_cast<size_t>(result)].first == at;
    if (!dies || !begins) continue;
    const int64_t lead = *call.lead + offset_of(call.out) - offset_of(x->id);
    overlaps.push_back({operand, result, std::max<int64_t>(1, lead)});
  }
  return overlaps;
}

int64_t Homes::live_bytes() const {
  std::vector<plan::Buffer> buffers;
  for (const Home& home : homes_) buffers.push_back({home.bytes, home.first, home.last});
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

engine::Lowered drop_moves(engine::Lowered lowered) {
  Homes homes(lowered);
  const auto needs = [](Homes copy) {
    copy.take_over_operands();
    return copy.live_bytes();
  };
  const int64_t before = needs(homes);
  Homes all = homes;
  if (!all.drop_calls()) return lowered;
  if (needs(all) <= before) {
    homes = std::move(all);
  } else {
    int64_t least = before;
    for (size_t step = 0; step < lowered.calls.size(); ++step) {
      Homes without = homes;
      if (!without.drop_call(step)) continue;
      const int64_t bytes = needs(without);
      if (bytes > least) continue;
      least = bytes;
      homes = std::move(without);
    }
  }
  std::vector<engine::KernelCall> calls;
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    if (!homes.dropped(step)) calls.push_back(std::move(lowered.calls[step]));
  }
  lowered.calls = std::move(calls);
  return lowered;
}

bool Homes::can_drop(size_t step) const {
  const engine::KernelCall& call = lowered_->calls[step];
  if (call.delegate >= 0 || dropped_[step]) return false;
  const bool is_view = of_op(static_cast<size_t>(call.ir_op)).view.has_value();
  return is_view && !is_fixed(home_of(call.out));
}

bool Homes::drop_call(size_t step) {
  const size_t one[] = {step};
  return drop(one);
}

bool Homes::drop_calls() {
  std::vector<size_t> steps(lowered_->calls.size());
  std::iota(steps.begin(), steps.end(), size_t{0});
  return drop(steps);
}

/// Tries all steps at once, then each half. The result equals that of one step at a time, because
/// any subset of steps that fit together also fits. Most steps fit.
bool Homes::drop(std::span<const size_t> steps) {
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
