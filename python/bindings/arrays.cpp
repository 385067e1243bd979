// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/arrays.h"

#include <algorithm>
#include <iterator>

#include "python/bindings/errors.h"

namespace nb = nanobind;
namespace npy = thimble::formats::npy;

namespace thimble::python {
namespace {

struct ElementType {
  npy::DType npy;
  nb::dlpack::dtype_code code;
  uint8_t bits;
};
using Code = nb::dlpack::dtype_code;
constexpr ElementType kElementTypes[] = {
    {npy::DType::kBool, Code::Bool, 8},      {npy::DType::kInt8, Code::Int, 8},
    {npy::DType::kUint8, Code::UInt, 8},     {npy::DType::kInt16, Code::Int, 16},
    {npy::DType::kUint16, Code::UInt, 16},   {npy::DType::kInt32, Code::Int, 32},
    {npy::DType::kInt64, Code::Int, 64},     {npy::DType::kFloat16, Code::Float, 16},
    {npy::DType::kFloat32, Code::Float, 32}, {npy::DType::kFloat64, Code::Float, 64},
};

nb::dlpack::dtype dtype_of(ir::DType type) {
  switch (type) {
    case ir::DType::kF32:
      return nb::dtype<float>();
    case ir::DType::kI8:
      return nb::dtype<int8_t>();
    case ir::DType::kU8:
      return nb::dtype<uint8_t>();
    case ir::DType::kBool:
      return nb::dtype<bool>();
    case ir::DType::kI16:
      return nb::dtype<int16_t>();
    case ir::DType::kI32:
      return nb::dtype<int32_t>();
    case ir::DType::kI64:
      return nb::dtype<int64_t>();
  }
  return nb::dtype<float>();
}

}  // namespace

npy::NpyArray to_npy(const ArrayView& array, const std::string& label) {
  const nb::dlpack::dtype type = array.dtype();
  const auto* const row = std::ranges::find_if(kElementTypes, [&](const ElementType& each) {
    return static_cast<uint8_t>(each.code) == type.code && each.bits == type.bits &&
           type.lanes == 1;
  });
  if (row == std::end(kElementTypes)) {
    raise(
        bad_input("{}: elements of {} bits of a type that is not supported; float32, float64, "
                  "bool or integers of up to 64 bits expected",
                  label, static_cast<int>(type.bits)));
  }
  npy::NpyArray result;
  result.dtype = row->npy;
  for (size_t i = 0; i < array.ndim(); ++i) {
    result.shape.push_back(static_cast<int64_t>(array.shape(i)));
  }
  const auto* const data = static_cast<const std::byte*>(array.data());
  result.bytes.assign(data, data + array.nbytes());
  return result;
}

std::shared_ptr<const driver::SampleArrays> to_samples(
    const std::vector<std::vector<NamedArray>>& items, const std::string& label) {
  auto samples = std::make_shared<driver::SampleArrays>();
  samples->label = label;
  for (const std::vector<NamedArray>& item : items) {
    npy::NpzArrays& arrays = samples->items.emplace_back();
    for (const auto& [name, array] : item) {
      arrays.emplace_back(name, to_npy(array, name.empty() ? label : label + ": " + name));
    }
  }
  return samples;
}

nb::object to_numpy(ir::Tensor tensor) {
  auto owned = std::make_unique<ir::Tensor>(std::move(tensor));
  const std::vector<size_t> shape(owned->shape.begin(), owned->shape.end());
  ir::Tensor* const kept = owned.get();
  const nb::capsule owner(kept,
                          [](void* memory) noexcept { delete static_cast<ir::Tensor*>(memory); });
  (void)owned.release();  // the capsule owns it
  return nb::cast(nb::ndarray<nb::numpy>(kept->bytes.data(), shape.size(), shape.data(), owner,
                                         nullptr, dtype_of(kept->dtype)));
}

nb::object to_numpy_view(ByteView bytes, ir::DType type, const ir::Shape& shape, nb::handle owner) {
  const std::vector<size_t> sizes(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(bytes.data(), sizes.size(), sizes.data(), owner,
                                                 nullptr, dtype_of(type)));
}

bool has_type(const ArrayView& array, ir::DType type, const ir::Shape& shape) {
  if (array.dtype() != dtype_of(type) || array.ndim() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<int64_t>(array.shape(i)) != shape[i]) return false;
  }
  return reinterpret_cast<uintptr_t>(array.data()) % ir::dtype_bytes(type) == 0;
}

}  // namespace thimble::python
