#include "import/complex_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "import/formula.h"
#include "import/handlers.h"
#include "import/spectrum.h"

namespace thimble::import_pt2 {
namespace complex_pair {
namespace {

namespace pt2 = formats::pt2;
using ir::OpKind;
using ir::Tensor;
using ir::ValueId;

std::string imaginary_name(std::string_view name) {
  return std::string(name) + ".imaginary";
}

const std::string* tensor_name(const pt2::Argument& argument) {
  const auto* tensor = std::get_if<pt2::TensorName>(&argument);
  return tensor == nullptr ? nullptr : &tensor->name;
}

bool is_complex_name(const pt2::ExportedProgram& program, const std::string& name) {
  const pt2::TensorMeta* meta = program.graph.tensor(name);
  return meta != nullptr && is_complex(meta->dtype);
}

/// Operators that act on the real and the imaginary part alike, in addition to views.
bool acts_on_parts(std::string_view target) {
  constexpr std::array kLinear = {std::string_view("aten.constant_pad_nd.default"),
                                  std::string_view("aten.expand.default"),
                                  std::string_view("aten.flip.default"),
                                  std::string_view("aten.mean.dim"),
                                  std::string_view("aten.neg.default"),
                                  std::string_view("aten.pad.default"),
                                  std::string_view("aten.roll.default"),
                                  std::string_view("aten.sum.dim_IntList"),
                                  std::string_view("aten.resolve_conj.default"),
                                  std::string_view("aten.resolve_neg.default")};
  return is_complex_view(target) || std::ranges::find(kLinear, target) != kLinear.end();
}

/// One node with a pair as an operand or result.
class PairCall {
 public:
  PairCall(Context& context, const PairNames& pairs, const pt2::Node& node,
           const ir::Source& source)
      : context_(context),
        pairs_(pairs),
        node_(node),
        source_(source),
        call_(context, node, source) {}

  [[nodiscard]] Call& call() { return call_; }

  struct Parts {
    ValueId real = ir::kNoValue, imaginary = ir::kNoValue;  // kNoValue: a real operand
  };

  Result<Parts> parts(std::string_view argument) {
    Parts result;
    if (!call_.is_tensor(argument)) {
      THIMBLE_TRY(const double number, call_.number(argument));
      result.real = call_.scalar(number);
      return result;
    }
    THIMBLE_TRY(result.real, call_.tensor(argument));
    const std::string* name = tensor_name(*node_.input(argument));
    if (pairs_.contains(*name)) {
      THIMBLE_TRY(result.imaginary, context_.tensors.read(imaginary_name(*name), source_));
    }
    return result;
  }

  /// Binds the first output to a pair.
  Status result(ValueId real, ValueId imaginary) {
    const std::string* name = tensor_name(node_.outputs[0]);
    if (name == nullptr) return bad_input("the node has no tensor as output");
    context_.tensors.bind(*name, real);
    context_.tensors.bind(imaginary_name(*name), imaginary);
    return ok();
  }

  Result<ValueId> pair(OpKind kind, ValueId a, ValueId b) { return call_.add(kind, {a, b}); }

  /// Calls the handler for the real part and for the imaginary part.
  Status each_part(Handler handler) {
    THIMBLE_CHECK(handler(call_));
    pt2::Node copy = node_;
    for (pt2::NamedArgument& input : copy.inputs) rename(input.value);
    for (pt2::Argument& output : copy.outputs) rename(output);
    Call again(context_, copy, source_);
    return handler(again);
  }

 private:
  void rename(pt2::Argument& argument) {
    auto* tensor = std::get_if<pt2::TensorName>(&argument);
    if (tensor == nullptr || !pairs_.contains(tensor->name)) return;
    const std::string name = imaginary_name(tensor->name);
    if (const pt2::TensorMeta* meta = context_.meta(tensor->name)) {
      context_.expanded.tensor_values.emplace(name, *meta);
    }
    tensor->name = name;
  }

