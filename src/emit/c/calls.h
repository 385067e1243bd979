// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes kernel calls as C blocks, with the constant data that they refer to.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/c/c_program.h"

namespace thimble::emit::c {

/// Collects calls. Shapes and constants that several calls use are written once.
class Calls {
 public:
  explicit Calls(const CProgram& program) : program_(program) {}

  /// Adds a block that calls the kernel of instruction `index`.
  Status add(size_t index);

  [[nodiscard]] const std::string& blocks() const { return blocks_; }
  /// C definitions of constants and shapes, in the order of their first use.
  [[nodiscard]] const std::string& data() const { return data_; }
  /// C prototypes of the kernels.
  [[nodiscard]] std::string prototypes() const;
  [[nodiscard]] bool includes_c_call() const { return includes_c_call_; }

  /// Address of the tensor as C: "(void *)input_0", "NAME_AT(16u)", "(void *)constant_3". Adds the
  /// definition of a constant to data() when it is used first.
  std::string address(int32_t value);

 private:
  bool reads_external(const formats::pte::KernelCall& call) const;
  void add_run_block(const formats::pte::KernelCall& call,
                     const formats::pte::ChosenKernel& kernel);
  void add_call_block(const formats::pte::KernelCall& call,
                      const formats::pte::ChosenKernel& kernel);
  [[nodiscard]] std::string storage_class(const formats::pte::KernelCall& call) const;
  std::string argument(char letter, int32_t value);
  std::string tensor_members(int32_t value);
  std::string int_list(const formats::pte::IntList& list) const;
  std::string constant(uint32_t index);
  std::string numbers(std::string_view type, std::string_view kind, const std::string& items,
                      size_t count);

  const CProgram& program_;
  std::string blocks_, data_;
  std::set<uint32_t> written_;                     // constants in data_, by index in the program
  std::map<std::string, std::string> numbers_;     // array names, by kind and items
  std::map<std::string, std::string> prototypes_;  // by symbol
  bool includes_c_call_ = false;
};

}  // namespace thimble::emit::c
