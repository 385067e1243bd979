#include "target/accesses.h"

#include <algorithm>

#include "ir/work.h"

namespace thimble::target {
namespace {

using ir::OpKind;

/// What the kernels of a kind of core do with one load: so many rows of results (pixels, or rows of
/// a product) share a load of a weight, so many results one of an input.
struct Reuse {
  int64_t weight_rows, input_results;
};
struct CoreReuse {
  Reuse dense, depthwise, linear;
};

CoreReuse reuse_on(abi::Isa isa) {
  switch (isa) {
    case abi::Isa::kMve:
      return {{3, 1}, {1, 1}, {1, 1}};
    case abi::Isa::kDsp:
      return {{3, 1}, {1, 1}, {1, 1}};
    default:
      return {{1, 1}, {1, 1}, {1, 1}};
  }
}

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// How often a call goes over its weights, and how many bytes of its input it loads.
struct Weighted {
  int64_t passes = 1;
  int64_t input_bytes = 0;
};

std::optional<Weighted> weighted(const ir::Graph& graph, const ir::Op& op, const Target& target) {
  const CoreReuse reuse = reuse_on(target.isa);
  const ir::Type& x = graph.type(op.inputs[0]);
  const ir::Type& y = graph.type(op.output);
  const auto width = static_cast<int64_t>(x.bytes()) / std::max<int64_t>(x.elements(), 1);
  const auto with = [&](int64_t rows, const Reuse& of) {
    const int64_t loads = ceil_div(ir::macs_of(graph, op), of.input_results) * width;
    return Weighted{ceil_div(rows, of.weight_rows), loads};
  };
  switch (op.kind) {
    case OpKind::qconv2d:
    case OpKind::qconv2d16: {
      const int64_t groups = op.integer("groups");
      const bool depthwise = groups > 1 && groups == x.shape[1];
      const ir::Type& w = graph.type(op.inputs[1]);
      return with(y.elements() / w.shape[0], depthwise ? reuse.depthwise : reuse.dense);
    }
    case OpKind::qlinear:
    case OpKind::qlinear16:
      return with(y.elements() / graph.type(op.inputs[1]).shape[0], reuse.linear);
    case OpKind::qconv_transpose2d:
    case OpKind::qconv_transpose2d16:
      return with(x.elements() / graph.type(op.inputs[1]).shape[0], {1, 1});
    case OpKind::qgru:
    case OpKind::qlstm:
    case OpKind::qrnn:
      // A step reads all weights, and the input and the state before for each of its results.
      return with(y.elements() / y.shape.back(), {1, 1});
    case OpKind::qmatmul:
    case OpKind::qmatmul16:
      return with(y.elements() / y.shape.back(), {1, 1});
    default:
      return {};
  }
}

/// Of a pool: a window for each result.
int64_t window_bytes(const ir::Graph& graph, const ir::Op& op) {
  if (op.kind != OpKind::max_pool2d && op.kind != OpKind::max_pool2d16 &&
      op.kind != OpKind::qavg_pool2d && op.kind != OpKind::qavg_pool2d16) {
    return 0;
  }
  const std::vector<int64_t> kernel = op.integers("kernel");
  return static_cast<int64_t>(graph.type(op.output).bytes()) * kernel[0] * kernel[1];
}

bool has_table(OpKind kind) {
  return kind == OpKind::lut || kind == OpKind::lut16 || kind == OpKind::qlog_softmax;
}

int64_t bytes_of(const ir::Graph& graph, ir::ValueId value) {
  return static_cast<int64_t>(graph.type(value).bytes());
}

}  // namespace

Accesses accesses_of(const Lowered& lowered, const KernelCall& call, const Target& target) {
  const ir::Graph& graph = lowered.graph;
  const ir::Op& op = graph.ops()[static_cast<size_t>(call.ir_op)];
  const std::optional<Weighted> weights = weighted(graph, op, target);
  const int64_t out_bytes = bytes_of(graph, call.out);
  Accesses accesses;
  accesses.out = out_bytes;
  for (const ir::ValueId more : call.more_out) accesses.out += bytes_of(graph, more);
  bool is_first = true;
  for (const Argument& argument : call.arguments) {
    int64_t bytes = 0;
    if (const auto* value = std::get_if<ValueRef>(&argument)) {
      bytes = bytes_of(graph, value->id);
      if (!weights) {
        bytes = std::max(bytes, window_bytes(graph, op));
      } else if (is_first) {
        bytes = std::max(bytes, weights->input_bytes);
      } else {
        bytes *= weights->passes;  // the other factor of a product
      }
      is_first = false;
    } else if (const auto* constant = std::get_if<Constant>(&argument)) {
      const auto size = static_cast<int64_t>(constant->bytes->size());
      bytes = weights ? size * weights->passes : size;
      // A table is read once for each result; an operand that is repeated, as often.
      if (has_table(op.kind)) bytes = out_bytes;
    } else if (const auto* scratch = std::get_if<Scratch>(&argument)) {
      bytes = 2 * scratch->bytes;
    } else if (const auto* list = std::get_if<ValueList>(&argument)) {
      for (const ir::ValueId value : *list) bytes += bytes_of(graph, value);
    }
    accesses.arguments.push_back(bytes);
  }
  return accesses;
}

}  // namespace thimble::target
