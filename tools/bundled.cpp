// SPDX-License-Identifier: Apache-2.0
#include "tools/bundled.h"

#include <algorithm>
#include <cmath>

#include "emit/dtypes.h"
#include "tools/output.h"
#include "tools/quality.h"

namespace thimble::tools {
namespace {

namespace bundle = formats::bundle;

bundle::Tensor to_bundle(const ir::Tensor& tensor, const hostrun::Port& port) {
  bundle::Tensor out;
  out.scalar_type = emit::scalar_type(tensor.dtype);
  out.sizes.assign(tensor.shape.begin(), tensor.shape.end());
  for (const int dim : hostrun::full_order(port))
    out.dim_order.push_back(static_cast<uint8_t>(dim));
  out.data = ir::to_memory(tensor, port.dim_order);
  return out;
}

Result<ir::Tensor> from_bundle(const bundle::Tensor& tensor, const std::string& place) {
  const std::optional<ir::DType> dtype = emit::dtype_of(tensor.scalar_type);
  if (!dtype) {
    return unsupported("{}: element type {}", place, formats::pte::name(tensor.scalar_type));
  }
  const ir::Shape shape(tensor.sizes.begin(), tensor.sizes.end());
  const ir::DimOrder order(tensor.dim_order.begin(), tensor.dim_order.end());
  std::vector<int> sorted(order.begin(), order.end());
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int>(i) || sorted.size() != shape.size()) {
      return bad_input("{}: its memory order is not one of {} dimensions", place, shape.size());
    }
  }
  return ir::from_memory(tensor.data, *dtype, shape, order);
}

Result<std::vector<ir::Tensor>> from_bundle(const std::vector<bundle::Tensor>& tensors,
                                            const std::string& place) {
  std::vector<ir::Tensor> out;
  for (const bundle::Tensor& tensor : tensors) {
    THIMBLE_TRY(ir::Tensor read, from_bundle(tensor, fmt::format("{} {}", place, out.size())));
    out.push_back(std::move(read));
  }
  return out;
}

void compare_output(const ir::Tensor& output, const ir::Tensor& expected, const std::string& name,
                    const Tolerance& tolerance, CaseResult* result) {
  if (output.dtype != expected.dtype || output.shape != expected.shape) {
    result->difference = name + ": another type or shape than expected";
    return;
  }
  const bool real = output.dtype == ir::DType::kF32;
  const std::vector<double> got = values_of(output), wanted = values_of(expected);
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - wanted[i]);
    const bool both_nan = std::isnan(got[i]) && std::isnan(wanted[i]);
    const bool equal = got[i] == wanted[i] || both_nan;
    if (equal) continue;
    result->error_max = std::max(result->error_max, error);
    const bool has_bound = real && std::isfinite(wanted[i]);
    const double bound = has_bound ? tolerance.atol + tolerance.rtol * std::abs(wanted[i]) : 0;
    if (error <= bound || !result->difference.empty()) continue;
    result->difference =
        fmt::format("{}: element {} is {:.9g}, expected {:.9g}", name, i, got[i], wanted[i]);
  }
}

CaseResult check_case(const Model& model, const std::vector<ir::Tensor>& outputs,
                      const std::vector<ir::Tensor>& expected, const Tolerance& tolerance) {
  CaseResult result;
  if (outputs.size() != expected.size()) {
    result.difference =
        fmt::format("{} expected outputs, the program has {}", expected.size(), outputs.size());
  }
  for (size_t i = 0; i < outputs.size() && i < expected.size(); ++i) {
    compare_output(outputs[i], expected[i], model.outputs[i].name, tolerance, &result);
  }
  result.passed = result.difference.empty();
  return result;
}

Status run_suite(const bundle::TestSuite& suite, const Model& model, const Tolerance& tolerance,
                 BundledResult* result) {
  for (const bundle::TestCase& test_case : suite.cases) {
    const size_t index = static_cast<size_t>(&test_case - suite.cases.data());
    const std::string place =
        fmt::format("{}: method {}: test case {}", model.label, suite.method, index);
    THIMBLE_TRY(const auto inputs, from_bundle(test_case.inputs, place + ": input"));
    THIMBLE_TRY(const auto expected, from_bundle(test_case.expected_outputs, place + ": output"));
    // Each run begins with the initial state.
    THIMBLE_TRY(const Outcome outcome, model.run(std::span(&inputs, 1)));
    CaseResult row = check_case(model, outcome.outputs[0], expected, tolerance);
    row.method = suite.method;
    row.index = index;
    result->cases.push_back(std::move(row));
  }
  return ok();
}

}  // namespace

size_t BundledResult::failed() const {
  return static_cast<size_t>(
      std::ranges::count_if(cases, [](const CaseResult& each) { return !each.passed; }));
}

bundle::TestCase test_case_of(const Model& model, std::span<const ir::Tensor> inputs,
                              std::span<const ir::Tensor> outputs) {
  bundle::TestCase test_case;
  for (size_t i = 0; i < inputs.size(); ++i) {
    test_case.inputs.push_back(to_bundle(inputs[i], model.inputs[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    test_case.expected_outputs.push_back(to_bundle(outputs[i], model.outputs[i]));
  }
  return test_case;
}

Result<BundledResult> run_bundled(const std::filesystem::path& path, const OpenOptions& options,
                                  const Tolerance& tolerance) {
  const std::string label = path.filename().string();
  THIMBLE_TRY(const Bytes bytes, read_file(path));
  THIMBLE_TRY(const bundle::BundledProgram bundled, bundle::read(bytes, label));
  BundledResult result;
  for (const bundle::TestSuite& suite : bundled.suites) {
    OpenOptions of_method = options;
    of_method.method = suite.method;
    THIMBLE_TRY(const Model model, open_program(bundled.program, label, of_method));
    result.where = model.where;
    THIMBLE_CHECK(run_suite(suite, model, tolerance, &result));
  }
  if (result.cases.empty()) return bad_input("{}: no test cases", label);
  return result;
}

}  // namespace thimble::tools
