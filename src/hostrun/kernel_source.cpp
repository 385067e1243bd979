#include "hostrun/kernel_source.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "abi/pte_ops.h"

namespace thimble::hostrun {
namespace {

struct Row {
  std::string_view variant;
  abi::PteOp op;
  std::string_view id;
};

// Names only, not the kernels themselves: variants for other cores do not exist in a host build.
constexpr Row kRows[] = {
#define THIMBLE_KERNEL(variant, op) {#variant, abi::PteOp::op, #variant "_" #op},
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
};

bool runs_on(std::string_view variant, abi::Isa isa) {
  if (variant == "mve") return isa == abi::Isa::kMve;
  if (variant == "dsp") return isa == abi::Isa::kDsp || isa == abi::Isa::kMve;
  return true;
}

/// An operator and how many arguments it is called with.
using Form = std::pair<std::string, size_t>;

/// Rows stand with the faster variant first.
const Row* find_row(const Form& form, abi::Isa isa) {
  for (const Row& row : kRows) {
    const abi::PteOpInfo& info = abi::info(row.op);
    const bool same =
        form.first == info.name && form.second == std::string_view(info.arguments).size();
    if (same && runs_on(row.variant, isa)) return &row;
  }
  return nullptr;
}

}  // namespace

bool has_kernel(std::string_view op) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const Row& row) { return op == abi::info(row.op).name; });
}

Result<std::string> kernel_source(const Interface& interface, abi::Isa isa,
                                  std::string_view label) {
  std::string list;
  size_t count = 0;
  std::set<Form> forms;
  for (size_t i = 0; i < interface.ops.size(); ++i) {
    forms.emplace(interface.ops[i], interface.arguments[i]);
  }
  for (const Form& form : forms) {
    const Row* row = find_row(form, isa);
    if (row == nullptr) {
      return unsupported("{}: no kernel for {} with {} arguments", label, form.first, form.second);
    }
    list += fmt::format("    &{},\n", row->id);
    ++count;
  }
  return fmt::format(
      "// Written by `thimble compile --kernels` for {}: the kernels it calls and no others.\n"
      "// Pass thimble_model_kernels() to thimble_size and thimble_init.\n\n"
      "#include \"kernels/kernels.h\"\n"
      "#include \"thimble.h\"\n\n"
      "namespace thimble::kernels {{\n"
      "static const Kernel* const kModelKernels[] = {{\n{}}};\n"
      "static const KernelTable kModelTable = {{kModelKernels, {}}};\n"
      "}}  // namespace thimble::kernels\n\n"
      "extern \"C\" const thimble_kernels* thimble_model_kernels(void) {{\n"
      "  return reinterpret_cast<const thimble_kernels*>(&thimble::kernels::kModelTable);\n"
      "}}\n",
      label, list, count);
}

}  // namespace thimble::hostrun
