// SPDX-License-Identifier: Apache-2.0
// Writes the generated header: sizes as macros, and the function prototypes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/c/header.h"
#include "emit/c/text.h"

namespace thimble::emit::c {
namespace {

namespace pte = formats::pte;

/// Rank 0: C has no empty array; RANK says how many entries count.
std::string shape_text(const pte::Tensor& tensor) {
  return tensor.sizes.empty() ? "{1}" : fmt::format("{{{}}}", list(tensor.sizes));
}

std::string port_macros(const CProgram& program, const Port& port) {
  const std::string begin = fmt::format("#define {}_{}_", program.upper, port.label);
  const pte::Tensor& tensor = *port.tensor;
  std::string text = fmt::format("\n/* {}: {} */\n", port.name, printable(port.source_name));
  text += fmt::format("{}BYTES {}u\n", begin, bytes_of(tensor));
  text += fmt::format("{}ELEMENTS {}u\n", begin,
                      bytes_of(tensor) / pte::size_bytes(tensor.scalar_type));
  text += fmt::format("{}RANK {}u\n", begin, tensor.sizes.size());
  text += fmt::format("{}SHAPE {}\n", begin, shape_text(tensor));
  // Memory order: dimensions from the outermost to the innermost.
  if (!tensor.dim_order.empty()) {
    text += fmt::format("{}DIM_ORDER {{{}}}\n", begin, fmt::join(tensor.dim_order, ", "));
  }
  if (port.scale != 0) {
    text += fmt::format("{}SCALE {}\n", begin, float_literal(port.scale));
    text += fmt::format("{}ZERO_POINT ({})\n", begin, port.zero_point);
  }
  return text;
}

std::string planned_inputs(const CProgram& program) {
  std::string text;
  if (!program.options->owns_inputs) return text;
  for (const Port& input : program.inputs) {
    if (program.is_external(input.value)) continue;
    text += fmt::format("{} *{}_{}(void);\n", c_type(input.tensor->scalar_type), program.name,
                        input.name);
  }
  if (text.empty()) return text;
  return "\n/* Addresses in the arena. An input that is written here before each run, and passed "
         "to "
         "it, is not copied. */\n" +
         text;
}

std::string functions(const CProgram& program) {
  const std::string& name = program.name;
  const std::string planned = planned_inputs(program);
  std::string text = fmt::format(
      "/* Call once before the first run. A second call resets the model. */\n"
      "#if defined({1}_ARENA_GIVEN)\n"
      "/* `arena`: {1}_ARENA_BYTES, 16-byte aligned, in use until the next init. */\n"
      "void {0}_init(void *arena);\n"
      "#else\n"
      "void {0}_init(void);\n"
      "#endif\n"
      "\n"
      "/* Reads the inputs. Does not modify them{3}. */\n"
      "void {0}_run({2});\n",
      name, program.upper, run_parameters(program),
      planned.empty() ? "" : ", except those in the arena");
  text += planned;
  text += "\n/* Valid until the next run. */\n";
  for (const Port& output : program.outputs) {
    text += fmt::format("const {} *{}_{}(void);\n", c_type(output.tensor->scalar_type), name,
                        output.name);
  }
  text += fmt::format(
      "\n/* Sets the states that the model keeps between runs to their initial content. */\n"
      "void {}_reset(void);\n",
      name);
  if (program.states.empty()) return text;
  return text + fmt::format(
                    "/* Copy the states to and from a buffer of {1}_STATE_BYTES. */\n"
                    "void {0}_save(uint8_t *to);\n"
                    "void {0}_restore(const uint8_t *from);\n",
                    name, program.upper);
}

}  // namespace

std::string header(const CProgram& program) {
  std::string text = fmt::format(
      "#ifndef {0}_H\n"
      "#define {0}_H\n"
      "/* {1} for {2}, written by `thimble compile --emit c`. No heap, no library beyond memcpy "
      "and "
      "memset.\n"
      " *\n"
      " *   {1}_init();\n"
      " *   {1}_run(...);\n"
      " *   ... {1}_output_0() ...\n"
      " *\n"
      " * Macros for both the header and the source:\n"
      " *   {0}_ARENA_GIVEN      init() receives the arena; otherwise it is a static array\n"
      " * Macros for the source only:\n"
      " *   {0}_WEIGHTS_SECTION  section attribute of the constants\n"
      " *   {0}_ARENA_SECTION    section attribute of the static arena\n"
      " *   {0}_OP_HOOK(i, name) called before operator i, and after the last as operator "
      "{0}_OP_COUNT\n"
      " *   THIMBLE_PORTABLE     kernels that run everywhere: for tests on another machine */\n"
      "\n"
      "#include <stdint.h>\n"
      "\n"
      "#ifdef __cplusplus\n"
      "extern \"C\" {{\n"
      "#endif\n"
      "\n"
      "#define {0}_ARENA_BYTES {3}u\n"
      "#define {0}_STATE_BYTES {4}u /* bytes of the arena that are kept between runs */\n"
      "#define {0}_INPUT_COUNT {5}u\n"
      "#define {0}_OUTPUT_COUNT {6}u\n"
      "#define {0}_OP_COUNT {7}u\n",
      program.upper, program.name, program.info->target, program.arena_bytes, program.state_bytes(),
      program.inputs.size(), program.outputs.size(), program.plan->chains[0].instructions.size());
  for (const Port& input : program.inputs) text += port_macros(program, input);
  for (const Port& output : program.outputs) text += port_macros(program, output);
  text += "\n" + functions(program);
  return text + fmt::format(
                    "\n#ifdef __cplusplus\n"
                    "}}\n"
                    "#endif\n"
                    "#endif /* {}_H */\n",
                    program.upper);
}

}  // namespace thimble::emit::c
