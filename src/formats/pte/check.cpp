// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/check.h"

#include <set>
#include <string>

#include "abi/named_data.h"

namespace thimble::formats::pte {
namespace {

constexpr size_t kRankMax = 16;  // limit of the stock runtime
constexpr uint32_t kBlobAlignmentMax = 4096;
constexpr uint64_t kInlineBytesMax = uint64_t{1} << 30;  // the limit of a flatbuffer is 2 GiB

/// Checks one plan; every message starts with the location in the plan.
class PlanCheck {
 public:
  PlanCheck(const Program& program, const ExecutionPlan& plan, std::string_view label)
      : program_(program), plan_(plan), where_(fmt::format("{}: plan {}", label, plan.name)) {}

  Status run() {
    THIMBLE_CHECK(memories());
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      THIMBLE_CHECK(value(fmt::format("values[{}]", i), plan_.values[i]));
    }
    THIMBLE_CHECK(value_indices("inputs", plan_.inputs));
    THIMBLE_CHECK(value_indices("outputs", plan_.outputs));
    for (size_t i = 0; i < plan_.delegates.size(); ++i) {
      THIMBLE_CHECK(index(fmt::format("delegates[{}].blob", i), plan_.delegates[i].blob,
                          program_.delegate_blobs.size()));
    }
    if (plan_.chains.empty()) return fail("chains", "expected at least one");
    for (size_t i = 0; i < plan_.chains.size(); ++i) {
      THIMBLE_CHECK(chain(fmt::format("chains[{}]", i), plan_.chains[i]));
    }
    return ok();
  }

 private:
  [[nodiscard]] Error fail(std::string_view place, std::string_view what) const {
    return bad_input("{}: {}: {}", where_, place, what);
  }

  [[nodiscard]] Status index(std::string_view place, int64_t index, size_t count) const {
    if (index >= 0 && static_cast<uint64_t>(index) < count) return ok();
    return fail(place, fmt::format("{} is not an index of {} entries", index, count));
  }

