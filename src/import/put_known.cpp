// SPDX-License-Identifier: Apache-2.0
// Each position of the result has a list of the values that are written to it, so it is computed by
// one gather: of the last value for a write, of all of them, padded with zeros,
// for a sum. x[[0, 0, 2]] += v, for x of 3 zeros, is the sum of the rows of
//   v[0] v[1]
//   0    0
//   v[2] 0
// A loop of additions would round after each of them.

#include "import/put_known.h"

#include <algorithm>
#include <optional>

#include "import/constants.h"
#include "import/integer_array.h"
#include "ir/infer.h"

namespace thimble::import_pt2 {
namespace known_put {
namespace {

using integers::Array;
using ir::OpKind;
using ir::ValueId;

/// Adjacent dimensions of a tensor as one dimension, and the positions in it that are written.
struct Positions {
  size_t dim = 0, count = 0;  // first dimension, number of dimensions
  Array linear;               // in the shape of the indices
};

Error too_many_positions(Call& call, const ir::Shape& shape) {
  return unsupported("positions of shape {}, expected at most {}", ir::list_text(shape),
                     call.builder().known_elements_max());
}

Result<std::optional<Positions>> positions_of(Call& call, const ir::Shape& shape,
                                              const std::vector<ValueId>& indices) {
  const integers::Reader in(call);
  std::optional<Positions> found;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (indices[dim] == ir::kNoValue) continue;
    const ir::Tensor* held = call.builder().constant_of(indices[dim]);
    if (held == nullptr || !integers::is_whole(held->dtype) || held->dtype == ir::DType::kBool) {
      return std::optional<Positions>();
    }
    if (found && found->dim + found->count != dim) return std::optional<Positions>();
    if (!in.fits(held->shape)) return too_many_positions(call, held->shape);
    Array index = integers::Reader::array_of(*held);
    for (int64_t& value : index.values) {
      if (value < -shape[dim] || value >= shape[dim]) {
        return bad_input("index {} of {} elements", value, shape[dim]);
      }
      if (value < 0) value += shape[dim];
    }
    if (!found) {
      found = Positions{dim, 1, std::move(index)};
      continue;
    }
    const auto joint = ir::broadcast_shape(found->linear.shape, index.shape);
    if (!joint) return bad_input("the indices do not broadcast");
    if (!in.fits(*joint)) return too_many_positions(call, *joint);
    Array both{*joint, integers::broadcast(found->linear, *joint)};
    const std::vector<int64_t> inner = integers::broadcast(index, *joint);
    for (size_t i = 0; i < inner.size(); ++i) {
      both.values[i] = both.values[i] * shape[dim] + inner[i];
    }
    found->linear = std::move(both);
    ++found->count;
  }
  return found;
}

bool is_zero(const ir::Tensor* held) {
  return held != nullptr &&
         std::ranges::all_of(held->bytes, [](std::byte b) { return b == std::byte{}; });
}

/// The values of each position, in the order of the writes.
std::vector<Ints> sources_of(const Positions& positions, int64_t size) {
  std::vector<Ints> sources(static_cast<size_t>(size));
  for (size_t i = 0; i < positions.linear.values.size(); ++i) {
    sources[static_cast<size_t>(positions.linear.values[i])].push_back(static_cast<int64_t>(i));
  }
  return sources;
}

Result<ValueId> gather(Call& call, ValueId x, size_t dim, const Ints& at) {
  ir::Tensor index = ir::zeros(ir::DType::kI32, {static_cast<int64_t>(at.size())});
  std::ranges::transform(at, index.data<int32_t>().begin(),
                         [](int64_t each) { return static_cast<int32_t>(each); });
  return call.add(OpKind::gather, {x, call.constant_value("index", std::move(index))},
                  {{ir::attr::dim, static_cast<int64_t>(dim)}});
}

/// `values` has one row per write along `dim`, `x` one per position.
Result<ValueId> written(Call& call, ValueId x, ValueId values, size_t dim,
                        const std::vector<Ints>& sources) {
  THIMBLE_TRY(const ValueId all,
              call.add(OpKind::concat, {x, values}, {{ir::attr::dim, static_cast<int64_t>(dim)}}));
  Ints at;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto own = static_cast<int64_t>(i), size = static_cast<int64_t>(sources.size());
    at.push_back(sources[i].empty() ? own : size + sources[i].back());
  }
  return gather(call, all, dim, at);
}

Result<ValueId> summed(Call& call, ValueId x, ValueId values, size_t dim,
                       const std::vector<Ints>& sources) {
  size_t most = 1;
  for (const Ints& each : sources) most = std::max(most, each.size());
  const size_t total = sources.size() * most;
  if (total > static_cast<size_t>(call.builder().known_elements_max())) {
    return too_many_positions(call,
                              {static_cast<int64_t>(sources.size()), static_cast<int64_t>(most)});
  }
  const int64_t count = call.shape(values)[dim];
  const bool padded =
      std::ranges::any_of(sources, [&](const Ints& each) { return each.size() < most; });
  if (padded) {
    ir::Shape row = call.shape(values);
    row[dim] = 1;
    const ValueId zeros =
        call.constant_value("zeros", ir::zeros(call.builder().graph.type(values).dtype, row));
    THIMBLE_TRY(values, call.add(OpKind::concat, {values, zeros},
                                 {{ir::attr::dim, static_cast<int64_t>(dim)}}));
  }
  Ints at;
  for (const Ints& each : sources) {
    at.insert(at.end(), each.begin(), each.end());
    at.insert(at.end(), most - each.size(), count);
  }
  THIMBLE_TRY(ValueId y, gather(call, values, dim, at));
  ir::Shape apart = call.shape(y);
  apart[dim] = static_cast<int64_t>(most);
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(dim),
               static_cast<int64_t>(sources.size()));
  THIMBLE_TRY(y, call.reshape(y, apart));
  if (most > 1) {
    THIMBLE_TRY(
        y, call.add(OpKind::sum, {y}, {{ir::attr::dims, Ints{static_cast<int64_t>(dim) + 1}}}));
  }
  THIMBLE_TRY(y, call.reshape(y, call.shape(x)));
  return is_zero(call.builder().constant_of(x)) ? y : call.add(OpKind::add, {x, y});
}

}  // namespace
}  // namespace known_put

