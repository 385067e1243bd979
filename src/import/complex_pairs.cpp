// SPDX-License-Identifier: Apache-2.0
#include "import/complex_pairs.h"

#include <algorithm>
#include <array>

#include "import/handlers.h"
#include "import/pair_call.h"
#include "import/spectrum.h"

namespace thimble::import_pt2 {
namespace {

bool is_complex_name(const formats::pt2::ExportedProgram& program, const std::string& name) {
  const formats::pt2::TensorMeta* meta = program.graph.tensor(name);
  return meta != nullptr && is_complex(meta->dtype);
}

/// Operators that act on the real and the imaginary part alike, in addition to views.
bool acts_on_parts(std::string_view target) {
  constexpr std::array kPartwise = {std::string_view("aten.constant_pad_nd.default"),
                                    std::string_view("aten.expand.default"),
                                    std::string_view("aten.flip.default"),
                                    std::string_view("aten.mean.dim"),
                                    std::string_view("aten.neg.default"),
                                    std::string_view("aten.pad.default"),
                                    std::string_view("aten.roll.default"),
                                    std::string_view("aten.sum.dim_IntList"),
                                    std::string_view("aten.resolve_conj.default"),
                                    std::string_view("aten.resolve_neg.default")};
  return is_complex_view(target) || std::ranges::find(kPartwise, target) != kPartwise.end();
}

bool is_transform(std::string_view target) {
  return target == "aten._fft_r2c.default" || target == "aten.fft_rfft.default" ||
         target == "aten.stft.default";
}

}  // namespace

namespace handlers {

/// Called for a node without a pair: the real part and the conjugate of a real tensor are itself.
Status of_complex(Call& call) {
  const formats::pt2::TensorMeta* meta = call.meta("self");
  const formats::pt2::TensorMeta* result = call.result_meta();
  const bool known = meta != nullptr && result != nullptr;
  if (known && !is_complex(meta->dtype) && !is_complex(result->dtype)) return call.view({});
  return unsupported(
      "its operand is complex and not computed by an operator: store a real and an imaginary part, "
      "and use torch.complex");
}

}  // namespace handlers

PairNames find_pairs(const formats::pt2::ExportedProgram& program) {
  PairNames pairs;
  const auto& nodes = program.graph.nodes;
  // Marks complex tensors of which more than the magnitude is read, and what they are views of.
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const std::string_view target = short_target(node->target);
    const bool wanted =
        std::ranges::any_of(node->outputs, [&](const formats::pt2::Argument& output) {
          const std::string* name = tensor_name(output);
          return name != nullptr && pairs.contains(*name);
        });
    for (const formats::pt2::Argument& output : node->outputs) {
      const std::string* name = tensor_name(output);
      if (name == nullptr || !is_complex_name(program, *name)) continue;
      if (!is_transform(target) && !is_complex_view(target)) pairs.insert(*name);
    }
    if (target == "aten.abs.default" || (is_complex_view(target) && !wanted)) continue;
    for (const formats::pt2::NamedArgument& input : node->inputs) {
      const std::string* name = tensor_name(input.value);
      if (name != nullptr && is_complex_name(program, *name)) pairs.insert(*name);
    }
  }
  // All views of a pair are pairs.
  for (const formats::pt2::Node& node : nodes) {
    if (!has_pair(pairs, node)) continue;
    for (const formats::pt2::Argument& output : node.outputs) {
      const std::string* name = tensor_name(output);
      if (name != nullptr && is_complex_name(program, *name)) pairs.insert(*name);
    }
  }
  return pairs;
}

bool has_pair(const PairNames& pairs, const formats::pt2::Node& node) {
  const auto is_pair = [&](const formats::pt2::Argument& argument) {
    const std::string* name = tensor_name(argument);
    return name != nullptr && pairs.contains(*name);
  };
  return std::ranges::any_of(node.inputs, is_pair, &formats::pt2::NamedArgument::value) ||
         std::ranges::any_of(node.outputs, is_pair);
}

Status import_pair(Context& context, const PairNames& pairs, const formats::pt2::Node& node,
                   const ir::Source& source) {
  PairCall call(context, pairs, node, source);
  for (const PairHandler own :
       {find_pair_transform(source.target), find_pair_arithmetic(source.target)}) {
    if (own != nullptr) return own(call);
  }
  const Handler handler = acts_on_parts(source.target) ? find_handler(source.target) : nullptr;
  if (handler != nullptr) {
    THIMBLE_TRY(const double fill, call.call().number("value", 0));
    if (fill == 0) return call.each_part(handler);
    return unsupported(
        "a complex tensor padded with {}: pad the real part and the imaginary part, and use "
        "torch.complex",
        fill);
  }
  return unsupported(
      "an operand or the result is complex; supported for complex tensors: torch.stft, istft, rfft "
      "and irfft, products, sums, abs, real, imag, polar, view_as_real and views");
}

}  // namespace thimble::import_pt2
