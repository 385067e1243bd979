#include "tools/inputs.h"

#include <algorithm>

#include "driver/data.h"
#include "formats/npy/npy.h"

namespace thimble::tools {
namespace {

using hostrun::Port;

/// Number of calls that the array contains for the port; nullopt if the shapes do not match.
std::optional<int64_t> calls_in(const ir::Shape& shape, const Port& port) {
  if (shape.empty()) return {};
  ir::Shape one = shape;
  one.erase(one.begin());
  if (one == port.shape) return shape[0];  // [calls, batch, ...]
  if (port.shape.empty() || shape.size() != port.shape.size()) return {};
  one = shape;
  one[0] = port.shape[0];
  if (one != port.shape || shape[0] % port.shape[0] != 0) return {};
  return shape[0] / port.shape[0];  // [calls * batch, ...]
}

Result<ir::Tensor> read_tensor(const std::filesystem::path& path, const Port& port) {
  const std::string label = path.filename().string();
  THIMBLE_TRY(const formats::npy::NpyArray array, formats::npy::read_npy(path));
  THIMBLE_TRY(ir::Tensor tensor, driver::to_tensor(array, label));
  if (tensor.dtype == port.dtype) return tensor;
  return bad_input("{}: {}{}, expected {}", label, formats::npy::name(array.dtype),
                   ir::list_text(array.shape), port.describe());
}

ir::Tensor slice(const ir::Tensor& all, const Port& port, int64_t call) {
  ir::Tensor one = ir::zeros(port.dtype, port.shape);
  const size_t offset = static_cast<size_t>(call) * one.bytes.size();
  std::copy_n(all.bytes.begin() + static_cast<ptrdiff_t>(offset), one.bytes.size(),
              one.bytes.begin());
  return one;
}

}  // namespace

Result<std::vector<std::vector<ir::Tensor>>> read_inputs(
    std::span<const std::filesystem::path> files, std::span<const Port> ports, bool steps,
    std::string_view model) {
  if (files.size() != ports.size()) {
    return bad_input("{}: {} --input given, expected {}: {}", model, files.size(), ports.size(),
                     hostrun::port_list(ports));
  }
  std::vector<ir::Tensor> arrays;
  std::optional<int64_t> calls = steps ? std::nullopt : std::optional<int64_t>(1);
  for (size_t i = 0; i < ports.size(); ++i) {
    THIMBLE_TRY(ir::Tensor array, read_tensor(files[i], ports[i]));
    const auto here = steps                           ? calls_in(array.shape, ports[i])
                      : array.shape == ports[i].shape ? calls
                                                      : std::nullopt;
    const std::string label = files[i].filename().string();
    if (!here) {
      return bad_input("{}: shape {}, expected {}{}", label, ir::list_text(array.shape),
                       ports[i].describe(),
                       steps ? ", with an additional first axis for the calls" : "");
    }
    if (calls && *calls != *here) {
      return bad_input("{}: {} calls, the previous input has {}", label, *here, *calls);
    }
    calls = here;
    arrays.push_back(std::move(array));
  }
  std::vector<std::vector<ir::Tensor>> inputs(static_cast<size_t>(calls.value_or(1)));
  for (size_t call = 0; call < inputs.size(); ++call) {
    for (size_t i = 0; i < ports.size(); ++i) {
      inputs[call].push_back(slice(arrays[i], ports[i], static_cast<int64_t>(call)));
    }
  }
  return inputs;
}

}  // namespace thimble::tools
