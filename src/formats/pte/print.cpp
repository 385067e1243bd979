// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/print.h"

#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/pte/text_words.h"

namespace thimble::formats::pte {
namespace {

constexpr size_t kItemsShownMax = 8;  // list items shown in a comment

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string run(const Program& program) {
    line("pte {}", program.version);
    line("constants {}", program.constants_inline ? "inline" : "segment");
    buffers("constant", program.constants);
    for (const MutableSegment& segment : program.mutable_segments) {
      line("mutable_segment");
      buffers("buffer", segment.buffers);
    }
    for (size_t i = 0; i < program.delegate_blobs.size(); ++i) {
      const DelegateBlob& blob = program.delegate_blobs[i];
      line("blob {} {} {} align {}", i, blob.bytes.size(),
           blob.location == BlobLocation::kInline ? "inline" : "segment", blob.alignment);
      bytes(blob.bytes);
    }
    for (const NamedData& data : program.named_data) {
      line("named_data {} {} align {}", quote(data.key), data.bytes.size(), data.alignment);
      bytes(data.bytes);
    }
    for (const ExecutionPlan& p : program.plans) plan(p);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void bytes(ByteView bytes) {
    if (!options_.data) return;
    for (size_t i = 0; i < bytes.size(); i += kHexBytesPerLine) {
      line("  x {}", hex(bytes.subspan(i, std::min(kHexBytesPerLine, bytes.size() - i))));
    }
  }
  void buffers(std::string_view word, const std::vector<Bytes>& all) {
    for (size_t i = 1; i < all.size(); ++i) {
      line("{} {} {}", word, i, all[i].size());
      bytes(all[i]);
    }
  }

  void plan(const ExecutionPlan& plan) {
    line("plan {}", quote(plan.name));
    if (plan.container) {
      line("container {} {}", quote(plan.container->encoded_input),
           quote(plan.container->encoded_output));
    }
    for (size_t i = 1; i < plan.memory_sizes.size(); ++i) {
      line("memory {} {}", i, plan.memory_sizes[i]);
    }
    if (!plan.memory_sizes.empty() && plan.memory_sizes[0] != 0) {
      line("memory_reserved {}", plan.memory_sizes[0]);
    }
    for (const MemoryDevice& d : plan.memory_devices) {
      line("memory_device {} {} {}", d.memory_id, d.device.type, d.device.index);
    }
    for (size_t i = 0; i < plan.operators.size(); ++i) {
      line("operator {} {} {}", i, quote(plan.operators[i].name),
           quote(plan.operators[i].overload));
    }
    for (size_t i = 0; i < plan.delegates.size(); ++i) {
      const BackendDelegate& delegate = plan.delegates[i];
      line("delegate {} {} blob {}", i, quote(delegate.id), delegate.blob);
      for (const CompileSpec& spec : delegate.compile_specs) {
        line("spec {} {}", quote(spec.key), spec.value.size());
        bytes(spec.value);
      }
    }
    for (size_t i = 0; i < plan.values.size(); ++i) {
      line("value {} {}", i, std::visit([](const auto& x) { return text(x); }, plan.values[i]));
    }
    line("inputs {}", plan.inputs);
    line("outputs {}", plan.outputs);
    for (const Chain& c : plan.chains) chain(plan, c);
  }

  static std::string text(const Null&) { return "null"; }
  static std::string text(const Int& x) { return fmt::format("int {}", x.value); }
  static std::string text(const Bool& x) { return fmt::format("bool {}", x.value); }
  static std::string text(const Double& x) { return "double " + number(x.value); }
  static std::string text(const String& x) { return "string " + quote(x.value); }
  static std::string text(const IntList& x) { return fmt::format("ints {}", x.items); }
  static std::string text(const TensorList& x) { return fmt::format("tensors {}", x.items); }
  static std::string text(const OptionalTensorList& x) {
    return fmt::format("optional_tensors {}", x.items);
  }
  static std::string text(const BoolList& x) {
    return fmt::format("bools {}", std::vector<int>(x.items.begin(), x.items.end()));
  }
  static std::string text(const DoubleList& x) {
    std::vector<std::string> words;
    for (double item : x.items) words.push_back(number(item));
    return fmt::format("doubles [{}]", fmt::join(words, ", "));
  }

  static std::string text(const Tensor& t) {
    std::string out =
        fmt::format("tensor {} {} order {}", type_word(t.scalar_type), t.sizes, t.dim_order);
    if (t.data_buffer_idx != 0) {
      out += fmt::format(" {} {}", t.allocation ? "start" : "constant", t.data_buffer_idx);
    }
    if (t.allocation) {
      out += fmt::format(" memory {} at {}", t.allocation->memory_id, t.allocation->offset);
    }
    if (t.shape_dynamism == ShapeDynamism::kDynamicBound) out += " bound";
    if (t.shape_dynamism == ShapeDynamism::kDynamicUnbound) out += " unbound";
    if (t.storage_offset != 0) out += fmt::format(" storage_offset {}", t.storage_offset);
    if (t.requires_grad) out += " requires_grad";
    if (t.layout != 0) out += fmt::format(" layout {}", t.layout);
    if (!t.extra) return out;
    out += fmt::format(" extra segment {}", t.extra->mutable_segment);
    if (t.extra->location == TensorLocation::kExternal) out += " external";
    if (t.extra->device != Device{}) {
      out += fmt::format(" device {} {}", t.extra->device.type, t.extra->device.index);
    }
    if (t.extra->fully_qualified_name) {
      out += " name " + quote(*t.extra->fully_qualified_name);
    }
    return out;
  }

  void chain(const ExecutionPlan& plan, const Chain& chain) {
    line("chain");
    if (!chain.inputs.empty()) line("chain_inputs {}", chain.inputs);
    if (!chain.outputs.empty()) line("chain_outputs {}", chain.outputs);
    if (!chain.stacktrace.empty()) line("stacktrace");
    for (size_t i = 0; i < chain.instructions.size(); ++i) {
      instruction(plan, i, chain.instructions[i]);
      if (chain.stacktrace.empty()) continue;
      for (const Frame& f : chain.stacktrace[i]) {
        line("frame {} {} {} {}", quote(f.filename), f.line, quote(f.name), quote(f.context));
      }
    }
  }

  void instruction(const ExecutionPlan& plan, size_t i, const Instruction& instruction) {
    const std::string at = fmt::format("instruction {}", i);
    if (const auto* x = std::get_if<KernelCall>(&instruction)) {
      const Operator& op = plan.operators[static_cast<size_t>(x->op_index)];
      line("{} call {} {}  # {}({})", at, x->op_index, x->args, escape(full_name(op)),
           arguments(plan, x->args));
    } else if (const auto* x = std::get_if<DelegateCall>(&instruction)) {
      const BackendDelegate& d = plan.delegates[static_cast<size_t>(x->delegate_index)];
      line("{} delegate {} {}  # {}({})", at, x->delegate_index, x->args, escape(d.id),
           arguments(plan, x->args));
    } else if (const auto* x = std::get_if<MoveCall>(&instruction)) {
      line("{} move {} to {}", at, x->from, x->to);
    } else if (const auto* x = std::get_if<JumpFalseCall>(&instruction)) {
      line("{} jump_false {} to {}", at, x->condition, x->destination);
    } else if (const auto* x = std::get_if<FreeCall>(&instruction)) {
      line("{} free {}", at, x->value);
    }
  }

  /// Returns the arguments for the comment: scalars by value, integer lists by their items, tensors
  /// by index and shape.
  static std::string arguments(const ExecutionPlan& plan, const std::vector<int32_t>& args) {
    std::vector<std::string> words;
    for (int32_t arg : args) words.push_back(argument(plan, static_cast<size_t>(arg)));
    return fmt::format("{}", fmt::join(words, ", "));
  }
  static std::string argument(const ExecutionPlan& plan, size_t index) {
    const EValue& value = plan.values[index];
    if (std::holds_alternative<Null>(value)) return "None";
    if (const auto* x = std::get_if<Int>(&value)) return fmt::format("{}", x->value);
    if (const auto* x = std::get_if<Bool>(&value)) return x->value ? "True" : "False";
    if (const auto* x = std::get_if<Double>(&value)) return number(x->value);
    if (const auto* x = std::get_if<String>(&value)) return quote(x->value);
    if (const auto* x = std::get_if<Tensor>(&value)) {
      return fmt::format("v{}:{}{}", index, type_word(x->scalar_type), x->sizes);
    }
    if (const auto* x = std::get_if<IntList>(&value)) {
      std::vector<std::string> items;
      for (int64_t item : x->items) {
        if (items.size() == kItemsShownMax) return fmt::format("[{}, ...]", fmt::join(items, ", "));
        const auto* number = std::get_if<Int>(&plan.values[static_cast<size_t>(item)]);
        items.push_back(number != nullptr ? fmt::format("{}", number->value)
                                          : fmt::format("v{}", item));
      }
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    return fmt::format("v{}", index);
  }

  PrintOptions options_;
  std::string out_;
};

}  // namespace

std::string print(const Program& program, const PrintOptions& options) {
  return Printer(options).run(program);
}

}  // namespace thimble::formats::pte
