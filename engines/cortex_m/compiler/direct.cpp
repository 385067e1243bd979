#include "engines/cortex_m/compiler/direct.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "abi/native_params.h"
#include "ir/attr_words.h"

namespace thimble::engine::cortex_m {
namespace {

std::optional<abi::PteOp> find_row(const std::string& name) {
  const auto* const row = std::ranges::find(abi::kPteOps, name, &abi::PteOpInfo::name);
  if (row == std::end(abi::kPteOps)) return {};
  return static_cast<abi::PteOp>(row - std::begin(abi::kPteOps));
}

using OpOfKind = std::array<std::optional<abi::PteOp>, static_cast<size_t>(ir::OpKind::kCount)>;

std::optional<abi::PteOp> row_of(const std::string& name) {
  // A float operator whose quantized form has a row of the same name has no direct operator.
  if (ir::op_from_name("q" + name)) return {};
  const auto row = [](std::string_view short_name) {
    return find_row(fmt::format("thimble::{}.out", short_name));
  };
  if (name[0] == 'q') {
    if (const auto integer = row(std::string_view(name).substr(1))) return integer;
  }
  return row(name);
}

OpOfKind all_rows() {
  OpOfKind rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = row_of(std::string(ir::op_name(static_cast<ir::OpKind>(i))));
  }
  return rows;
}

}  // namespace

std::optional<abi::PteOp> direct_op(ir::OpKind kind) {
  static const OpOfKind kRows = all_rows();
  return kRows[static_cast<size_t>(kind)];
}

Result<std::optional<Constant>> direct_attributes(const ir::Op& op) {
  if (ir::op_info(op.kind).attrs.empty()) return std::optional<Constant>();
  THIMBLE_TRY(const std::vector<int32_t> words, ir::attr_words(op));
  std::vector<std::byte> bytes(words.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  const auto size = static_cast<int64_t>(bytes.size());
  return std::optional<Constant>(
      Constant{std::make_shared<const std::vector<std::byte>>(std::move(bytes)),
               ir::DType::kU8,
               {size},
               {}});
}

int64_t direct_scratch_bytes(const ir::Graph& graph, const ir::Op& op) {
  const int64_t hidden = graph.type(op.output).shape.back();
  const auto quantized_bytes =
      static_cast<int64_t>(ir::dtype_bytes(graph.type(op.inputs[0]).dtype));
  const int64_t lanes = op.kind == ir::OpKind::qgru    ? abi::kGruLanes
                        : op.kind == ir::OpKind::qlstm ? abi::kLstmLanes
                                                       : abi::kRnnLanes;
  assert(ir::category_of(op.kind) == ir::OpCategory::kRecurrent && "scratch of another operator");
  return abi::recurrent_scratch_bytes(lanes, hidden, quantized_bytes);
}

}  // namespace thimble::engine::cortex_m
