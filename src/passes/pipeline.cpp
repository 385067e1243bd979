#include "passes/pipeline.h"

#include <cassert>

#include "ir/dce.h"
#include "ir/verify.h"
#include "passes/fold_batch_norm.h"
#include "passes/fold_constants.h"
#include "passes/hoist_clamp.h"
#include "passes/merge_pad.h"
#include "passes/remove_noops.h"

namespace thimble::passes {
namespace {

using Pass = Result<ir::Graph> (*)(const ir::Graph&);

constexpr Pass kFloatPasses[] = {
    fold_constants,   // weights that were computed from other constants become weights
    remove_noops,     // so that neighbours below are neighbours
    fold_batch_norm,  // the usual network has none left after this
    merge_pad,
    hoist_clamp,  // activations stand behind the arithmetic that will contain them
    remove_noops,
};

}  // namespace

Result<ir::Graph> run_float_passes(const ir::Graph& graph) {
  ir::Graph current = ir::remove_unused(graph);
  for (const Pass pass : kFloatPasses) {
    THIMBLE_TRY(ir::Graph next, pass(current));
    current = ir::remove_unused(next);
    assert(ir::verify(current).ok());
  }
  return current;
}

}  // namespace thimble::passes
