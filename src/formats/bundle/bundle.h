// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bundled program (`.bpte`) as plain structs: a program file with test cases. ExecuTorch's
// runtime and Thimble read and write it. Only tensors are supported as inputs and outputs.
// docs/formats/devtools.md describes the bytes.

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::bundle {

struct Tensor {
  pte::ScalarType scalar_type = pte::ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  Bytes data;  // in memory order
  bool operator==(const Tensor&) const = default;
};

struct TestCase {
  std::vector<Tensor> inputs, expected_outputs;
  bool operator==(const TestCase&) const = default;
};

struct TestSuite {
  std::string method;
  std::vector<TestCase> cases;
  bool operator==(const TestSuite&) const = default;
};

struct BundledProgram {
  std::vector<TestSuite> suites;  // sorted by method
  Bytes program;                  // a `.pte`
  bool operator==(const BundledProgram&) const = default;
};

[[nodiscard]] Bytes write(const BundledProgram& bundled);
/// `label` names the file in messages.
[[nodiscard]] Result<BundledProgram> read(ByteView bytes, std::string_view label);

}  // namespace thimble::formats::bundle
