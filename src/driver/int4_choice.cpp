// SPDX-License-Identifier: Apache-2.0
#include "driver/int4_choice.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/cancel.h"
#include "base/size_text.h"
#include "ir/weight_bits.h"

namespace thimble::driver {
namespace {

using quant::Int4Candidate;
using quant::QuantizedModel;

class FlashSearch {
 public:
  FlashSearch(const FloatModel& model, const Calibration& data, const CompileOptions& options,
              const std::shared_ptr<const engine::Part>& part)
      : model_(model),
        data_(data),
        options_(options),
        part_(part),
        limit_(options.int4_flash_max) {}

  Result<QuantizedModel> run() {
    const Int4Selection none;
    THIMBLE_TRY(QuantizedModel narrow, quantized(none));
    THIMBLE_TRY(const int64_t int8_bytes, flash_of(narrow));
    choice_.limit_bytes = limit_;
    choice_.int8_bytes = choice_.bytes = int8_bytes;
    choice_.int8_sqnr_db = narrow.report.output_sqnr_db;
    if (int8_bytes <= limit_) {
      narrow.report.int4_choice = choice_;
      return narrow;
    }
    if (data_.samples.data.inputs.empty()) {
      return bad_input("{}: --weights auto needs calibration data: --calibrate DATA.npz",
                       model_.name);
    }
    const Int4Selection rank{true, {}};
    THIMBLE_TRY(const QuantizedModel ranked, quantized(rank));
    candidates_ = ranked.report.int4_candidates;
    choice_.candidates = static_cast<int64_t>(candidates_.size());
    smallest_ = int8_bytes;
    int8_ = &narrow;
    std::vector<size_t> order(candidates_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](size_t i) {
      return candidates_[i].noise / static_cast<double>(candidates_[i].weights);
    });
    THIMBLE_TRY(std::vector<size_t> chosen, fewest(order));
    THIMBLE_CHECK(remove_unneeded(&chosen));
    return finish(std::move(chosen), order);
  }

 private:
  Result<QuantizedModel> quantized(const Int4Selection& selection) const {
    return quantize_model(model_, data_, options_, arithmetic_of(options_, *part_),
                          {.int4 = &selection});
  }

  Result<int64_t> flash_of(const QuantizedModel& quantized) const {
    THIMBLE_CHECK(check_cancelled());
    StageFiles none({});
    THIMBLE_TRY(const Program program,
                write_program(model_, quantized, part_, options_, std::nullopt, &none));
    const CompileReport& report = program.compiled.report;
    if (!report.linked) {
      return unsupported("{}: --weights auto: the size of the code for {} is not known",
                         model_.name, part_->name);
    }
    const int64_t bytes = report.linked->flash_bytes();
    return report.linked_c ? std::max(bytes, report.linked_c->flash_bytes()) : bytes;
  }

  /// Returns the flash if these candidates have weights of 4 bits. The values of the weights do not
  /// matter.
  Result<int64_t> flash_with(const std::vector<size_t>& chosen) {
    QuantizedModel cut{int8_->graph, {}};
    for (ir::Op& op : cut.graph.ops()) {
      const std::string& name = cut.graph.value(op.output).name;
      const bool selected =
          std::ranges::any_of(chosen, [&](size_t i) { return candidates_[i].integer == name; });
      if (!selected) continue;
      for (const size_t operand : ir::weight_operands(op.kind)) {
        ir::Value& value = cut.graph.value(op.inputs[operand]);
        ir::Tensor weights = *value.constant;
        for (int8_t& code : weights.data<int8_t>()) code = static_cast<int8_t>(code >> 4);
        value.constant = std::make_shared<const ir::Tensor>(std::move(weights));
      }
      op.attrs.set(ir::attr::weight_bits, int64_t{4});
    }
    THIMBLE_TRY(const int64_t bytes, flash_of(cut));
    if (bytes < smallest_) smallest_ = bytes;
    return bytes;
  }

  /// Returns the first operators of the order that reach the limit.
  Result<std::vector<size_t>> fewest(const std::vector<size_t>& order) {
    std::vector<size_t> chosen;
    int64_t saved = 0;
    for (const size_t i : order) {
      chosen.push_back(i);
      saved += candidates_[i].weights / 2;
      // The code of other kernels may be smaller, by less than this.
      constexpr int64_t kCodeMax = 4096;
      const bool hopeless = choice_.int8_bytes - saved - kCodeMax > limit_;
      if (hopeless && chosen.size() != order.size()) continue;
      THIMBLE_TRY(const int64_t bytes, flash_with(chosen));
      if (bytes <= limit_) return chosen;
    }
    // A kernel may be larger than what its operators save.
    for (const ir::OpKind kind : kinds()) {
      std::vector<size_t> others = order;
      std::erase_if(others, [&](size_t i) { return kind_of(candidates_[i]) == kind; });
      THIMBLE_TRY(const int64_t bytes, flash_with(others));
      if (bytes <= limit_) return others;
    }
    return refusal();
  }

