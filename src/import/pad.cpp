// SPDX-License-Identifier: Apache-2.0
// Padding by a constant, or by elements of the tensor. The latter is a gather along each padded
// dimension. Amounts are given as before and after of the last dimension, then of the dimension
// before it. A negative amount removes elements.

#include <algorithm>

#include "import/handlers.h"
#include "import/select_along.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

/// Padding before and after one dimension.
struct Amount {
  size_t dim = 0;
  int64_t before = 0, after = 0;
};

Result<std::vector<Amount>> read_amounts(Call& call, std::string_view name,
                                         const ir::Shape& shape) {
  THIMBLE_TRY(const Ints values, call.integers(name));
  if (values.size() % 2 != 0 || values.size() > 2 * shape.size()) {
    return bad_input("argument {} is {} for shape {}", name, ir::list_text(values),
                     ir::list_text(shape));
  }
  std::vector<Amount> amounts;
  for (size_t i = 0; 2 * i < values.size(); ++i) {
    amounts.push_back({shape.size() - 1 - i, values[2 * i], values[2 * i + 1]});
  }
  return amounts;
}

Status pad_constant(Call& call, ValueId x, const std::vector<Amount>& amounts, double value) {
  const ir::Shape shape = call.shape(x);
  Ints before(shape.size(), 0), after(shape.size(), 0);
  for (const Amount& amount : amounts) {
    const int64_t start = std::max<int64_t>(0, -amount.before);
    const int64_t end = shape[amount.dim] - std::max<int64_t>(0, -amount.after);
    before[amount.dim] = std::max<int64_t>(0, amount.before);
    after[amount.dim] = std::max<int64_t>(0, amount.after);
    THIMBLE_TRY(x, call.apply({slice_step(static_cast<int64_t>(amount.dim), start, end)}, x));
  }
  return call.result(
      call.add(OpKind::pad, {x},
               {{ir::attr::before, before}, {ir::attr::after, after}, {ir::attr::value, value}}));
}

/// Returns the element index for position `at`, which may be outside of the dimension.
using Rule = int64_t (*)(int64_t at, int64_t size);

int64_t reflected(int64_t at, int64_t size) {
  return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
}
int64_t repeated(int64_t at, int64_t size) {
  return std::clamp<int64_t>(at, 0, size - 1);
}
int64_t wrapped(int64_t at, int64_t size) {
  return at < 0 ? at + size : at >= size ? at - size : at;
}

Status pad_from_itself(Call& call, ValueId x, const std::vector<Amount>& amounts, Rule rule) {
  for (const Amount& amount : amounts) {
    const int64_t size = call.shape(x)[amount.dim];
    const int64_t length = amount.before + size + amount.after;
    if (length < 1 || length > ir::kMaxElements) {
      return bad_input("padding {} and {} of {} elements", amount.before, amount.after, size);
    }
    THIMBLE_CHECK(call.check_list(length));
    Ints positions;
    positions.reserve(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i) positions.push_back(rule(i - amount.before, size));
    const auto [low, high] = std::minmax_element(positions.begin(), positions.end());
    if (*low < 0 || *high >= size) {
      return bad_input("padding {} and {} is too large for {} elements", amount.before,
                       amount.after, size);
    }
    THIMBLE_TRY(x, select_along(call, x, amount.dim, positions));
  }
  return call.result(x);
}

Status padded_from_itself(Call& call, Rule rule) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const auto amounts, read_amounts(call, "padding", call.shape(x)));
  return pad_from_itself(call, x, amounts, rule);
}

}  // namespace

namespace handlers {

Status pad(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const std::string mode, call.text("mode", "constant"));
  THIMBLE_TRY(const auto amounts, read_amounts(call, "pad", call.shape(x)));
  if (mode == "reflect") return pad_from_itself(call, x, amounts, reflected);
  if (mode == "replicate") return pad_from_itself(call, x, amounts, repeated);
  if (mode == "circular") return pad_from_itself(call, x, amounts, wrapped);
  if (mode != "constant") return unsupported("mode {}", mode);
  THIMBLE_TRY(const double value, call.number("value", 0));
  return pad_constant(call, x, amounts, value);
}

Status reflection_pad(Call& call) {
  return padded_from_itself(call, reflected);
}
Status replication_pad(Call& call) {
  return padded_from_itself(call, repeated);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
