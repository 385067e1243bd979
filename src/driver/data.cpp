// SPDX-License-Identifier: Apache-2.0
#include "driver/data.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/read_file.h"
#include "formats/kind/file_kind.h"

namespace thimble::driver {

namespace npy = formats::npy;

namespace {

struct ElementType {
  ir::DType ir;
  npy::DType npy;
};
constexpr ElementType kElementTypes[] = {
    {ir::DType::kF32, npy::DType::kFloat32}, {ir::DType::kI8, npy::DType::kInt8},
    {ir::DType::kU8, npy::DType::kUint8},    {ir::DType::kI16, npy::DType::kInt16},
    {ir::DType::kI32, npy::DType::kInt32},   {ir::DType::kI64, npy::DType::kInt64},
    {ir::DType::kBool, npy::DType::kBool},
};

/// The array with one label per sample.
constexpr std::string_view kLabels = "labels";

const npy::NpyArray* find(const npy::NpzArrays& arrays, std::string_view name) {
  for (const auto& [array_name, array] : arrays) {
    if (array_name == name) return &array;
  }
  return nullptr;
}

std::string names_of(const npy::NpzArrays& arrays) {
  std::string names;
  for (const auto& [name, array] : arrays) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "no arrays" : names;
}

Result<std::vector<int64_t>> read_labels(const npy::NpyArray& array, std::string_view label) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < array.count(); ++i) {
    const std::byte* at =
        array.bytes.data() + static_cast<size_t>(i) * npy::size_bytes(array.dtype);
    if (array.dtype == npy::DType::kInt64) {
      int64_t value = 0;
      std::memcpy(&value, at, sizeof(value));
      labels.push_back(value);
    } else if (array.dtype == npy::DType::kInt32) {
      int32_t value = 0;
      std::memcpy(&value, at, sizeof(value));
      labels.push_back(value);
    } else {
      return bad_input("{}: labels: dtype {}, expected int64 or int32", label,
                       npy::name(array.dtype));
    }
  }
  return labels;
}

}  // namespace

Result<ir::Tensor> to_tensor(npy::NpyArray array, std::string_view label) {
  ir::Tensor tensor;
  tensor.shape = array.shape;
  if (array.dtype == npy::DType::kFloat64) {
    tensor.dtype = ir::DType::kF32;
    tensor.bytes.reserve(static_cast<size_t>(array.count()) * sizeof(float));
    for (int64_t i = 0; i < array.count(); ++i) {
      double value = 0;
      std::memcpy(&value, array.bytes.data() + static_cast<size_t>(i) * sizeof(double),
                  sizeof(value));
      const auto narrow = static_cast<float>(value);
      const auto* bytes = reinterpret_cast<const std::byte*>(&narrow);
      tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof(narrow));
    }
    return tensor;
  }
  const auto* const type = std::ranges::find(kElementTypes, array.dtype, &ElementType::npy);
  if (type == std::end(kElementTypes))
    return bad_input("{}: dtype {} is not supported as a model input", label,
                     npy::name(array.dtype));
  tensor.dtype = type->ir;
  tensor.bytes = std::move(array.bytes);
  return tensor;
}

npy::NpyArray to_npy(const ir::Tensor& tensor) {
  const auto* const type = std::ranges::find(kElementTypes, tensor.dtype, &ElementType::ir);
  assert(type != std::end(kElementTypes));
  return {type->npy, tensor.shape, tensor.bytes};
}

Samples random_samples(const ir::Graph& graph) {
  constexpr int64_t kSamples = 4;
  constexpr uint32_t kMultiplier = 1664525, kIncrement = 1013904223;  // of a linear generator
  constexpr float kHalfRange = 2147483648.0F;
  Samples samples;
  uint32_t state = 1;
  for (const ir::ValueId input : graph.inputs()) {
    const ir::Type& type = graph.type(input);
    ir::Shape shape = type.shape;
    shape.insert(shape.begin(), kSamples);
    ir::Tensor data = ir::zeros(type.dtype, shape);
    if (type.dtype == ir::DType::kF32) {
      for (float& value : data.data<float>()) {
        state = state * kMultiplier + kIncrement;
        value = static_cast<float>(state) / kHalfRange - 1.0F;
      }
    }
    samples.data.inputs.push_back({graph.value(input).name, std::move(data)});
  }
  return samples;
}

