// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one operator, written in the text form, on given tensors.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/tensor.h"

namespace thimble::test {

struct Named {
  std::string name;
  ir::Tensor tensor;
  bool constant = false;
};

/// `run({{"x", tensor}}, "clamp(%x) {min=0}")`. Returns an empty tensor after an error.
[[nodiscard]] ir::Tensor run(const std::vector<Named>& operands, std::string_view op);

[[nodiscard]] ir::Tensor floats(const ir::Shape& shape, std::vector<float> values);
[[nodiscard]] ir::Tensor codes(const ir::Shape& shape, const std::vector<int>& values);
[[nodiscard]] ir::Tensor words(const ir::Shape& shape, std::vector<int32_t> values);

/// Returns all elements as doubles, for any type.
[[nodiscard]] std::vector<double> elements(const ir::Tensor& tensor);

}  // namespace thimble::test
