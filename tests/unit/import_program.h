// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exported programs built by a test: a list of nodes over tensors without weights.

#include <string>
#include <utility>
#include <vector>

#include "formats/pt2/reader.h"
#include "import/import.h"

namespace thimble::import_pt2::testing {

namespace pt2 = formats::pt2;

inline pt2::SymInt size(int64_t value) {
  return {{}, {}, value};
}
inline pt2::SymInt size(std::string expression) {
  return {std::move(expression), {}, 0};
}

class Program {
 public:
  pt2::ExportedProgram exported{"net.pt2", "2.13.0", 20, {},
                                {},        {},       {}, pt2::Weights(nullptr, "", {})};

  Program& tensor(const std::string& name, std::vector<pt2::SymInt> sizes,
                  pt2::ScalarType dtype = pt2::ScalarType::kFloat32) {
    pt2::TensorMeta meta;
    meta.dtype = dtype;
    meta.strides.resize(sizes.size());
    int64_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      meta.strides[i] = size(stride);
      stride *= sizes[i].is_symbolic() ? 1 : sizes[i].value;
    }
    meta.sizes = std::move(sizes);
    exported.graph.tensor_values[name] = std::move(meta);
    return *this;
  }

  Program& input(const std::string& name, std::vector<pt2::SymInt> sizes,
                 pt2::ScalarType dtype = pt2::ScalarType::kFloat32) {
    return spec(pt2::InputKind::kUserInput, name, "").tensor(name, std::move(sizes), dtype);
  }
  /// Adds a weight that no archive holds, for errors that occur before the weight is read.
  Program& buffer(const std::string& name, const std::string& fqn, std::vector<pt2::SymInt> sizes) {
    return spec(pt2::InputKind::kBuffer, name, fqn).tensor(name, std::move(sizes));
  }

  Program& parameter(const std::string& name, const std::string& fqn,
                     std::vector<pt2::SymInt> sizes) {
    return spec(pt2::InputKind::kParameter, name, fqn).tensor(name, std::move(sizes));
  }

  /// Appends a node with `arguments` and one output tensor, at line 10 + index of `net.py`.
  Program& node(const std::string& target,
                std::vector<std::pair<std::string, pt2::Argument>> arguments,
                const std::string& output, std::vector<pt2::SymInt> sizes,
                pt2::ScalarType dtype = pt2::ScalarType::kFloat32) {
    pt2::Node made;
    made.name = output;
    made.target = "torch.ops." + target;
    for (auto& [name, value] : arguments) made.inputs.push_back({name, std::move(value), false});
    made.outputs.push_back(pt2::TensorName{output});
    const auto index = static_cast<int64_t>(exported.graph.nodes.size());
    made.source = {"/home/me/net.py", 10 + index, "forward", output + " = ..."};
    made.module_path = "block";
    exported.graph.nodes.push_back(std::move(made));
    return tensor(output, std::move(sizes), dtype);
  }

  Program& output(const std::string& name, pt2::OutputKind kind = pt2::OutputKind::kUserOutput,
                  const std::string& target = "") {
    exported.graph.outputs.push_back(pt2::TensorName{name});
    exported.output_specs.push_back({kind, name, target, ""});
    return *this;
  }

  [[nodiscard]] Result<ImportedModel> import(const ImportOptions& options = {}) const {
    return import_program(exported, options, "net.pt2");
  }
  /// Returns the message of a failed import, after "unsupported: " if the error is of that kind.
  [[nodiscard]] std::string error(const ImportOptions& options = {}) const {
    const auto model = this->import(options);
    if (model.ok()) return "imported";
    return (model.error().kind == ErrorKind::kUnsupported ? "unsupported: " : "") +
           model.error().message;
  }

 private:
  Program& spec(pt2::InputKind kind, const std::string& name, const std::string& target) {
    exported.graph.inputs.push_back(pt2::TensorName{name});
    exported.input_specs.push_back({kind, name, target, true, pt2::None{}});
    return *this;
  }
};

inline pt2::Argument ref(const std::string& name) {
  return pt2::TensorName{name};
}
inline pt2::Argument ints(std::vector<int64_t> values) {
  return values;
}
inline pt2::Argument whole(int64_t value) {
  return value;
}
inline pt2::Argument real(double value) {
  return value;
}
inline pt2::Argument word(const char* text) {
  return std::string(text);
}

}  // namespace thimble::import_pt2::testing
