// SPDX-License-Identifier: Apache-2.0
#include "import/import.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <optional>
#include <set>

#include "import/complex_pairs.h"
#include "import/constants.h"
#include "import/control_flow.h"
#include "import/core_aten.h"
#include "import/dynamic_quantization.h"
#include "import/empty.h"
#include "import/handlers.h"
#include "import/import_call.h"
#include "import/integers.h"
#include "import/layout.h"
#include "import/mask_positions.h"
#include "import/needed_nodes.h"
#include "import/node_tensors.h"
#include "import/refusal.h"
#include "import/result_check.h"
#include "import/scalars.h"
#include "import/spectrum.h"
#include "ir/dce.h"

namespace thimble::import_pt2 {
namespace {

namespace pt2 = formats::pt2;
using ir::ValueId;

Error unsupported_input(std::string_view name, pt2::ScalarType type) {
  if (type == pt2::ScalarType::kFloat16 || type == pt2::ScalarType::kBfloat16 ||
      type == pt2::ScalarType::kFloat64) {
    return unsupported_type(fmt::format("input {}", name), type);
  }
  return unsupported("input {} is {}: export with float32, int32, int64 or bool example inputs",
                     name, pt2::name(type));
}

/// Names of buffers of the archive.
using Buffers = std::set<std::string>;

class Importer {
 public:
  /// `written`: buffers that the graph is known to write to. `refused`: ImportOptions::refused.
  /// `counts`: positions that earlier passes found (position.h).
  Importer(const pt2::ExportedProgram& program, Symbols symbols, const Buffers& written,
           PositionCounts counts, std::vector<ir::RefusedNode>* refused)
      : program_(program),
        written_(written),
        refused_(refused),
        pairs_(find_pairs(program)),
        context_(program, std::move(symbols), std::move(counts)),
        results_(context_) {}

  /// Returns a buffer that the graph writes to and that is not in `written`. run() stopped there,
  /// because earlier operators may have read the buffer as a constant.
  [[nodiscard]] const std::optional<std::string>& found() const { return found_; }
  [[nodiscard]] const PositionCounts& counts() const { return context_.found_counts; }

  Result<ImportedModel> run() {
    THIMBLE_CHECK(check_outputs());
    if (program_.input_specs.size() != program_.graph.inputs.size()) {
      return bad_input("{} input specs for {} graph inputs", program_.input_specs.size(),
                       program_.graph.inputs.size());
    }
    for (const pt2::InputSpec& spec : program_.input_specs) THIMBLE_CHECK(bind_input(spec));
    for (const pt2::Node& node : program_.graph.nodes) THIMBLE_CHECK(import_expanded(node));
    THIMBLE_CHECK(check_refusals());
    return finish();
  }

 private:
  [[nodiscard]] bool is_tensor_output(const pt2::OutputSpec& spec) const {
    return spec.kind == pt2::OutputKind::kUserOutput &&
           program_.graph.tensor(spec.value_name) != nullptr;
  }

  [[nodiscard]] bool is_complex_output(const pt2::OutputSpec& spec) const {
    const pt2::TensorMeta* meta = program_.graph.tensor(spec.value_name);
    return meta != nullptr && is_complex(meta->dtype);
  }

  /// None, numbers and strings among the outputs are the same in each call; the compiled model does
  /// not return them. Checks that a number does not depend on the inputs.
  [[nodiscard]] Status check_omitted_output(const pt2::OutputSpec& spec) const {
    const std::string& name = spec.value_name;
    if (name.empty() || context_.sizes.contains(name) || context_.reals.contains(name)) return ok();
    return unsupported("output {} is a number that depends on an input: return a tensor", name);
  }

  Status check_outputs() const {
    if (std::none_of(program_.output_specs.begin(), program_.output_specs.end(),
                     [&](const pt2::OutputSpec& spec) { return is_tensor_output(spec); })) {
      return unsupported("the model has no output that is a tensor: return one");
    }
    for (const pt2::OutputSpec& spec : program_.output_specs) {
      switch (spec.kind) {
        case pt2::OutputKind::kUserOutput:
          break;
        case pt2::OutputKind::kBufferMutation:
          break;
        case pt2::OutputKind::kUserInputMutation:
          return unsupported(
              "the model writes to its input {}: return the new value as an output, or keep it in "
              "a buffer",
              spec.target);
        default:
          return unsupported("output {} is not an inference output", spec.value_name);
      }
    }
    return ok();
  }

