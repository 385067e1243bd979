#include "target/cortex_m/fast.h"

namespace thimble::target::cortex_m {
namespace {

struct Row {
  std::optional<abi::Isa> isa;  // none: any
  ir::OpKind kind;
  FastForm* form;
};

// The last row ends the table, which may have no other.
constexpr Row kRows[] = {
#define THIMBLE_FAST(isa, kind, function) {abi::Isa::isa, ir::OpKind::kind, function},
#define THIMBLE_FAST_ANY(kind, function) {{}, ir::OpKind::kind, function},
#include "target/cortex_m/fast.def"
#undef THIMBLE_FAST
#undef THIMBLE_FAST_ANY
    {abi::Isa::kScalar, ir::OpKind::copy, nullptr},
};

}  // namespace

std::optional<KernelCall> fast_call(const ir::Graph& graph, const ir::Op& op, abi::Isa isa) {
  for (const Row& row : kRows) {
    if (row.form == nullptr || row.isa.value_or(isa) != isa || row.kind != op.kind) continue;
    if (std::optional<KernelCall> call = row.form(graph, op)) return call;
  }
  return {};
}

}  // namespace thimble::target::cortex_m
