// SPDX-License-Identifier: Apache-2.0
#include "formats/pt2/weights.h"

#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace thimble::formats::pt2 {

namespace {

/// Returns "4,608": separators make byte counts in messages easier to compare.
std::string grouped(uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

/// The part of a storage that a tensor refers to, in bytes; checked for overflow.
struct View {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  uint64_t offset = 0;  // offset of the first element
  uint64_t end = 0;     // end of the last element
  uint64_t bytes = 0;   // size of the contiguous copy
  bool is_contiguous = true;
};

/// Returns nullopt if a number is symbolic, negative or too large.
std::optional<View> make_view(const TensorMeta& meta) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const auto item = static_cast<uint64_t>(size_bytes(meta.dtype));
  if (meta.layout != Layout::kStrided || meta.sizes.size() != meta.strides.size() ||
      meta.storage_offset.is_symbolic() || meta.storage_offset.value < 0) {
    return std::nullopt;
  }
  View view;
  uint64_t count = 1;  // number of elements of the copy
  uint64_t last = static_cast<uint64_t>(meta.storage_offset.value);
  for (size_t i = meta.sizes.size(); i-- > 0;) {
    const SymInt& size = meta.sizes[i];
    const SymInt& stride = meta.strides[i];
    if (size.is_symbolic() || stride.is_symbolic() || size.value < 0 || stride.value < 0) {
      return std::nullopt;
    }
    const auto size_value = static_cast<uint64_t>(size.value);
    const auto stride_value = static_cast<uint64_t>(stride.value);
    if (size_value > 1) {
      if (stride_value != count) view.is_contiguous = false;
      if (stride_value > (kMax - last) / (size_value - 1)) return std::nullopt;
      last += stride_value * (size_value - 1);
      if (count > kMax / size_value) return std::nullopt;
    }
    count *= size_value;
    view.sizes.insert(view.sizes.begin(), size.value);
    view.strides.insert(view.strides.begin(), stride.value);
  }
  if (count > kMax / item || last >= kMax / item) return std::nullopt;
  view.bytes = count * item;
  view.offset = static_cast<uint64_t>(meta.storage_offset.value) * item;
  // An empty tensor refers to no bytes, regardless of its offset.
  view.end = count == 0 ? 0 : (last + 1) * item;
  return view;
}

Bytes copy_elements(ByteView storage, const View& view, size_t item) {
  Bytes bytes(static_cast<size_t>(view.bytes));
  std::vector<int64_t> index(view.sizes.size(), 0);
  size_t from = static_cast<size_t>(view.offset);
  for (size_t to = 0; to < bytes.size(); to += item) {
    std::memcpy(&bytes[to], &storage[from], item);
    for (size_t axis = index.size(); axis-- > 0;) {
      const size_t step = static_cast<size_t>(view.strides[axis]) * item;
      if (++index[axis] < view.sizes[axis]) {
        from += step;
        break;
      }
      from -= step * static_cast<size_t>(view.sizes[axis] - 1);
      index[axis] = 0;
    }
  }
  return bytes;
}

/// Returns the exponent bits of one element; all ones means NaN or infinity. Returns 0
/// for types without NaN and infinity.
uint64_t exponent_mask(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat16:
      return 0x7C00;
    case ScalarType::kBfloat16:
      return 0x7F80;
    case ScalarType::kFloat32:
      return 0x7F80'0000;
    case ScalarType::kFloat64:
      return 0x7FF0'0000'0000'0000;
    default:
      return 0;
  }
}

uint64_t load_element(ByteView bytes, size_t at, size_t item) {
  if (item == 2) return load_le<uint16_t>(bytes, at);
  if (item == 4) return load_le<uint32_t>(bytes, at);
  return load_le<uint64_t>(bytes, at);
}

/// Returns the index of element `number` as text: "[3,0,1]".
std::string index_text(uint64_t number, const std::vector<int64_t>& sizes) {
  std::string text;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    const auto size = static_cast<uint64_t>(sizes[axis]);
    text.insert(0, fmt::format("{}{}", axis ? "," : "", number % size));
    number /= size;
  }
  return "[" + text + "]";
}

}  // namespace

struct Weights::Cache {
  std::map<std::string, size_t, std::less<>> name_count;  // number of names per member
  std::map<std::string, std::shared_ptr<const Bytes>, std::less<>> shared;
  std::set<std::string, std::less<>> gathered;
  uint64_t gathered_bytes = 0;
  uint64_t gathered_bytes_max = kExpansionFreeBytes;
};

