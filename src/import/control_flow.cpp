// SPDX-License-Identifier: Apache-2.0
#include "import/control_flow.h"

#include <utility>

#include "formats/pt2/inline_region.h"
#include "import/constants.h"

namespace thimble::import_pt2 {
namespace {

namespace pt2 = formats::pt2;
using Names = std::vector<std::string>;
using Nodes = std::vector<pt2::Node>;

constexpr std::string_view kCond = "torch.ops.higher_order.cond";
constexpr std::string_view kWhile = "torch.ops.higher_order.while_loop";
constexpr std::string_view kScan = "torch.ops.higher_order.scan";
constexpr std::string_view kMap = "torch.ops.higher_order.map_impl";

// An input of a `while_loop` that the export does not have: its predicate for this iteration.
constexpr std::string_view kPredicate = "predicate";

class Expansion {
 public:
  Expansion(Context& context, const pt2::Node& node) : context_(context), node_(node) {}

  Result<Nodes> run() {
    for (const pt2::Argument& output : node_.outputs) {
      if (!pt2::add_tensors(output, results_)) return wrong_form();
    }
    if (node_.target == kCond) return cond();
    if (node_.target == kWhile) return while_loop();
    return node_.target == kScan ? scan() : map();
  }

 private:
  [[nodiscard]] Error wrong_form() const {
    return unsupported("its operands and results must be tensors");
  }

  /// Returns the names of an input that is a list of tensors.
  [[nodiscard]] Result<Names> tensors(size_t input) const {
    Names names;
    if (input >= node_.inputs.size()) return wrong_form();
    if (!pt2::add_tensors(node_.inputs[input].value, names)) return wrong_form();
    return names;
  }

  [[nodiscard]] Result<const pt2::Graph*> subgraph(size_t input) const {
    if (input >= node_.inputs.size()) return wrong_form();
    const auto* found = std::get_if<pt2::Subgraph>(&node_.inputs[input].value);
    if (found == nullptr) return wrong_form();
    return found->graph.get();
  }

  std::string fresh(const std::string& name) {
    return context_.names.add(name, formats::pt2::kRegionSeparator);
  }
  Names fresh(const Names& names) {
    Names result;
    for (const std::string& name : names) result.push_back(fresh(name));
    return result;
  }

  Status add_subgraph(const pt2::Graph& graph, pt2::SubgraphCall call) {
    if (pt2::inline_subgraph(graph, call, node_, context_.expanded, context_.names)) return ok();
    return wrong_form();
  }

  pt2::Node& add_node(std::string target, std::vector<pt2::NamedArgument> inputs,
                      std::string result) {
    pt2::Node node;
    node.name = result;
    node.target = std::move(target);
    node.inputs = std::move(inputs);
    node.outputs.emplace_back(pt2::TensorName{std::move(result)});
    node.source = node_.source;
    node.module_path = node_.module_path;
    node.module_type = node_.module_type;
    context_.expanded.nodes.push_back(std::move(node));
    return context_.expanded.nodes.back();
  }

  void set_type(const std::string& name, const pt2::TensorMeta& meta) {
    context_.expanded.tensor_values.emplace(name, meta);
  }

  Nodes taken() { return std::exchange(context_.expanded.nodes, {}); }

  /// Returns the value of a predicate that no input decides.
  Result<std::optional<bool>> known(const pt2::Argument& predicate) const {
    if (const auto* truth = std::get_if<bool>(&predicate)) return std::optional(*truth);
    if (const auto* symbol = std::get_if<pt2::SymBoolArg>(&predicate)) {
      if (!symbol->is_name()) return std::optional(symbol->value);
      const auto found = context_.reals.find(symbol->name);
      if (found == context_.reals.end())
        return unsupported("its predicate depends on an input: use torch.where of both results");
      return std::optional(found->second != 0);
    }
    const auto* name = std::get_if<pt2::TensorName>(&predicate);
    if (name == nullptr) return wrong_form();
    if (context_.tensors.refusals(name->name) != nullptr) return std::optional<bool>();
    THIMBLE_TRY(const ir::ValueId id, context_.tensors.read(name->name, {}));
    const ir::Tensor* tensor = context_.builder.known(id);
    if (tensor == nullptr || ir::element_count(tensor->shape) != 1) return std::optional<bool>();
    return std::optional(element(*tensor, 0) != 0);
  }

