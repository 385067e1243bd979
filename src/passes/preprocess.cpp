// SPDX-License-Identifier: Apache-2.0
#include "passes/preprocess.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "ir/frame.h"

namespace thimble::passes {
namespace {

using ir::FrameFormat;
using ir::OpKind;
using ir::ValueId;

struct FormatName {
  std::string_view name;
  FrameFormat format;
};
constexpr FormatName kFrames[] = {
    {"gray", FrameFormat::kGray},         {"rgb888", FrameFormat::kRgb888},
    {"bgr888", FrameFormat::kRgb888},     {"rgb565", FrameFormat::kRgb565},
    {"rgb565be", FrameFormat::kRgb565Be}, {"yuyv", FrameFormat::kYuyv},
    {"uyvy", FrameFormat::kUyvy},         {"nv12", FrameFormat::kNv12},
};
constexpr std::string_view kFormats =
    "uint8, int16, gray, rgb888, bgr888, rgb565, rgb565be, yuyv, uyvy or nv12";
constexpr std::string_view kSteps =
    "crop WxH or WxH+LEFT+TOP, resize WxH, bgr, mono, mean NUMBERS or std NUMBERS";

const FormatName* frame_of(std::string_view name) {
  const auto* const found = std::ranges::find(kFrames, name, &FormatName::name);
  return found == std::end(kFrames) ? nullptr : found;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Parses numbers between separators; empty if one is not a number.
std::vector<double> parse_numbers(std::string_view text, std::string_view separators) {
  std::vector<double> numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    const std::optional<double> number = parse_number(text.substr(at, end - at));
    if (!number) return {};
    numbers.push_back(*number);
    at = end + 1;
  }
  return numbers;
}

/// Splits the steps into words; `->` only separates.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (word != "->") words.emplace_back(word);
    at = end;
  }
  return words;
}

class Parser {
 public:
  explicit Parser(std::string_view text) { result_.text = text; }

  Result<InputFormat> run() {
    const size_t colon = result_.text.find(':');
    const bool named = colon != std::string::npos;
    if (named) result_.input = result_.text.substr(0, colon);
    words_ = words_of(std::string_view(result_.text).substr(named ? colon + 1 : 0));
    if (words_.empty()) return wrong("no format", std::string(kFormats));
    result_.format = take();
    if (frame_of(result_.format) != nullptr) {
      THIMBLE_TRY(result_.frame, extent("the frame's size"));
    } else if (result_.format != "uint8" && result_.format != "int16") {
      return wrong(result_.format, std::string(kFormats));
    }
    while (at_ < words_.size()) THIMBLE_CHECK(step());
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string take() { return at_ < words_.size() ? words_[at_++] : ""; }
  [[nodiscard]] Error wrong(std::string_view found, std::string_view expected) const {
    return bad_input("--preprocess '{}': found {}, expected {}", result_.text,
                     found.empty() ? "the end" : found, expected);
  }

  Result<Extent> extent(std::string_view what) {
    const std::string word = take();
    const std::vector<double> numbers = parse_numbers(word, "x");
    if (numbers.size() != 2 || !are_sizes(numbers)) {
      return wrong(word, fmt::format("{}, as WIDTHxHEIGHT", what));
    }
    return Extent{static_cast<int64_t>(numbers[0]), static_cast<int64_t>(numbers[1])};
  }
  static bool are_sizes(const std::vector<double>& numbers) {
    constexpr double kLargest = 65535;
    return std::ranges::all_of(numbers, [](double number) {
      return number >= 0 && number <= kLargest && number == std::floor(number);
    });
  }

  Status step() {
    const std::string word = take();
    const bool frame = frame_of(result_.format) != nullptr;
    if (word == "stereo" && result_.format == "int16") {
      result_.stereo = true;
    } else if (word == "mono" && result_.stereo) {
      return ok();  // the only result of two channels
    } else if (word == "crop" && result_.resize.width > 0) {
      return wrong("crop after resize", "crop before resize");
    } else if (word == "crop" && frame) {
      const std::string text = take();
      result_.crop = parse_numbers(text, "x+");
      const size_t count = result_.crop.size();
      if ((count != 2 && count != 4) || !are_sizes(result_.crop)) {
        return wrong(text, "WIDTHxHEIGHT or WIDTHxHEIGHT+LEFT+TOP");
      }
    } else if (word == "resize" && frame) {
      THIMBLE_TRY(result_.resize, extent("the size"));
    } else if (word == "bgr" && frame) {
      result_.bgr = true;
    } else if (word == "mean" || word == "std") {
      const std::string text = take();
      std::vector<double>& numbers = word == "mean" ? result_.mean : result_.std;
      numbers = parse_numbers(text, ",");
      const bool positive =
          word == "mean" || std::ranges::all_of(numbers, [](double number) { return number > 0; });
      if (numbers.empty() || !positive) {
        return wrong(text, word == "mean"
                               ? "one number, or one for each channel, as in 123.7,116,104"
                               : "one positive number, or one for each channel");
      }
    } else {
      return wrong(word, kSteps);
    }
    return ok();
  }

  InputFormat result_;
  std::vector<std::string> words_;
  size_t at_ = 0;
};

/// Builds the prologue of one input in the new graph.
class Prologue {
 public:
  Prologue(ir::Graph* to, const InputFormat& format, const ir::Value& input)
      : to_(*to), format_(format), input_(input) {
    integral_ = is_one_number(format_.mean) && is_one_number(format_.std) &&
                first(format_.mean, 0) >= 0 && first(format_.mean, 0) <= largest_zero_point() &&
                first(format_.mean, 0) == std::floor(first(format_.mean, 0));
  }

