// SPDX-License-Identifier: Apache-2.0
#include "quant/widths.h"

#include <algorithm>

#include "quant/norm.h"
#include "quant/rules/rules.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

/// Upper bound of the row length: sums of squares of 16-bit values fit 64 bits.
constexpr int64_t kWideRowMax = 1 << 16;

class Widths {
 public:
  Widths(const Graph& graph, const WidthRequest& request, Plan& plan)
      : graph_(graph), request_(request), plan_(plan) {}

  void run() {
    plan_.wide.assign(graph_.value_count(), false);
    samples_ = sample_rows(graph_, plan_);
    for (size_t i = 0; i < plan_.ops.size(); ++i) requested_.push_back(requests_wide(i));
    const std::vector<bool> wanted = this->wanted();
    for (const ValueId id : graph_.inputs()) {
      if (!is_float(id)) {
        set(id, false);
        continue;
      }
      const bool sample = samples_[static_cast<size_t>(id)];
      const Io io = request_.io.of(graph_.value(id).name);
      const bool narrow = (io == Io::kInt8 || io == Io::kUint8) && !sample;
      set(id, io == Io::kInt16 || (!narrow && wanted[static_cast<size_t>(id)]));
    }
    for (const ir::State& state : graph_.states()) {
      set(state.value, wanted[static_cast<size_t>(state.value)]);
    }
    for (size_t i = 0; i < plan_.ops.size(); ++i) decide(i, wanted);
  }

 private:
  [[nodiscard]] bool is_float(ValueId id) const { return graph_.type(id).dtype == ir::DType::kF32; }
  [[nodiscard]] bool is_wide(ValueId id) const { return plan_.wide[static_cast<size_t>(id)]; }
  void set(ValueId id, bool wide) {
    const auto i = static_cast<size_t>(id);
    if (const Params* pin = plan_.pins.find(id)) wide = pin->wide;
    const bool refused = !request_.refuse.empty() && request_.refuse[i];
    plan_.wide[i] = wide && !refused;
  }

  /// Returns true if 16 bits are requested for an operator with arithmetic of its own.
  [[nodiscard]] bool requests_wide(size_t index) const {
    const Op& op = graph_.ops()[index];
    const OpPlan& plan = plan_.ops[index];
    const bool made = plan.role == Role::kLower || plan.role == Role::kTable;
    if (!made || !is_float(plan.result) || !has_wide_form(graph_, op, plan)) return false;
    if (op.kind == ir::OpKind::unpack) return graph_.type(op.inputs[0]).dtype == ir::DType::kI16;
    if (samples_[static_cast<size_t>(plan.result)]) return true;
    if (const Params* pin = plan_.pins.find(plan.result)) return pin->wide;
    return plan.wide || request_.ops[index];
  }

  /// By value: true if a reader requests 16 bits. Readers that only move data pass on the requests
  /// of their own readers.
  [[nodiscard]] std::vector<bool> wanted() const {
    std::vector<bool> wanted(graph_.value_count(), false);
    for (size_t i = plan_.ops.size(); i-- > 0;) {
      const Op& op = graph_.ops()[i];
      const OpPlan& plan = plan_.ops[i];
      if (plan.role == Role::kTable && requested_[i]) {
        wanted[static_cast<size_t>(plan.table_source)] = true;
      }
      if (plan.role != Role::kLower) continue;
      if (has_trait(op.kind, trait::kSamples)) wanted[static_cast<size_t>(op.inputs[0])] = true;
      const bool requests_wide = requested_[i] && !has_trait(op.kind, trait::kEitherWidth);
      const bool passes = keeps_width(op.kind) && wanted[static_cast<size_t>(plan.result)];
      if (!requests_wide && !passes) continue;
      for (const ValueId id : op.inputs) {
        if (id != ir::kNoValue) wanted[static_cast<size_t>(id)] = true;
      }
    }
    return wanted;
  }

  void decide(size_t index, const std::vector<bool>& wanted) {
    const Op& op = graph_.ops()[index];
    OpPlan& plan = plan_.ops[index];
    if (plan.role == Role::kAbsorbed || plan.role == Role::kObserved) return;
    bool wide = requested_[index];
    // A float32 result has a type for its readers only.
    if (plan.role == Role::kFloat) {
      wide = is_float(plan.result) && wanted[static_cast<size_t>(plan.result)];
    }
    if (plan.role == Role::kLower && keeps_width(op.kind)) {
      wide = is_float(plan.result) && std::ranges::any_of(op.inputs, [&](ValueId id) {
               return id != ir::kNoValue && is_float(id) && is_wide(id);
             });
    }
    set(plan.result, wide);
    plan.wide = is_wide(plan.result);
  }

  const Graph& graph_;
  const WidthRequest& request_;
  Plan& plan_;
  std::vector<bool> samples_;    // by value: sample_rows()
  std::vector<bool> requested_;  // by operator: 16 bits are requested
};

}  // namespace

std::vector<bool> sample_rows(const Graph& graph, const Plan& plan) {
  std::vector<bool> samples(graph.value_count(), false);
  // A state is read before it is written: its next content is also a row of samples.
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = plan.ops.size(); i-- > 0;) {
      const Op& op = graph.ops()[i];
      if (plan.ops[i].role != Role::kLower) continue;
      const bool reads = has_trait(op.kind, trait::kSamples);
      const bool passes = keeps_width(op.kind) && samples[static_cast<size_t>(plan.ops[i].result)];
      if (!reads && !passes) continue;
      for (size_t k = 0; k < (reads ? 1 : op.inputs.size()); ++k) {
        if (op.inputs[k] != ir::kNoValue) samples[static_cast<size_t>(op.inputs[k])] = true;
      }
    }
    for (const ir::State& state : graph.states()) {
      if (!samples[static_cast<size_t>(state.value)]) continue;
      grown = grown || !samples[static_cast<size_t>(state.next)];
      samples[static_cast<size_t>(state.next)] = true;
    }
  }
  return samples;
}

bool keeps_width(ir::OpKind kind) {
  return shares_params(kind) || joins_params(kind) || selects_elements(kind);
}

bool has_wide_form(const Graph& graph, const Op& op, const OpPlan& plan) {
  if (plan.role == Role::kTable) return true;
  if (!has_trait(op.kind, trait::kWide)) return false;
  return !is_norm(op.kind) || norm_row(graph, op) <= kWideRowMax;
}

std::vector<bool> requested_wide(const Graph& graph, const QuantizeOptions& options) {
  std::vector<bool> asked(graph.ops().size(), false);
  for (size_t i = 0; options.wide && i < asked.size(); ++i) {
    asked[i] = options.wide(graph, graph.ops()[i]);
  }
  return asked;
}

void assign_widths(const Graph& graph, const WidthRequest& request, Plan& plan) {
  Widths(graph, request, plan).run();
}

}  // namespace thimble::quant
