#pragma once
// The program as the C's writers see it: where each tensor is, and what the interface is called.

#include <map>
#include <string>
#include <vector>

#include "emit/c/model.h"

namespace thimble::emit::c {

/// An input or output.
struct Port {
  std::string label;  // "INPUT_0"
  std::string name;   // "input_0": the parameter, the function
  std::string user;   // what the user calls it
  const formats::pte::Tensor* tensor = nullptr;
  int32_t value = -1;
  double scale = 0;  // 0: not quantized
  int32_t zero_point = 0;
};

/// What a piece of the arena holds when the model begins.
struct State {
  uint32_t offset = 0, bytes = 0;
  uint8_t fill = 0;
  Bytes content;  // empty: filled
};

struct Layout {
  const formats::pte::Program* program = nullptr;
  const formats::pte::ExecutionPlan* plan = nullptr;
  std::string name, upper;
  int64_t arena_bytes = 0;
  std::vector<Port> inputs, outputs;
  std::vector<State> states;
  std::map<int32_t, std::string> given;  // inputs that are read where the caller has them, by value
  bool owns_inputs = false;              // Options
  bool placed = false;                   // arrays are in sections of their own
  std::vector<std::string> loaded;       // Options
  std::map<uint32_t, std::string> constants;  // names of arrays, by index in the program

  [[nodiscard]] const formats::pte::Tensor& tensor(int32_t value) const;
  [[nodiscard]] int64_t state_bytes() const;
  /// Whether the bytes of the tensor are the caller's.
  [[nodiscard]] bool is_given(int32_t value) const { return given.contains(value); }
};

/// Names of the constants' arrays, by index in the program.
[[nodiscard]] std::map<uint32_t, std::string> constant_names(
    const formats::pte::ExecutionPlan& plan);
/// What the program keeps between runs, and how it begins.
[[nodiscard]] std::vector<State> states_of(const formats::pte::Program& program);

[[nodiscard]] Result<Layout> lay_out(const formats::pte::Program& program, const Options& options);

/// "int8_t"
[[nodiscard]] std::string_view c_type(formats::pte::ScalarType type);
[[nodiscard]] uint64_t bytes_of(const formats::pte::Tensor& tensor);

[[nodiscard]] std::string header(const Layout& layout, const Options& options);

}  // namespace thimble::emit::c