  Result<ValueId> build() {
    THIMBLE_TRY(ValueId value, frame() ? image() : elements());
    if (to_.type(value).shape != input_.type.shape) {
      return refuse(fmt::format("gives {}, the model expects {}",
                                ir::list_text(to_.type(value).shape),
                                ir::list_text(input_.type.shape)));
    }
    if (integral_) return value;
    return normalized(value);
  }

 private:
  [[nodiscard]] const FormatName* frame() const { return frame_of(format_.format); }
  [[nodiscard]] Error refuse(std::string_view reason) const {
    return bad_input("--preprocess '{}': {}: {}", format_.text, input_.name, reason);
  }
  static bool is_one_number(const std::vector<double>& numbers) { return numbers.size() <= 1; }
  static double first(const std::vector<double>& numbers, double none) {
    return numbers.empty() ? none : numbers[0];
  }
  [[nodiscard]] double largest_zero_point() const { return format_.format == "int16" ? 0 : 255; }

  /// Zero point and scale of the numbers, if quantized values can have them.
  void set_real(ir::Attrs& attrs) const {
    attrs.set(ir::attr::zero_point,
              integral_ ? static_cast<int64_t>(first(format_.mean, 0)) : int64_t{0});
    // Files and devices store the scale as float32.
    const auto scale = static_cast<float>(1 / first(format_.std, 1));
    attrs.set(ir::attr::scale, integral_ ? static_cast<double>(scale) : 1.0);
  }

  /// uint8 or int16 in the shape of the model's input.
  Result<ValueId> elements() {
    ir::Type type = input_.type;
    type.dtype = format_.format == "uint8" ? ir::DType::kU8 : ir::DType::kI16;
    if (format_.stereo) {
      type.shape.push_back(2);
      type.dim_order.clear();
    }
    ir::Attrs attrs;
    set_real(attrs);
    THIMBLE_TRY(const ValueId value,
                to_.add(OpKind::unpack, {to_.add_input(input_.name, type)}, attrs, source()));
    if (!format_.stereo) return value;
    const std::vector<int64_t> last = {static_cast<int64_t>(type.shape.size()) - 1};
    return to_.add(OpKind::mean, {value}, {{ir::attr::dims, last}}, source());
  }