  Context& context_;
  const PairNames& pairs_;
  const pt2::Node& node_;
  const ir::Source& source_;
  Call call_;
};

// --- transforms ------------------------------------------------------------------------------

struct Transform {
  int64_t size = 0;           // of the real signal
  double factor = 1;          // of the transform
  std::vector<float> window;  // of the signal; empty: 1
  [[nodiscard]] int64_t bins() const { return size / 2 + 1; }
};

double angle(int64_t k, int64_t t, int64_t n) {
  return 2 * M_PI * static_cast<double>(k * t % n) / static_cast<double>(n);
}

/// Rows: cos of each bin, then -sin of each bin.
Tensor forward_rows(const Transform& transform) {
  const int64_t n = transform.size, bins = transform.bins();
  Tensor rows = ir::zeros(ir::DType::kF32, {2 * bins, n});
  for (int64_t row = 0; row < 2 * bins; ++row) {
    for (int64_t t = 0; t < n; ++t) {
      const double at = angle(row % bins, t, n);
      const double wave = row < bins ? std::cos(at) : -std::sin(at);
      const double window = transform.window.empty()
                                ? 1
                                : static_cast<double>(transform.window[static_cast<size_t>(t)]);
      rows.data<float>()[static_cast<size_t>(row * n + t)] =
          static_cast<float>(transform.factor * window * wave);
    }
  }
  return rows;
}

/// Rows: a sample of the signal as a sum of the real, then of the imaginary parts of the bins. A
/// bin has a conjugate copy, except the first one and, for even sizes, the last one.
Tensor inverse_rows(const Transform& transform) {
  const int64_t n = transform.size, bins = transform.bins();
  Tensor rows = ir::zeros(ir::DType::kF32, {n, 2 * bins});
  for (int64_t t = 0; t < n; ++t) {
    const double window = transform.window.empty()
                              ? 1
                              : static_cast<double>(transform.window[static_cast<size_t>(t)]);
    for (int64_t column = 0; column < 2 * bins; ++column) {
      const int64_t k = column % bins;
      const bool alone = k == 0 || 2 * k == n;
      const double at = angle(k, t, n);
      const double wave = column < bins ? std::cos(at) : alone ? 0 : -std::sin(at);
      rows.data<float>()[static_cast<size_t>(t * 2 * bins + column)] =
          static_cast<float>(transform.factor * window * wave * (alone ? 1 : 2));
    }
  }
  return rows;
}

double factor_of_norm(const std::string& norm, int64_t n, bool inverse) {
  const double root = std::sqrt(static_cast<double>(n));
  if (norm == "ortho") return 1 / root;
  return (norm == "forward") != inverse ? 1 / (root * root) : 1;
}

double factor_of_mode(int64_t normalization, int64_t n) {
  const double root = std::sqrt(static_cast<double>(n));
  return normalization == 0 ? 1 : normalization == 1 ? 1 / root : 1 / (root * root);
}

Status check_last(Call& call, ValueId x, int64_t dim) {
  const ir::Shape& shape = call.shape(x);
  if (!shape.empty() && dim == static_cast<int64_t>(shape.size()) - 1) return ok();
  return unsupported("a transform of dimension {} of {}: transpose it to the last one", dim,
                     ir::list_text(shape));
}

Result<ValueId> half(Call& call, ValueId x, int64_t dim, bool second) {
  const int64_t count = call.shape(x)[static_cast<size_t>(dim)] / 2;
  return call.add(OpKind::slice, {x},
                  {{ir::attr::dim, dim},
                   {ir::attr::start, second ? count : 0},
                   {ir::attr::end, second ? 2 * count : count}});
}

Status split_result(PairCall& node, ValueId both, int64_t dim) {
  THIMBLE_TRY(const ValueId real, half(node.call(), both, dim, false));
  THIMBLE_TRY(const ValueId imaginary, half(node.call(), both, dim, true));
  return node.result(real, imaginary);
}

Status forward(PairCall& node, ValueId x, int64_t dim, const Transform& transform) {
  Call& call = node.call();
  THIMBLE_CHECK(check_last(call, x, dim));
  const ValueId rows = call.constant_value("transform", forward_rows(transform));
  THIMBLE_TRY(const ValueId both, call.add(OpKind::linear, {x, rows, ir::kNoValue}));
  return split_result(node, both, dim);
}

Result<ValueId> joined(Call& call, const PairCall::Parts& z, int64_t dim) {
  return call.add(OpKind::concat, {z.real, z.imaginary}, {{ir::attr::dim, dim}});
}

Status inverse(PairCall& node, int64_t dim, const Transform& transform) {
  Call& call = node.call();
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  THIMBLE_CHECK(check_last(call, z.real, dim));
  if (call.shape(z.real).back() != transform.bins()) {
    return unsupported("{} bins for {} samples, expected {}", call.shape(z.real).back(),
                       transform.size, transform.bins());
  }
  THIMBLE_TRY(const ValueId both, joined(call, z, dim));
  const ValueId rows = call.constant_value("transform", inverse_rows(transform));
  return call.result(call.add(OpKind::linear, {both, rows, ir::kNoValue}));
}

Status r2c(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const Ints dims, call.dimensions("dim", call.shape(x).size()));
  THIMBLE_TRY(const int64_t mode, call.integer("normalization"));
  THIMBLE_TRY(const bool onesided, call.boolean("onesided"));
  if (dims.size() != 1 || !onesided) {
    return unsupported(
        "a transform of {} dimensions with onesided={}: use torch.fft.rfft along "
        "one dimension",
        dims.size(), onesided);
  }
  const int64_t n = call.shape(x)[static_cast<size_t>(dims[0])];
  return forward(node, x, dims[0], {n, factor_of_mode(mode, n), {}});
}

Status rfft(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size(), -1));
  const int64_t size = call.shape(x)[static_cast<size_t>(dim)];
  THIMBLE_TRY(const int64_t n, call.integer("n", size));
  THIMBLE_TRY(const std::string norm, call.text("norm", "backward"));
  if (n != size) {
    return unsupported("n is {}, the dimension has {} elements: pad or slice it first", n, size);
  }
  return forward(node, x, dim, {n, factor_of_norm(norm, n, false), {}});
}

