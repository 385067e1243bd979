// Archives and arrays: .pt2 up to the float graph, .npz, .npy.

#include "formats/npy/npy.h"
#include "formats/pt2/reader.h"
#include "import/import.h"
#include "passes/pipeline.h"
#include "tests/fuzz/mutate_zip.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

Outcome read_npy(ByteView bytes) {
  return formats::npy::parse_npy(Bytes(bytes.begin(), bytes.end()), "x.npy") ? Outcome::kAccepted
                                                                             : Outcome::kRejected;
}

Outcome read_npz(ByteView bytes) {
  const auto arrays = formats::npy::read_npz(Bytes(bytes.begin(), bytes.end()), "x.npz");
  return arrays ? Outcome::kAccepted : Outcome::kRejected;
}

/// Runs the stages of `compile` that precede the reading of calibration data.
Outcome read_pt2(ByteView bytes) {
  const auto program = formats::pt2::read(Bytes(bytes.begin(), bytes.end()), "x.pt2");
  if (!program) return Outcome::kRejected;
  const auto model = import_pt2::import_program(*program, {}, "x.pt2");
  if (!model) return Outcome::kAccepted;
  (void)passes::run_float_passes(model->graph);
  return Outcome::kAccepted;
}

bool is_npy(ByteView bytes) {
  return as_text(bytes).starts_with("\x93NUMPY");
}

}  // namespace

std::vector<Target> archive_targets() {
  return {{"npy", read_npy, mutate_npy, is_npy},
          {"npz", read_npz, mutate_zip, is_zip},
          {"pt2", read_pt2, mutate_zip, is_zip}};
}

}  // namespace thimble::fuzz
