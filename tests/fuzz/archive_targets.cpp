// SPDX-License-Identifier: Apache-2.0
// Archives and arrays: .pt2 up to the float graph, .npz, .npy.

#include <algorithm>
#include <cstdlib>

#include "formats/kind/file_kind.h"
#include "formats/npy/npy.h"
#include "formats/pt2/reader.h"
#include "formats/zip/directory.h"
#include "import/import.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "tests/fuzz/mutate_zip.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

Outcome read_npy(ByteView bytes) {
  (void)formats::file_kind(bytes, bytes.size());  // what a message about another kind of file says
  return formats::npy::parse_npy(copy_of(bytes), "x.npy") ? Outcome::kAccepted : Outcome::kRejected;
}

Outcome read_npz(ByteView bytes) {
  const auto arrays = formats::npy::read_npz(copy_of(bytes), "x.npz");
  return arrays ? Outcome::kAccepted : Outcome::kRejected;
}

/// Runs the stages of `compile` that precede the reading of calibration data.
Outcome read_pt2(ByteView bytes) {
  const auto program = formats::pt2::read(copy_of(bytes), "x.pt2");
  if (!program) return Outcome::kRejected;
  const auto model = import_pt2::import_program(*program, {}, "x.pt2");
  if (!model) return Outcome::kRejected;
  if (!ir::verify(model->graph)) std::abort();
  const auto cleaned = passes::run_float_passes(model->graph);
  if (cleaned && !ir::verify(*cleaned)) std::abort();
  return Outcome::kAccepted;
}

bool is_npy(ByteView bytes) {
  return as_text(bytes).starts_with(formats::npy::kMagic);
}

size_t inflated_bytes(ByteView bytes) {
  constexpr uint64_t kRatioMax = 1032;  // of deflate
  formats::zip::Input input(copy_of(bytes));
  const auto entries = formats::zip::read_directory(input, "x");
  size_t sum = 0;
  if (!entries) return sum;
  for (const formats::zip::Entry& entry : *entries) {
    if (entry.method != formats::zip::kDeflated) continue;
    const uint64_t compressed = std::min<uint64_t>(entry.size_compressed_bytes, bytes.size());
    sum += std::min(entry.size_bytes, compressed * kRatioMax);
  }
  return sum;
}

}  // namespace

std::vector<Target> archive_targets() {
  return {{"npy", read_npy, mutate_npy, is_npy},
          {"npz", read_npz, mutate_zip, is_zip, inflated_bytes},
          {"pt2", read_pt2, mutate_zip, is_zip, inflated_bytes}};
}

}  // namespace thimble::fuzz
