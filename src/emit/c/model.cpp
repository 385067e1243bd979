// SPDX-License-Identifier: Apache-2.0
// Writes the generated source: constants, the arena, and the functions that the header declares.

#include "emit/c/model.h"

#include <fmt/format.h>

#include "emit/c/c_program.h"
#include "emit/c/calls.h"
#include "emit/c/header.h"
#include "emit/c/sections.h"
#include "emit/c/text.h"

namespace thimble::emit::c {
namespace {

namespace pte = formats::pte;

/// Definitions that are the same for each model.
std::string preamble(const CProgram& program) {
  return fmt::format(
      "#if defined(__BYTE_ORDER__) && (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)\n"
      "#error \"the constants are little-endian\"\n"
      "#endif\n"
      "{3}"
      "#ifndef {0}_OP_HOOK\n"
      "#define {0}_OP_HOOK(index, name) ((void)0)\n"
      "#endif\n"
      "#define {0}_ALIGNED _Alignas(16)\n"
      "\n"
      "/* The data of a call is constant if the arena's address is. */\n"
      "#if defined({0}_ARENA_GIVEN)\n"
      "#define {0}_FIXED\n"
      "static uint8_t *{1}_arena;\n"
      "#else\n"
      "#define {0}_FIXED static\n"
      "{0}_ARENA_SECTION static {0}_ALIGNED uint8_t {1}_arena[{2}];\n"
      "#endif\n"
      "#define {0}_AT(offset) ((void *)&{1}_arena[offset])\n"
      "\n",
      program.upper, program.name,
      program.arena_bytes > 0 ? program.upper + "_ARENA_BYTES" : std::string("1"),
      section_macros(program));
}

std::string kernel_names(const CProgram& program, const Calls& calls) {
  return fmt::format(
      "#if defined(THIMBLE_PORTABLE)\n"
      "#define {0}_RUN(variant, op) thimble_run_portable_##op\n"
      "#define {0}_CALL(variant, op) thimble_call_portable_##op\n"
      "#else\n"
      "#define {0}_RUN(variant, op) thimble_run_##variant##_##op\n"
      "#define {0}_CALL(variant, op) thimble_call_##variant##_##op\n"
      "#endif\n"
      "{1}\n",
      program.upper, calls.prototypes());
}

/// Arrays with the initial content of states that are not filled with one byte.
std::string contents(const CProgram& program) {
  std::string text;
  for (size_t i = 0; i < program.states.size(); ++i) {
    const Bytes& content = program.states[i].content;
    if (content.empty()) continue;
    text += fmt::format("{4} static const {0}_ALIGNED uint32_t state_{1}[{2}] = {{\n{3}}};\n",
                        program.upper, i, word_count(content.size()), words(content, "  "),
                        constant_section(program, fmt::format("state_{}", i)));
  }
  return text;
}

/// Statements that copy the states to the buffer `to`, or from the buffer `from`.
std::string state_copies(const CProgram& program, bool save) {
  std::string text;
  uint64_t at = 0;
  for (const StateContent& state : program.states) {
    const std::string range = fmt::format("{}_AT({}u)", program.upper, state.offset);
    const std::string saved = fmt::format("&{}[{}]", save ? "to" : "from", at);
    text += fmt::format("  (void)memcpy({}, {}, {}u);\n", save ? saved : range,
                        save ? range : saved, state.bytes);
    at += state.bytes;
  }
  return text;
}

std::string state_functions(const CProgram& program) {
  std::string text = fmt::format("\nvoid {}_reset(void) {{\n", program.name);
  for (size_t i = 0; i < program.states.size(); ++i) {
    const StateContent& state = program.states[i];
    const std::string piece = fmt::format("{}_AT({}u)", program.upper, state.offset);
    text += state.content.empty()
                ? fmt::format("  (void)memset({}, {}, {}u);\n", piece, state.fill, state.bytes)
                : fmt::format("  (void)memcpy({}, state_{}, {}u);\n", piece, i, state.bytes);
  }
  text += "}\n";
  if (program.states.empty()) return text;
  return text + fmt::format(
                    "\nvoid {0}_save(uint8_t *to) {{\n{1}}}\n"
                    "\nvoid {0}_restore(const uint8_t *from) {{\n{2}}}\n",
                    program.name, state_copies(program, /*save=*/true),
                    state_copies(program, /*save=*/false));
}

std::string init_function(const CProgram& program) {
  return fmt::format(
      "\n#if defined({0}_ARENA_GIVEN)\n"
      "void {1}_init(void *arena) {{\n"
      "{2}"
      "  {1}_arena = (uint8_t *)arena;\n"
      "  {1}_reset();\n"
      "}}\n"
      "#else\n"
      "void {1}_init(void) {{\n"
      "{2}"
      "  (void){1}_arena; /* unused if all outputs are constants */\n"
      "  {1}_reset();\n"
      "}}\n"
      "#endif\n",
      program.upper, program.name, load_call(program));
}

/// Returns true if the output is an input buffer of the application. run() stores its address.
bool aliases_input(const CProgram& program, const Port& output) {
  return program.is_external(output.value);
}

std::string output_functions(const CProgram& program, Calls* calls) {
  std::string text;
  for (const Port& output : program.outputs) {
    const std::string_view type = c_type(output.tensor->scalar_type);
    const std::string address =
        aliases_input(program, output) ? "passed_" + output.name : calls->address(output.value);
    text += fmt::format("\nconst {0} *{1}_{2}(void) {{\n  return (const {0} *){3};\n}}\n", type,
                        program.name, output.name, address);
  }
  return text;
}

/// Functions that return the arena address of an input, so that the application can write there.
std::string input_functions(const CProgram& program) {
  std::string text;
  if (!program.options->owns_inputs) return text;
  for (const Port& input : program.inputs) {
    if (program.is_external(input.value)) continue;
    const std::string_view type = c_type(input.tensor->scalar_type);
    text +=
        fmt::format("\n{0} *{1}_{2}(void) {{\n  return ({0} *)(void *){3}_AT({4}u);\n}}\n", type,
                    program.name, input.name, program.upper, input.tensor->allocation->offset);
  }
  return text;
}

std::string passed_variables(const CProgram& program) {
  std::string text;
  for (const Port& output : program.outputs) {
    if (!aliases_input(program, output)) continue;
    text += fmt::format("static const void *passed_{};\n", output.name);
  }
  return text;
}

std::string run_function(const CProgram& program, const Calls& calls) {
  std::string begin;
  for (const Port& input : program.inputs) {
    if (!program.is_external(input.value)) {
      const std::string copy =
          fmt::format("(void)memcpy({0}_AT({1}u), {2}, {3}u);\n", program.upper,
                      input.tensor->allocation->offset, input.name, bytes_of(*input.tensor));
      if (program.options->owns_inputs) {
        begin +=
            fmt::format("  if ((const void *){2} != (const void *){0}_AT({1}u)) {{\n    {3}  }}\n",
                        program.upper, input.tensor->allocation->offset, input.name, copy);
      } else {
        begin += "  " + copy;
      }
    } else {
      begin += fmt::format("  (void){}; /* may be unused */\n", input.name);
    }
  }
  for (const Port& output : program.outputs) {
    if (!aliases_input(program, output)) continue;
    begin +=
        fmt::format("  passed_{} = {};\n", output.name, program.external_inputs.at(output.value));
  }
  return fmt::format("\nvoid {0}_run({1}) {{\n{2}{3}\n  {4}_OP_HOOK({4}_OP_COUNT, \"end\");\n}}\n",
                     program.name, run_parameters(program), begin, calls.blocks(), program.upper);
}

}  // namespace

std::string model_name(std::string_view stem) {
  return identifier(stem);
}

Result<Model> write(const pte::Program& file, const ModelInfo& info, const Options& options) {
  THIMBLE_TRY(const CProgram program, prepare(file, info, options));
  const size_t count = program.plan->chains[0].instructions.size();
  assert(info.kernels.size() == count && info.result_names.size() == count);
  Calls calls(program);
  for (size_t i = 0; i < count; ++i) THIMBLE_CHECK(calls.add(i));
  // Before calls.data(): an output may be a constant.
  const std::string outputs = output_functions(program, &calls);

  Model model;
  model.includes_c_call = calls.includes_c_call();
  model.header = header(program);
  model.source = fmt::format(
      "/* {0} for {1}, written by `thimble compile --emit c`: see {0}.h. Kernels receive the "
      "addresses of\n"
      " * inputs and outputs in one list, and write to outputs only: the `const` of constants is "
      "cast away. */\n"
      "\n"
      "#include \"{0}.h\"\n"
      "\n"
      "#include <stddef.h>\n"
      "#include <string.h>\n"
      "{2}\n",
      program.name, info.target, model.includes_c_call ? "\n#include \"kernels/c_call.h\"\n" : "");
  model.source += preamble(program) + kernel_names(program, calls) + contents(program) +
                  calls.data() + passed_variables(program) + state_functions(program) +
                  load_function(program) + init_function(program) + run_function(program, calls) +
                  input_functions(program) + outputs;
  return model;
}

}  // namespace thimble::emit::c
