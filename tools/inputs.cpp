// SPDX-License-Identifier: Apache-2.0
#include "tools/inputs.h"

#include <algorithm>

#include "driver/data.h"
#include "formats/npy/npy.h"
#include "tools/output.h"

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

/// One array per port: of the only file, a .npz, or of one file each.
Result<std::vector<InputArray>> read_sources(std::span<const std::filesystem::path> files,
                                             std::span<const Port> ports, std::string_view model) {
  std::vector<InputArray> sources;
  if (files.size() == 1 && extension(files[0]) == ".npz") {
    const std::string file = files[0].filename().string();
    THIMBLE_TRY(const formats::npy::NpzArrays arrays, driver::read_arrays(files[0]));
    for (const Port& port : ports) {
      THIMBLE_TRY(const auto* const array, driver::array_of(arrays, port.name, ports.size(), file));
      sources.push_back({*array, fmt::format("{}: {}", file, port.name)});
    }
    return sources;
  }
  if (files.size() != ports.size()) {
    return bad_input("{}: {} --input given, expected {}: {}", model, files.size(), ports.size(),
                     hostrun::port_list(ports));
  }
  for (const std::filesystem::path& file : files) {
    THIMBLE_TRY(formats::npy::NpzArrays arrays, driver::read_arrays(file));
    const std::string label = file.filename().string();
    if (arrays.size() != 1 || !arrays[0].first.empty()) {
      return bad_input(
          "{}: is an archive of arrays; expected one .npy for each input, or one .npz for all of "
          "them",
          label);
    }
    sources.push_back({std::move(arrays[0].second), label});
  }
  return sources;
}

Result<ir::Tensor> read_tensor(const InputArray& source, const Port& port) {
  const auto& array = source.array;
  const std::string& label = source.label;
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

/// Returns advice for an array that holds samples of several calls of a model with state.
std::string state_hint(int64_t calls, bool has_state) {
  if (calls < 2 || !has_state) return "";
  return fmt::format(
      "; the model has state: --steps runs the {} samples as a series of calls, which keep the "
      "state",
      calls);
}

/// Returns the arrays in the order of the inputs.
Result<std::vector<InputArray>> in_order(std::span<const InputArray> given,
                                         const std::vector<Port>& ports) {
  std::vector<InputArray> sources(given.begin(), given.end());
  const bool named =
      std::ranges::any_of(sources, [](const InputArray& each) { return !each.input.empty(); });
  if (!named) return sources;
  std::vector<InputArray> ordered;
  for (const Port& port : ports) {
    const auto found = std::ranges::find(sources, port.name, &InputArray::input);
    if (found != sources.end()) ordered.push_back(*found);
  }
  if (ordered.size() == ports.size() && sources.size() == ports.size()) return ordered;
  std::vector<std::string> names;
  for (const InputArray& each : sources) names.push_back(each.input);
  return bad_input("inputs: found {}, expected {}", fmt::join(names, ", "),
                   hostrun::port_list(ports));
}

}  // namespace

Result<InputCalls> split_calls(std::span<const InputArray> given, const Model& model, bool steps) {
  const std::vector<Port>& ports = model.inputs;
  THIMBLE_TRY(const std::vector<InputArray> sources, in_order(given, ports));
  if (sources.size() != ports.size()) {
    return bad_input("{}: {} inputs given, expected {}: {}", model.label, sources.size(),
                     ports.size(), hostrun::port_list(ports));
  }
  std::vector<ir::Tensor> arrays;
  std::optional<int64_t> calls;
  InputCalls result;
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    const std::string& label = sources[i].label;
    THIMBLE_TRY(ir::Tensor array, read_tensor(sources[i], port));
    const bool one = !steps && array.shape == port.shape;
    const std::optional<int64_t> held = calls_in(array.shape, port);
    const bool accepted = one || (held && (steps || !model.has_state));
    if (!accepted) {
      return bad_input("{}: shape {}, expected {}{}{}{}", label, ir::list_text(array.shape),
                       port.describe(),
                       steps ? ", with an additional first axis for the calls" : "",
                       state_hint(held.value_or(1), model.has_state),
                       driver::channels_last_hint(array.shape, port.shape));
    }
    const int64_t here = one ? 1 : *held;
    if (calls && *calls != here) {
      return bad_input("{}: {} calls, the previous input has {}", label, here, *calls);
    }
    if (here == 0) {
      return bad_input("{}: shape {}: no samples, at least one is expected", label,
                       ir::list_text(array.shape));
    }
    calls = here;
    if (steps) result.series = Series::kCalls;
    if (!one && !steps && result.series != Series::kCalls) {
      const bool batches = array.shape.size() == port.shape.size();
      result.series = batches ? Series::kBatches : Series::kCalls;
    }
    arrays.push_back(std::move(array));
  }
  result.inputs.resize(static_cast<size_t>(calls.value_or(1)));
  for (size_t call = 0; call < result.inputs.size(); ++call) {
    for (size_t i = 0; i < ports.size(); ++i) {
      result.inputs[call].push_back(slice(arrays[i], ports[i], static_cast<int64_t>(call)));
    }
  }
  return result;
}

ir::Tensor stacked(const Calls& outputs, size_t index, Series series) {
  ir::Tensor all = outputs[0][index];
  const auto calls = static_cast<int64_t>(outputs.size());
  if (series == Series::kBatches && !all.shape.empty()) {
    all.shape[0] *= calls;
  } else {
    all.shape.insert(all.shape.begin(), calls);
  }
  for (size_t call = 1; call < outputs.size(); ++call) {
    append(all.bytes, outputs[call][index].bytes);
  }
  return all;
}

Result<InputCalls> read_inputs(std::span<const std::filesystem::path> files, const Model& model,
                               bool steps) {
  THIMBLE_TRY(const std::vector<InputArray> sources,
              read_sources(files, model.inputs, model.label));
  return split_calls(sources, model, steps);
}

}  // namespace thimble::tools
