// Joined tensors and constant padding.

#include <algorithm>
#include <cstdlib>

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

Status joined(Call& call, std::vector<ValueId> parts, int64_t dim) {
  if (parts.size() == 1) return call.result(parts[0]);
  THIMBLE_TRY(const ValueId y, call.add(OpKind::concat, std::move(parts), {{"dim", dim}}));
  return call.result(y);
}

}  // namespace

namespace handlers {

Status cat(Call& call) {
  THIMBLE_TRY(auto parts, call.tensors("tensors"));
  if (parts.empty()) return bad_input("no tensors");
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(parts[0]).size(), 0));
  return joined(call, std::move(parts), dim);
}

Status stack(Call& call) {
  THIMBLE_TRY(auto parts, call.tensors("tensors"));
  if (parts.empty()) return bad_input("no tensors");
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(parts[0]).size() + 1, 0));
  for (ValueId& part : parts) {
    ir::Shape shape = call.shape(part);
    if (static_cast<size_t>(dim) > shape.size()) return bad_input("tensors of different rank");
    shape.insert(shape.begin() + dim, 1);
    THIMBLE_TRY(part, call.reshape(part, shape));
  }
  return joined(call, std::move(parts), dim);
}

/// `pad` has before and after of the last dimension, then of the one before it. Negative: cuts.
Status pad(Call& call) {
  THIMBLE_TRY(ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const std::string mode, call.text("mode", "constant"));
  if (mode != "constant") return unsupported("mode {}", mode);
  THIMBLE_TRY(const double value, call.number("value", 0));
  THIMBLE_TRY(const Ints amounts, call.integers("pad"));
  const ir::Shape shape = call.shape(x);
  const auto reasonable = [](int64_t amount) { return std::abs(amount) <= ir::kMaxElements; };
  if (amounts.size() % 2 != 0 || amounts.size() > 2 * shape.size() ||
      !std::all_of(amounts.begin(), amounts.end(), reasonable)) {
    return bad_input("argument pad is {} for shape {}", ir::list_text(amounts),
                     ir::list_text(shape));
  }
  Ints before(shape.size(), 0), after(shape.size(), 0);
  for (size_t i = 0; 2 * i < amounts.size(); ++i) {
    const size_t dim = shape.size() - 1 - i;
    const int64_t start = std::max<int64_t>(0, -amounts[2 * i]);
    const int64_t end = shape[dim] - std::max<int64_t>(0, -amounts[2 * i + 1]);
    before[dim] = std::max<int64_t>(0, amounts[2 * i]);
    after[dim] = std::max<int64_t>(0, amounts[2 * i + 1]);
    THIMBLE_TRY(x, call.apply({slice_step(static_cast<int64_t>(dim), start, end)}, x));
  }
  THIMBLE_TRY(const ValueId y,
              call.add(OpKind::pad, {x}, {{"before", before}, {"after", after}, {"value", value}}));
  return call.result(y);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