Result<npy::NpzArrays> read_arrays(const std::filesystem::path& path) {
  const auto explained = [&](const Error& error) {
    return formats::explain_file(path, formats::FileUse::kSamples, error);
  };
  THIMBLE_TRY(base::InputFile file, base::open_file(path));
  std::byte start = {};
  if (file.size_bytes != 0) THIMBLE_CHECK(file.read({&start, 1}));
  if (static_cast<char>(start) == npy::kMagic[0]) {
    auto array = npy::read_npy(path);
    if (!array) return explained(array.error());
    npy::NpzArrays arrays;
    arrays.emplace_back("", std::move(*array));
    return arrays;
  }
  Result<npy::NpzArrays> arrays = npy::read_npz(path);
  if (!arrays) return explained(arrays.error());
  return arrays;
}

Result<const npy::NpyArray*> array_of(const npy::NpzArrays& arrays, std::string_view input,
                                      size_t inputs, std::string_view file) {
  const npy::NpyArray* array = find(arrays, input);
  if (array == nullptr && inputs == 1) {
    // With labels, the other array has the samples.
    const auto is_data = [](const auto& each) { return each.first != kLabels; };
    array = find(arrays, "x");
    if (array == nullptr) array = find(arrays, "arg0");
    if (array == nullptr && std::ranges::count_if(arrays, is_data) == 1) {
      array = &std::ranges::find_if(arrays, is_data)->second;
    }
  }
  if (array != nullptr) return array;
  if (arrays.empty()) {
    return bad_input("{}: has no arrays, expected samples: numpy.savez(\"data.npz\", {}=samples)",
                     file, input);
  }
  if (arrays.size() == 1 && arrays[0].first.empty()) {
    return bad_input(
        "{}: is one array, but the model has {} inputs: expected a .npz with an array for each, "
        "such as {}",
        file, inputs, input);
  }
  return bad_input("{}: no array for input {}; the file contains {}", file, input,
                   names_of(arrays));
}

std::string channels_last_hint(const ir::Shape& array, const ir::Shape& input) {
  constexpr size_t kRankMin = 4, kRankMax = 5;
  if (input.size() < kRankMin || input.size() > kRankMax) return "";
  ir::Shape last(input.begin() + 2, input.end());  // without batch: H, W, C
  last.push_back(input[1]);
  if (array.size() < last.size() || array.size() > input.size() + 1) return "";
  if (!std::equal(last.rbegin(), last.rend(), array.rbegin())) return "";
  std::vector<size_t> axes;
  const size_t leading = array.size() - last.size();
  for (size_t i = 0; i < leading; ++i) axes.push_back(i);
  axes.push_back(array.size() - 1);
  for (size_t i = leading; i + 1 < array.size(); ++i) axes.push_back(i);
  constexpr std::string_view kFirst[] = {"[N,C,H,W]", "[N,C,D,H,W]"};
  constexpr std::string_view kLast[] = {"[N,H,W,C]", "[N,D,H,W,C]"};
  return fmt::format(
      "; the array has the channels last, {}, the model expects them first, {}: "
      "numpy.transpose(array, ({}))",
      kLast[input.size() - kRankMin], kFirst[input.size() - kRankMin], fmt::join(axes, ", "));
}

namespace {

/// Calls visit(value) for each element. Data is float32 or an integer type.
template <typename Visit>
void for_each_value(const ir::Tensor& data, const Visit& visit) {
  const auto all = [&]<typename T>(std::span<const T> values) {
    for (const T value : values) visit(static_cast<double>(value));
  };
  switch (data.dtype) {
    case ir::DType::kF32:
      return all(data.data<float>());
    case ir::DType::kI8:
      return all(data.data<int8_t>());
    case ir::DType::kU8:
    case ir::DType::kBool:
      return all(data.data<uint8_t>());
    case ir::DType::kI16:
      return all(data.data<int16_t>());
    case ir::DType::kI32:
      return all(data.data<int32_t>());
    case ir::DType::kI64:
      return all(data.data<int64_t>());
  }
}

}  // namespace

ValueRange range_of(const ir::Tensor& data) {
  ValueRange range;
  bool first = true;
  for_each_value(data, [&](double value) {
    range.low = first ? value : std::min(range.low, value);
    range.high = first ? value : std::max(range.high, value);
    first = false;
  });
  return range;
}