  Status bind_input(const pt2::InputSpec& spec) {
    switch (spec.kind) {
      case pt2::InputKind::kUserInput:
        return bind_user_input(spec);
      case pt2::InputKind::kBuffer:
      case pt2::InputKind::kTensorConstant:
        if (written_.contains(spec.target)) return bind_state(spec);
        [[fallthrough]];
      case pt2::InputKind::kParameter:
        if (bind_empty_weight(spec)) return ok();
        context_.tensors.bind_weight(spec.value_name, spec.target);
        return ok();
      case pt2::InputKind::kConstant:
        return ok();  // a Python scalar, which the export specialized
      default:
        return unsupported("input {} is not a tensor", spec.target);
    }
  }

  bool bind_empty_weight(const pt2::InputSpec& spec) {
    const pt2::TensorMeta* meta = program_.graph.tensor(spec.value_name);
    if (meta == nullptr) return false;
    const auto sizes = context_.symbols.values(meta->sizes);
    if (!sizes.ok() || std::ranges::find(*sizes, 0) == sizes->end()) return false;
    ir::Source source;
    source.target = spec.target;
    refusals_.push_back({source, "it has no elements", false});
    context_.tensors.bind_empty(spec.value_name, {static_cast<int>(refusals_.size()) - 1});
    return true;
  }

  Status bind_state(const pt2::InputSpec& spec) {
    THIMBLE_TRY(ir::Tensor content, load_weight(program_.weights, spec.target));
    const ValueId value = context_.builder.graph.add_state(
        spec.target, std::make_shared<const ir::Tensor>(std::move(content)));
    context_.tensors.bind(spec.value_name, value);
    // The next content is given by the signature, or else is the content at the end of the graph.
    StateNames names{spec.target, spec.value_name};
    for (const pt2::OutputSpec& output : program_.output_specs) {
      if (output.kind == pt2::OutputKind::kBufferMutation && output.target == spec.target) {
        names.next = output.value_name;
      }
    }
    states_.push_back(std::move(names));
    return ok();
  }

  Status bind_user_input(const pt2::InputSpec& spec) {
    const pt2::TensorMeta* meta = program_.graph.tensor(spec.value_name);
    if (meta == nullptr) return unsupported("input {} is not a tensor", spec.value_name);
    const auto dtype = ir_dtype(meta->dtype);
    if (!dtype) return unsupported_input(spec.value_name, meta->dtype);
    ir::Type type{*dtype, {}, {}, {}};
    THIMBLE_TRY(type.shape, context_.symbols.values(meta->sizes));
    if (!type.shape.empty() && !ir::checked_element_count(type.shape)) {
      return unsupported("input {} has shape {}", spec.value_name, ir::list_text(type.shape));
    }
    type.dim_order = exported_order(*meta, type.shape);
    model_.inputs.push_back({spec.value_name, type.dim_order});
    context_.tensors.bind(spec.value_name,
                          context_.builder.graph.add_input(spec.value_name, std::move(type)));
    return ok();
  }

  /// Returns the memory order; contiguous if the strides cannot be evaluated.
  ir::DimOrder exported_order(const pt2::TensorMeta& meta, const ir::Shape& shape) const {
    const auto strides = context_.symbols.values(meta.strides);
    return strides ? dim_order(shape, *strides) : ir::DimOrder{};
  }

  /// Imports a node, or the nodes that replace control flow.
  Status import_expanded(const pt2::Node& first) {
    std::vector<const pt2::Node*> pending = {&first};
    while (!pending.empty()) {
      const pt2::Node& node = *pending.back();
      pending.pop_back();
      if (is_control_flow(node.target)) {
        auto nodes = expand(context_, node);
        if (nodes.ok() && expanded_.size() + nodes->size() > kExpandedNodesMax) {
          nodes = too_many_nodes();
        }
        if (nodes.ok()) {
          const size_t end = expanded_.size();
          for (pt2::Node& each : *nodes) expanded_.push_back(std::move(each));
          for (size_t i = expanded_.size(); i > end; --i) pending.push_back(&expanded_[i - 1]);
          continue;
        }
        if (nodes.error().kind != ErrorKind::kUnsupported) return located(node, nodes.error());
        const ir::Source source = source_of(node);
        propagate_refusals(node, source, {add_refusal(node, source, nodes.error().message)});
        continue;
      }
      order_.push_back(&node);
      auto status = import_node(node);
      if (!status.ok()) return located(node, status.error());
      if (context_.builder.constant_bytes_left() < 0) {
        return located(node, unsupported("{}", context_.builder.limit_of_constants()));
      }
    }
    return ok();
  }

