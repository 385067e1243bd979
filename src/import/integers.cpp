#include "import/integers.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <utility>

#include "import/constants.h"
#include "ir/infer.h"

namespace thimble::import_pt2 {
namespace integers {
namespace {

namespace pt2 = formats::pt2;
using ir::DType;
using ir::Shape;

// Limit of the elements of an operand or result: the memory of a small file stays bounded.
constexpr int64_t kElementsMax = int64_t{1} << 22;
// Limit of the elements of a table of one row per position, which is stored on the device.
constexpr size_t kTableElementsMax = size_t{1} << 14;

struct Array {
  Shape shape;
  std::vector<int64_t> values;
};
using Folded = Result<std::optional<Array>>;

bool is_whole(DType dtype) {
  return dtype != DType::kF32;
}

// Overflow wraps, as in PyTorch.
int64_t wrap(uint64_t value) {
  return static_cast<int64_t>(value);
}
int64_t add(int64_t a, int64_t b) {
  return wrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t subtract(int64_t a, int64_t b) {
  return wrap(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t multiply(int64_t a, int64_t b) {
  return wrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t negate(int64_t a) {
  return subtract(0, a);
}
/// `b` is not 0. The quotient of the smallest integer and -1 wraps.
int64_t divide(int64_t a, int64_t b) {
  return b == -1 ? negate(a) : a / b;
}
int64_t rest(int64_t a, int64_t b) {
  return b == -1 ? 0 : a % b;
}
int64_t floor_divide(int64_t a, int64_t b) {
  return rest(a, b) != 0 && (a < 0) != (b < 0) ? divide(a, b) - 1 : divide(a, b);
}
int64_t floor_rest(int64_t a, int64_t b) {
  const int64_t r = rest(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
/// Squares the base once per bit of the exponent, which is not negative.
int64_t power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

/// Calls visit(offset in the operand) for each element of `shape`, in order.
template <typename Visit>
void for_each_broadcast(const Shape& from, const Shape& shape, Visit visit) {
  const auto from_steps = ir::strides(from, {});
  std::vector<int64_t> steps(shape.size(), 0), at(shape.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) steps[shape.size() - from.size() + i] = from_steps[i];
  }
  int64_t offset = 0;
  for (int64_t i = 0, count = ir::element_count(shape); i < count; ++i) {
    visit(static_cast<size_t>(offset));
    for (size_t dim = shape.size(); dim-- > 0;) {
      offset += steps[dim];
      if (++at[dim] < shape[dim]) break;
      offset -= steps[dim] * shape[dim];
      at[dim] = 0;
    }
  }
}

std::vector<int64_t> broadcast(const Array& from, const Shape& shape) {
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(ir::element_count(shape)));
  for_each_broadcast(from.shape, shape,
                     [&](size_t offset) { values.push_back(from.values[offset]); });
  return values;
}

/// Returns the common shape, if the operands broadcast to one of bearable size.
std::optional<Shape> joint_shape(const Shape& a, const Shape& b) {
  auto shape = ir::broadcast_shape(a, b);
  if (!shape) return std::nullopt;
  const auto count = ir::checked_element_count(*shape);
  if (!shape->empty() && (!count || *count > kElementsMax)) return std::nullopt;
  return shape;
}

/// Reads the arguments of a node as integers.
class Reader {
 public:
  /// `row`: values that depend on one position have their values at this position.
  explicit Reader(Call& call, std::optional<int64_t> row = {}) : call_(call), row_(row) {}

  [[nodiscard]] Call& call() const { return call_; }
  [[nodiscard]] bool has(std::string_view name) const { return call_.has(name); }

  /// Returns a tensor or a number; nothing for a number that is no integer.
  std::optional<Array> operand(std::string_view name) const {
    if (call_.is_tensor(name)) {
      const auto id = call_.any_tensor(name);
      if (!id.ok()) return std::nullopt;
      const ir::Tensor* held = call_.builder().constant_of(*id);
      if (held == nullptr) return row_of(*id);
      if (!is_whole(held->dtype)) return std::nullopt;
      return array_of(*held);
    }
    if (const auto truth = call_.boolean(name); truth.ok()) return Array{{}, {*truth ? 1 : 0}};
    const auto number = call_.integer(name);
    if (!number.ok()) return std::nullopt;
    return Array{{}, {*number}};
  }

  static Array array_of(const ir::Tensor& tensor) {
    Array array{tensor.shape, {}};
    const auto count = static_cast<size_t>(ir::element_count(tensor.shape));
    array.values.resize(count);
    for (size_t i = 0; i < count; ++i) {
      // A double does not represent all 64-bit integers.
      array.values[i] = tensor.dtype == DType::kI64 ? tensor.data<int64_t>()[i]
                                                    : static_cast<int64_t>(element(tensor, i));
    }
    return array;
  }

 private:
  std::optional<Array> row_of(ir::ValueId id) const {
    const auto table = row_ ? call_.position_table(id) : std::nullopt;
    if (!table) return std::nullopt;
    Array all = array_of(table->values);
    const auto width = static_cast<std::ptrdiff_t>(all.values.size()) / table->rows;
    const auto first = all.values.begin() + *row_ * width;
    return Array{Shape(all.shape.begin() + 1, all.shape.end()),
                 std::vector<int64_t>(first, first + width)};
  }

  Call& call_;
  std::optional<int64_t> row_;
};

using Binary = int64_t (*)(int64_t, int64_t);
using Unary = int64_t (*)(int64_t);

Folded elementwise(const Reader& in, Binary f, std::string_view a_name = "self",
                   std::string_view b_name = "other") {
  const auto a = in.operand(a_name), b = in.operand(b_name);
  if (!a || !b) return std::optional<Array>();
  const auto shape = joint_shape(a->shape, b->shape);
  if (!shape) return std::optional<Array>();
  Array result{*shape, broadcast(*a, *shape)};
  const std::vector<int64_t> right = broadcast(*b, *shape);
  for (size_t i = 0; i < right.size(); ++i) result.values[i] = f(result.values[i], right[i]);
  return std::optional(std::move(result));
}

/// self + alpha * other, with other signs.
template <int kSelf, int kOther>
Folded sum(const Reader& in) {
  const auto alpha = in.call().integer("alpha", 1);
  if (!alpha.ok() || (*alpha != 1 && kSelf < 0)) return std::optional<Array>();
  auto a = in.operand("self"), b = in.operand("other");
  if (!a || !b) return std::optional<Array>();
  const auto shape = joint_shape(a->shape, b->shape);
  if (!shape) return std::optional<Array>();
  Array result{*shape, broadcast(*a, *shape)};
  const std::vector<int64_t> right = broadcast(*b, *shape);
  for (size_t i = 0; i < right.size(); ++i) {
    const int64_t left = kSelf < 0 ? negate(result.values[i]) : result.values[i];
    const int64_t scaled = multiply(*alpha, right[i]);
    result.values[i] = kOther < 0 ? subtract(left, scaled) : add(left, scaled);
  }
  return std::optional(std::move(result));
}

template <Binary f>
Folded binary(const Reader& in) {
  return elementwise(in, f);
}

/// As binary(); a divisor must not be 0, an exponent must not be negative.
template <Binary f>
Folded divided(const Reader& in) {
  const auto b = in.operand("other");
  if (!b || std::ranges::find(b->values, 0) != b->values.end()) return std::optional<Array>();
  return elementwise(in, f);
}
Folded divided_by_mode(const Reader& in) {
  const auto mode = in.call().text("rounding_mode", std::string());
  if (!mode.ok()) return std::optional<Array>();
  if (*mode == "floor") return divided<floor_divide>(in);
  if (*mode == "trunc") return divided<divide>(in);
  return std::optional<Array>();
}
Folded raised(const Reader& in) {
  const auto exponent = in.operand("exponent");
  if (!exponent || std::ranges::min(exponent->values) < 0) return std::optional<Array>();
  return elementwise(in, power, "self", "exponent");
}

template <Unary f>
Folded unary(const Reader& in) {
  auto x = in.operand("self");
  if (!x) return std::optional<Array>();
  for (int64_t& value : x->values) value = f(value);
  return x;
}

Folded where(const Reader& in) {
  const auto condition = in.operand("condition"), a = in.operand("self"), b = in.operand("other");
  if (!condition || !a || !b) return std::optional<Array>();
  auto shape = joint_shape(a->shape, b->shape);
  if (shape) shape = joint_shape(*shape, condition->shape);
  if (!shape) return std::optional<Array>();
  Array result{*shape, broadcast(*a, *shape)};
  const std::vector<int64_t> other = broadcast(*b, *shape);
  const std::vector<int64_t> chosen = broadcast(*condition, *shape);
  for (size_t i = 0; i < other.size(); ++i) {
    if (chosen[i] == 0) result.values[i] = other[i];
  }
  return std::optional(std::move(result));
}

Folded masked_fill(const Reader& in) {
  auto x = in.operand("self");
  const auto mask = in.operand("mask"), value = in.operand("value");
  if (!x || !mask || !value || value->values.size() != 1) return std::optional<Array>();
  const auto shape = joint_shape(x->shape, mask->shape);
  if (!shape) return std::optional<Array>();
  Array result{*shape, broadcast(*x, *shape)};
  const std::vector<int64_t> masked = broadcast(*mask, *shape);
  for (size_t i = 0; i < masked.size(); ++i) {
    if (masked[i] != 0) result.values[i] = value->values[0];
  }
  return std::optional(std::move(result));
}

Folded clamp(const Reader& in) {
  auto x = in.operand("self");
  if (!x) return std::optional<Array>();
  for (const bool low : {true, false}) {
    const std::string_view name = low ? "min" : "max";
    if (!in.has(name)) continue;
    const auto bound = in.operand(name);
    if (!bound || bound->values.size() != 1) return std::optional<Array>();
    for (int64_t& value : x->values) {
      value = low ? std::max(value, bound->values[0]) : std::min(value, bound->values[0]);
    }
  }
  return x;
}

/// Keeps one triangle of the last two dimensions.
template <bool kLower>
Folded triangle(const Reader& in) {
  auto x = in.operand("self");
  const auto diagonal = in.call().integer("diagonal", 0);
  if (!x || !diagonal.ok() || x->shape.size() < 2) return std::optional<Array>();
  const int64_t rows = x->shape[x->shape.size() - 2], columns = x->shape.back();
  for (size_t i = 0; i < x->values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t row = at / columns % rows;
    const int64_t offset = at % columns - row;
    if (kLower ? offset > *diagonal : offset < *diagonal) x->values[i] = 0;
  }
  return x;
}

/// Reads `dim` as a dimension of the tensor.
Result<size_t> dimension(const Reader& in, const Array& x) {
  THIMBLE_TRY(const int64_t dim, in.call().dimension("dim", x.shape.size()));
  return static_cast<size_t>(dim);
}

/// Calls visit(index of the first element, distance of elements) for each row along a dimension.
template <typename Visit>
void for_each_row(const Shape& shape, size_t dim, Visit visit) {
  const auto step = static_cast<size_t>(shape.empty() ? 1 : ir::strides(shape, {})[dim]);
  const auto length = static_cast<size_t>(shape.empty() ? 1 : shape[dim]);
  const auto count = static_cast<size_t>(ir::element_count(shape));
  for (size_t i = 0; i < count; ++i) {
    if (i / step % length == 0) visit(i, step, length);
  }
}

Folded cumulative_sum(const Reader& in) {
  auto x = in.operand("self");
  if (!x) return std::optional<Array>();
  THIMBLE_TRY(const size_t dim, dimension(in, *x));
  for_each_row(x->shape, dim, [&](size_t first, size_t step, size_t length) {
    for (size_t i = 1; i < length; ++i) {
      int64_t& value = x->values[first + i * step];
      value = add(value, x->values[first + (i - 1) * step]);
    }
  });
  return x;
}

/// Reduces `dim`, which is a number or a list, or all dimensions.
template <Binary f>
Folded reduced(const Reader& in) {
  auto x = in.operand("self");
  if (!x || x->values.empty()) return std::optional<Array>();
  const size_t rank = x->shape.size();
  std::vector<bool> removed(rank, !in.has("dim"));
  if (in.has("dim")) {
    THIMBLE_TRY(const Ints dims, in.call().dimensions("dim", rank));
    for (const int64_t dim : dims) {
      if (rank > 0) removed[static_cast<size_t>(dim)] = true;
    }
    if (dims.empty()) removed.assign(rank, true);
  }
  THIMBLE_TRY(const bool keep, in.call().boolean("keepdim", false));
  for (size_t dim = 0; dim < rank; ++dim) {
    if (!removed[dim]) continue;
    Array next{x->shape, {}};
    next.shape[dim] = 1;
    for_each_row(x->shape, dim, [&](size_t first, size_t step, size_t length) {
      int64_t total = x->values[first];
      for (size_t i = 1; i < length; ++i) total = f(total, x->values[first + i * step]);
      next.values.push_back(total);
    });
    x = std::move(next);
  }
  if (!keep) {
    Shape shape;
    for (size_t dim = 0; dim < rank; ++dim) {
      if (!removed[dim]) shape.push_back(x->shape[dim]);
    }
    x->shape = std::move(shape);
  }
  return x;
}

/// Returns x[..., index, ...] along `dim`.
Folded selected(const Array& x, size_t dim, const Array& index) {
  if (x.shape.empty()) return std::optional<Array>();
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  shape.insert(shape.end(), index.shape.begin(), index.shape.end());
  const auto tail = x.shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1;
  shape.insert(shape.end(), tail, x.shape.end());
  const auto count = ir::checked_element_count(shape);
  if (!shape.empty() && (!count || *count > kElementsMax)) return std::optional<Array>();
  const int64_t size = x.shape[dim];
  const int64_t inner = ir::element_count(Shape(tail, x.shape.end()));
  const int64_t outer = ir::element_count(Shape(x.shape.begin(), tail - 1));
  Array result{std::move(shape), {}};
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t given : index.values) {
      const int64_t at = given < 0 ? given + size : given;
      if (at < 0 || at >= size) return bad_input("index {} of {} elements", given, size);
      const auto first = x.values.begin() + (o * size + at) * inner;
      result.values.insert(result.values.end(), first, first + inner);
    }
  }
  return std::optional(std::move(result));
}

Folded index_select(const Reader& in) {
  const auto x = in.operand("self"), index = in.operand("index");
  if (!x || !index) return std::optional<Array>();
  THIMBLE_TRY(const size_t dim, dimension(in, *x));
  return selected(*x, dim, *index);
}

Folded embedding(const Reader& in) {
  const auto x = in.operand("weight"), index = in.operand("indices");
  if (!x || !index) return std::optional<Array>();
  return selected(*x, 0, *index);
}

/// Returns x[index, ...]: adjacent dimensions that are indexed by arrays become one dimension.
Folded indexed(const Reader& in) {
  const auto x = in.operand("self");
  const auto ids = in.call().optional_tensors("indices");
  if (!x || !ids.ok() || ids->size() > x->shape.size()) return std::optional<Array>();
  Array source{{}, x->values};  // its dimension `at` is the product of the indexed ones
  size_t at = 0, end = 0;       // `end` is 0 before the first index
  std::optional<Array> linear;
  for (size_t dim = 0; dim < x->shape.size(); ++dim) {
    const int64_t size = x->shape[dim];
    if (dim >= ids->size() || (*ids)[dim] == ir::kNoValue) {
      source.shape.push_back(size);
      continue;
    }
    const ir::Tensor* held = in.call().builder().constant_of((*ids)[dim]);
    if (held == nullptr || held->dtype == DType::kBool) return std::optional<Array>();
    if (end != 0 && end != dim) return std::optional<Array>();  // not adjacent
    Array index = Reader::array_of(*held);
    for (int64_t& value : index.values) {
      if (value < -size || value >= size) return bad_input("index {} of {} elements", value, size);
      if (value < 0) value += size;
    }
    if (end == 0) {
      at = dim;
      source.shape.push_back(size);
      linear = std::move(index);
    } else {
      const auto shape = joint_shape(linear->shape, index.shape);
      if (!shape) return std::optional<Array>();
      Array joint{*shape, broadcast(*linear, *shape)};
      const std::vector<int64_t> inner = broadcast(index, *shape);
      for (size_t i = 0; i < inner.size(); ++i) joint.values[i] = joint.values[i] * size + inner[i];
      source.shape[at] *= size;
      linear = std::move(joint);
    }
    end = dim + 1;
  }
  if (!linear) return std::optional<Array>();
  return selected(source, at, *linear);
}

/// Returns each element at its own index along `dim`.
Folded gathered(const Reader& in) {
  const auto x = in.operand("self"), index = in.operand("index");
  if (!x || !index || x->shape.empty() || index->shape.size() != x->shape.size()) {
    return std::optional<Array>();
  }
  THIMBLE_TRY(const size_t dim, dimension(in, *x));
  const auto steps = ir::strides(x->shape, {}), index_steps = ir::strides(index->shape, {});
  Array result{index->shape, {}};
  for (size_t i = 0; i < index->values.size(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < x->shape.size(); ++d) {
      int64_t at = static_cast<int64_t>(i) / index_steps[d] % index->shape[d];
      if (d == dim) at = index->values[i] + (index->values[i] < 0 ? x->shape[d] : 0);
      if (at < 0 || at >= x->shape[d]) return bad_input("index {} of {} elements", at, x->shape[d]);
      offset += at * steps[d];
    }
    result.values.push_back(x->values[static_cast<size_t>(offset)]);
  }
  return std::optional(std::move(result));
}

/// Repeats elements without a limit of the growth, which the IR's fold has.
Folded expanded(const Reader& in) {
  const auto x = in.operand("self");
  const auto size = in.call().integers("size");
  if (!x || !size.ok() || size->size() < x->shape.size()) return std::optional<Array>();
  Shape shape = *size;
  const size_t added = shape.size() - x->shape.size();
  for (size_t i = 0; i < x->shape.size(); ++i) {
    if (shape[added + i] == -1) shape[added + i] = x->shape[i];
  }
  const auto joint = joint_shape(x->shape, shape);
  if (!joint || *joint != shape) return std::optional<Array>();
  return std::optional(Array{shape, broadcast(*x, shape)});
}

/// Concatenates arrays of equal other sizes along a dimension; nothing if they do not fit.
std::optional<Array> joined(const std::vector<Array>& parts, size_t dim) {
  Array result{parts[0].shape, {}};
  result.shape[dim] = 0;
  for (const Array& part : parts) {
    Shape shape = part.shape;
    if (shape.size() != result.shape.size()) return std::nullopt;
    result.shape[dim] += std::exchange(shape[dim], parts[0].shape[dim]);
    if (shape != parts[0].shape) return std::nullopt;
  }
  int64_t outer = 1;
  for (size_t d = 0; d < dim; ++d) outer *= result.shape[d];
  for (int64_t o = 0; o < outer; ++o) {
    for (const Array& part : parts) {
      const auto block = static_cast<std::ptrdiff_t>(part.values.size()) / outer;
      const auto first = part.values.begin() + o * block;
      result.values.insert(result.values.end(), first, first + block);
    }
  }
  return result;
}

/// Differences of neighbours along a dimension, after values before and after it were added.
Folded difference(const Reader& in) {
  auto x = in.operand("self");
  const auto times = in.call().integer("n", 1), dim_given = in.call().integer("dim", -1);
  if (!x || x->shape.empty() || !times.ok() || *times != 1 || !dim_given.ok()) {
    return std::optional<Array>();
  }
  const auto dim = normalized_dim(*dim_given, x->shape.size());
  if (!dim) return std::optional<Array>();
  std::vector<Array> parts;
  for (const std::string_view name : {"prepend", "self", "append"}) {
    if (!in.has(name)) continue;
    auto part = in.operand(name);
    if (!part) return std::optional<Array>();
    parts.push_back(std::move(*part));
  }
  const auto axis = static_cast<size_t>(*dim);
  const auto all = joined(parts, axis);
  if (!all || all->shape[axis] < 2) return std::optional<Array>();
  Array result{all->shape, {}};
  --result.shape[axis];
  const auto step = static_cast<size_t>(ir::strides(all->shape, {})[axis]);
  const auto length = static_cast<size_t>(all->shape[axis]);
  for (size_t i = 0; i < all->values.size(); ++i) {
    if (i / step % length + 1 == length) continue;
    result.values.push_back(subtract(all->values[i + step], all->values[i]));
  }
  return std::optional(std::move(result));
}

int64_t equal(int64_t a, int64_t b) {
  return a == b ? 1 : 0;
}
int64_t not_equal(int64_t a, int64_t b) {
  return a != b ? 1 : 0;
}
int64_t less(int64_t a, int64_t b) {
  return a < b ? 1 : 0;
}
int64_t less_equal(int64_t a, int64_t b) {
  return a <= b ? 1 : 0;
}
int64_t greater(int64_t a, int64_t b) {
  return a > b ? 1 : 0;
}
int64_t greater_equal(int64_t a, int64_t b) {
  return a >= b ? 1 : 0;
}
int64_t larger(int64_t a, int64_t b) {
  return std::max(a, b);
}
int64_t smaller(int64_t a, int64_t b) {
  return std::min(a, b);
}
int64_t both_bits(int64_t a, int64_t b) {
  return a & b;
}
int64_t either_bit(int64_t a, int64_t b) {
  return a | b;
}
int64_t one_bit(int64_t a, int64_t b) {
  return a ^ b;
}
int64_t both(int64_t a, int64_t b) {
  return a != 0 && b != 0 ? 1 : 0;
}
int64_t either(int64_t a, int64_t b) {
  return a != 0 || b != 0 ? 1 : 0;
}
int64_t one_of(int64_t a, int64_t b) {
  return (a != 0) != (b != 0) ? 1 : 0;
}
int64_t magnitude(int64_t a) {
  return a < 0 ? negate(a) : a;
}
int64_t sign(int64_t a) {
  return a < 0 ? -1 : a > 0 ? 1 : 0;
}
int64_t is_zero(int64_t a) {
  return a == 0 ? 1 : 0;
}
int64_t flipped_bits(int64_t a) {
  return ~a;
}

Folded bitwise_not(const Reader& in) {
  const auto* meta = in.call().result_meta();
  const bool truth = meta != nullptr && meta->dtype == pt2::ScalarType::kBool;
  return truth ? unary<is_zero>(in) : unary<flipped_bits>(in);
}

using Fold = Folded (*)(const Reader&);

const std::map<std::string_view, Fold>& table() {
  static const std::map<std::string_view, Fold> rows = {
      {"aten.__and__.Tensor", binary<both_bits>},
      {"aten.__or__.Tensor", binary<either_bit>},
      {"aten.__xor__.Tensor", binary<one_bit>},
      {"aten.abs.default", unary<magnitude>},
      {"aten.add.Scalar", sum<1, 1>},
      {"aten.add.Tensor", sum<1, 1>},
      {"aten.all.default", reduced<both>},
      {"aten.all.dim", reduced<both>},
      {"aten.all.dims", reduced<both>},
      {"aten.amax.default", reduced<larger>},
      {"aten.amin.default", reduced<smaller>},
      {"aten.any.default", reduced<either>},
      {"aten.any.dim", reduced<either>},
      {"aten.any.dims", reduced<either>},
      {"aten.bitwise_and.Scalar", binary<both_bits>},
      {"aten.bitwise_and.Tensor", binary<both_bits>},
      {"aten.bitwise_not.default", bitwise_not},
      {"aten.bitwise_or.Scalar", binary<either_bit>},
      {"aten.bitwise_or.Tensor", binary<either_bit>},
      {"aten.bitwise_xor.Scalar", binary<one_bit>},
      {"aten.bitwise_xor.Tensor", binary<one_bit>},
      {"aten.clamp.default", clamp},
      {"aten.clamp_max.default", clamp},
      {"aten.clamp_min.default", clamp},
      {"aten.cumsum.default", cumulative_sum},
      {"aten.diff.default", difference},
      {"aten.div.Scalar_mode", divided_by_mode},
      {"aten.div.Tensor_mode", divided_by_mode},
      {"aten.embedding.default", embedding},
      {"aten.eq.Scalar", binary<equal>},
      {"aten.eq.Tensor", binary<equal>},
      {"aten.expand.default", expanded},
      {"aten.floor_divide.Scalar", divided<floor_divide>},
      {"aten.floor_divide.default", divided<floor_divide>},
      {"aten.fmod.Scalar", divided<rest>},
      {"aten.gather.default", gathered},
      {"aten.ge.Scalar", binary<greater_equal>},
      {"aten.ge.Tensor", binary<greater_equal>},
      {"aten.gt.Scalar", binary<greater>},
      {"aten.gt.Tensor", binary<greater>},
      {"aten.index.Tensor", indexed},
      {"aten.index_select.default", index_select},
      {"aten.le.Scalar", binary<less_equal>},
      {"aten.le.Tensor", binary<less_equal>},
      {"aten.logical_and.default", binary<both>},
      {"aten.logical_not.default", unary<is_zero>},
      {"aten.logical_or.default", binary<either>},
      {"aten.logical_xor.default", binary<one_of>},
      {"aten.lt.Scalar", binary<less>},
      {"aten.lt.Tensor", binary<less>},
      {"aten.masked_fill.Scalar", masked_fill},
      {"aten.masked_fill.Tensor", masked_fill},
      {"aten.max.default", reduced<larger>},
      {"aten.max.other", binary<larger>},
      {"aten.maximum.default", binary<larger>},
      {"aten.min.default", reduced<smaller>},
      {"aten.min.other", binary<smaller>},
      {"aten.minimum.default", binary<smaller>},
      {"aten.mul.Scalar", binary<multiply>},
      {"aten.mul.Tensor", binary<multiply>},
      {"aten.ne.Scalar", binary<not_equal>},
      {"aten.ne.Tensor", binary<not_equal>},
      {"aten.neg.default", unary<negate>},
      {"aten.pow.Tensor_Scalar", raised},
      {"aten.pow.Tensor_Tensor", raised},
      {"aten.prod.default", reduced<multiply>},
      {"aten.prod.dim_int", reduced<multiply>},
      {"aten.remainder.Scalar", divided<floor_rest>},
      {"aten.remainder.Tensor", divided<floor_rest>},
      {"aten.rsub.Scalar", sum<-1, 1>},
      {"aten.rsub.Tensor", sum<-1, 1>},
      {"aten.sgn.default", unary<sign>},
      {"aten.sign.default", unary<sign>},
      {"aten.sub.Scalar", sum<1, -1>},
      {"aten.sub.Tensor", sum<1, -1>},
      {"aten.sum.default", reduced<add>},
      {"aten.sum.dim_IntList", reduced<add>},
      {"aten.tril.default", triangle<true>},
      {"aten.triu.default", triangle<false>},
      {"aten.where.Scalar", where},
      {"aten.where.ScalarOther", where},
      {"aten.where.ScalarSelf", where},
      {"aten.where.self", where},
  };
  return rows;
}

/// Returns true if a tensor is known integers of bearable size.
bool is_known(Call& call, ir::ValueId id) {
  const ir::Tensor* held = call.builder().constant_of(id);
  if (held == nullptr || !is_whole(held->dtype)) return false;
  const auto count = static_cast<size_t>(ir::element_count(held->shape));
  return count <= kElementsMax && held->bytes.size() == count * ir::dtype_bytes(held->dtype);
}

/// The tensor operands of a node.
struct Operands {
  bool found = false;  // there is one
  bool known = true;   // all are known integers of bearable size, or in `computed`
  std::vector<ir::ValueId> computed;
};

Operands operands_of(Call& call) {
  Operands operands;
  const auto visit = [&](ir::ValueId id, bool listed) {
    if (id == ir::kNoValue || is_known(call, id)) return;
    if (listed || call.builder().constant_of(id) != nullptr) operands.known = false;
    operands.computed.push_back(id);
  };
  for (const pt2::NamedArgument& input : call.node().inputs) {
    const bool list =
        std::holds_alternative<std::vector<pt2::TensorName>>(input.value) ||
        std::holds_alternative<std::vector<std::optional<pt2::TensorName>>>(input.value);
    if (list) {
      const auto ids = call.optional_tensors(input.name);
      if (!ids.ok()) return {true, false, {}};
      for (const ir::ValueId id : *ids) visit(id, true);
    } else if (call.is_tensor(input.name)) {
      const auto id = call.any_tensor(input.name);
      if (!id.ok()) return {true, false, {}};
      visit(*id, false);
      operands.found = true;
    }
  }
  return operands;
}

ir::Tensor to_tensor(DType dtype, const Array& array) {
  ir::Tensor result = ir::zeros(dtype, array.shape);
  for (size_t i = 0; i < array.values.size(); ++i) {
    const int64_t value = array.values[i];
    switch (dtype) {
      case DType::kI64:
        result.data<int64_t>()[i] = value;
        break;
      case DType::kI32:
        result.data<int32_t>()[i] = static_cast<int32_t>(value);
        break;
      case DType::kI16:
        result.data<int16_t>()[i] = static_cast<int16_t>(value);
        break;
      case DType::kI8:
        result.data<int8_t>()[i] = static_cast<int8_t>(value);
        break;
      case DType::kU8:
        result.data<uint8_t>()[i] = static_cast<uint8_t>(value);
        break;
      case DType::kBool:
        result.data<uint8_t>()[i] = value != 0 ? 1 : 0;
        break;
      case DType::kF32:
        assert(false && "the result of integer arithmetic");
        break;
    }
  }
  return result;
}

struct Row {
  Fold fold;
  DType dtype;  // of the result
};

std::optional<Row> row_of(Call& call, std::string_view target) {
  const auto row = table().find(target);
  const auto* meta = call.result_meta();
  const auto dtype = meta == nullptr ? std::nullopt : ir_dtype(meta->dtype);
  if (row == table().end() || !dtype || !is_whole(*dtype)) return std::nullopt;
  return Row{row->second, *dtype};
}

}  // namespace
}  // namespace integers

Result<std::optional<ir::Tensor>> fold_integers(Call& call, std::string_view target) {
  const auto row = integers::row_of(call, target);
  if (!row) return std::optional<ir::Tensor>();
  const integers::Operands operands = integers::operands_of(call);
  if (!operands.found || !operands.known || !operands.computed.empty()) {
    return std::optional<ir::Tensor>();
  }
  THIMBLE_TRY(const std::optional<integers::Array> array, row->fold(integers::Reader(call)));
  if (!array) return std::optional<ir::Tensor>();
  return std::optional(integers::to_tensor(row->dtype, *array));
}

Result<ir::ValueId> tabulate_integers(Call& call, std::string_view target) {
  const auto row = integers::row_of(call, target);
  if (!row) return ir::kNoValue;
  const integers::Operands operands = integers::operands_of(call);
  if (!operands.known || operands.computed.empty()) return ir::kNoValue;
  std::optional<PositionTable> first;
  for (const ir::ValueId id : operands.computed) {
    auto table = call.position_table(id);
    if (!table || (first && table->position != first->position)) return ir::kNoValue;
    if (!first) first = std::move(table);
  }
  integers::Array all;
  for (int64_t at = 0; at < first->rows; ++at) {
    THIMBLE_TRY(const std::optional<integers::Array> one, row->fold(integers::Reader(call, at)));
    if (!one || all.values.size() + one->values.size() > integers::kTableElementsMax) {
      return ir::kNoValue;
    }
    all.shape = one->shape;
    all.values.insert(all.values.end(), one->values.begin(), one->values.end());
  }
  const ir::Shape shape = all.shape;
  all.shape.insert(all.shape.begin(), first->rows);
  return call.table_row({first->position, first->rows, integers::to_tensor(row->dtype, all)},
                        shape);
}

}  // namespace thimble::import_pt2