std::vector<std::string> pixel_questions(const Samples& samples, const ir::Graph& graph) {
  constexpr double kPixelMax = 255, kHalf = 128, kSymmetric = 0.02;
  std::vector<std::string> questions;
  for (size_t i = 0; i < samples.data.inputs.size(); ++i) {
    const auto& [name, data] = samples.data.inputs[i];
    if (graph.type(graph.inputs()[i]).dtype != ir::DType::kF32) continue;
    const ValueRange range = range_of(data);
    if (range.high < kHalf || range.high > kPixelMax) continue;
    const bool symmetric = std::abs(range.low + range.high) <= kSymmetric * range.high;
    if (range.low < 0 && !symmetric) continue;
    questions.push_back(fmt::format(
        "{}: the samples have values from {:.4g} to {:.4g}, like {}: does the model expect them, "
        "or {}?",
        name, range.low, range.high, symmetric ? "255 times -1 to 1" : "8-bit pixels",
        symmetric ? "values from -1 to 1" : "values from 0 to 1, or normalized ones"));
  }
  return questions;
}

std::string range_warning(std::string_view input, const ir::Tensor& data,
                          const ValueRange& calibrated) {
  // A range excludes rare values on purpose, and data that was held back exceeds it a little.
  constexpr double kMargin = 0.1, kShareMax = 0.01, kInside = 8;
  constexpr double kClippedMax = 1e-3;
  const double margin = kMargin * calibrated.width();
  int64_t outside = 0, all = 0;
  double squares = 0, clipped = 0;
  for_each_value(data, [&](double value) {
    const double excess = value - std::clamp(value, calibrated.low, calibrated.high);
    squares += value * value;
    clipped += excess * excess;
    outside += value < calibrated.low - margin || value > calibrated.high + margin ? 1 : 0;
    all += 1;
  });
  const ValueRange found = range_of(data);
  const std::string ranges = fmt::format(
      "{}: the data has values from {:.4g} to {:.4g}, calibration found {:.4g} to {:.4g}", input,
      found.low, found.high, calibrated.low, calibrated.high);
  const double share = all == 0 ? 0 : static_cast<double>(outside) / static_cast<double>(all);
  if (share > kShareMax) {
    return fmt::format(
        "{}: {:.1f} % of the values are far outside and saturate; scale the data like the "
        "calibration data, or calibrate with such data",
        ranges, 100 * share);
  }
  // Few large values can be most of the signal, as in a power spectrum.
  if (clipped > kClippedMax * squares) {
    return fmt::format(
        "{}: values outside saturate, an error of {:.1f} dB relative to the data; calibrate with "
        "such data",
        ranges, 10 * std::log10(clipped / squares));
  }
  if (all > 1 && found.width() * kInside < calibrated.width()) {
    return fmt::format(
        "{}: the data uses {:.1f} % of the range, so most of the precision is lost; scale the data "
        "like the calibration data, or calibrate with such data",
        ranges, 100 * found.width() / calibrated.width());
  }
  return "";
}

std::string sqnr_warning(std::string_view output, double sqnr_db) {
  if (std::isnan(sqnr_db) || sqnr_db >= kLowSqnrDb) return "";
  return fmt::format(
      "{}: SQNR {:.1f} dB: the output has little in common with the float model's; check the "
      "scaling of the data, and `thimble compare --per-layer`",
      output, sqnr_db);
}

namespace {

/// Moves the arrays of the inputs.
Result<Samples> samples_of(npy::NpzArrays arrays, const ir::Graph& graph, const std::string& file) {
  Samples samples;
  if (const npy::NpyArray* labels = find(arrays, kLabels)) {
    THIMBLE_TRY(samples.labels, read_labels(*labels, file));
  }
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const std::string& name = graph.value(graph.inputs()[i]).name;
    THIMBLE_TRY(const npy::NpyArray* const array,
                array_of(arrays, name, graph.inputs().size(), file));
    const auto own =
        std::ranges::find(arrays, array, [](const auto& each) { return &each.second; });
    THIMBLE_TRY(ir::Tensor tensor,
                to_tensor(std::move(own->second), fmt::format("{}: {}", file, name)));
    samples.data.inputs.push_back({name, std::move(tensor)});
  }
  return samples;
}

