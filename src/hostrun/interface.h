// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inputs, outputs and operators of a `.pte`, read from the file alone. The host runtime, QEMU and
// the reference evaluator all use this description.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/delegate_overlap.h"
#include "formats/pte/program.h"
#include "ir/tensor.h"

namespace thimble::hostrun {

/// An input or output of the program. The file does not name them: `input_0`, `output_0`.
struct Port {
  std::string name;
  ir::DType dtype = ir::DType::kF32;
  ir::Shape shape;
  ir::DimOrder dim_order;
  std::optional<ir::Quant> quant;  // quantization of an int8 port, if the file has it

  [[nodiscard]] size_t bytes() const;
  /// Returns `input_0 float32[1,1,8,8]`, with scale and zero point if the port has them.
  [[nodiscard]] std::string describe() const;
};

/// Returns the port's memory order, outermost dimension first; the default order is written out.
[[nodiscard]] std::vector<int> full_order(const Port& port);

struct Interface {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<std::string> ops;               // registry name of each instruction, in order
  std::vector<size_t> arguments;              // count per instruction, without the return value
  std::vector<std::string> non_kernel_calls;  // instructions that call no kernel: "delegate ID"
  std::string target;                         // "cortex-m55"; empty if unknown
  int64_t arena_bytes = 0;
  std::vector<formats::pte::DelegateOverlap> overlaps;  // of the executed plan
  bool records = false;  // the runtime executes records, not the flatbuffer tables
};

/// Returns the plan that the runtime executes: "forward", or the first plan if there is no
/// "forward". The program must have a plan.
[[nodiscard]] const formats::pte::ExecutionPlan& executed_plan(
    const formats::pte::Program& program);

/// Returns where each memory of a plan starts in the arena, in which they follow one another, and
/// the end of the last one, in bytes. A program that formats::pte::read() returns has memory 0,
/// which is reserved.
[[nodiscard]] std::vector<int64_t> memory_starts(const formats::pte::ExecutionPlan& plan);

/// Returns the instruction of each pair of calls of the trace hook in one run. A delegate that
/// works in the background has two: its start and its wait.
[[nodiscard]] std::vector<size_t> traced_order(const Interface& interface);

/// Describes a tensor of the plan; an error if the value is not a tensor or has a type that this
/// library does not know.
[[nodiscard]] Result<Port> read_port(const formats::pte::ExecutionPlan& plan, int32_t value,
                                     std::string name, std::string_view label);

/// Returns an error if the caller would have to give the memory of an output.
[[nodiscard]] Status check_outputs_are_planned(const formats::pte::Program& program,
                                               std::string_view label);

/// Describes the first method, with the operators of all methods.
[[nodiscard]] Result<Interface> read_all_methods(const formats::pte::Program& program,
                                                 std::string_view label);

/// `label` names the file in messages.
[[nodiscard]] Result<Interface> read_interface(const formats::pte::Program& program,
                                               std::string_view label);

/// Returns the descriptions of the ports, separated by commas.
[[nodiscard]] std::string port_list(std::span<const Port> ports);

/// Checks that there is one tensor per port, of its type and shape. Messages name the port and the
/// found type.
[[nodiscard]] Status check_inputs(std::span<const Port> ports, std::span<const ir::Tensor> inputs,
                                  std::string_view label);

}  // namespace thimble::hostrun
