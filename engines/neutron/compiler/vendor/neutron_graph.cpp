// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/vendor/neutron_graph.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "ir/type.h"

namespace thimble::engine::neutron {
namespace {

using formats::tflite::File;
using formats::tflite::FileOperator;
using formats::tflite::FileTensor;

constexpr std::string_view kOperator = "NeutronGraph";
constexpr size_t kConstants = 3;  // microcode, weights, kernels
constexpr size_t kIoCountMax = std::numeric_limits<uint8_t>::max();

std::string type_text(const FileTensor& tensor) {
  return formats::tflite::type_name(tensor.type) +
         ir::list_text({tensor.shape.begin(), tensor.shape.end()});
}

const FileTensor& tensor_of(const File& file, int32_t number) {
  return file.tensors[static_cast<size_t>(number)];
}

class Extraction {
 public:
  Extraction(const File& sent, const File& converted, std::string_view name)
      : sent_(sent), converted_(converted), name_(name) {}

  Result<NeutronGraphOp> run() {
    THIMBLE_CHECK(check_operator());
    THIMBLE_TRY(const auto inputs, matched(sent_.inputs, converted_.inputs, "input"));
    THIMBLE_TRY(const auto outputs, matched(sent_.outputs, converted_.outputs, "output"));
    THIMBLE_CHECK(take_constants());
    THIMBLE_CHECK(take_version());
    const auto first = node().inputs.begin();
    const std::vector<int32_t> read(first, node().inputs.end() - kConstants);
    THIMBLE_TRY(node_.input_map, map_of(read, converted_.inputs, inputs, "input"));
    const auto results = static_cast<ptrdiff_t>(converted_.outputs.size());
    const auto made = node().outputs.begin();
    THIMBLE_TRY(node_.output_map,
                map_of({made, made + results}, converted_.outputs, outputs, "output"));
    return std::move(node_);
  }

 private:
  [[nodiscard]] const FileOperator& node() const { return converted_.operators[0]; }

  [[nodiscard]] Status check_operator() const {
    const auto& all = converted_.operators;
    if (all.size() == 1 && all[0].custom == kOperator) return ok();
    if (all.empty()) {
      return bad_input("{}: no operator in it, expected one CUSTOM {}", name_, kOperator);
    }
    constexpr size_t kNamed = 6;
    std::string names;
    for (size_t i = 0; i < std::min(all.size(), kNamed); ++i) {
      names += (i == 0 ? "" : ", ") + formats::tflite::operator_name(all[i]);
    }
    if (all.size() > kNamed) names += ", ...";
    return bad_input("{}: {} operator{} in it ({}), expected one CUSTOM {}{}", name_, all.size(),
                     all.size() == 1 ? "" : "s", names, kOperator,
                     all.size() == 1 ? "" : ": the converter left a part of the subgraph outside");
  }

  /// Returns, for each input or output of the converted model, its index in the sent model.
  Result<std::vector<size_t>> matched(const std::vector<int32_t>& before,
                                      const std::vector<int32_t>& after,
                                      std::string_view what) const {
    if (before.size() != after.size() || after.size() > kIoCountMax) {
      return bad_input("{}: {} {}s, expected {}", name_, after.size(), what, before.size());
    }
    std::vector<size_t> by_name;
    for (const int32_t tensor : after) {
      const std::string& wanted = tensor_of(converted_, tensor).name;
      const auto same = [&](int32_t other) { return tensor_of(sent_, other).name == wanted; };
      const auto found = std::ranges::find_if(before, same);
      if (found == before.end()) break;
      by_name.push_back(static_cast<size_t>(found - before.begin()));
    }
    std::vector<size_t> sorted = by_name;
    std::ranges::sort(sorted);
    const bool named =
        by_name.size() == after.size() && std::ranges::adjacent_find(sorted) == sorted.end();
    std::vector<size_t> match;
    for (size_t i = 0; i < after.size(); ++i) match.push_back(named ? by_name[i] : i);
    for (size_t i = 0; i < after.size(); ++i) {
      const FileTensor& now = tensor_of(converted_, after[i]);
      const FileTensor& was = tensor_of(sent_, before[match[i]]);
      if (now.type == was.type && now.shape == was.shape) continue;
      return bad_input("{}: {} {} is {}, expected {} ({})", name_, what, i, type_text(now),
                       type_text(was), was.name);
    }
    return match;
  }

  Status take_constants() {
    const auto& operands = node().inputs;
    if (operands.size() < kConstants + 1) {
      return bad_input("{}: {} with {} operands, expected inputs, microcode, weights and kernels",
                       name_, kOperator, operands.size());
    }
    constexpr std::string_view kNames[] = {"microcode", "weights", "kernels"};
    Bytes* const places[] = {&node_.microcode, &node_.weights, &node_.kernels};
    for (size_t i = 0; i < kConstants; ++i) {
      const int32_t number = operands[operands.size() - kConstants + i];
      const bool absent = number < 0;
      if (absent || tensor_of(converted_, number).type != formats::tflite::kUint8Type) {
        return bad_input("{}: {} of {} is {}, expected uint8", name_, kNames[i], kOperator,
                         absent ? "absent" : type_text(tensor_of(converted_, number)));
      }
      *places[i] = tensor_of(converted_, number).data;
    }
    if (node_.microcode.empty()) return bad_input("{}: {} without microcode", name_, kOperator);
    return ok();
  }

  /// The payload version follows from the number of results after the model's own outputs.
  Status take_version() {
    const size_t results = node().outputs.size(), own = converted_.outputs.size();
    if (results == own + 1 || results == own + 3) {
      node_.version = results == own + 3 ? 1 : 0;
      return ok();
    }
    return bad_input(
        "{}: {} has {} results for {} outputs of the model, expected {} (scratch) or {} (scratch, "
        "profile, debug): unsupported converter version",
        name_, kOperator, results, own, own + 1, own + 3);
  }

  Result<std::vector<uint8_t>> map_of(const std::vector<int32_t>& of_node,
                                      const std::vector<int32_t>& of_model,
                                      const std::vector<size_t>& match,
                                      std::string_view what) const {
    std::vector<uint8_t> map;
    for (size_t i = 0; i < of_node.size(); ++i) {
      const auto found = std::ranges::find(of_model, of_node[i]);
      if (found == of_model.end()) {
        return bad_input("{}: {} {} of {} is not an {} of the model", name_, what, i, kOperator,
                         what);
      }
      const size_t tensor = match[static_cast<size_t>(found - of_model.begin())];
      if (std::ranges::find(map, static_cast<uint8_t>(tensor)) != map.end()) {
        return bad_input("{}: {} {} of the model occurs twice in {}", name_, what, tensor,
                         kOperator);
      }
      map.push_back(static_cast<uint8_t>(tensor));
    }
    return map;
  }

  const File& sent_;
  const File& converted_;
  std::string_view name_;
  NeutronGraphOp node_;
};

}  // namespace

Result<NeutronGraphOp> read_neutron_graph(const File& sent, const File& converted,
                                          std::string_view name) {
  return Extraction(sent, converted, name).run();
}

}  // namespace thimble::engine::neutron
