// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of the tests that change .pt2 files.

#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include "formats/pt2/reader.h"
#include "import/import.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

namespace thimble::fuzz {

/// Runs the stages of `compile` that precede the reading of calibration data.
inline void import_and_clean(const Bytes& archive) {
  const auto program = formats::pt2::read(archive, "mutation.pt2");
  if (!program.ok()) return;
  const auto model = import_pt2::import_program(*program, {}, "mutation.pt2");
  if (!model.ok()) return;
  const auto verified = ir::verify(model->graph);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  const auto cleaned = passes::run_float_passes(model->graph);
  if (!cleaned.ok()) return;
  const auto still_verified = ir::verify(*cleaned);
  ASSERT_TRUE(still_verified.ok()) << still_verified.error().message;
}

/// Returns the number in an environment variable, or `otherwise`.
inline uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace thimble::fuzz
