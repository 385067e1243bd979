#include "hostrun/kernel_source.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "abi/ethos_u_payload.h"
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

/// Lines of a table whose file has calls of EthosUBackend; the product says where its NPU is.
constexpr std::string_view kDelegates =
    "static const runtime::Delegate kModelNpu = {\n"
    "    \"EthosUBackend\", &thimble_npu, runtime::ethos_u::open, runtime::ethos_u::check,\n"
    "    runtime::ethos_u::run};\n"
    "static const runtime::Delegates kModelDelegates = runtime::delegates_of(&kModelNpu, 1);\n";

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
  const std::string ethos_u = fmt::format("delegate {}", abi::ethos_u::kDelegateId);
  const bool calls_npu = std::ranges::count(interface.foreign, ethos_u) != 0;
  for (size_t i = 0; i < interface.ops.size(); ++i) {
    if (interface.ops[i] == "(" + ethos_u + ")") continue;
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
  const std::string kernels =
      count == 0 ? ""
                 : fmt::format("static const Kernel* const kModelKernels[] = {{\n{}}};\n", list);
  return fmt::format(
      "// Written by `thimble compile --kernels` for {}: the kernels it calls and no others.\n"
      "// Pass thimble_model_kernels() to thimble_size and thimble_init.\n\n"
      "#include \"kernels/kernels.h\"\n"
      "{}"
      "#include \"thimble.h\"\n\n"
      "namespace thimble::kernels {{\n"
      "{}{}"
      "static const KernelTable kModelTable = {{{}, {}, nullptr, {}}};\n"
      "}}  // namespace thimble::kernels\n\n"
      "extern \"C\" const thimble_kernels* thimble_model_kernels(void) {{\n"
      "  return reinterpret_cast<const thimble_kernels*>(&thimble::kernels::kModelTable);\n"
      "}}\n",
      label, calls_npu ? "#include \"runtime/delegates/ethos_u/backend.h\"\n" : "", kernels,
      calls_npu ? kDelegates : "", count != 0 ? "kModelKernels" : "nullptr", count,
      calls_npu ? "&kModelDelegates" : "nullptr");
}

}  // namespace thimble::hostrun