  Status import_node(const pt2::Node& node) {
    const ir::Source source = source_of(node);
    if (has_only_scalar_results(node)) {
      bind_scalars(context_, node, source);
      return ok();
    }
    Refusals refused = inherited_refusals(node, source);
    if (const std::string state = written_state(node, source); is_buffer(state)) {
      found_ = state;
      return unsupported("{} is written to", state);
    }
    if (refused.empty()) learn_selected_count(context_, node, source);
    if (has_only_empty_results(context_, node)) {
      const int refusal = add_refusal(node, source, "its result has no elements");
      for_each_result(
          node, [&](const std::string& name) { context_.tensors.bind_empty(name, {refusal}); });
      return ok();
    }
    if (refused.empty()) {
      THIMBLE_TRY(const bool folded, import_known(node, source));
      if (folded) return ok();
    } else if (reads_only_empty(context_, node)) {
      THIMBLE_TRY(const bool is_bound, bind_result_of_empty(context_, node, source));
      if (is_bound) {
        model_.nodes.push_back({source, ImportedNode::Result::kConstant});
        return ok();
      }
    }
    if (refused.empty()) {
      const size_t ops_before = context_.builder.graph.ops().size();
      Status status = compute(node, source);
      if (status.ok()) {
        model_.nodes.push_back({source, result_of(node, ops_before)});
        bind_rest(node, source);
        return ok();
      }
      if (status.error().kind != ErrorKind::kUnsupported) return status;
      refused.insert(add_refusal(node, source, status.error().message));
    } else if (!is_supported(node, source)) {
      refused.insert(add_refusal(node, source, refusal_of(node, source)));
    }
    propagate_refusals(node, source, refused);
    return ok();
  }

  /// Returns the refusals of the operands.
  [[nodiscard]] Refusals inherited_refusals(const pt2::Node& node, const ir::Source& source) const {
    Refusals refused;
    for (const pt2::NamedArgument& input : node.inputs) {
      const bool list = std::holds_alternative<std::vector<pt2::TensorName>>(input.value);
      const bool may_be_empty = list || is_written_part(source.target, input.name);
      for_each_tensor(input.value, [&](const std::string& name) {
        if (may_be_empty && context_.tensors.is_empty(name)) return;
        const Refusals* inherited = context_.tensors.refusals(name);
        if (inherited != nullptr) refused.insert(inherited->begin(), inherited->end());
      });
    }
    return refused;
  }

  /// Returns the function that imports the operator; null if there is none.
  [[nodiscard]] Handler handler_of(const pt2::Node& node, const ir::Source& source) const {
    return reads_complex(context_, node) ? find_complex_handler(source.target)
                                         : find_handler(source.target);
  }

  [[nodiscard]] bool is_supported(const pt2::Node& node, const ir::Source& source) const {
    if (has_pair(pairs_, node)) return true;
    return handler_of(node, source) != nullptr && !changes_state(node, source);
  }

  /// Returns the reason and the advice for a node that is not is_supported(); empty for operators
  /// without advice.
  [[nodiscard]] std::string refusal_of(const pt2::Node& node, const ir::Source& source) const {
    std::string reason = spectrum_refusal(source.target, reads_complex(context_, node));
    if (reason.empty()) reason = subgraph_refusal(source.target);
    if (reason.empty()) reason = subclass_refusal(source.target);
    if (reason.empty()) reason = refusal_note(source.target);
    return reason;
  }