Status c2r(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  THIMBLE_TRY(const Ints dims, call.dimensions("dim", call.shape(z.real).size()));
  THIMBLE_TRY(const int64_t mode, call.integer("normalization"));
  THIMBLE_TRY(const int64_t n, call.integer("last_dim_size"));
  if (dims.size() != 1) {
    return unsupported("a transform of {} dimensions: use torch.fft.irfft along one dimension",
                       dims.size());
  }
  return inverse(node, dims[0], {n, factor_of_mode(mode, n), {}});
}

Status irfft(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(z.real).size(), -1));
  const int64_t bins = call.shape(z.real)[static_cast<size_t>(dim)];
  THIMBLE_TRY(const int64_t n, call.integer("n", 2 * (bins - 1)));
  THIMBLE_TRY(const std::string norm, call.text("norm", "backward"));
  return inverse(node, dim, {n, factor_of_norm(norm, n, true), {}});
}

// --- short-time transforms: convolutions with the rows of the transform ------------------------

struct ShortTime {
  Transform transform;
  int64_t hop = 1;
};

Result<ShortTime> short_time(Call& call, bool is_inverse) {
  ShortTime result;
  THIMBLE_TRY(const int64_t n, call.integer("n_fft"));
  if (n < 1 || n > ir::kMaxElements) return bad_input("n_fft is {}", n);
  THIMBLE_TRY(result.hop, call.integer("hop_length", n / 4));
  if (result.hop < 1) return bad_input("hop_length is {}", result.hop);
  THIMBLE_TRY(result.transform.window, stft_window(call, n));
  THIMBLE_TRY(const bool normalized, call.boolean("normalized", false));
  THIMBLE_TRY(const bool onesided, call.boolean("onesided", true));
  if (!onesided) return unsupported("onesided=False: the other half is the conjugate");
  result.transform.size = n;
  const double root = std::sqrt(static_cast<double>(n));
  result.transform.factor =
      is_inverse ? (normalized ? 1 / root : 1 / (root * root)) : (normalized ? 1 / root : 1);
  return result;
}

/// x [B, T] or [T]; the result is [B, bins, frames].
Status stft(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ShortTime frames, short_time(call, false));
  THIMBLE_TRY(const bool aligned, call.boolean("align_to_window", false));
  if (aligned) return unsupported("align_to_window=True, expected False");
  THIMBLE_TRY(ValueId x, call.tensor("self"));
  const ir::Shape shape = call.shape(x);
  const bool batched = shape.size() == 2;
  const int64_t n = frames.transform.size, bins = frames.transform.bins();
  if (shape.empty() || shape.size() > 2 || shape.back() < n) {
    return bad_input("a signal of shape {} for n_fft {}", ir::list_text(shape), n);
  }
  THIMBLE_TRY(x, call.reshape(x, {batched ? shape[0] : 1, 1, 1, shape.back()}));
  Tensor rows = forward_rows(frames.transform);
  rows.shape = {2 * bins, 1, 1, n};
  THIMBLE_TRY(
      ValueId y,
      call.add(OpKind::conv2d, {x, call.constant_value("transform", std::move(rows)), ir::kNoValue},
               {{ir::attr::stride, Ints{1, frames.hop}},
                {ir::attr::padding, Ints{0, 0, 0, 0}},
                {ir::attr::dilation, Ints{1, 1}}}));
  const int64_t count = call.shape(y)[3];
  THIMBLE_TRY(y, call.reshape(y, batched ? ir::Shape{shape[0], 2 * bins, count}
                                         : ir::Shape{2 * bins, count}));
  return split_result(node, y, batched ? 1 : 0);
}

