// SPDX-License-Identifier: Apache-2.0
#include "emit/c/calls.h"

#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/c/sections.h"
#include "emit/c/text.h"

namespace thimble::emit::c {

namespace pte = formats::pte;

namespace {

/// Argument letters whose data only a `.pte` can hold. No program of this compiler uses them.
constexpr std::string_view kFileLetters = "cq";

/// Value of an argument that may be any number; NaN for None.
double number_of(const pte::EValue& value) {
  if (const auto* integer = std::get_if<pte::Int>(&value)) {
    return static_cast<double>(integer->value);
  }
  if (const auto* boolean = std::get_if<pte::Bool>(&value)) return boolean->value ? 1 : 0;
  const auto* number = std::get_if<pte::Double>(&value);
  return number != nullptr ? number->value : std::numeric_limits<double>::quiet_NaN();
}

const pte::TensorList* tensors_of(const pte::EValue& value) {
  return std::get_if<pte::TensorList>(&value);
}

}  // namespace

Status Calls::add(size_t index) {
  const pte::Instruction& instruction = program_.plan->chains[0].instructions[index];
  const auto* call = std::get_if<pte::KernelCall>(&instruction);
  if (call == nullptr) {
    return unsupported("--emit c: instruction {} is not a kernel call", index);
  }
  const pte::ChosenKernel& kernel = program_.info->kernels[index];
  if (kernel.arguments.find_first_of(kFileLetters) != std::string::npos) {
    return unsupported(
        "--emit c: {} has string or float list arguments, which are supported only in a "
        "`.pte`",
        kernel.op);
  }
  const std::string name = printable(program_.info->result_names[index]);
  blocks_ += fmt::format("\n  {}_OP_HOOK({}u, \"{}\");\n  {{\n", program_.upper, index, name);
  if (kernel.addresses_only) {
    add_run_block(*call, kernel);
  } else {
    add_call_block(*call, kernel);
  }
  blocks_ += "  }\n";
  return ok();
}

std::string Calls::prototypes() const {
  std::string text;
  for (const auto& [symbol, prototype] : prototypes_) text += prototype;
  return text;
}

bool Calls::reads_external(const pte::KernelCall& call) const {
  for (const int32_t arg : call.args) {
    if (program_.is_external(arg)) return true;
    const pte::TensorList* const list = tensors_of(program_.plan->values[static_cast<size_t>(arg)]);
    if (list == nullptr) continue;
    for (const int32_t item : list->items) {
      if (program_.is_external(item)) return true;
    }
  }
  return false;
}

/// Storage class of the call's data: constant, unless run() receives one of the addresses.
std::string Calls::storage_class(const pte::KernelCall& call) const {
  return reads_external(call) ? "" : program_.upper + "_FIXED ";
}

void Calls::add_run_block(const pte::KernelCall& call, const pte::ChosenKernel& kernel) {
  const std::string symbol =
      fmt::format("{}_RUN({}, {})", program_.upper, kernel.variant, kernel.op);
  prototypes_[symbol] = fmt::format("void {}(void *const *operands);\n", symbol);
  blocks_ += fmt::format("    {}void *const operands[{}] = {{\n", storage_class(call),
                         kernel.arguments.size());
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    blocks_ += fmt::format("      {},\n", address(call.args[i]));
  }
  blocks_ += fmt::format("    }};\n    {}(operands);\n", symbol);
}

void Calls::add_call_block(const pte::KernelCall& call, const pte::ChosenKernel& kernel) {
  includes_c_call_ = true;
  const std::string symbol =
      fmt::format("{}_CALL({}, {})", program_.upper, kernel.variant, kernel.op);
  prototypes_[symbol] = fmt::format(
      "void {}(const thimble_arg *args, const thimble_tensor *const *lists);\n", symbol);
  const std::string storage = storage_class(call);
  const size_t count = kernel.arguments.size();
  std::string lists;
  bool has_lists = false;
  for (size_t i = 0; i < count; ++i) {
    const pte::TensorList* list =
        tensors_of(program_.plan->values[static_cast<size_t>(call.args[i])]);
    lists += list == nullptr ? "      NULL,\n" : fmt::format("      list_{},\n", i);
    if (list == nullptr) continue;
    has_lists = true;
    blocks_ += fmt::format("    {}const thimble_tensor list_{}[{}] = {{\n", storage, i,
                           list->items.size());
    for (const int32_t item : list->items) {
      blocks_ += fmt::format("      {{{}}},\n", tensor_members(item));
    }
    blocks_ += "    };\n";
  }
  if (has_lists) {
    blocks_ += fmt::format("    {}const thimble_tensor *const lists[{}] = {{\n{}    }};\n", storage,
                           count, lists);
  }
  // Arguments with an address that run() receives are a copy of constant ones, in which it is set.
  std::string args, addresses;
  for (size_t i = 0; i < count; ++i) {
    std::string members = argument(kernel.arguments[i], call.args[i]);
    if (program_.is_external(call.args[i])) {
      const std::string external = address(call.args[i]);
      const size_t at = members.find(external);
      assert(at != std::string::npos);
      members.replace(at, external.size(), "NULL");
      addresses += fmt::format("    args[{}].tensor.data = {};\n", i, external);
    }
    args += fmt::format("      {{{}}},\n", members);
  }
  blocks_ += fmt::format("    {}_FIXED const thimble_arg {}[{}] = {{\n{}    }};\n", program_.upper,
                         addresses.empty() ? "args" : "fixed", count, args);
  if (!addresses.empty()) {
    blocks_ +=
        fmt::format("    thimble_arg args[{}];\n    (void)memcpy(args, fixed, sizeof args);\n{}",
                    count, addresses);
  }
  blocks_ += fmt::format("    {}(args, {});\n", symbol, has_lists ? "lists" : "NULL");
}

