#pragma once
// Runs one operator, written as in the text form, on given tensors.

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

/// `run({{"x", tensor}}, "clamp(%x) {min=0}")`. A refusal fails the test and gives an empty tensor.
[[nodiscard]] ir::Tensor run(const std::vector<Named>& operands, std::string_view op);

[[nodiscard]] ir::Tensor floats(const ir::Shape& shape, std::vector<float> values);
[[nodiscard]] ir::Tensor codes(const ir::Shape& shape, const std::vector<int>& values);
[[nodiscard]] ir::Tensor words(const ir::Shape& shape, std::vector<int32_t> values);

/// All elements as doubles, whatever the type.
[[nodiscard]] std::vector<double> elements(const ir::Tensor& tensor);

}  // namespace thimble::test
