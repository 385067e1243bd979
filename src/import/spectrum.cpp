// SPDX-License-Identifier: Apache-2.0
#include "import/spectrum.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "import/formula.h"

namespace thimble::import_pt2 {

namespace pt2 = formats::pt2;

namespace {

using ir::OpKind;
using ir::ValueId;

constexpr std::string_view kNearest =
    "supported: torch.stft or torch.fft.rfft of real samples, and of its result the magnitude: "
    "x.abs() ** 2, also after views";

// Views keep the elements. Their handlers accept any element type.
constexpr std::array kViews = {
    std::string_view("aten.alias.default"),      std::string_view("aten.clone.default"),
    std::string_view("aten.contiguous.default"), std::string_view("aten.detach.default"),
    std::string_view("aten.flatten.using_ints"), std::string_view("aten.movedim.int"),
    std::string_view("aten.permute.default"),    std::string_view("aten.reshape.default"),
    std::string_view("aten.select.int"),         std::string_view("aten.slice.Tensor"),
    std::string_view("aten.squeeze.default"),    std::string_view("aten.squeeze.dim"),
    std::string_view("aten.squeeze.dims"),       std::string_view("aten.swapaxes.default"),
    std::string_view("aten.t.default"),          std::string_view("aten.transpose.int"),
    std::string_view("aten.unsqueeze.default"),  std::string_view("aten.view.default")};

/// |x|; the operand's value is |x|^2.
Status magnitude(Call& call) {
  Formula f(call);
  return f.result(f.apply(OpKind::sqrt, {f.tensor("self")}));
}

/// Adds the power of frames of x, [..., T, n / 2 + 1].
Result<ValueId> power_of(Call& call, ValueId x, std::vector<float> window, int64_t hop) {
  const auto size = static_cast<int64_t>(window.size());
  ir::Tensor constant = ir::zeros(ir::DType::kF32, {size});
  std::ranges::copy(window, constant.data<float>().begin());
  return call.add(OpKind::power_spectrum, {x, call.constant_value("window", std::move(constant))},
                  {{ir::attr::hop, hop}});
}

/// The transform of the last dimension. `factor` multiplies it.
Status real_transform(Call& call, ValueId x, int64_t dim, double factor, bool onesided) {
  const ir::Shape shape = call.shape(x);
  if (shape.empty() || dim != static_cast<int64_t>(shape.size()) - 1) {
    return unsupported("a transform of dimension {} of {}, only the last one is supported", dim,
                       ir::list_text(shape));
  }
  if (!onesided) return unsupported("onesided=False; {}", kNearest);
  const int64_t n = shape.back();
  THIMBLE_CHECK(call.check_constant(ir::DType::kF32, {n}));
  THIMBLE_TRY(
      const ValueId y,
      power_of(call, x, std::vector<float>(static_cast<size_t>(n), static_cast<float>(factor)), n));
  ir::Shape result(shape.begin(), shape.end() - 1);
  result.push_back(n / 2 + 1);
  return call.result(call.reshape(y, result));
}

}  // namespace

bool is_complex(pt2::ScalarType type) {
  return type == pt2::ScalarType::kComplex32 || type == pt2::ScalarType::kComplex64 ||
         type == pt2::ScalarType::kComplex128;
}

bool is_complex_view(std::string_view target) {
  return std::ranges::find(kViews, target) != kViews.end();
}

double factor_of_norm(std::string_view norm, int64_t n, bool inverse) {
  if (norm == "ortho") return factor_of_mode(1, n);
  return factor_of_mode((norm == "forward") != inverse ? 2 : 0, n);
}

double factor_of_mode(int64_t mode, int64_t n) {
  const double count = static_cast<double>(n);
  return mode == 0 ? 1 : mode == 1 ? 1 / std::sqrt(count) : 1 / count;
}

Result<std::vector<float>> stft_window(Call& call, int64_t n) {
  THIMBLE_TRY(const int64_t length, call.integer("win_length", n));
  if (length < 1 || length > n) return bad_input("win_length is {}, n_fft {}", length, n);
  THIMBLE_CHECK(call.check_constant(ir::DType::kF32, {n}));
  std::vector<float> result(static_cast<size_t>(n), 0.0F);
  const auto first = result.begin() + (n - length) / 2;
  std::fill(first, first + length, 1.0F);
  if (!call.has("window")) return result;
  THIMBLE_TRY(const ir::Tensor* window, call.constant("window"));
  if (window->shape != ir::Shape{length}) {
    return bad_input("window is {}, expected [{}]", ir::list_text(window->shape), length);
  }
  std::ranges::copy(window->data<float>(), first);
  return result;
}

bool reads_complex(const Context& context, const pt2::Node& node) {
  return std::ranges::any_of(node.inputs, [&](const pt2::NamedArgument& input) {
    const auto* name = std::get_if<pt2::TensorName>(&input.value);
    const pt2::TensorMeta* meta = name == nullptr ? nullptr : context.meta(name->name);
    return meta != nullptr && is_complex(meta->dtype);
  });
}

Handler find_complex_handler(std::string_view target) {
  if (target == "aten.abs.default") return magnitude;
  return is_complex_view(target) ? find_handler(target) : nullptr;
}

std::string spectrum_refusal(std::string_view target, bool complex_operand) {
  const bool transform = target.starts_with("aten.istft.") || target.starts_with("aten.fft_") ||
                         target.starts_with("aten._fft_") || target.starts_with("aten.stft.");
  return complex_operand || transform ? std::string(kNearest) : "";
}

namespace handlers {

Status stft(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const int64_t n, call.integer("n_fft"));
  if (n < 1) return bad_input("n_fft is {}, expected at least 1", n);
  THIMBLE_TRY(const int64_t hop, call.integer("hop_length", n / 4));
  THIMBLE_TRY(std::vector<float> window, stft_window(call, n));
  THIMBLE_TRY(const bool normalized, call.boolean("normalized", false));
  THIMBLE_TRY(const bool onesided, call.boolean("onesided", true));
  THIMBLE_TRY(const bool complex, call.boolean("return_complex", false));
  THIMBLE_TRY(const bool aligned, call.boolean("align_to_window", false));
  if (!onesided || !complex || aligned) {
    return unsupported("{}; {}",
                       !complex    ? "return_complex=False"
                       : !onesided ? "onesided=False"
                                   : "align_to_window=True",
                       kNearest);
  }
  if (normalized) {
    for (float& each : window) {
      each = static_cast<float>(static_cast<double>(each) / std::sqrt(static_cast<double>(n)));
    }
  }
  THIMBLE_TRY(const ValueId y, power_of(call, x, std::move(window), hop));
  Ints dims;
  for (int64_t d = 0; d < static_cast<int64_t>(call.shape(y).size()); ++d) dims.push_back(d);
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return call.result(call.add(OpKind::permute, {y}, {{ir::attr::dims, dims}}));
}

Status fft_r2c(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  const ir::Shape shape = call.shape(x);
  THIMBLE_TRY(const Ints dims, call.dimensions("dim", shape.size()));
  THIMBLE_TRY(const int64_t normalization, call.integer("normalization"));
  THIMBLE_TRY(const bool onesided, call.boolean("onesided"));
  if (dims.size() != 1) return unsupported("a transform of {} dimensions", dims.size());
  return real_transform(call, x, dims[0], factor_of_mode(normalization, shape.back()), onesided);
}

Status fft_rfft(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  const ir::Shape shape = call.shape(x);
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", shape.size(), -1));
  if (shape.empty()) return bad_input("self is a scalar");
  const int64_t size = shape[static_cast<size_t>(dim)];
  THIMBLE_TRY(const int64_t n, call.integer("n", size));
  THIMBLE_TRY(const std::string norm, call.text("norm", "backward"));
  if (n != size) {
    return unsupported("n is {}, the dimension has {} elements: pad or slice it first", n, size);
  }
  return real_transform(call, x, dim, factor_of_norm(norm, n, false), true);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
