// Writes the generated source: constants, the arena, and the functions that the header declares.

#include "emit/c/model.h"

#include <fmt/format.h>

#include "emit/c/calls.h"
#include "emit/c/layout.h"
#include "emit/c/sections.h"
#include "emit/c/text.h"

namespace thimble::emit::c {
namespace {

namespace pte = formats::pte;

/// Definitions that are the same for each model.
std::string preamble(const Layout& layout) {
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
      layout.upper, layout.name,
      layout.arena_bytes > 0 ? layout.upper + "_ARENA_BYTES" : std::string("1"),
      section_macros(layout));
}

std::string kernel_names(const Layout& layout, const Calls& calls) {
  return fmt::format(
      "#if defined(THIMBLE_PORTABLE)\n"
      "#define {0}_RUN(variant, op) thimble_run_portable_##op\n"
      "#define {0}_CALL(variant, op) thimble_call_portable_##op\n"
      "#else\n"
      "#define {0}_RUN(variant, op) thimble_run_##variant##_##op\n"
      "#define {0}_CALL(variant, op) thimble_call_##variant##_##op\n"
      "#endif\n"
      "{1}\n",
      layout.upper, calls.prototypes());
}

/// Arrays with the initial content of states that are not filled with one byte.
std::string contents(const Layout& layout) {
  std::string text;
  for (size_t i = 0; i < layout.states.size(); ++i) {
    const Bytes& content = layout.states[i].content;
    if (content.empty()) continue;
    text += fmt::format("{4} static const {0}_ALIGNED uint32_t state_{1}[{2}] = {{\n{3}}};\n",
                        layout.upper, i, word_count(content.size()), words(content, "  "),
                        constant_section(layout, fmt::format("state_{}", i)));
  }
  return text;
}

std::string copies(const Layout& layout, std::string_view to, std::string_view from) {
  std::string text;
  uint64_t at = 0;
  for (const State& state : layout.states) {
    const std::string piece = fmt::format("{}_AT({}u)", layout.upper, state.offset);
    const std::string outside = fmt::format("&{}[{}]", to.empty() ? from : to, at);
    text += fmt::format("  (void)memcpy({}, {}, {}u);\n", to.empty() ? piece : outside,
                        to.empty() ? outside : piece, state.bytes);
    at += state.bytes;
  }
  return text;
}

std::string state_functions(const Layout& layout) {
  std::string text = fmt::format("\nvoid {}_reset(void) {{\n", layout.name);
  for (size_t i = 0; i < layout.states.size(); ++i) {
    const State& state = layout.states[i];
    const std::string piece = fmt::format("{}_AT({}u)", layout.upper, state.offset);
    text += state.content.empty()
                ? fmt::format("  (void)memset({}, {}, {}u);\n", piece, state.fill, state.bytes)
                : fmt::format("  (void)memcpy({}, state_{}, {}u);\n", piece, i, state.bytes);
  }
  text += "}\n";
  if (layout.states.empty()) return text;
  return text + fmt::format(
                    "\nvoid {0}_save(uint8_t *to) {{\n{1}}}\n"
                    "\nvoid {0}_restore(const uint8_t *from) {{\n{2}}}\n",
                    layout.name, copies(layout, "to", ""), copies(layout, "", "from"));
}

std::string init_function(const Layout& layout) {
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
      layout.upper, layout.name, load_call(layout));
}

/// Returns true if the output is an input buffer of the application. run() stores its address.
bool aliases_input(const Layout& layout, const Port& output) {
  return layout.is_external(output.value);
}

std::string output_functions(const Layout& layout, Calls* calls) {
  std::string text;
  for (const Port& output : layout.outputs) {
    const std::string_view type = c_type(output.tensor->scalar_type);
    const std::string address =
        aliases_input(layout, output) ? "passed_" + output.name : calls->address(output.value);
    text += fmt::format("\nconst {0} *{1}_{2}(void) {{\n  return (const {0} *){3};\n}}\n", type,
                        layout.name, output.name, address);
  }
  return text;
}