/// The sum of the squares of the windows of all frames.
std::vector<double> envelope(const ShortTime& frames, int64_t count) {
  const auto& window = frames.transform.window;
  std::vector<double> sum(static_cast<size_t>((count - 1) * frames.hop + frames.transform.size), 0);
  for (int64_t frame = 0; frame < count; ++frame) {
    for (size_t t = 0; t < window.size(); ++t) {
      const double w = static_cast<double>(window[t]);
      sum[static_cast<size_t>(frame * frames.hop) + t] += w * w;
    }
  }
  return sum;
}

/// z [B, bins, frames] or [bins, frames]; overlapping frames are added, and divided by the
/// envelope.
Status istft(PairCall& node) {
  Call& call = node.call();
  constexpr double kSmallest = 1e-11;
  THIMBLE_TRY(const ShortTime frames, short_time(call, true));
  THIMBLE_TRY(const bool center, call.boolean("center", true));
  THIMBLE_TRY(const bool complex, call.boolean("return_complex", false));
  if (complex) return unsupported("return_complex=True, expected False");
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  const ir::Shape shape = call.shape(z.real);
  const bool batched = shape.size() == 3;
  const int64_t n = frames.transform.size, bins = frames.transform.bins();
  if (shape.size() < 2 || shape.size() > 3 || shape[shape.size() - 2] != bins) {
    return bad_input("a spectrum of shape {} for n_fft {}", ir::list_text(shape), n);
  }
  const int64_t count = shape.back(), batch = batched ? shape[0] : 1;
  THIMBLE_TRY(ValueId both, joined(call, z, batched ? 1 : 0));
  THIMBLE_TRY(both, call.reshape(both, {batch, 2 * bins, 1, count}));
  const Tensor rows = inverse_rows(frames.transform);
  Tensor filters = ir::permuted(rows, Ints{1, 0});
  filters.shape = {2 * bins, 1, 1, n};
  THIMBLE_TRY(ValueId y,
              call.add(OpKind::conv_transpose2d,
                       {both, call.constant_value("transform", std::move(filters)), ir::kNoValue},
                       {{ir::attr::stride, Ints{1, frames.hop}},
                        {ir::attr::padding, Ints{0, 0, 0, 0}},
                        {ir::attr::output_padding, Ints{0, 0}},
                        {ir::attr::dilation, Ints{1, 1}}}));
  const std::vector<double> sum = envelope(frames, count);
  const int64_t total = static_cast<int64_t>(sum.size());
  const int64_t first = center ? n / 2 : 0;
  int64_t length = center ? total - 2 * (n / 2) : total;
  THIMBLE_TRY(length, call.integer("length", length));
  if (length < 1 || first + length > total) {
    return unsupported("length is {}, the frames have {} samples: pad the result instead", length,
                       total - first);
  }
  Tensor factors = ir::zeros(ir::DType::kF32, {length});
  for (int64_t i = 0; i < length; ++i) {
    const double here = sum[static_cast<size_t>(first + i)];
    if (!(here > kSmallest)) return bad_input("the windows do not cover sample {}", i);
    factors.data<float>()[static_cast<size_t>(i)] = static_cast<float>(1 / here);
  }
  THIMBLE_TRY(y, call.reshape(y, batched ? ir::Shape{batch, total} : ir::Shape{total}));
  THIMBLE_TRY(y, call.add(OpKind::slice, {y},
                          {{ir::attr::dim, int64_t{batched ? 1 : 0}},
                           {ir::attr::start, first},
                           {ir::attr::end, first + length}}));
  return call.result(
      call.add(OpKind::mul, {y, call.constant_value("envelope", std::move(factors))}));
}

// --- arithmetic ------------------------------------------------------------------------------

Status magnitude(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  Formula f(node.call());
  const Term re = f.value(z.real), im = f.value(z.imaginary);
  return f.result(f.apply(OpKind::sqrt, {re * re + im * im}));
}

Status real(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  return node.call().result(z.real);
}

Status imaginary(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  return node.call().result(z.imaginary);
}

Status conjugate(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts z, node.parts("self"));
  THIMBLE_TRY(const ValueId negative, node.call().scaled(z.imaginary, -1));
  return node.result(z.real, negative);
}

