// SPDX-License-Identifier: Apache-2.0
#include "emit/layers.h"

#include <charconv>

namespace thimble::emit {
namespace {

using formats::pte::NamedData;

/// Removes and returns the next field, up to `end`; nullopt if there is no `end`.
std::optional<std::string_view> take(std::string_view* text, char end) {
  const size_t at = text->find(end);
  if (at == std::string_view::npos) return {};
  const std::string_view field = text->substr(0, at);
  text->remove_prefix(at + 1);
  return field;
}

template <typename T>
bool parse(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

NamedData layers_entry(const engine::Lowered& lowered) {
  std::string text;
  for (const engine::KernelCall& call : lowered.calls) {
    const ir::Value& value = lowered.graph.value(call.out);
    InstructionResult layer{value.name, 0, 0};
    if (value.type.quant && value.type.quant->axis < 0) {
      layer = {value.name, value.type.quant->scale[0], value.type.quant->zero_point[0]};
    }
    text += fmt::format("{}\t{}\t{}\n", layer.name, layer.scale, layer.zero_point);
  }
  NamedData data;
  data.key = kLayersKey;
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  data.bytes.assign(bytes, bytes + text.size());
  return data;
}

Result<std::optional<std::vector<InstructionResult>>> read_layers(
    const formats::pte::Program& program) {
  const NamedData* data = formats::pte::find_named_data(program, kLayersKey);
  if (data == nullptr) return std::optional<std::vector<InstructionResult>>();
  std::vector<InstructionResult> layers;
  std::string_view text(reinterpret_cast<const char*>(data->bytes.data()), data->bytes.size());
  while (!text.empty()) {
    const auto name = take(&text, '\t');
    const auto scale = take(&text, '\t');
    const auto zero_point = take(&text, '\n');
    InstructionResult layer;
    if (!name || !scale || !zero_point || !parse(*scale, &layer.scale) ||
        !parse(*zero_point, &layer.zero_point)) {
      return bad_input("named data {}: line {} is not `name, scale, zero point`", kLayersKey,
                       layers.size() + 1);
    }
    layer.name = std::string(*name);
    layers.push_back(std::move(layer));
  }
  const auto& chains =
      program.plans.empty() ? std::vector<formats::pte::Chain>() : program.plans[0].chains;
  const size_t calls = chains.empty() ? 0 : chains[0].instructions.size();
  if (layers.size() != calls) {
    return bad_input("named data {}: {} lines, the program has {} instructions", kLayersKey,
                     layers.size(), calls);
  }
  return std::optional(std::move(layers));
}

}  // namespace thimble::emit
