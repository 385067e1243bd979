// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files made by ExecuTorch with recorded calls: NAME.pte, and NAME.npz with arrays input_0, ...,
// output_0, .... The first axis of each array is the call.

#include <string>
#include <vector>

#include "../unit/test_files.h"
#include "driver/data.h"
#include "formats/npy/npy.h"
#include "ir/tensor.h"

namespace thimble::test {

struct RecordedFile {
  std::string name;
  Bytes bytes;
  std::vector<std::vector<ir::Tensor>> inputs, outputs;  // [call][port]
};

/// Returns entry `call` of an array whose first axis is the call.
inline ir::Tensor one_call(const ir::Tensor& all, size_t call) {
  ir::Tensor tensor;
  tensor.dtype = all.dtype;
  tensor.shape.assign(all.shape.begin() + 1, all.shape.end());
  const size_t bytes = all.bytes.size() / static_cast<size_t>(all.shape[0]);
  tensor.bytes.assign(all.bytes.begin() + static_cast<std::ptrdiff_t>(call * bytes),
                      all.bytes.begin() + static_cast<std::ptrdiff_t>((call + 1) * bytes));
  return tensor;
}

inline RecordedFile read_recorded(const std::filesystem::path& path) {
  RecordedFile file{path.stem().string(), read_bytes(path), {}, {}};
  const auto arrays = formats::npy::read_npz(std::filesystem::path(path).replace_extension(".npz"));
  EXPECT_TRUE(arrays.ok()) << path;
  if (!arrays.ok()) return file;
  for (const auto& [name, array] : *arrays) {
    const auto tensor = driver::to_tensor(array, name);
    EXPECT_TRUE(tensor.ok()) << name;
    if (!tensor.ok()) continue;
    auto& calls = name.starts_with("input") ? file.inputs : file.outputs;
    calls.resize(static_cast<size_t>(tensor->shape[0]));
    for (size_t call = 0; call < calls.size(); ++call) {
      calls[call].push_back(one_call(*tensor, call));
    }
  }
  return file;
}

inline std::vector<RecordedFile> recorded_files_in(const std::filesystem::path& folder) {
  std::vector<RecordedFile> all;
  for (const auto& path : pte_files_in(folder)) all.push_back(read_recorded(path));
  return all;
}

}  // namespace thimble::test