  template <typename Items>
  [[nodiscard]] Status value_indices(std::string_view place, const Items& items) const {
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i] >= 0 && static_cast<uint64_t>(items[i]) < plan_.values.size()) continue;
      THIMBLE_CHECK(index(fmt::format("{}[{}]", place, i), items[i], plan_.values.size()));
    }
    return ok();
  }

  [[nodiscard]] Status memories() const {
    if (plan_.memory_sizes.empty()) {
      return fail("memory_sizes", "expected at least the reserved entry 0");
    }
    for (size_t i = 0; i < plan_.memory_sizes.size(); ++i) {
      if (plan_.memory_sizes[i] < 0) {
        return fail(fmt::format("memory_sizes[{}]", i),
                    fmt::format("{} is negative", plan_.memory_sizes[i]));
      }
    }
    for (size_t i = 0; i < plan_.memory_devices.size(); ++i) {
      THIMBLE_CHECK(index(fmt::format("memory_devices[{}].memory_id", i),
                          plan_.memory_devices[i].memory_id, plan_.memory_sizes.size()));
    }
    return ok();
  }

  [[nodiscard]] Status value(const std::string& place, const EValue& value) const {
    if (const auto* x = std::get_if<Tensor>(&value)) return tensor(place, *x);
    if (const auto* x = std::get_if<IntList>(&value)) return value_indices(place, x->items);
    if (const auto* x = std::get_if<TensorList>(&value)) return tensors(place, x->items, false);
    if (const auto* x = std::get_if<OptionalTensorList>(&value)) {
      return tensors(place, x->items, true);
    }
    return ok();
  }

  [[nodiscard]] Status tensors(const std::string& place, const std::vector<int32_t>& items,
                               bool may_be_none) const {
    for (size_t i = 0; i < items.size(); ++i) {
      if (may_be_none && items[i] == -1) continue;
      const std::string item = fmt::format("{}[{}]", place, i);
      THIMBLE_CHECK(index(item, items[i], plan_.values.size()));
      const EValue& value = plan_.values[static_cast<size_t>(items[i])];
      const bool none = may_be_none && std::holds_alternative<Null>(value);
      if (!none && !std::holds_alternative<Tensor>(value)) {
        return fail(item, fmt::format("values[{}] is not a tensor", items[i]));
      }
    }
    return ok();
  }

  [[nodiscard]] Status tensor(const std::string& place, const Tensor& tensor) const {
    if (name(tensor.scalar_type).empty()) {
      return fail(place + ".scalar_type",
                  fmt::format("{} is not a known type", static_cast<int>(tensor.scalar_type)));
    }
    THIMBLE_CHECK(shape(place, tensor));
    if (tensor.storage_offset < 0) {
      return fail(place + ".storage_offset", fmt::format("{} is negative", tensor.storage_offset));
    }
    const auto dynamism = static_cast<int>(tensor.shape_dynamism);
    if (dynamism < 0 || dynamism > 2) {
      return fail(place + ".shape_dynamism", fmt::format("{} is not 0, 1 or 2", dynamism));
    }
    const std::optional<uint64_t> bytes = data_bytes(tensor);
    if (!bytes) return fail(place + ".sizes", "the tensor exceeds 64-bit sizes");
    if (tensor.allocation) THIMBLE_CHECK(planned(place, *tensor.allocation, *bytes));
    return data(place, tensor, *bytes);
  }

  [[nodiscard]] Status shape(const std::string& place, const Tensor& tensor) const {
    const size_t rank = tensor.sizes.size();
    if (rank > kRankMax) {
      return fail(place + ".sizes", fmt::format("rank {} exceeds {}", rank, kRankMax));
    }
    for (size_t i = 0; i < rank; ++i) {
      if (tensor.sizes[i] < 0) {
        return fail(fmt::format("{}.sizes[{}]", place, i),
                    fmt::format("{} is negative", tensor.sizes[i]));
      }
    }
    if (tensor.dim_order.size() != rank) {
      return fail(place + ".dim_order",
                  fmt::format("{} entries for a tensor of rank {}", tensor.dim_order.size(), rank));
    }
    uint32_t seen = 0;
    for (size_t i = 0; i < rank; ++i) {
      const uint8_t dim = tensor.dim_order[i];
      if (dim >= rank || ((seen >> dim) & 1) != 0) {
        return fail(fmt::format("{}.dim_order[{}]", place, i),
                    fmt::format("{}: not a permutation of {} dimensions", dim, rank));
      }
      seen |= uint32_t{1} << dim;
    }
    return ok();
  }

  [[nodiscard]] Status planned(const std::string& place, const Allocation& allocation,
                               uint64_t bytes) const {
    const uint32_t id = allocation.memory_id;
    if (id == 0 || id >= plan_.memory_sizes.size()) {
      return fail(place + ".allocation",
                  fmt::format("memory {} is not one of 1..{}", id, plan_.memory_sizes.size() - 1));
    }
    const auto size = static_cast<uint64_t>(plan_.memory_sizes[id]);
    if (allocation.offset <= size && bytes <= size - allocation.offset) return ok();
    return fail(place + ".allocation", fmt::format("{} bytes at {} leave memory {} of {} bytes",
                                                   bytes, allocation.offset, id, size));
  }

  [[nodiscard]] Status data(const std::string& place, const Tensor& tensor, uint64_t bytes) const {
    if (tensor.extra && tensor.extra->location == TensorLocation::kExternal) {
      if (tensor.extra->fully_qualified_name) return ok();
      return fail(place + ".extra", "external data without a name");
    }
    if (tensor.extra && tensor.extra->location != TensorLocation::kSegment) {
      return fail(place + ".extra.location",
                  fmt::format("{} is not 0 or 1", static_cast<int>(tensor.extra->location)));
    }
    if (tensor.data_buffer_idx == 0) return ok();
    const std::vector<Bytes>* buffers = &program_.constants;
    if (tensor.allocation) {
      const bool in_entry = tensor.data_buffer_idx == kInitialValueInEntry && !tensor.extra &&
                            program_.mutable_segments.empty() &&
                            find_named_data(program_, abi::kStateKey) != nullptr;
      if (in_entry) return ok();
      const uint64_t segment = tensor.extra ? tensor.extra->mutable_segment : 0;
      if (segment >= program_.mutable_segments.size()) {
        return fail(place + ".extra.mutable_segment",
                    fmt::format("{} is not an index of {} entries", segment,
                                program_.mutable_segments.size()));
      }
      buffers = &program_.mutable_segments[segment].buffers;
    }
    THIMBLE_CHECK(index(place + ".data_buffer_idx", tensor.data_buffer_idx, buffers->size()));
    const size_t stored = (*buffers)[tensor.data_buffer_idx].size();
    if (bytes <= stored) return ok();
    return fail(place + ".data_buffer_idx",
                fmt::format("a tensor of {} bytes in a buffer of {}", bytes, stored));
  }

  [[nodiscard]] Status chain(const std::string& place, const Chain& chain) const {
    THIMBLE_CHECK(value_indices(place + ".inputs", chain.inputs));
    THIMBLE_CHECK(value_indices(place + ".outputs", chain.outputs));
    const size_t count = chain.instructions.size();
    for (size_t i = 0; i < count; ++i) {
      const auto at = [&] { return fmt::format("{}.instructions[{}]", place, i); };
      const Instruction& instruction = chain.instructions[i];
      if (const auto* x = std::get_if<KernelCall>(&instruction)) {
        THIMBLE_CHECK(index(at() + ".op_index", x->op_index, plan_.operators.size()));
        THIMBLE_CHECK(value_indices(at() + ".args", x->args));
      } else if (const auto* x = std::get_if<DelegateCall>(&instruction)) {
        THIMBLE_CHECK(index(at() + ".delegate_index", x->delegate_index, plan_.delegates.size()));
        THIMBLE_CHECK(value_indices(at() + ".args", x->args));
      } else if (const auto* x = std::get_if<MoveCall>(&instruction)) {
        THIMBLE_CHECK(index(at() + ".from", x->from, plan_.values.size()));
        THIMBLE_CHECK(index(at() + ".to", x->to, plan_.values.size()));
      } else if (const auto* x = std::get_if<JumpFalseCall>(&instruction)) {
        THIMBLE_CHECK(index(at() + ".condition", x->condition, plan_.values.size()));
        THIMBLE_CHECK(index(at() + ".destination", x->destination, count + 1));
      } else if (const auto* x = std::get_if<FreeCall>(&instruction)) {
        THIMBLE_CHECK(index(at() + ".value", x->value, plan_.values.size()));
      }
    }
    if (chain.stacktrace.empty() || chain.stacktrace.size() == count) return ok();
    return fail(place + ".stacktrace",
                fmt::format("{} entries for {} instructions", chain.stacktrace.size(), count));
  }

  const Program& program_;
  const ExecutionPlan& plan_;
  std::string where_;
};

