// SPDX-License-Identifier: Apache-2.0
#include "tools/quality.h"

#include <cmath>

#include "quant/side_by_side.h"

namespace thimble::tools {
namespace {

template <typename T>
std::vector<double> widened(const ir::Tensor& tensor) {
  const std::span<const T> data = tensor.data<T>();
  std::vector<double> values;
  values.reserve(data.size());
  for (const T value : data) values.push_back(static_cast<double>(value));
  return values;
}

}  // namespace

std::vector<double> values_of(const ir::Tensor& tensor) {
  switch (tensor.dtype) {
    case ir::DType::kF32:
      return widened<float>(tensor);
    case ir::DType::kI8:
      return widened<int8_t>(tensor);
    case ir::DType::kU8:
    case ir::DType::kBool:
      return widened<uint8_t>(tensor);
    case ir::DType::kI16:
      return widened<int16_t>(tensor);
    case ir::DType::kI32:
      return widened<int32_t>(tensor);
    case ir::DType::kI64:
      return widened<int64_t>(tensor);
  }
  return {};
}

ir::Tensor to_real(const ir::Tensor& codes, double scale, int32_t zero_point) {
  const std::vector<double> values = values_of(codes);
  ir::Tensor real = ir::zeros(ir::DType::kF32, codes.shape);
  const std::span<float> data = real.data<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    data[i] = static_cast<float>(scale * (values[i] - zero_point));
  }
  return real;
}

void Sqnr::add(const ir::Tensor& reference, const ir::Tensor& got) {
  const std::vector<double> wanted = values_of(reference);
  const std::vector<double> found = values_of(got);
  if (samples_ == 0) {
    first_.assign(wanted.size(), 0.0);
    counts_.assign(wanted.size(), 0.0);
    sum_.assign(wanted.size(), 0.0);
    squares_.assign(wanted.size(), 0.0);
  }
  ++samples_;
  for (size_t i = 0; i < wanted.size(); ++i) {
    noise_ += quant::square_of_error(wanted[i], found[i]);
    if (quant::is_masked_output(wanted[i])) continue;
    if (counts_[i] == 0) first_[i] = wanted[i];
    ++counts_[i];
    const double distance = wanted[i] - first_[i];
    sum_[i] += distance;
    squares_[i] += distance * distance;
  }
}

double Sqnr::decibels() const {
  double signal = 0, total = 0, squares = 0, elements = 0;
  for (size_t i = 0; i < sum_.size(); ++i) {
    if (counts_[i] == 0) continue;
    ++elements;
    signal += squares_[i] - sum_[i] * sum_[i] / counts_[i];
    total += first_[i];
    squares += counts_[i] * first_[i] * first_[i];
  }
  if (samples_ == 1) signal = squares - total * total / std::max(elements, 1.0);
  return quant::decibels(quant::without_rounding(signal, squares), noise_);
}

std::string decibels_text(double decibels) {
  if (std::isnan(decibels)) return "constant";
  if (std::isinf(decibels)) return decibels > 0 ? "exact" : "not finite";
  return fmt::format("{:.1f} dB", decibels);
}

std::vector<int64_t> top1(const ir::Tensor& tensor) {
  const std::vector<double> values = values_of(tensor);
  const size_t row = tensor.shape.empty() ? 1 : static_cast<size_t>(tensor.shape.back());
  std::vector<int64_t> indices;
  for (size_t start = 0; start < values.size(); start += row) {
    size_t best = 0;
    for (size_t i = 1; i < row; ++i) {
      if (values[start + i] > values[start + best]) best = i;
    }
    indices.push_back(static_cast<int64_t>(best));
  }
  return indices;
}

std::optional<std::vector<int64_t>> classes_of(const ir::Tensor& reference,
                                               const ir::Tensor& tensor) {
  if (reference.dtype != ir::DType::kF32) {
    const std::vector<double> values = values_of(tensor);
    return std::vector<int64_t>(values.begin(), values.end());
  }
  if (reference.shape.empty() || reference.shape.back() < 2) return std::nullopt;
  return top1(tensor);
}

std::optional<double> HitRate::value() const {
  if (all_ == 0) return {};
  return static_cast<double>(hits_) / static_cast<double>(all_);
}

}  // namespace thimble::tools