  /// Returns the kind of the integer operator.
  [[nodiscard]] ir::OpKind kind_of(const Int4Candidate& candidate) const {
    const auto op = std::ranges::find_if(int8_->graph.ops(), [&](const ir::Op& each) {
      return int8_->graph.value(each.output).name == candidate.integer;
    });
    return op == int8_->graph.ops().end() ? ir::OpKind::qconv2d : op->kind;
  }
  [[nodiscard]] std::set<ir::OpKind> kinds() const {
    std::set<ir::OpKind> found;
    for (const Int4Candidate& candidate : candidates_) found.insert(kind_of(candidate));
    return found;
  }

  Status remove_unneeded(std::vector<size_t>* chosen) {
    constexpr size_t kTrials = 8;
    std::vector<size_t> by_noise = *chosen;
    std::ranges::stable_sort(by_noise, std::greater<>(),
                             [&](size_t i) { return candidates_[i].noise; });
    for (size_t trial = 0; trial < std::min(kTrials, by_noise.size()); ++trial) {
      std::vector<size_t> fewer = *chosen;
      std::erase(fewer, by_noise[trial]);
      THIMBLE_TRY(const int64_t bytes, flash_with(fewer));
      if (bytes <= limit_) *chosen = std::move(fewer);
    }
    return ok();
  }

  /// Quantizes with the chosen operators. If rounding makes the program larger than the cut
  /// weights, the next operators of the order follow.
  Result<QuantizedModel> finish(std::vector<size_t> chosen, const std::vector<size_t>& order) {
    for (;;) {
      Int4Selection selection;
      for (const size_t i : chosen) selection.results.insert(candidates_[i].output);
      THIMBLE_TRY(QuantizedModel result, quantized(selection));
      THIMBLE_TRY(choice_.bytes, flash_of(result));
      if (choice_.bytes <= limit_) {
        std::ranges::sort(chosen);
        for (const size_t i : chosen) choice_.chosen.push_back(candidates_[i]);
        result.report.int4_choice = choice_;
        return result;
      }
      const auto next =
          std::ranges::find_if(order, [&](size_t i) { return std::ranges::count(chosen, i) == 0; });
      if (next == order.end()) return refusal();
      chosen.push_back(*next);
    }
  }

  /// Returns the error, with the operator whose weights are the largest.
  [[nodiscard]] Error refusal() const {
    const auto largest = std::ranges::max_element(candidates_, {}, &Int4Candidate::weights);
    std::string text;
    if (largest != candidates_.end()) {
      text = fmt::format("; the largest weights, {} B in 4 bits: {}",
                         with_commas(largest->weights / 2), largest->source.where());
    }
    return unsupported(
        "{}: --weights auto:flash={}: {} B of flash are needed at least, with weights of 4 bits "
        "wherever they save flash; with int8 weights {} B{}",
        model_.name, with_commas(limit_), with_commas(smallest_), with_commas(choice_.int8_bytes),
        text);
  }

  const FloatModel& model_;
  const Calibration& data_;
  const CompileOptions& options_;
  const std::shared_ptr<const engine::Part>& part_;
  const int64_t limit_;
  const QuantizedModel* int8_ = nullptr;
  std::vector<Int4Candidate> candidates_;
  quant::Int4Choice choice_;
  int64_t smallest_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

Result<QuantizedModel> quantize_within_flash(const FloatModel& model, const Calibration& data,
                                             const CompileOptions& options,
                                             const std::shared_ptr<const engine::Part>& part) {
  return FlashSearch(model, data, options, part).run();
}

Result<std::optional<int64_t>> cycles_with_int8_weights(
    const FloatModel& model, const QuantizedModel& quantized,
    const std::shared_ptr<const engine::Part>& part, const CompileOptions& options) {
  QuantizedModel with_int8{quantized.graph, {}};
  for (ir::Op& op : with_int8.graph.ops()) {
    if (!ir::has_int4_weights(op)) continue;
    if (ir::has_grouped_weights(op)) op.attrs.set(ir::attr::weight_group, int64_t{0});
    op.attrs.set(ir::attr::weight_bits, int64_t{8});
  }
  CompileOptions plain = options;
  plain.progress = {};
  StageFiles none({});
  THIMBLE_TRY(Program program, write_program(model, with_int8, part, plain, std::nullopt, &none));
  THIMBLE_TRY(const Compiled compiled,
              report_program(std::move(program), model, with_int8, part, plain));
  return compiled.report.cycles;
}

}  // namespace thimble::driver