Status check_alignment(uint32_t alignment, const std::string& where) {
  const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (power_of_two && alignment <= kBlobAlignmentMax) return ok();
  return bad_input("{}.alignment: {} is not a power of two up to {}", where, alignment,
                   kBlobAlignmentMax);
}

Status check_buffers(const std::vector<Bytes>& buffers, const std::string& where) {
  if (!buffers.empty() && buffers[0].empty()) return ok();
  return bad_input("{}: entry 0 is reserved: it must exist and be empty", where);
}

Status check_bulk_data(const Program& program, std::string_view label) {
  THIMBLE_CHECK(check_buffers(program.constants, fmt::format("{}: constants", label)));
  for (size_t i = 0; i < program.mutable_segments.size(); ++i) {
    THIMBLE_CHECK(check_buffers(program.mutable_segments[i].buffers,
                                fmt::format("{}: mutable_segments[{}]", label, i)));
  }
  uint64_t inline_bytes = 0;
  for (const Bytes& constant : program.constants) {
    if (program.constants_inline) inline_bytes += constant.size();
  }
  for (size_t i = 0; i < program.delegate_blobs.size(); ++i) {
    const DelegateBlob& blob = program.delegate_blobs[i];
    const std::string where = fmt::format("{}: delegate_blobs[{}]", label, i);
    THIMBLE_CHECK(check_alignment(blob.alignment, where));
    if (blob.location != BlobLocation::kInline) continue;
    inline_bytes += blob.bytes.size();
    if (blob.alignment != 16) {
      return bad_input("{}.alignment: {} for inline data, which has 16", where, blob.alignment);
    }
  }
  if (inline_bytes > kInlineBytesMax) {
    return bad_input("{}: {} bytes of inline data do not fit a flatbuffer", label, inline_bytes);
  }
  std::set<std::string_view> keys;
  for (size_t i = 0; i < program.named_data.size(); ++i) {
    const std::string where = fmt::format("{}: named_data[{}]", label, i);
    THIMBLE_CHECK(check_alignment(program.named_data[i].alignment, where));
    if (!keys.insert(program.named_data[i].key).second) {
      return bad_input("{}: a second entry for key '{}'", where, program.named_data[i].key);
    }
  }
  return ok();
}

}  // namespace

Status check(const Program& program, std::string_view label) {
  THIMBLE_CHECK(check_bulk_data(program, label));
  std::set<std::string_view> names;
  for (const ExecutionPlan& plan : program.plans) {
    if (!names.insert(plan.name).second) {
      return bad_input("{}: a second plan of the name '{}'", label, plan.name);
    }
    THIMBLE_CHECK(PlanCheck(program, plan, label).run());
  }
  return ok();
}

}  // namespace thimble::formats::pte