  Result<Nodes> cond() {
    if (node_.inputs.empty()) return wrong_form();
    const pt2::Argument& predicate = node_.inputs[0].value;
    THIMBLE_TRY(const pt2::Graph* chosen, subgraph(1));
    THIMBLE_TRY(const pt2::Graph* other, subgraph(2));
    THIMBLE_TRY(const Names operands, tensors(3));
    THIMBLE_TRY(const std::optional<bool> truth, known(predicate));
    if (truth) {
      THIMBLE_CHECK(add_subgraph(*truth ? *chosen : *other, {operands, results_}));
      return taken();
    }
    const Names if_true = fresh(results_), if_false = fresh(results_);
    THIMBLE_CHECK(add_subgraph(*chosen, {operands, if_true}));
    THIMBLE_CHECK(add_subgraph(*other, {operands, if_false}));
    for (size_t i = 0; i < results_.size(); ++i) {
      add_node("torch.ops.aten.where.self",
               {{"condition", predicate},
                {"self", pt2::TensorName{if_true[i]}},
                {"other", pt2::TensorName{if_false[i]}}},
               results_[i]);
    }
    return taken();
  }

  Result<Nodes> while_loop() {
    THIMBLE_TRY(const pt2::Graph* condition, subgraph(0));
    THIMBLE_TRY(const pt2::Graph* body, subgraph(1));
    THIMBLE_TRY(const Names carried, tensors(2));
    THIMBLE_TRY(const Names others, tensors(3));
    Names operands = carried;
    operands.insert(operands.end(), others.begin(), others.end());
    pt2::Node next = node_;
    const pt2::Argument* predicate = node_.input(kPredicate);
    if (predicate == nullptr) {
      const std::string name = fresh(node_.name + "_condition");
      THIMBLE_CHECK(add_subgraph(*condition, {operands, {name}}));
      next.inputs.push_back({std::string(kPredicate), pt2::TensorName{name}, false});
      context_.expanded.nodes.push_back(std::move(next));
      return taken();
    }
    THIMBLE_TRY(const std::optional<bool> truth, known(*predicate));
    if (!truth) {
      return unsupported(
          "the number of iterations depends on an input; use a fixed number, and torch.where for "
          "results that later iterations must keep");
    }
    if (!*truth) {
      for (size_t i = 0; i < results_.size(); ++i) {
        add_node("torch.ops.aten.alias.default", {{"self", pt2::TensorName{carried[i]}}},
                 results_[i]);
      }
      return taken();
    }
    const Names results = fresh(results_);
    THIMBLE_CHECK(add_subgraph(*body, {operands, results}));
    std::vector<pt2::TensorName> values;
    for (const std::string& name : results) values.push_back({name});
    next.inputs.pop_back();
    next.inputs[2].value = std::move(values);
    context_.expanded.nodes.push_back(std::move(next));
    return taken();
  }

  /// Returns the size of the first dimension of the operands that the iterations slice.
  [[nodiscard]] Result<int64_t> iterations(const Names& sliced) const {
    if (sliced.empty()) return unsupported("it has no operand to iterate over");
    const pt2::TensorMeta* meta = context_.meta(sliced[0]);
    if (meta == nullptr || meta->sizes.empty()) return wrong_form();
    return context_.symbols.value(meta->sizes[0]);
  }