Status compose(PairCall& node) {
  THIMBLE_TRY(const ValueId re, node.call().tensor("real"));
  THIMBLE_TRY(const ValueId im, node.call().tensor("imag"));
  return node.result(re, im);
}

Status polar(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ValueId size, call.tensor("abs"));
  THIMBLE_TRY(const ValueId at, call.tensor("angle"));
  THIMBLE_TRY(const ValueId cosine, call.add(OpKind::cos, {at}));
  THIMBLE_TRY(const ValueId sine, call.add(OpKind::sin, {at}));
  THIMBLE_TRY(const ValueId re, node.pair(OpKind::mul, size, cosine));
  THIMBLE_TRY(const ValueId im, node.pair(OpKind::mul, size, sine));
  return node.result(re, im);
}

/// [..., 2] as a complex tensor.
Status from_columns(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  ir::Shape shape = call.shape(x);
  const int64_t last = static_cast<int64_t>(shape.size()) - 1;
  if (last < 0 || shape.back() != 2) return bad_input("self is {}", ir::list_text(shape));
  shape.pop_back();
  THIMBLE_TRY(ValueId re, half(call, x, last, false));
  THIMBLE_TRY(ValueId im, half(call, x, last, true));
  THIMBLE_TRY(re, call.reshape(re, shape));
  THIMBLE_TRY(im, call.reshape(im, shape));
  return node.result(re, im);
}

/// A complex tensor as [..., 2].
Status to_columns(PairCall& node) {
  Call& call = node.call();
  THIMBLE_TRY(PairCall::Parts z, node.parts("self"));
  ir::Shape shape = call.shape(z.real);
  const auto last = static_cast<int64_t>(shape.size());
  shape.push_back(1);
  THIMBLE_TRY(z.real, call.reshape(z.real, shape));
  THIMBLE_TRY(z.imaginary, call.reshape(z.imaginary, shape));
  return call.result(joined(call, z, last));
}

template <OpKind kKind>
Status sum(PairCall& node) {
  THIMBLE_TRY(const double alpha, node.call().number("alpha", 1));
  if (alpha != 1) return unsupported("alpha is {}: multiply other first", alpha);
  THIMBLE_TRY(PairCall::Parts a, node.parts("self"));
  THIMBLE_TRY(PairCall::Parts b, node.parts("other"));
  for (PairCall::Parts* each : {&a, &b}) {
    if (each->imaginary == ir::kNoValue) each->imaginary = node.call().scalar(0);
  }
  THIMBLE_TRY(const ValueId re, node.pair(kKind, a.real, b.real));
  THIMBLE_TRY(const ValueId im, node.pair(kKind, a.imaginary, b.imaginary));
  return node.result(re, im);
}

Status product(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts a, node.parts("self"));
  THIMBLE_TRY(const PairCall::Parts b, node.parts("other"));
  if (a.imaginary == ir::kNoValue || b.imaginary == ir::kNoValue) {
    const PairCall::Parts& z = a.imaginary == ir::kNoValue ? b : a;
    const ValueId x = a.imaginary == ir::kNoValue ? a.real : b.real;
    THIMBLE_TRY(const ValueId re, node.pair(OpKind::mul, z.real, x));
    THIMBLE_TRY(const ValueId im, node.pair(OpKind::mul, z.imaginary, x));
    return node.result(re, im);
  }
  Formula f(node.call());
  const Term ar = f.value(a.real), ai = f.value(a.imaginary);
  const Term br = f.value(b.real), bi = f.value(b.imaginary);
  const Term re = ar * br - ai * bi, im = ar * bi + ai * br;
  THIMBLE_CHECK(f.status());
  return node.result(re.id, im.id);
}

Status quotient(PairCall& node) {
  THIMBLE_TRY(const PairCall::Parts a, node.parts("self"));
  THIMBLE_TRY(const PairCall::Parts b, node.parts("other"));
  if (b.imaginary != ir::kNoValue) {
    return unsupported(
        "a complex divisor: multiply with its conjugate, and divide by the square "
        "of its magnitude");
  }
  THIMBLE_TRY(const ValueId re, node.pair(OpKind::div, a.real, b.real));
  THIMBLE_TRY(const ValueId im, node.pair(OpKind::div, a.imaginary, b.real));
  return node.result(re, im);
}

using PairHandler = Status (*)(PairCall&);