/// Gives the arrays of an item the names of the inputs, if they have none.
Result<npy::NpzArrays> named_arrays(const npy::NpzArrays& item, const ir::Graph& graph,
                                    const std::string& label) {
  const bool positional =
      std::ranges::all_of(item, [](const auto& each) { return each.first.empty(); });
  const size_t inputs = graph.inputs().size();
  if (!positional || item.empty()) return item;
  if (item.size() != inputs && item.size() != inputs + 1) {
    return bad_input("{}: {} arrays for {} inputs; one array for each expected, and labels", label,
                     item.size(), inputs);
  }
  npy::NpzArrays named = item;
  for (size_t i = 0; i < item.size(); ++i) {
    named[i].first = i < inputs ? graph.value(graph.inputs()[i]).name : std::string(kLabels);
  }
  return named;
}

/// Checks that the arrays have the names of the inputs. One more may have the labels.
Status check_names(const npy::NpzArrays& item, const ir::Graph& graph, const std::string& label) {
  std::vector<std::string> expected;
  for (const ir::ValueId input : graph.inputs()) expected.push_back(graph.value(input).name);
  const bool all = std::ranges::all_of(
      expected, [&](const std::string& name) { return find(item, name) != nullptr; });
  const bool labels = find(item, kLabels) != nullptr && !std::ranges::count(expected, kLabels);
  const size_t count = expected.size() + (labels ? 1 : 0);
  if (all && item.size() == count) return ok();
  return bad_input("{}: found {}, expected an array for each input: {}; and `{}` for the accuracy",
                   label, names_of(item), fmt::join(expected, ", "), kLabels);
}

/// Adds the first axis to an array that is one sample without it, or one label.
void add_sample_axis(const std::string& name, const ir::Graph& graph, npy::NpyArray* array) {
  if (name == kLabels) {
    if (array->shape.empty()) array->shape = {1};
    return;
  }
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Shape& input = graph.type(id).shape;
    if (graph.value(id).name != name && graph.inputs().size() > 1) continue;
    const bool one = input.empty() ? array->shape.empty()
                                   : input[0] == 1 && array->shape.size() + 1 == input.size();
    if (one) array->shape.insert(array->shape.begin(), 1);
  }
}

/// Appends the samples of an array of the same type and of the same shape without the first axis.
Status append(const npy::NpyArray& more, const std::string& label, npy::NpyArray* all) {
  const bool matches = more.dtype == all->dtype && more.shape.size() == all->shape.size() &&
                       !more.shape.empty() &&
                       std::equal(more.shape.begin() + 1, more.shape.end(), all->shape.begin() + 1);
  if (!matches) {
    return bad_input("{}: {}{}, the items before it have {}{}", label, npy::name(more.dtype),
                     ir::list_text(more.shape), npy::name(all->dtype), ir::list_text(all->shape));
  }
  all->shape[0] += more.shape[0];
  all->bytes.insert(all->bytes.end(), more.bytes.begin(), more.bytes.end());
  return ok();
}

}  // namespace

Result<Samples> read_samples(const std::filesystem::path& path, const ir::Graph& graph) {
  THIMBLE_TRY(npy::NpzArrays arrays, read_arrays(path));
  return samples_of(std::move(arrays), graph, path.filename().string());
}

Result<Samples> join_samples(const SampleArrays& arrays, const ir::Graph& graph) {
  if (arrays.items.empty()) return bad_input("{}: no samples", arrays.label);
  npy::NpzArrays joined;
  for (size_t i = 0; i < arrays.items.size(); ++i) {
    const std::string label =
        arrays.items.size() == 1 ? arrays.label : fmt::format("{}: item {}", arrays.label, i);
    THIMBLE_TRY(npy::NpzArrays item, named_arrays(arrays.items[i], graph, label));
    THIMBLE_CHECK(check_names(item, graph, label));
    for (auto& [name, array] : item) add_sample_axis(name, graph, &array);
    if (i == 0) {
      joined = std::move(item);
      continue;
    }
    if (item.size() != joined.size()) {
      return bad_input("{}: {} arrays, the items before it have {}", label, item.size(),
                       joined.size());
    }
    for (auto& [name, all] : joined) {
      const npy::NpyArray* const more = find(item, name);
      if (more == nullptr) {
        return bad_input("{}: no array {}; it has {}", label, name, names_of(item));
      }
      THIMBLE_CHECK(append(*more, fmt::format("{}: {}", label, name), &all));
    }
  }
  return samples_of(std::move(joined), graph, arrays.label);
}