Result<ir::ValueId> put_known(Call& call, ir::ValueId x, const std::vector<ir::ValueId>& indices,
                              ir::ValueId values, bool accumulates) {
  const ir::Shape shape = call.shape(x);
  THIMBLE_TRY(const auto positions, known_put::positions_of(call, shape, indices));
  if (!positions) return ir::kNoValue;
  const size_t dim = positions->dim;
  const auto first = shape.begin() + static_cast<std::ptrdiff_t>(dim);
  const auto last = first + static_cast<std::ptrdiff_t>(positions->count);
  ir::Shape merged(shape.begin(), first), given(shape.begin(), first), rows(shape.begin(), first);
  merged.push_back(ir::element_count(ir::Shape(first, last)));
  given.insert(given.end(), positions->linear.shape.begin(), positions->linear.shape.end());
  rows.push_back(static_cast<int64_t>(positions->linear.values.size()));
  for (ir::Shape* each : {&merged, &given, &rows}) each->insert(each->end(), last, shape.end());
  THIMBLE_TRY(values, call.add(ir::OpKind::expand, {values}, {{ir::attr::shape, given}}));
  THIMBLE_TRY(values, call.reshape(values, rows));
  THIMBLE_TRY(const ir::ValueId flat, call.reshape(x, merged));
  THIMBLE_CHECK(call.check_list(merged[dim], sizeof(Ints)));
  const std::vector<Ints> sources = known_put::sources_of(*positions, merged[dim]);
  THIMBLE_TRY(const ir::ValueId y, accumulates
                                       ? known_put::summed(call, flat, values, dim, sources)
                                       : known_put::written(call, flat, values, dim, sources));
  return call.reshape(y, shape);
}

}  // namespace thimble::import_pt2