/// Functions that return the arena address of an input, so that the application can write there.
std::string input_functions(const Layout& layout) {
  std::string text;
  if (!layout.owns_inputs) return text;
  for (const Port& input : layout.inputs) {
    if (layout.is_external(input.value)) continue;
    const std::string_view type = c_type(input.tensor->scalar_type);
    text +=
        fmt::format("\n{0} *{1}_{2}(void) {{\n  return ({0} *)(void *){3}_AT({4}u);\n}}\n", type,
                    layout.name, input.name, layout.upper, input.tensor->allocation->offset);
  }
  return text;
}

std::string passed_variables(const Layout& layout) {
  std::string text;
  for (const Port& output : layout.outputs) {
    if (!aliases_input(layout, output)) continue;
    text += fmt::format("static const void *passed_{};\n", output.name);
  }
  return text;
}

std::string run_function(const Layout& layout, const Calls& calls) {
  std::string parameters, begin;
  for (const Port& input : layout.inputs) {
    parameters += fmt::format("{}const {} *{}", parameters.empty() ? "" : ", ",
                              c_type(input.tensor->scalar_type), input.name);
    const bool given = layout.is_external(input.value);
    if (!given) {
      const std::string copy =
          fmt::format("(void)memcpy({0}_AT({1}u), {2}, {3}u);\n", layout.upper,
                      input.tensor->allocation->offset, input.name, bytes_of(*input.tensor));
      if (layout.owns_inputs) {
        begin +=
            fmt::format("  if ((const void *){2} != (const void *){0}_AT({1}u)) {{\n    {3}  }}\n",
                        layout.upper, input.tensor->allocation->offset, input.name, copy);
      } else {
        begin += "  " + copy;
      }
    } else {
      begin += fmt::format("  (void){}; /* may be unused */\n", input.name);
    }
  }
  for (const Port& output : layout.outputs) {
    if (!aliases_input(layout, output)) continue;
    begin += fmt::format("  passed_{} = {};\n", output.name, layout.given.at(output.value));
  }
  return fmt::format("\nvoid {0}_run({1}) {{\n{2}{3}\n  {4}_OP_HOOK({4}_OP_COUNT, \"end\");\n}}\n",
                     layout.name, parameters.empty() ? "void" : parameters, begin, calls.blocks(),
                     layout.upper);
}

}  // namespace

std::string model_name(std::string_view stem) {
  return identifier(stem);
}

Result<Model> write(const pte::Program& program, const Options& options) {
  THIMBLE_TRY(const Layout layout, lay_out(program, options));
  const size_t count = layout.plan->chains[0].instructions.size();
  assert(options.kernels.size() == count && options.calls.size() == count);
  Calls calls(layout, options);
  for (size_t i = 0; i < count; ++i) THIMBLE_CHECK(calls.add(i));
  const std::string outputs = output_functions(layout, &calls);

  Model model;
  model.has_calls = calls.has_calls();
  model.header = header(layout, options);
  model.source = fmt::format(
      "/* {0} for {1}, written by `thimble compile --emit c`: see {0}.h. Kernels receive the\n"
      " * addresses of inputs and outputs in one list and write only to outputs. The `const` of\n"
      " * constants is cast away in this list. */\n"
      "\n"
      "#include \"{0}.h\"\n"
      "\n"
      "#include <stddef.h>\n"
      "#include <string.h>\n"
      "{2}\n",
      layout.name, options.target, model.has_calls ? "\n#include \"kernels/c_call.h\"\n" : "");
  model.source += preamble(layout) + kernel_names(layout, calls) + contents(layout) + calls.data() +
                  passed_variables(layout) + state_functions(layout) + load_function(layout) +
                  init_function(layout) + run_function(layout, calls) + input_functions(layout) +
                  outputs;
  return model;
}

}  // namespace thimble::emit::c