namespace {

/// Returns the number of calls that an array holds: [calls * batch, ...] or [calls, batch, ...]; -1
/// for any other shape.
int64_t calls_in(const ir::Shape& array, const ir::Shape& input) {
  if (input.empty()) return array.size() == 1 ? array[0] : -1;
  if (array.size() == input.size() + 1) {
    return std::equal(input.begin(), input.end(), array.begin() + 1) ? array[0] : -1;
  }
  const bool same_rest =
      array.size() == input.size() && std::equal(input.begin() + 1, input.end(), array.begin() + 1);
  return same_rest && array[0] % input[0] == 0 ? array[0] / input[0] : -1;
}

/// Checks the labels against the classes of the first output, if its values are scores.
Status check_labels(const std::vector<int64_t>& labels, int64_t rows, const ir::Graph& graph,
                    std::string_view file) {
  if (static_cast<int64_t>(labels.size()) != rows) {
    return bad_input("{}: labels: {} for {} samples", file, labels.size(), rows);
  }
  if (graph.outputs().empty()) return ok();
  const ir::Type& output = graph.type(graph.outputs()[0]);
  if (output.dtype != ir::DType::kF32 || output.shape.empty()) return ok();
  const int64_t classes = output.shape.back();
  for (size_t i = 0; classes > 1 && i < labels.size(); ++i) {
    if (labels[i] >= 0 && labels[i] < classes) continue;
    return bad_input("{}: labels: element {} is {}, expected 0 to {}, the classes of {}", file, i,
                     labels[i], classes - 1, graph.value(graph.outputs()[0]).name);
  }
  return ok();
}

}  // namespace

Status check_samples(const Samples& samples, const ir::Graph& graph, std::string_view file) {
  int64_t calls = -1, rows = 0;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::Shape& input = graph.type(graph.inputs()[i]).shape;
    const auto& [name, data] = samples.data.inputs[i];
    const int64_t count = calls_in(data.shape, input);
    if (count < 1) {
      return bad_input("{}: {}: shape {}, expected samples of {}{}", file, name,
                       ir::list_text(data.shape), ir::list_text(input),
                       channels_last_hint(data.shape, input));
    }
    if (i == 0) rows = data.shape.size() > input.size() || input.empty() ? count : data.shape[0];
    if (calls >= 0 && calls != count) {
      return bad_input("{}: {}: {} samples, another input has {}", file, name, count, calls);
    }
    calls = count;
    if (data.dtype != ir::DType::kF32) continue;
    const std::span<const float> values = data.data<float>();
    const auto bad = std::find_if_not(values.begin(), values.end(),
                                      [](float value) { return std::isfinite(value); });
    if (bad != values.end()) {
      return bad_input("{}: {}: element {} is {}", file, name, bad - values.begin(), *bad);
    }
  }
  return samples.labels ? check_labels(*samples.labels, rows, graph, file) : ok();
}

int64_t call_count(const Samples& samples, const ir::Graph& graph) {
  if (samples.data.inputs.empty()) return 0;
  const int64_t per_call = graph.type(graph.inputs()[0]).elements();
  return per_call == 0 ? 0 : ir::element_count(samples.data.inputs[0].data.shape) / per_call;
}

void keep_first_calls(int64_t calls, const ir::Graph& graph, Samples* samples) {
  const int64_t all = call_count(*samples, graph);
  if (calls >= all) return;
  for (auto& [name, data] : samples->data.inputs) {
    data.shape[0] = data.shape[0] / all * calls;
    const size_t bytes = data.bytes.size() / static_cast<size_t>(all) * static_cast<size_t>(calls);
    data.bytes.resize(bytes);
    data.bytes.shrink_to_fit();
  }
}

std::vector<ir::Tensor> call_inputs(const Samples& samples, const ir::Graph& graph, int64_t call) {
  std::vector<ir::Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::Type& type = graph.type(graph.inputs()[i]);
    const ir::Tensor& all = samples.data.inputs[i].data;
    ir::Tensor one;
    one.dtype = all.dtype;
    one.shape = type.shape;
    const size_t bytes = static_cast<size_t>(type.elements()) * ir::dtype_bytes(all.dtype);
    const auto begin =
        all.bytes.begin() + static_cast<ptrdiff_t>(bytes * static_cast<size_t>(call));
    one.bytes.assign(begin, begin + static_cast<ptrdiff_t>(bytes));
    inputs.push_back(std::move(one));
  }
  return inputs;
}

}  // namespace thimble::driver