  /// Adds the operators of a node and binds its results. The message of the error is empty for an
  /// operator without advice.
  Status compute(const pt2::Node& node, const ir::Source& source) {
    if (!is_supported(node, source))
      return Error{ErrorKind::kUnsupported, refusal_of(node, source)};
    if (has_pair(pairs_, node)) {
      THIMBLE_CHECK(import_pair(context_, pairs_, node, source));
    } else {
      Call call(context_, node, source);
      THIMBLE_CHECK(import_call(call, handler_of(node, source), source.target));
    }
    record_dynamic_results(context_, node);
    return results_.check(node);
  }

  /// Returns true for the values of x[index] = values, which change nothing without elements.
  static bool is_written_part(std::string_view target, std::string_view argument) {
    return argument == "values" && target.starts_with("aten.index_put");
  }

  /// Computes a node whose operands are known integers. Returns false for other nodes.
  Result<bool> import_known(const pt2::Node& node, const ir::Source& source) {
    Call call(context_, node, source);
    THIMBLE_TRY(std::optional<ir::Tensor> known, fold_integers(call, source.target));
    if (!known) return false;
    THIMBLE_CHECK(call.result(call.constant_value("", *std::move(known))));
    record_dynamic_results(context_, node);
    THIMBLE_CHECK(results_.check(node));
    model_.nodes.push_back({source, ImportedNode::Result::kConstant});
    return true;
  }

  ImportedNode::Result result_of(const pt2::Node& node, size_t ops_before) {
    using Result = ImportedNode::Result;
    if (context_.builder.graph.ops().size() > ops_before) return Result::kOperators;
    Result result = Result::kNothing;
    for_each_result(node, [&](const std::string& name) {
      if (result != Result::kNothing || !context_.tensors.is_bound(name)) return;
      const auto id = context_.tensors.read(name, {});
      if (!id.ok()) return;
      const bool known = context_.builder.constant_of(*id) != nullptr;
      result = known ? Result::kConstant : Result::kOperand;
    });
    return result;
  }

  /// Returns true if an in-place operator writes to a parameter, buffer or constant.
  bool changes_state(const pt2::Node& node, const ir::Source& source) const {
    return !written_state(node, source).empty();
  }
  std::string written_state(const pt2::Node& node, const ir::Source& source) const {
    if (!is_in_place(source.target) || source.target == "aten.detach_.default") return "";
    if (node.inputs.empty()) return "";
    const auto* self = std::get_if<pt2::TensorName>(&node.inputs.front().value);
    return self == nullptr ? "" : context_.tensors.owner(self->name);
  }

  bool is_buffer(const std::string& name) const {
    return std::any_of(program_.input_specs.begin(), program_.input_specs.end(),
                       [&](const pt2::InputSpec& spec) {
                         return (spec.kind == pt2::InputKind::kBuffer ||
                                 spec.kind == pt2::InputKind::kTensorConstant) &&
                                spec.target == name;
                       });
  }

  int add_refusal(const pt2::Node& node, const ir::Source& source, std::string reason) {
    Refusal refusal{source, std::move(reason), false};
    if (const std::string state = written_state(node, source); !state.empty()) {
      refusal.counts = true;
      refusal.reason = fmt::format("it writes to {}, and only buffers can be state", state);
    }
    refusals_.push_back(std::move(refusal));
    return static_cast<int>(refusals_.size()) - 1;
  }

  /// Marks everything that this node produces or writes to as having no value.
  void propagate_refusals(const pt2::Node& node, const ir::Source& source,
                          const Refusals& refused) {
    if (is_in_place(source.target) && !node.inputs.empty()) {
      for_each_tensor(node.inputs.front().value,
                      [&](const std::string& name) { context_.tensors.refuse(name, refused); });
    }
    for_each_result(node,
                    [&](const std::string& name) { context_.tensors.bind_refused(name, refused); });
  }

  /// Binds outputs that the handler did not bind, such as the indices of a pool. A use of them is
  /// an error.
  void bind_rest(const pt2::Node& node, const ir::Source& source) {
    for_each_result(node, [&](const std::string& name) {
      if (context_.tensors.is_bound(name)) return;
      const int refusal = add_refusal(node, source, fmt::format("its output {} is used", name));
      context_.tensors.bind_refused(name, {refusal});
    });
  }

