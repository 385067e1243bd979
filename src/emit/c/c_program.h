// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program as the C writers use it: the address of each tensor and the names of the interface.

#include <map>
#include <string>
#include <vector>

#include "emit/c/model.h"
#include "emit/state_entry.h"
#include "formats/pte/parts.h"

namespace thimble::emit::c {

/// An input or output.
struct Port {
  std::string label;        // "INPUT_0"
  std::string name;         // "input_0": name of the parameter and of the function
  std::string source_name;  // name in the model
  const formats::pte::Tensor* tensor = nullptr;
  int32_t value = -1;
  double scale = 0;  // 0: not quantized
  int32_t zero_point = 0;
};

struct CProgram {
  const ModelInfo* info = nullptr;
  const Options* options = nullptr;
  const formats::pte::Program* file = nullptr;
  const formats::pte::ExecutionPlan* plan = nullptr;
  std::string name, upper;
  int64_t arena_bytes = 0;
  std::vector<Port> inputs, outputs;
  std::vector<StateContent> states;  // that the program keeps between runs
  /// Parameter names of inputs that are read in the application's buffer, by value index.
  std::map<int32_t, std::string> external_inputs;
  std::map<uint32_t, std::string> constants;     // names of arrays, by index in the program
  std::map<size_t, formats::pte::PartOf> parts;  // constants inside the arrays of others

  [[nodiscard]] const formats::pte::Tensor& tensor(int32_t value) const;
  [[nodiscard]] int64_t state_bytes() const;
  /// Returns true if the tensor's bytes are in a buffer of the application.
  [[nodiscard]] bool is_external(int32_t value) const { return external_inputs.contains(value); }
};

/// Constants that are part of another constant of the plan have no array of their own.
[[nodiscard]] std::map<size_t, formats::pte::PartOf> constant_parts(
    const std::vector<Bytes>& constants);
/// Names of the arrays that hold the constants, by index in the program.
[[nodiscard]] std::map<uint32_t, std::string> constant_names(
    const formats::pte::ExecutionPlan& plan, const std::map<size_t, formats::pte::PartOf>& parts);

/// The result refers to all arguments.
[[nodiscard]] Result<CProgram> prepare(const formats::pte::Program& file, const ModelInfo& info,
                                       const Options& options);

/// C name of the element type, for example "int8_t".
[[nodiscard]] std::string_view c_type(formats::pte::ScalarType type);
[[nodiscard]] uint64_t bytes_of(const formats::pte::Tensor& tensor);

/// C parameters of the function run(): "const int8_t *input_0", or "void".
[[nodiscard]] std::string run_parameters(const CProgram& program);

}  // namespace thimble::emit::c
