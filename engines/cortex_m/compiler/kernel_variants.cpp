// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/kernel_variants.h"

#include <algorithm>
#include <map>

#include "engines/cortex_m/compiler/cost.h"

namespace thimble::engine::cortex_m {
namespace {

// Bytes of the file's tables per argument, measured as the difference of files with and without it.
constexpr int64_t kTensorBytes = 80;
constexpr int64_t kNumberBytes = 60;

struct Sums {
  int64_t bytes = 0;
  double instructions = 0;
};

/// A change of the selection: pairs (operator, variant), and the sums after it.
struct Step {
  std::vector<std::pair<size_t, size_t>> changes;
  Sums after;
};

class FlashSearch {
 public:
  FlashSearch(std::span<const std::vector<KernelVariant>> ops, const CodeBytes& code_bytes)
      : ops_(ops),
        linked_code_(code_bytes),
        chosen_(ops.size(), 0),
        start_(sums(chosen_)),
        now_(start_) {}

  std::vector<size_t> run() {
    while (const std::optional<Step> step = best_step()) {
      for (const auto& [op, form] : step->changes) chosen_[op] = form;
      now_ = step->after;
    }
    return chosen_;
  }

 private:
  const KernelVariant& form(size_t op, size_t index) const { return ops_[op][index]; }
  const KernelVariant& now(size_t op) const { return form(op, chosen_[op]); }

  Sums sums(const std::vector<size_t>& chosen) const {
    Sums sums;
    std::set<abi::PteOp> kernels;
    int64_t own_code = 0;
    for (size_t op = 0; op < ops_.size(); ++op) {
      const KernelVariant& taken = form(op, chosen[op]);
      sums.bytes += taken.file_bytes();
      sums.instructions += taken.instructions.value_or(0);
      if (taken.code_bytes && kernels.insert(taken.kernel).second) own_code += *taken.code_bytes;
    }
    sums.bytes += linked_code_ ? linked_code(kernels) : own_code;
    return sums;
  }

  /// Many selections call the same kernels.
  int64_t linked_code(const std::set<abi::PteOp>& kernels) const {
    const auto known = code_of_kernels_.find(kernels);
    if (known != code_of_kernels_.end()) return known->second;
    return code_of_kernels_.emplace(kernels, linked_code_(kernels)).first->second;
  }

  /// Returns the operator's variant with this kernel, if it may replace the fastest variant.
  std::optional<size_t> with_kernel(size_t op, abi::PteOp kernel) const {
    const KernelVariant& speed = form(op, 0);
    for (size_t i = 0; i < ops_[op].size(); ++i) {
      const KernelVariant& other = form(op, i);
      if (other.kernel != kernel || other.file_bytes() > speed.file_bytes()) continue;
      if (other.constant_bytes > speed.constant_bytes) continue;
      const bool known = other.instructions && other.code_bytes;
      if (known && speed.instructions && speed.code_bytes) return i;
    }
    return {};
  }

  std::optional<Step> best_step() const {
    std::optional<Step> best;
    const auto consider = [&](Step step) {
      if (step.changes.empty()) return;
      std::vector<size_t> chosen = chosen_;
      for (const auto& [op, form] : step.changes) chosen[op] = form;
      step.after = sums(chosen);
      if (allowed(step.after) && (!best || better(step.after, best->after))) best = step;
    };
    std::set<std::pair<abi::PteOp, abi::PteOp>> exchanges;
    for (size_t op = 0; op < ops_.size(); ++op) {
      for (const KernelVariant& other : ops_[op]) {
        if (other.kernel == now(op).kernel) continue;
        exchanges.emplace(now(op).kernel, other.kernel);
        if (const auto i = with_kernel(op, other.kernel)) consider({{{op, *i}}, {}});
      }
    }
    for (const auto& [from, to] : exchanges) {
      Step step;
      for (size_t op = 0; op < ops_.size(); ++op) {
        if (now(op).kernel != from) continue;
        if (const auto i = with_kernel(op, to)) step.changes.emplace_back(op, *i);
      }
      consider(std::move(step));
    }
    return best;
  }

  bool allowed(const Sums& after) const {
    const auto saved = static_cast<double>(now_.bytes - after.bytes);
    const double added = after.instructions - now_.instructions;
    if (saved < 0 || (saved == 0 && added >= 0)) return false;
    if (added <= 0) return true;
    if (after.instructions > kSlowest * start_.instructions) return false;
    const double share = added / start_.instructions;
    return share <= kPercentForPercent * saved / static_cast<double>(start_.bytes);
  }

  /// Returns true if `a` saves more bytes per added instruction. Changes that add none come first.
  bool better(const Sums& a, const Sums& b) const {
    const auto saved = [&](const Sums& s) { return static_cast<double>(now_.bytes - s.bytes); };
    const auto added = [&](const Sums& s) {
      return std::max(0.0, s.instructions - now_.instructions);
    };
    const double left = saved(a) * added(b), right = saved(b) * added(a);
    return left != right ? left > right : saved(a) > saved(b);
  }

  std::span<const std::vector<KernelVariant>> ops_;
  const CodeBytes& linked_code_;
  mutable std::map<std::set<abi::PteOp>, int64_t> code_of_kernels_;
  std::vector<size_t> chosen_;
  Sums start_, now_;
};

}  // namespace

KernelVariant variant_of(const ir::Graph& graph, const ir::Op& op, const KernelCall& call,
                         const Core& target) {
  KernelVariant form;
  form.kernel = call.op;
  for (const Argument& argument : call.arguments) {
    if (const auto* constant = std::get_if<Constant>(&argument)) {
      form.constant_bytes += static_cast<int64_t>(constant->bytes->size());
      form.argument_bytes += kTensorBytes;
    } else if (const auto* scratch = std::get_if<Scratch>(&argument)) {
      form.scratch_bytes += scratch->bytes;
      form.argument_bytes += kTensorBytes;
    } else if (const auto* numbers = std::get_if<Integers>(&argument)) {
      // Each number of a list is a value of the file.
      form.argument_bytes += kNumberBytes * (1 + static_cast<int64_t>(numbers->size()));
    } else if (!std::holds_alternative<ValueRef>(argument)) {
      form.argument_bytes += kNumberBytes;
    }
  }
  form.code_bytes = code_bytes(call.op, target);
  form.instructions = estimate_or_subset(graph, op, call, target);
  return form;
}

std::vector<size_t> least_flash(std::span<const std::vector<KernelVariant>> ops,
                                const CodeBytes& code_bytes) {
  return FlashSearch(ops, code_bytes).run();
}

size_t least_scratch(std::span<const KernelVariant> signatures) {
  size_t best = 0;
  for (size_t i = 1; i < signatures.size(); ++i) {
    const KernelVariant &a = signatures[i], &b = signatures[best];
    if (!a.instructions || a.scratch_bytes > b.scratch_bytes) continue;
    const bool faster = b.instructions && *a.instructions < *b.instructions;
    if (a.scratch_bytes < b.scratch_bytes || (best != 0 && faster)) best = i;
  }
  return best;
}

}  // namespace thimble::engine::cortex_m