  static Error located(const pt2::Node& node, const Error& error) {
    const ir::Source source = source_of(node);
    const std::string where = source.where();
    if (where.empty()) return {error.kind, fmt::format("{}: {}", source.target, error.message)};
    if (error.message.starts_with(where)) return error;
    return {error.kind, fmt::format("{}: {}: {}", where, source.target, error.message)};
  }

  /// Returns the refusals that outputs depend on, directly or through states.
  Result<Refusals> needed_refusals() {
    Refusals needed;
    std::vector<ValueId> results;
    const auto ask = [&](const std::string& name) -> Status {
      if (const Refusals* refused = context_.tensors.refusals(name)) {
        needed.insert(refused->begin(), refused->end());
        return ok();
      }
      THIMBLE_TRY(const ValueId id, context_.tensors.read(name, {}));
      results.push_back(id);
      return ok();
    };
    for (const pt2::OutputSpec& spec : program_.output_specs) {
      if (is_tensor_output(spec)) THIMBLE_CHECK(ask(spec.value_name));
    }
    std::vector<bool> asked(states_.size(), false);
    for (bool grown = true; grown;) {
      grown = false;
      const std::vector<bool> used = needed_values(context_.builder.graph, results);
      for (size_t i = 0; i < states_.size(); ++i) {
        const ValueId value = context_.builder.graph.states()[i].value;
        if (asked[i] || !used[static_cast<size_t>(value)]) continue;
        asked[i] = grown = true;
        THIMBLE_CHECK(ask(states_[i].next));
      }
    }
    return needed;
  }

  Status check_refusals() {
    THIMBLE_TRY(const Refusals needed, needed_refusals());
    std::vector<const Refusal*> listed;
    for (size_t i = 0; i < refusals_.size(); ++i) {
      if (refusals_[i].counts || needed.count(static_cast<int>(i)) != 0)
        listed.push_back(&refusals_[i]);
    }
    if (listed.empty()) return ok();
    ErrorFacts facts;
    for (const Refusal* each : listed) {
      const std::string reason = each->reason.empty() ? "is not supported" : each->reason;
      facts.ops.push_back({each->source.target, each->source.where(), each->source.text,
                           each->source.module, reason});
      if (refused_ != nullptr) refused_->push_back({each->source, reason});
    }
    return refusal(describe(listed), std::move(facts));
  }

  /// Sets the next content of each state. A state that no output depends on may have a rejected
  /// next content; it then keeps its content.
  Status finish_states() {
    ir::Graph& graph = context_.builder.graph;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (context_.tensors.refusals(states_[i].next) != nullptr) continue;
      THIMBLE_TRY(const ValueId next, context_.tensors.read(states_[i].next, {}));
      const ir::Type& is = graph.type(graph.states()[i].value);
      const ir::Type& becomes = graph.type(next);
      if (is.dtype != becomes.dtype || is.shape != becomes.shape) {
        return bad_input("buffer {} is {}, the graph writes {} to it", states_[i].name,
                         ir::type_text(is.dtype, is.shape),
                         ir::type_text(becomes.dtype, becomes.shape));
      }
      graph.set_next(i, next);
    }
    return ok();
  }

  Result<ImportedModel> finish() {
    THIMBLE_CHECK(finish_states());
    for (const pt2::OutputSpec& spec : program_.output_specs) {
      if (spec.kind != pt2::OutputKind::kUserOutput) continue;
      if (!is_tensor_output(spec)) {
        THIMBLE_CHECK(check_omitted_output(spec));
        continue;
      }
      if (is_complex_output(spec)) {
        return unsupported("output {} is complex: return torch.view_as_real of it",
                           spec.value_name);
      }
      THIMBLE_TRY(ValueId id, context_.tensors.read(spec.value_name, {}));
      const ir::Type type = context_.builder.graph.type(id);
      const ir::DimOrder order =
          exported_order(*program_.graph.tensor(spec.value_name), type.shape);
      if (!ir::same_memory(type.shape, type.dim_order, order)) {
        const ir::Op* producer = context_.builder.producer(id);
        const ir::Source source = producer == nullptr ? ir::Source{} : producer->source;
        THIMBLE_TRY(id, context_.builder.graph.add(ir::OpKind::copy, {id}, {}, source,
                                                   {spec.value_name, order, type.quant}));
      }
      if (!spec.key.empty()) name_output(id, spec.key);
      context_.builder.graph.add_output(id);
      model_.outputs.push_back({spec.value_name, order});
    }
    const std::set<std::string> needed = needed_nodes(program_, order_);
    for (ImportedNode& node : model_.nodes) node.needed = needed.contains(node.source.node);
    model_.graph = ir::remove_unused(context_.builder.graph);
    model_.has_dynamic_quantization = !context_.dynamic_scales.empty();
    model_.notes = quantization_notes(context_);
    return std::move(model_);
  }

