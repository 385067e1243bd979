// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include <algorithm>
#include <cassert>

#include "ir/dce.h"
#include "ir/verify.h"
#include "passes/fold_batch_norm.h"
#include "passes/fold_constants.h"
#include "passes/fold_input_scale.h"
#include "passes/fold_matmul.h"
#include "passes/fuse_log_mel.h"
#include "passes/fuse_norm.h"
#include "passes/hoist_clamp.h"
#include "passes/mask_exp.h"
#include "passes/merge_linear.h"
#include "passes/merge_pad.h"
#include "passes/multiply_by_reciprocal.h"
#include "passes/narrow_integers.h"
#include "passes/pool_before_table.h"
#include "passes/remove_channels.h"
#include "passes/remove_noops.h"
#include "passes/tabulate.h"

namespace thimble::passes {
namespace {

constexpr Pass kFloatPasses[] = {
    // Values computed from constants become weights.
    {"fold_constants", fold_constants, "computed at compile time"},
    // Before the passes that match operators of float activations.
    {"tabulate", tabulate, "in the rows of"},
    // Later passes match adjacent operators.
    {"remove_noops", remove_noops, "changes nothing"},
    // Before the fusions, which then see finite values.
    {"mask_exp", mask_exp, "computed by"},
    // Before fold_batch_norm and multiply_by_reciprocal, which change what follows the logarithm.
    {"fuse_log_mel", fuse_log_mel, "part of"},
    // Before fold_batch_norm, which would fold the norm's factors as per-channel factors.
    {"fuse_norm", fuse_norm, "part of"},
    // Before fold_batch_norm, which makes a convolution of its own of a batch_norm of an input.
    {"fold_input_scale", fold_input_scale, "in the weights and bias of"},
    // Most models have no batch_norm left after this pass.
    {"fold_batch_norm", fold_batch_norm, "in the weights and bias of"},
    // After fold_batch_norm: a batch norm between two convolutions is part of the first one.
    {"merge_linear", merge_linear, "in the weights of"},
    // After the passes that match div.
    {"multiply_by_reciprocal", multiply_by_reciprocal, "in the factors of"},
    {"fold_matmul", fold_matmul, "in the operands and the scale of"},
    {"merge_pad", merge_pad, "in the padding of"},
    // Activations then directly follow the arithmetic that they are merged into.
    {"hoist_clamp", hoist_clamp, "in the bounds of"},
    {"narrow_integers", narrow_integers, "in 32 bits"},
    {"remove_noops", remove_noops, "changes nothing"},
};

constexpr Pass kIntegerPasses[] = {
    {"remove_channels", remove_channels, "without effect on"},
    {"pool_before_table", pool_before_table, "changes nothing"},
};

}  // namespace

std::span<const Pass> float_passes() {
  return kFloatPasses;
}

std::span<const Pass> integer_passes() {
  return kIntegerPasses;
}

const Pass* find_pass(std::string_view name) {
  for (const auto passes : {float_passes(), integer_passes()}) {
    const auto found = std::ranges::find(passes, name, &Pass::name);
    if (found != passes.end()) return &*found;
  }
  return nullptr;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const auto passes : {float_passes(), integer_passes()}) {
    for (const Pass& pass : passes) {
      if (std::ranges::find(names, pass.name) == names.end()) names.emplace_back(pass.name);
    }
  }
  return names;
}

Result<ir::Graph> run_pass(const Pass& pass, const ir::Graph& graph) {
  THIMBLE_TRY(const ir::Graph next, pass.run(graph));
  ir::Graph cleaned = ir::remove_unused(next);
  assert(ir::verify(cleaned).ok());
  return cleaned;
}

Result<ir::Graph> run_float_passes(const ir::Graph& graph) {
  ir::Graph current = ir::remove_unused(graph);
  for (const Pass& pass : kFloatPasses) {
    THIMBLE_TRY(current, run_pass(pass, current));
  }
  return current;
}

}  // namespace thimble::passes
