// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bundled programs: a program file with inputs and expected outputs (formats/bundle/bundle.h).

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/bundle/bundle.h"
#include "tools/model.h"

namespace thimble::tools {

/// Returns a test case of the tensors at the model's inputs and outputs.
[[nodiscard]] formats::bundle::TestCase test_case_of(const Model& model,
                                                     std::span<const ir::Tensor> inputs,
                                                     std::span<const ir::Tensor> outputs);

/// A float output is equal to the expected one if |output - expected| <= atol + rtol * |expected|.
/// Integers must be equal.
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-8;
};

/// Result of one test case.
struct CaseResult {
  std::string method;
  size_t index = 0;
  bool passed = false;
  double error_max = 0;    // largest difference of an element
  std::string difference;  // where the output differs; empty if it passed
};

struct BundledResult {
  std::string where;  // platform that ran the program
  std::vector<CaseResult> cases;
  [[nodiscard]] size_t failed() const;
};

/// Runs each test case of the file, from the initial state of the model.
[[nodiscard]] Result<BundledResult> run_bundled(const std::filesystem::path& path,
                                                const OpenOptions& options,
                                                const Tolerance& tolerance);

}  // namespace thimble::tools
