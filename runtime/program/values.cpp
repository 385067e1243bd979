// Every EValue is verified once, whether an instruction uses it or not: files list each value once
// but name it from several instructions. This loop is most of the work of loading a file (a stock
// file has about 16 values for each kernel call), so the common case, a boxed integer, is short.
//
// Strings and lists of doubles, bools or optional tensors stop at their tag: no operator takes them.

#include "abi/limits.h"
#include "runtime/program/image.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;
namespace tag = abi::pte::value_tag;

/// Sizes and dim_order; answers the bytes of the tensor.
Status verify_shape(Verifier& verifier, Position tensor, uint32_t element, uint32_t& bytes) {
  const Vector sizes = verifier.vector(tensor, pte::tensor::kSizes, 2);
  const Vector dim_order = verifier.vector(tensor, pte::tensor::kDimOrder, 0);
  const uint32_t rank = sizes.count();
  if (rank > abi::kMaxRank) return Status::kUnsupported;
  if (dim_order.count() != rank) return Status::kCorrupt;
  // The extent counts an empty dimension as 1: products of any subset of the sizes fit then too.
  uint64_t extent = element;
  uint32_t seen = 0;
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint32_t size = sizes.index(i);
    const uint32_t dim = *dim_order.item(i, 1);
    if (size > 0x7FFFFFFF || dim >= rank) return Status::kCorrupt;
    seen |= 1U << dim;
    if (size == 0) {
      empty = true;
      continue;
    }
    extent *= size;
    if (extent > 0x7FFFFFFF) return Status::kCorrupt;
  }
  if (seen != (1U << rank) - 1) return Status::kCorrupt;
  bytes = empty ? 0 : static_cast<uint32_t>(extent);
  return Status::kOk;
}

Status verify_constant(Loading& loading, uint32_t index, uint32_t bytes) {
  const Image& image = *loading.image;
  if (index >= image.constants.count()) return Status::kCorrupt;
  Position data;
  if (image.constant_data != nullptr) {
    const auto offset = load<uint64_t>(image.constants.item(index, 8));
    if (offset > loading.constant_bytes || bytes > loading.constant_bytes - offset) {
      return Status::kCorrupt;
    }
    data = image.constant_data + offset;
  } else {
    const Position buffer = loading.verifier.table(image.constants.item(index, 4));
    if (buffer == nullptr) return Status::kCorrupt;
    const Vector storage = loading.verifier.vector(buffer, pte::buffer::kStorage, 0);
    if (bytes > storage.count()) return Status::kCorrupt;
    if (bytes == 0) return Status::kOk;
    data = storage.item(0, 1);
  }
  // The file itself is aligned, so this is a fact of the file and not of where it lies.
  const bool aligned = reinterpret_cast<uintptr_t>(data) % abi::kConstantAlignment == 0;
  return aligned ? Status::kOk : Status::kCorrupt;
}

Status verify_planned(Loading& loading, Position allocation, uint32_t bytes, uint32_t element) {
  Verifier& verifier = loading.verifier;
  const auto memory_id =
      verifier.scalar<uint32_t>(allocation, pte::allocation_details::kMemoryId);
  const auto offset =
      verifier.scalar<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetLow);
  const auto high =
      verifier.scalar<uint32_t>(allocation, pte::allocation_details::kMemoryOffsetHigh);
  if (memory_id != 1) return memory_id == 0 ? Status::kCorrupt : Status::kUnsupported;
  const uint32_t arena = loading.image->arena_bytes;
  if (high != 0 || offset > arena || bytes > arena - offset) return Status::kCorrupt;
  return offset % element == 0 ? Status::kOk : Status::kCorrupt;
}

Status verify_tensor(Loading& loading, Position tensor) {
  Verifier& verifier = loading.verifier;
  const uint32_t element =
      element_bytes(verifier.scalar<uint8_t>(tensor, pte::tensor::kScalarType));
  if (element == 0) return Status::kUnsupported;
  if (verifier.scalar<int32_t>(tensor, pte::tensor::kStorageOffset) != 0 ||
      verifier.scalar<uint8_t>(tensor, pte::tensor::kShapeDynamism) != 0) {
    return Status::kUnsupported;
  }
  uint32_t bytes = 0;
  const Status status = verify_shape(verifier, tensor, element, bytes);
  if (status != Status::kOk) return status;

  const Position extra = verifier.child(tensor, pte::tensor::kExtraTensorInfo);
  if (extra != nullptr && verifier.scalar<int8_t>(extra, pte::extra_tensor_info::kLocation) !=
                              pte::tensor_location::kSegment) {
    return Status::kUnsupported;
  }
  const auto constant = verifier.scalar<uint32_t>(tensor, pte::tensor::kDataBufferIdx);
  const Position allocation = verifier.child(tensor, pte::tensor::kAllocationInfo);
  if (verifier.failed()) return Status::kCorrupt;
  if (allocation != nullptr) {
    if (constant != 0) return Status::kUnsupported;  // a buffer with a start value
    return verify_planned(loading, allocation, bytes, element);
  }
  return constant != 0 ? verify_constant(loading, constant, bytes) : Status::kOk;
}

}  // namespace

uint32_t element_bytes(uint32_t scalar_type) {
  // Unsigned 8, signed 8, 16, 32, 64, -, float, -, -, -, -, bool.
  constexpr uint8_t kBytes[] = {1, 1, 2, 4, 8, 0, 4, 0, 0, 0, 0, 1};
  return scalar_type < sizeof kBytes ? kBytes[scalar_type] : 0;
}

Status verify_values(Loading& loading) {
  Verifier& verifier = loading.verifier;
  const Vector values = loading.image->values;
  const uint32_t count = values.count();
  for (uint32_t i = 0; i < count; ++i) {
    const Position value = verifier.table(values.item(i, 4));
    if (value == nullptr) return Status::kCorrupt;
    const auto kind = verifier.scalar<uint8_t>(value, pte::evalue::kValType);
    if (kind <= tag::kNull) continue;
    const Position payload = verifier.child(value, pte::evalue::kVal);
    if (payload == nullptr) return Status::kCorrupt;
    Status status = Status::kOk;
    if (kind == tag::kTensor) {
      status = verify_tensor(loading, payload);
    } else if (kind == tag::kInt || kind == tag::kDouble) {
      verifier.field(payload, pte::scalar_value::kValue, 8);
    } else if (kind == tag::kBool) {
      verifier.field(payload, pte::scalar_value::kValue, 1);
    } else if (kind == tag::kIntList || kind == tag::kTensorList) {
      verifier.vector(payload, pte::list_value::kItems, kind == tag::kIntList ? 3 : 2);
    }
    if (status != Status::kOk) return status;
  }
  return verifier.failed() ? Status::kCorrupt : Status::kOk;
}

}  // namespace thimble::runtime