  Result<ValueId> image() {
    const FrameFormat format = frame()->format;
    const auto [width, height] = format_.frame;
    if (width < 1 || height < 1) return refuse("a frame without pixels");
    if (format == FrameFormat::kNv12 && height % 2 != 0) return refuse("nv12 has an even height");
    ir::Type type{ir::DType::kU8,
                  {1, format == FrameFormat::kNv12 ? height / 2 * 3 : height, width,
                   ir::bytes_per_pixel(format)},
                  {},
                  {}};
    std::vector<int64_t> crop = {0, 0, height, width};
    if (!format_.crop.empty()) {
      crop[3] = static_cast<int64_t>(format_.crop[0]);
      crop[2] = static_cast<int64_t>(format_.crop[1]);
      const bool placed = format_.crop.size() == 4;
      crop[1] = placed ? static_cast<int64_t>(format_.crop[2]) : (width - crop[3]) / 2;
      crop[0] = placed ? static_cast<int64_t>(format_.crop[3]) : (height - crop[2]) / 2;
      const bool inside = crop[2] >= 1 && crop[3] >= 1 && crop[0] >= 0 && crop[1] >= 0 &&
                          crop[0] + crop[2] <= height && crop[1] + crop[3] <= width;
      if (!inside) return refuse(fmt::format("the crop is not inside {}x{}", width, height));
    }
    std::vector<int64_t> size = {crop[2], crop[3]};
    if (format_.resize.width > 0) size = {format_.resize.height, format_.resize.width};
    const bool swap = (format_.format == "bgr888") != format_.bgr;
    ir::Attrs attrs{{ir::attr::format, static_cast<int64_t>(format)},
                    {ir::attr::crop, crop},
                    {ir::attr::size, size},
                    {ir::attr::swap, int64_t{swap ? 1 : 0}}};
    set_real(attrs);
    THIMBLE_TRY(const ValueId pixels,
                to_.add(OpKind::camera_image, {to_.add_input(input_.name, type)}, attrs, source()));
    const std::vector<int64_t> channels_first = {0, 3, 1, 2};
    return to_.add(OpKind::permute, {pixels}, {{ir::attr::dims, channels_first}}, source());
  }

  /// (x - mean) / std, of each channel.
  Result<ValueId> normalized(ValueId value) {
    const ir::Shape& shape = input_.type.shape;
    const size_t count = std::max(format_.mean.size(), format_.std.size());
    const auto channels = static_cast<size_t>(shape.size() < 2 ? 1 : shape[1]);
    for (const auto* numbers : {&format_.mean, &format_.std}) {
      if (numbers->size() <= 1 || numbers->size() == channels) continue;
      return refuse(fmt::format("{} numbers for {} channels", numbers->size(), channels));
    }
    ir::Tensor scale = ir::zeros(ir::DType::kF32, {static_cast<int64_t>(channels)});
    ir::Tensor shift = scale;
    for (size_t c = 0; c < channels; ++c) {
      const double mean = format_.mean.size() > 1 ? format_.mean[c] : first(format_.mean, 0);
      const double deviation = format_.std.size() > 1 ? format_.std[c] : first(format_.std, 1);
      scale.data<float>()[c] = static_cast<float>(1 / deviation);
      shift.data<float>()[c] = static_cast<float>(-mean / deviation);
    }
    if (count <= 1) {
      const float factor = std::as_const(scale).data<float>()[0];
      const float offset = std::as_const(shift).data<float>()[0];
      THIMBLE_TRY(value, to_.add(OpKind::mul, {value, number("std", factor)}, {}, source()));
      return to_.add(OpKind::add, {value, number("mean", offset)}, {}, source());
    }
    const ValueId factors =
        to_.add_constant(input_.name + ".std", std::make_shared<ir::Tensor>(std::move(scale)));
    const ValueId offsets =
        to_.add_constant(input_.name + ".mean", std::make_shared<ir::Tensor>(std::move(shift)));
    return to_.add(OpKind::batch_norm, {value, factors, offsets}, {}, source());
  }