const std::map<std::string_view, PairHandler>& table() {
  static const std::map<std::string_view, PairHandler> rows = {
      {"aten._conj.default", conjugate},
      {"aten._conj_physical.default", conjugate},
      {"aten._fft_c2r.default", c2r},
      {"aten._fft_r2c.default", r2c},
      {"aten.abs.default", magnitude},
      {"aten.add.Tensor", sum<OpKind::add>},
      {"aten.complex.default", compose},
      {"aten.conj.default", conjugate},
      {"aten.conj_physical.default", conjugate},
      {"aten.div.Scalar", quotient},
      {"aten.div.Tensor", quotient},
      {"aten.fft_irfft.default", irfft},
      {"aten.fft_rfft.default", rfft},
      {"aten.imag.default", imaginary},
      {"aten.istft.default", istft},
      {"aten.mul.Scalar", product},
      {"aten.mul.Tensor", product},
      {"aten.polar.default", polar},
      {"aten.real.default", real},
      {"aten.stft.default", stft},
      {"aten.sub.Tensor", sum<OpKind::sub>},
      {"aten.view_as_complex.default", from_columns},
      {"aten.view_as_real.default", to_columns},
  };
  return rows;
}

bool is_transform(std::string_view target) {
  return target == "aten._fft_r2c.default" || target == "aten.fft_rfft.default" ||
         target == "aten.stft.default";
}

}  // namespace
}  // namespace complex_pair

namespace handlers {

/// Called for a node without a pair: the real part and the conjugate of a real tensor are itself.
Status of_complex(Call& call) {
  const formats::pt2::TensorMeta* meta = call.meta("self");
  if (meta != nullptr && !is_complex(meta->dtype) && !is_complex(call.result_meta()->dtype)) {
    return call.view({});
  }
  return unsupported(
      "of a complex tensor that is no result of an operator: store a real and an "
      "imaginary part, and use torch.complex");
}

}  // namespace handlers

PairNames find_pairs(const formats::pt2::ExportedProgram& program) {
  PairNames pairs;
  const auto& nodes = program.graph.nodes;
  // A tensor that an operator reads for more than its magnitude, and what it is a view of.
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const std::string_view target = short_target(node->target);
    const bool wanted =
        std::ranges::any_of(node->outputs, [&](const formats::pt2::Argument& output) {
          const std::string* name = complex_pair::tensor_name(output);
          return name != nullptr && pairs.contains(*name);
        });
    for (const formats::pt2::Argument& output : node->outputs) {
      const std::string* name = complex_pair::tensor_name(output);
      if (name == nullptr || !complex_pair::is_complex_name(program, *name)) continue;
      if (!complex_pair::is_transform(target) && !is_complex_view(target)) pairs.insert(*name);
    }
    if (target == "aten.abs.default" || (is_complex_view(target) && !wanted)) continue;
    for (const formats::pt2::NamedArgument& input : node->inputs) {
      const std::string* name = complex_pair::tensor_name(input.value);
      if (name != nullptr && complex_pair::is_complex_name(program, *name)) pairs.insert(*name);
    }
  }
  // All views of a pair are pairs.
  for (const formats::pt2::Node& node : nodes) {
    if (!has_pair(pairs, node)) continue;
    for (const formats::pt2::Argument& output : node.outputs) {
      const std::string* name = complex_pair::tensor_name(output);
      if (name != nullptr && complex_pair::is_complex_name(program, *name)) pairs.insert(*name);
    }
  }
  return pairs;
}

bool has_pair(const PairNames& pairs, const formats::pt2::Node& node) {
  const auto is_pair = [&](const formats::pt2::Argument& argument) {
    const std::string* name = complex_pair::tensor_name(argument);
    return name != nullptr && pairs.contains(*name);
  };
  return std::ranges::any_of(node.inputs, is_pair, &formats::pt2::NamedArgument::value) ||
         std::ranges::any_of(node.outputs, is_pair);
}

Status import_pair(Context& context, const PairNames& pairs, const formats::pt2::Node& node,
                   const ir::Source& source) {
  complex_pair::PairCall call(context, pairs, node, source);
  if (const auto row = complex_pair::table().find(source.target);
      row != complex_pair::table().end())
    return row->second(call);
  const Handler handler =
      complex_pair::acts_on_parts(source.target) ? find_handler(source.target) : nullptr;
  if (handler != nullptr) return call.each_part(handler);
  return unsupported(
      "of complex numbers; supported: torch.stft, istft, rfft and irfft, products, sums, abs, "
      "real, "
      "imag, polar, view_as_real and views");
}

}  // namespace thimble::import_pt2
