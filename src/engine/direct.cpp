// SPDX-License-Identifier: Apache-2.0
#include "engine/direct.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "abi/ops/arithmetic.h"
#include "abi/ops/conv.h"
#include "abi/ops/conversion.h"
#include "abi/ops/frame.h"
#include "abi/ops/integers.h"
#include "abi/ops/linear.h"
#include "abi/ops/movement.h"
#include "abi/ops/normalization.h"
#include "abi/ops/pool.h"
#include "abi/ops/recurrent.h"
#include "abi/ops/reduction.h"
#include "abi/ops/spectrum.h"
#include "abi/pte_ops.h"
#include "engine/direct_fields.h"
#include "ir/frame.h"

namespace thimble::engine {
namespace {

/// Returns true if the device's operator has the operands of the IR operator, the parameters if
/// there are any, scratch if it needs it, and one result.
consteval bool fits_arguments(ir::OpKind kind, abi::PteOp op, bool has_params) {
  const std::string_view letters = abi::info(op).arguments;
  size_t at = 0;
  bool fits = true;
  const auto expect = [&](char letter) {
    fits = fits && at < letters.size() && letters[at] == letter;
    ++at;
  };
  ir::for_each_word(ir::kOpRows[static_cast<size_t>(kind)].operands,
                    [&](std::string_view name) { expect(name.ends_with('?') ? 't' : 'T'); });
  if (has_params) expect('T');
  if (letters.find('s') != std::string_view::npos) expect('s');
  expect('o');
  return fits && at == letters.size();
}

#define THIMBLE_DIRECT(kind, op)                                                                 \
  static_assert(                                                                                 \
      fits_arguments(ir::OpKind::kind, abi::PteOp::op, !std::is_empty_v<ParamsOf<op_info::op>>), \
      #op " has other arguments than " #kind " in ops.def");                                     \
  static_assert(covers<ParamsOf<op_info::op>>(),                                                 \
                "the parameters of " #op " have a member that is not in direct_fields.h");       \
  static_assert(has_all_attributes<ParamsOf<op_info::op>>(ir::OpKind::kind),                     \
                "the parameters of " #op " differ from the attributes of " #kind " in ops.def");
#include "engine/direct.def"
#undef THIMBLE_DIRECT

template <auto kIr, auto kAbi>
constexpr bool kSame = static_cast<int>(kIr) == static_cast<int>(kAbi);
static_assert(kSame<ir::FrameFormat::kGray, abi::FrameFormat::kGray> &&
              kSame<ir::FrameFormat::kRgb888, abi::FrameFormat::kRgb888> &&
              kSame<ir::FrameFormat::kRgb565, abi::FrameFormat::kRgb565> &&
              kSame<ir::FrameFormat::kRgb565Be, abi::FrameFormat::kRgb565Be> &&
              kSame<ir::FrameFormat::kYuyv, abi::FrameFormat::kYuyv> &&
              kSame<ir::FrameFormat::kUyvy, abi::FrameFormat::kUyvy> &&
              kSame<ir::FrameFormat::kNv12, abi::FrameFormat::kNv12> &&
              kSame<ir::FrameFormat::kCount, abi::FrameFormat::kCount>);

template <typename Params>
constexpr size_t kBytes = std::is_empty_v<Params> ? 0 : sizeof(Params);

constexpr DirectOp kDirect[] = {
#define THIMBLE_DIRECT(kind, op)                                    \
  {ir::OpKind::kind, abi::PteOp::op, kBytes<ParamsOf<op_info::op>>, \
   Fields<ParamsOf<op_info::op>>::list},
#include "engine/direct.def"
#undef THIMBLE_DIRECT
};

class ParamsWriter {
 public:
  ParamsWriter(const DirectOp& direct, const ir::Op& op) : direct_(direct), op_(op) {}

  Result<Bytes> run() {
    bytes_.resize(direct_.params_bytes);
    for (const ParamField& field : direct_.fields) {
      if (field.kind == ParamField::Kind::kInt) {
        THIMBLE_CHECK(put(field, field.offset, op_.get(ir::AttrKey<int64_t>{field.attr})));
      } else {
        THIMBLE_CHECK(put_list(field));
      }
    }
    return std::move(bytes_);
  }

 private:
  Status put(const ParamField& field, size_t offset, int64_t value) {
    const auto word = static_cast<int32_t>(value);
    if (value != word) {
      return unsupported("{}: {} = {} does not fit 32 bits", ir::op_name(op_.kind),
                         ir::attr_name(field.attr), value);
    }
    std::memcpy(bytes_.data() + offset, &word, sizeof word);
    return ok();
  }
  Status put_list(const ParamField& field) {
    const auto& items = op_.get(ir::AttrKey<std::vector<int64_t>>{field.attr});
    const bool tail = field.kind == ParamField::Kind::kTail;
    assert((tail || items.size() == static_cast<size_t>(field.items)) &&
           "type rules check lengths");
    THIMBLE_CHECK(put(field, field.offset, static_cast<int64_t>(items.size())));
    if (tail) bytes_.resize(bytes_.size() + items.size() * sizeof(int32_t));
    for (size_t i = 0; i < items.size(); ++i) {
      THIMBLE_CHECK(put(field, field.offset + (i + 1) * sizeof(int32_t), items[i]));
    }
    return ok();
  }

  const DirectOp& direct_;
  const ir::Op& op_;
  Bytes bytes_;
};

int32_t word_at(ByteView bytes, size_t offset) {
  int32_t word;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

}  // namespace

const DirectOp* direct_op(ir::OpKind kind) {
  const auto* const row = std::ranges::find(kDirect, kind, &DirectOp::kind);
  return row == std::end(kDirect) ? nullptr : row;
}
const DirectOp* direct_op(abi::PteOp op) {
  const auto* const row = std::ranges::find(kDirect, op, &DirectOp::op);
  return row == std::end(kDirect) ? nullptr : row;
}

Result<Bytes> direct_params(const DirectOp& direct, const ir::Op& op) {
  return ParamsWriter(direct, op).run();
}

Result<ir::Attrs> attrs_from_params(const DirectOp& direct, ByteView params) {
  const bool tail = !direct.fields.empty() && direct.fields.back().kind == ParamField::Kind::kTail;
  const bool fits =
      tail ? params.size() >= direct.params_bytes && params.size() % sizeof(int32_t) == 0
           : params.size() == direct.params_bytes;
  if (!fits) {
    return bad_input("{} bytes of parameters, expected {}{}", params.size(), direct.params_bytes,
                     tail ? " and a list of 32-bit words" : "");
  }
  ir::Attrs attrs;
  for (const ParamField& field : direct.fields) {
    const int32_t first = word_at(params, field.offset);
    if (field.kind == ParamField::Kind::kInt) {
      attrs.set_value(field.attr, ir::AttrValue(int64_t{first}));
      continue;
    }
    const auto rest = static_cast<int64_t>((params.size() - direct.params_bytes) / sizeof(int32_t));
    const int64_t expected = field.kind == ParamField::Kind::kTail ? rest : field.items;
    if (first != expected) {
      return bad_input("list {} of the parameters has {} items, expected {}",
                       ir::attr_name(field.attr), first, expected);
    }
    std::vector<int64_t> items;
    for (int64_t i = 1; i <= expected; ++i) {
      items.push_back(word_at(params, field.offset + static_cast<size_t>(i) * sizeof(int32_t)));
    }
    attrs.set_value(field.attr, ir::AttrValue(std::move(items)));
  }
  return attrs;
}

int64_t direct_scratch_bytes(const ir::Graph& graph, const ir::Op& op) {
  if (op.kind == ir::OpKind::qlog_mel) {
    return abi::spectrum_scratch_bytes(graph.type(op.inputs[1]).elements());
  }
  const int64_t hidden = graph.type(op.output).shape.back();
  const auto quantized_bytes =
      static_cast<int64_t>(ir::dtype_bytes(graph.type(op.inputs[0]).dtype));
  const int64_t lanes = op.kind == ir::OpKind::qgru    ? abi::kGruLanes
                        : op.kind == ir::OpKind::qlstm ? abi::kLstmLanes
                                                       : abi::kRnnLanes;
  assert(ir::category_of(op.kind) == ir::OpCategory::kRecurrent && "scratch of another operator");
  return abi::recurrent_scratch_bytes(lanes, hidden, quantized_bytes);
}

}  // namespace thimble::engine