  ValueId number(std::string_view role, float content) {
    ir::Tensor tensor = ir::zeros(ir::DType::kF32, {1});
    tensor.data<float>()[0] = content;
    return to_.add_constant(fmt::format("{}.{}", input_.name, role),
                            std::make_shared<ir::Tensor>(std::move(tensor)));
  }

  /// Reports show the option in place of a source line.
  [[nodiscard]] ir::Source source() const {
    ir::Source source;
    source.text = "--preprocess " + format_.text;
    return source;
  }

  ir::Graph& to_;
  const InputFormat& format_;
  const ir::Value& input_;
  bool integral_ = false;  // mean and std are the zero point and the scale of quantized values
};

Result<std::vector<const InputFormat*>> formats_by_input(const ir::Graph& graph,
                                                         const std::vector<InputFormat>& formats) {
  std::vector<const InputFormat*> found(graph.inputs().size(), nullptr);
  for (const InputFormat& format : formats) {
    std::vector<std::string> names;
    bool known = false;
    for (size_t i = 0; i < found.size(); ++i) {
      const ir::Value& value = graph.value(graph.inputs()[i]);
      names.push_back(value.name);
      const bool only = format.input.empty() && found.size() == 1;
      if (value.name != format.input && !only) continue;
      known = true;
      if (found[i] != nullptr) {
        return bad_input("--preprocess '{}': {} is given twice", format.text, value.name);
      }
      if (value.type.dtype != ir::DType::kF32) {
        return bad_input("--preprocess '{}': {} is {}, expected a float input", format.text,
                         value.name, ir::type_text(value.type.dtype, value.type.shape));
      }
      found[i] = &format;
    }
    if (known) continue;
    return bad_input("--preprocess '{}': {}; the model has the inputs {}", format.text,
                     format.input.empty() ? "no name of an input before `:`"
                                          : fmt::format("no input {}", format.input),
                     fmt::join(names, ", "));
  }
  return found;
}

}  // namespace

Result<InputFormat> parse_input_format(std::string_view text) {
  return Parser(text).run();
}

Result<ir::Graph> add_prologue(const ir::Graph& graph, const std::vector<InputFormat>& formats) {
  THIMBLE_TRY(const auto by_input, formats_by_input(graph, formats));
  ir::Graph to;
  to.name = graph.name;
  std::vector<ValueId> mapped(graph.value_count(), ir::kNoValue);
  for (size_t i = 0; i < by_input.size(); ++i) {
    const ir::Value& value = graph.value(graph.inputs()[i]);
    ValueId& result = mapped[static_cast<size_t>(graph.inputs()[i])];
    if (by_input[i] == nullptr) {
      result = to.add_input(value.name, value.type);
    } else {
      THIMBLE_TRY(result, Prologue(&to, *by_input[i], value).build());
    }
  }
  for (const ir::State& state : graph.states()) {
    const ir::Value& value = graph.value(state.value);
    const ValueId id = to.add_state(value.name, state.initial, value.type.quant);
    to.value(id).type.dim_order = value.type.dim_order;
    mapped[static_cast<size_t>(state.value)] = id;
  }
  const auto map = [&](ValueId id) {
    if (id == ir::kNoValue) return id;
    ValueId& result = mapped[static_cast<size_t>(id)];
    const ir::Value& value = graph.value(id);
    if (result == ir::kNoValue && value.constant != nullptr) {
      result = to.add_constant(value.name, value.constant, value.type.quant);
    }
    return result;
  };
  for (const ir::Op& op : graph.ops()) {
    std::vector<ValueId> inputs;
    for (const ValueId id : op.inputs) inputs.push_back(map(id));
    const ir::Value& value = graph.value(op.output);
    THIMBLE_TRY(mapped[static_cast<size_t>(op.output)],
                to.add(op.kind, std::move(inputs), op.attrs, op.source,
                       {value.name, value.type.dim_order, value.type.quant}));
  }
  for (const ValueId id : graph.outputs()) to.add_output(map(id));
  for (size_t i = 0; i < graph.states().size(); ++i) {
    to.set_next(i, map(graph.states()[i].next));
  }
  return to;
}

}  // namespace thimble::passes
