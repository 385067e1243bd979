#include "passes/pipeline.h"

#include <cassert>

#include "ir/dce.h"
#include "ir/verify.h"
#include "passes/fold_batch_norm.h"
#include "passes/fold_constants.h"
#include "passes/fold_matmul.h"
#include "passes/fuse_norm.h"
#include "passes/hoist_clamp.h"
#include "passes/merge_pad.h"
#include "passes/remove_noops.h"

namespace thimble::passes {
namespace {

constexpr Pass kFloatPasses[] = {
    {"fold_constants", fold_constants},    // what was computed from constants becomes a weight
    {"remove_noops", remove_noops},        // so that neighbours below are neighbours
    {"fuse_norm", fuse_norm},              // before its factors are taken for a channel's
    {"fold_batch_norm", fold_batch_norm},  // the usual network has none left after this
    {"fold_matmul", fold_matmul},
    {"merge_pad", merge_pad},
    {"hoist_clamp", hoist_clamp},  // activations stand behind the arithmetic that contains them
    {"remove_noops", remove_noops},
};

}  // namespace

std::span<const Pass> float_passes() {
  return kFloatPasses;
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