  std::string slice(const std::string& name, int64_t index) {
    std::string result = fresh(name);
    pt2::TensorMeta meta = *context_.meta(name);
    meta.sizes.erase(meta.sizes.begin());
    meta.strides.erase(meta.strides.begin());
    set_type(result, meta);
    add_node("torch.ops.aten.select.int",
             {{"self", pt2::TensorName{name}}, {"dim", int64_t{0}}, {"index", index}}, result);
    return result;
  }

  /// Adds an iteration for each slice. `carried` are the operands that an iteration gets from the
  /// one before it; afterwards they are those of the last. Results after these are stacked.
  Status iterate(const pt2::Graph& body, Names& carried, const Names& sliced, const Names& others) {
    THIMBLE_TRY(const int64_t count, iterations(sliced));
    if (carried.size() > results_.size()) return wrong_form();
    const Names stacked(results_.begin() + static_cast<ptrdiff_t>(carried.size()), results_.end());
    std::vector<std::vector<pt2::TensorName>> parts(stacked.size());
    for (int64_t i = 0; i < count; ++i) {
      Names operands = carried;
      for (const std::string& name : sliced) operands.push_back(slice(name, i));
      operands.insert(operands.end(), others.begin(), others.end());
      const Names results = fresh(results_);
      THIMBLE_CHECK(add_subgraph(body, {operands, results}));
      for (size_t k = 0; k < carried.size(); ++k) carried[k] = results[k];
      for (size_t k = 0; k < stacked.size(); ++k) {
        parts[k].push_back({results[carried.size() + k]});
      }
      if (context_.expanded.nodes.size() > kExpandedNodesMax) return too_many_nodes();
    }
    for (size_t k = 0; k < stacked.size(); ++k) {
      add_node("torch.ops.aten.stack.default",
               {{"tensors", std::move(parts[k])}, {"dim", int64_t{0}}}, stacked[k]);
    }
    return ok();
  }

  Result<Nodes> scan() {
    THIMBLE_TRY(const pt2::Graph* body, subgraph(0));
    THIMBLE_TRY(Names carried, tensors(1));
    THIMBLE_TRY(const Names sliced, tensors(2));
    THIMBLE_TRY(const Names others, tensors(3));
    THIMBLE_CHECK(iterate(*body, carried, sliced, others));
    for (size_t i = 0; i < carried.size(); ++i) {
      add_node("torch.ops.aten.alias.default", {{"self", pt2::TensorName{carried[i]}}},
               results_[i]);
    }
    return taken();
  }

  Result<Nodes> map() {
    THIMBLE_TRY(const pt2::Graph* body, subgraph(0));
    THIMBLE_TRY(const Names sliced, tensors(1));
    THIMBLE_TRY(const Names others, tensors(2));
    Names carried;
    THIMBLE_CHECK(iterate(*body, carried, sliced, others));
    return taken();
  }

  Context& context_;
  const pt2::Node& node_;
  Names results_;
};

}  // namespace

bool is_control_flow(std::string_view target) {
  return target == kCond || target == kWhile || target == kScan || target == kMap;
}

std::string_view subgraph_refusal(std::string_view target) {
  if (target == "higher_order.wrap_with_autocast") {
    return "autocast computes in another type than float32; export without torch.autocast, or with "
           "enabled=False";
  }
  if (target == "higher_order.associative_scan") return "use scan, or torch.cumsum";
  if (target == "higher_order.flex_attention") return "use scaled_dot_product_attention";
  return "";
}

Error too_many_nodes() {
  return unsupported("its iterations have more than {} operators", kExpandedNodesMax);
}

Result<std::vector<pt2::Node>> expand(Context& context, const pt2::Node& node) {
  if (context.names.empty()) {
    for (const auto& [name, meta] : context.program.graph.tensor_values) context.names.insert(name);
    for (const auto& [name, size] : context.program.graph.sym_int_values) {
      context.names.insert(name);
    }
  }
  auto nodes = Expansion(context, node).run();
  if (!nodes.ok()) context.expanded.nodes.clear();
  return nodes;
}

}  // namespace thimble::import_pt2