std::string Calls::argument(char letter, int32_t value) {
  const pte::EValue& item = program_.plan->values[static_cast<size_t>(value)];
  if (letter == 'y' || letter == 'z') return double_member(number_of(item));
  if (const auto* integer = std::get_if<pte::Int>(&item)) {
    return ".integer = " + int64_literal(integer->value);
  }
  if (const auto* boolean = std::get_if<pte::Bool>(&item)) {
    return fmt::format(".integer = {}", boolean->value ? 1 : 0);
  }
  if (const auto* number = std::get_if<pte::Double>(&item)) return double_member(number->value);
  if (const auto* ints = std::get_if<pte::IntList>(&item)) return ".ints = " + int_list(*ints);
  if (const auto* list = tensors_of(item)) return fmt::format(".list = {}u", list->items.size());
  if (std::holds_alternative<pte::Null>(item)) {
    // Kernels read a missing argument in this form (kernels/kernels.h).
    if (letter == 'j') return ".integer = " + int64_literal(INT64_MIN);
    if (letter == 'k') return ".ints = {.count = 0u}";
    assert(letter == 't');
    return ".tensor = {.is_null = true}";
  }
  assert(std::holds_alternative<pte::Tensor>(item) && letter != 'i');
  return fmt::format(".tensor = {{{}}}", tensor_members(value));
}

std::string Calls::tensor_members(int32_t value) {
  const pte::Tensor& tensor = program_.tensor(value);
  std::string shape;
  if (!tensor.sizes.empty()) {
    const size_t rank = tensor.sizes.size();
    shape = fmt::format(
        " .sizes = {}, .dim_order = {},", numbers("int32_t", "sizes", list(tensor.sizes), rank),
        numbers("uint8_t", "order", fmt::format("{}", fmt::join(tensor.dim_order, ", ")), rank));
  }
  return fmt::format(
      ".data = {},{} .bytes = {}u, .rank = {}u, .dtype = {}u, .is_constant = {}, "
      ".is_verified = true",
      address(value), shape, bytes_of(tensor), tensor.sizes.size(),
      static_cast<int>(tensor.scalar_type),
      tensor.data_buffer_idx != 0 && !tensor.allocation ? "true" : "false");
}

std::string Calls::int_list(const pte::IntList& list) const {
  std::vector<int64_t> items;
  for (const int64_t index : list.items) {
    items.push_back(std::get<pte::Int>(program_.plan->values[static_cast<size_t>(index)]).value);
  }
  if (items.empty()) return "{.count = 0u}";
  return fmt::format("{{.count = {}u, .items = {{{}}}}}", items.size(), fmt::join(items, ", "));
}

std::string Calls::address(int32_t value) {
  const pte::EValue& item = program_.plan->values[static_cast<size_t>(value)];
  if (std::holds_alternative<pte::Null>(item)) return "NULL";
  const pte::Tensor& tensor = program_.tensor(value);
  if (tensor.allocation) {
    return fmt::format("{}_AT({}u)", program_.upper, tensor.allocation->offset);
  }
  if (tensor.data_buffer_idx != 0) return "(void *)" + constant(tensor.data_buffer_idx);
  const auto external = program_.external_inputs.find(value);
  assert(external != program_.external_inputs.end());
  return "(void *)" + external->second;
}

std::string Calls::constant(uint32_t index) {
  if (const auto part = program_.parts.find(index); part != program_.parts.end()) {
    return fmt::format("({} + {})", constant(static_cast<uint32_t>(part->second.whole)),
                       part->second.offset / sizeof(uint32_t));
  }
  const std::string& name = program_.constants.at(index);
  if (!written_.insert(index).second) return name;
  const Bytes& bytes = program_.file->constants[index];
  data_ += fmt::format("{} static const {}_ALIGNED uint32_t {}[{}] = {{\n{}}};\n",
                       constant_section(program_, name), program_.upper, name,
                       word_count(bytes.size()), words(bytes, "  "));
  return name;
}

std::string Calls::numbers(std::string_view type, std::string_view kind, const std::string& items,
                           size_t count) {
  std::string& name = numbers_[fmt::format("{}:{}", kind, items)];
  if (!name.empty()) return name;
  name = fmt::format("{}_{}", kind, numbers_.size() - 1);
  data_ += fmt::format("static const {} {}[{}] = {{{}}};\n", type, name, count, items);
  return name;
}

}  // namespace thimble::emit::c
