// SPDX-License-Identifier: Apache-2.0
#pragma once
// NumPy arrays as arrays of the compiler, and tensors as NumPy arrays.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "driver/data.h"
#include "formats/npy/npy.h"
#include "ir/tensor.h"

namespace thimble::python {

/// A C-contiguous array in the memory of the CPU, of any type.
using ArrayView = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
/// An array and its name; empty: by position.
using NamedArray = std::pair<std::string, ArrayView>;

/// Copies the array. Throws BadInput for an element type that NumPy files do not have here.
[[nodiscard]] formats::npy::NpyArray to_npy(const ArrayView& array, const std::string& label);

/// Copies the arrays of each item.
[[nodiscard]] std::shared_ptr<const driver::SampleArrays> to_samples(
    const std::vector<std::vector<NamedArray>>& items, const std::string& label);

/// Returns a NumPy array that owns the memory of the tensor.
[[nodiscard]] nanobind::object to_numpy(ir::Tensor tensor);

/// Returns a read-only NumPy array of the memory, which `owner` keeps.
[[nodiscard]] nanobind::object to_numpy_view(ByteView bytes, ir::DType type, const ir::Shape& shape,
                                             nanobind::handle owner);

/// Returns true if the array has this type and shape, and is aligned to its elements.
[[nodiscard]] bool has_type(const ArrayView& array, ir::DType type, const ir::Shape& shape);

}  // namespace thimble::python