Weights::Weights(std::shared_ptr<const zip::Archive> archive, std::string top_folder,
                 NameMap<Payload> payloads)
    : archive_(std::move(archive)),
      top_folder_(std::move(top_folder)),
      payloads_(std::move(payloads)),
      cache_(std::make_shared<Cache>()) {
  for (const auto& [fqn, payload] : payloads_) {
    if (++cache_->name_count[payload.member] != 1) continue;
    const zip::Member* member = archive_->find(top_folder_ + payload.member);
    if (member) cache_->gathered_bytes_max += kExpansionMax * member->size_bytes;
  }
}

const Payload* Weights::find(std::string_view fqn) const {
  const auto found = payloads_.find(fqn);
  return found == payloads_.end() ? nullptr : &found->second;
}

Error Weights::error(const Payload& payload, std::string_view what) const {
  return bad_input("{}: {}: {}", archive_->name(), payload.member, what);
}

/// Returns the bytes of a payload's member. Caches members that several names refer to.
Result<std::shared_ptr<const Bytes>> Weights::storage(const Payload& payload) const {
  const auto found = cache_->shared.find(payload.member);
  if (found != cache_->shared.end()) return found->second;
  THIMBLE_TRY(Bytes bytes, archive_->read(top_folder_ + payload.member, payload.member));
  auto storage = std::make_shared<const Bytes>(std::move(bytes));
  if (cache_->name_count[payload.member] > 1) cache_->shared.emplace(payload.member, storage);
  return storage;
}

Result<WeightTensor> Weights::gather(std::string_view fqn) const {
  const Payload* payload = find(fqn);
  if (!payload) return bad_input("{}: no tensor named {}", archive_->name(), fqn);
  if (payload->uses_pickle || !payload->has_tensor) {
    return error(*payload, fmt::format("{} is a pickled object, expected a plain tensor", fqn));
  }
  const zip::Member* member = archive_->find(top_folder_ + payload->member);
  if (!member) {
    return error(*payload, fmt::format("the archive lacks this member, which holds {}", fqn));
  }
  const std::optional<View> view = make_view(payload->meta);
  if (!view) {
    return error(*payload, fmt::format("{} {} has sizes, strides or an offset that no storage has",
                                       fqn, describe(payload->meta)));
  }
  if (view->end > member->size_bytes) {
    return error(*payload, fmt::format("{} bytes expected for {} {}, the archive holds {}",
                                       grouped(view->end), fqn, describe(payload->meta),
                                       grouped(member->size_bytes)));
  }
  if (!cache_->gathered.contains(fqn)) {
    if (view->bytes > cache_->gathered_bytes_max - cache_->gathered_bytes) {
      return error(*payload, fmt::format("{} {} unfolds {} bytes of storage to {}, too many", fqn,
                                         describe(payload->meta), grouped(member->size_bytes),
                                         grouped(view->bytes)));
    }
    cache_->gathered.emplace(fqn);
    cache_->gathered_bytes += view->bytes;
  }

  WeightTensor tensor{payload->meta.dtype, view->sizes, {}};
  if (view->bytes == 0) return tensor;
  const bool whole = view->is_contiguous && view->offset == 0 && view->bytes == member->size_bytes;
  if (whole && cache_->name_count[payload->member] == 1) {  // no second copy of a large weight
    THIMBLE_TRY(tensor.bytes, archive_->read(top_folder_ + payload->member, payload->member));
    return tensor;
  }
  THIMBLE_TRY(const std::shared_ptr<const Bytes> storage_bytes, storage(*payload));
  const ByteView all = *storage_bytes;
  if (view->is_contiguous) {
    const ByteView part =
        all.subspan(static_cast<size_t>(view->offset), static_cast<size_t>(view->bytes));
    tensor.bytes.assign(part.begin(), part.end());
  } else {
    tensor.bytes = copy_elements(all, *view, static_cast<size_t>(size_bytes(tensor.dtype)));
  }
  return tensor;
}

Result<WeightTensor> Weights::gather_finite(std::string_view fqn) const {
  THIMBLE_TRY(WeightTensor tensor, gather(fqn));
  const uint64_t mask = exponent_mask(tensor.dtype);
  if (mask == 0) return tensor;
  const auto item = static_cast<size_t>(size_bytes(tensor.dtype));
  for (size_t at = 0; at < tensor.bytes.size(); at += item) {
    const uint64_t bits = load_element(tensor.bytes, at, item);
    if ((bits & mask) != mask) continue;
    const uint64_t fraction = bits & ((mask & (~mask + 1)) - 1);
    const Payload& payload = *find(fqn);
    if (fraction == 0 && !payload.is_parameter) continue;
    return error(payload, fmt::format("{} {} is {} at {}, expected finite numbers", fqn,
                                      describe(payload.meta), fraction ? "NaN" : "infinite",
                                      index_text(at / item, tensor.sizes)));
  }
  return tensor;
}

}  // namespace thimble::formats::pt2
