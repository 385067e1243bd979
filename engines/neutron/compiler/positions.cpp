// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/positions.h"

#include <algorithm>

#include "engines/neutron/container/window.h"

namespace thimble::engine::neutron {
namespace {

/// Returns the positions as the operator defines them: negative ones count from the end, and all
/// are clamped to the valid range.
std::vector<int64_t> read(const ir::Tensor& index, int64_t size) {
  std::vector<int64_t> positions;
  const auto add = [&](int64_t raw) {
    positions.push_back(std::clamp<int64_t>(raw < 0 ? raw + size : raw, 0, size - 1));
  };
  if (index.dtype == ir::DType::kI64) {
    for (const int64_t raw : index.data<int64_t>()) add(raw);
  } else {
    for (const int32_t raw : index.data<int32_t>()) add(raw);
  }
  return positions;
}

bool repeats(const std::vector<int64_t>& positions, int64_t size, int64_t times) {
  for (size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] != static_cast<int64_t>(i) / times) return false;
  }
  return static_cast<int64_t>(positions.size()) == size * times;
}

bool reflects(const std::vector<int64_t>& positions, int64_t size, int64_t before) {
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto at = static_cast<int32_t>(static_cast<int64_t>(i) - before);
    if (positions[i] != thimble::neutron::mirrored(at, static_cast<int32_t>(size))) return false;
  }
  return true;
}

std::vector<Positions::Segment> segments_of(const std::vector<int64_t>& positions) {
  std::vector<Positions::Segment> segments;
  for (const int64_t at : positions) {
    if (!segments.empty() && segments.back().end == at) {
      ++segments.back().end;
    } else {
      segments.push_back({at, at + 1});
    }
  }
  return segments;
}

}  // namespace

int64_t Positions::pieces() const {
  switch (kind) {
    case Kind::kRepeated:
      return times;
    case Kind::kSegments:
      return static_cast<int64_t>(segments.size());
    default:
      return 1;
  }
}

std::optional<Positions> positions_of(const ir::Graph& graph, const ir::Op& gather) {
  const ir::Value& index = graph.value(gather.inputs[1]);
  if (index.constant == nullptr) return std::nullopt;
  const ir::Shape& shape = graph.type(gather.inputs[0]).shape;
  const int64_t dim = gather.get(ir::attr::dim);
  const int64_t size = shape[static_cast<size_t>(dim)];
  const std::vector<int64_t> positions = read(*index.constant, size);
  const auto count = static_cast<int64_t>(positions.size());
  Positions result;
  result.segments = segments_of(positions);
  if (index.type.shape.size() != 1) return result;
  if (count > size && count % size == 0 && repeats(positions, size, count / size)) {
    result.times = count / size;
    const bool known = result.times == 2 || result.times == 4 || result.times == 8;
    const bool image = shape.size() == 4 && dim >= 2;
    result.kind = known && image ? Positions::Kind::kNearest : Positions::Kind::kRepeated;
    return result;
  }
  const int64_t before = positions[0];
  const int64_t after = count - size - before;
  if (before + after > 0 && after >= 0 && before < size && after < size &&
      reflects(positions, size, before)) {
    result.kind = Positions::Kind::kReflection;
    result.before = before;
  }
  return result;
}

}  // namespace thimble::engine::neutron