  /// Names a value by its key in the dictionary that the model returns. An input, a constant, a
  /// value that already is an output, and a value whose name would not be unique keep their names.
  void name_output(ValueId id, std::string key) {
    ir::Graph& graph = context_.builder.graph;
    for (char& c : key) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain) c = '_';
    }
    if (context_.builder.producer(id) == nullptr) return;
    if (std::ranges::find(graph.outputs(), id) != graph.outputs().end()) return;
    for (size_t i = 0; i < graph.value_count(); ++i) {
      if (graph.value(static_cast<ValueId>(i)).name == key) return;
    }
    graph.value(id).name = std::move(key);
  }

  struct StateNames {
    std::string name;  // name of the buffer
    std::string next;  // name of the tensor that holds its content after the run
  };

  const pt2::ExportedProgram& program_;
  const Buffers& written_;
  std::vector<ir::RefusedNode>* refused_;
  const PairNames pairs_;
  Context context_;
  ResultCheck results_;
  std::vector<StateNames> states_;  // in the order of graph.states()
  std::vector<Refusal> refusals_;
  std::deque<pt2::Node> expanded_;       // nodes that replace control flow
  std::vector<const pt2::Node*> order_;  // all imported nodes
  std::optional<std::string> found_;
  ImportedModel model_;
};

/// Returns true if integers are computed at run time. A function of a position may become a table
/// when the number of positions is known.
bool computes_integers(const ir::Graph& graph) {
  return std::ranges::any_of(graph.ops(), [](const ir::Op& op) {
    return op.kind == ir::OpKind::int_pair || op.kind == ir::OpKind::int_to_float ||
           op.kind == ir::OpKind::int_cumsum || op.kind == ir::OpKind::int_reduce;
  });
}

Result<ImportedModel> import_graph(const pt2::ExportedProgram& program,
                                   const ImportOptions& options) {
  THIMBLE_TRY(const auto symbols, Symbols::fix(program, options));
  // Core ATen lists the written buffers. Training IR does not list them, and its in-place operators
  // write to them through views. Each time such a buffer is found, the import is repeated with this
  // buffer as a state.
  Buffers written;
  for (const pt2::OutputSpec& spec : program.output_specs) {
    if (spec.kind == pt2::OutputKind::kBufferMutation) written.insert(spec.target);
  }
  PositionCounts counts;
  while (true) {
    const size_t refused_before = options.refused == nullptr ? 0 : options.refused->size();
    Importer importer(program, symbols, written, counts, options.refused);
    auto model = importer.run();
    if (!importer.found()) {
      // Positions may be found after their first use. Counts only decrease, so the loop ends.
      PositionCounts next = counts;
      for (const auto& [name, count] : importer.counts()) {
        const auto [entry, fresh] = next.try_emplace(name, count);
        entry->second = std::min(entry->second, count);
      }
      const bool done = model.ok() && !computes_integers(model->graph);
      if (done || next == counts) return model;
      counts = std::move(next);
      if (options.refused != nullptr) options.refused->resize(refused_before);
      continue;
    }
    const bool fresh = written.insert(*importer.found()).second;
    assert(fresh && "a state's storage is not persistent");
    (void)fresh;
  }
}

}  // namespace

Result<ImportedModel> import_program(const pt2::ExportedProgram& program,
                                     const ImportOptions& options, std::string_view file_name) {
  auto model = import_graph(program, options);
  if (model.ok() || model.error().kind == ErrorKind::kUnsupported) return model;
  // Messages of the archive reader already begin with the archive's name.
  const std::string& message = model.error().message;
  if (message.starts_with(file_name)) return model;
  return bad_input("{}: {}", file_name, message);
}

}  // namespace thimble::import_pt2
