// Arithmetic between parts of one tensor.

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

Result<ValueId> part(Call& call, ValueId x, int64_t dim, int64_t start, int64_t end) {
  return call.apply({slice_step(dim, start, end)}, x);
}

/// The tensor between the optional ones.
Result<ValueId> surrounded(Call& call, ValueId x, int64_t dim) {
  std::vector<ValueId> parts;
  THIMBLE_TRY(const ValueId before, call.optional_tensor("prepend"));
  THIMBLE_TRY(const ValueId after, call.optional_tensor("append"));
  for (const ValueId each : {before, x, after}) {
    if (each != ir::kNoValue) parts.push_back(each);
  }
  if (parts.size() == 1) return x;
  return call.add(OpKind::concat, std::move(parts), {{"dim", dim}});
}

}  // namespace

namespace handlers {

Status diff(Call& call) {
  THIMBLE_TRY(ValueId x, call.tensor("self"));
  THIMBLE_TRY(const int64_t n, call.integer("n", 1));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size(), -1));
  if (call.shape(x).empty()) return bad_input("the input is a scalar");
  THIMBLE_TRY(x, surrounded(call, x, dim));
  const int64_t size = call.shape(x)[static_cast<size_t>(dim)];
  if (n < 0) return bad_input("argument n is {}", n);
  if (n >= size) return unsupported("the result is empty");
  for (int64_t left = size - 1; left >= size - n; --left) {
    THIMBLE_TRY(const ValueId later, part(call, x, dim, 1, left + 1));
    THIMBLE_TRY(const ValueId earlier, part(call, x, dim, 0, left));
    THIMBLE_TRY(x, call.add(OpKind::sub, {later, earlier}));
  }
  return call.result(x);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
