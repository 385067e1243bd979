#include "hostrun/kernel_source.h"

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

/// Rows stand with the faster variant first.
const Row* find_row(std::string_view op, abi::Isa isa) {
  for (const Row& row : kRows) {
    if (op == abi::info(row.op).name && runs_on(row.variant, isa)) return &row;
  }
  return nullptr;
}

}  // namespace

Result<std::string> kernel_source(const Interface& interface, abi::Isa isa,
                                  std::string_view label) {
  std::string list;
  size_t count = 0;
  for (const std::string& op : std::set(interface.ops.begin(), interface.ops.end())) {
    const Row* row = find_row(op, isa);
    if (row == nullptr) return unsupported("{}: no kernel for {}", label, op);
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
