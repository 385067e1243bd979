// thimble export-sources: the files that a product compiles for a `.pte`, for build systems that
// know nothing of Thimble (ESP-IDF, MCUXpresso, STM32Cube, Makefiles, IAR, Keil).

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "emit/c/model.h"
#include "engine/part.h"
#include "formats/pte/read.h"
#include "formats/pte/runtime_bytes.h"
#include "hostrun/device_sources.h"
#include "hostrun/interface.h"
#include "hostrun/kernel_source.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  std::string core;
  fs::path model;
  fs::path folder;
  bool json = false;
};

constexpr std::string_view kLicenseLine = "// SPDX-License-Identifier: Apache-2.0\n";

std::string with_license(std::string_view text) {
  const bool has_line = text.find("SPDX-License-Identifier") != std::string_view::npos;
  return (has_line ? "" : std::string(kLicenseLine)) + std::string(text);
}

/// The compiler's flags for a core. Only the cores whose floating-point unit Thimble's kernels use
/// get its calling convention.
std::string core_flags(const engine::Core& core) {
  const bool scalar = core.isa == abi::Isa::kThumb1 || core.isa == abi::Isa::kThumb2;
  return fmt::format("-mthumb -mcpu={}{}", core.name, scalar ? "" : " -mfloat-abi=hard");
}

std::string model_header(const std::string& name, const std::string& label, int64_t pte_bytes,
                         int64_t arena_bytes, int64_t state_bytes) {
  return fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "/* Written by `thimble export-sources` for {1}. */\n"
      "#ifndef THIMBLE_MODEL_{0}_H\n"
      "#define THIMBLE_MODEL_{0}_H\n\n"
      "#include \"thimble.h\"\n\n"
      "#define {0}_PTE_BYTES {2}u\n"
      "#define {0}_ARENA_BYTES {3}u\n"
      "#define {0}_STATE_BYTES {4}u\n"
      "/* Size in bytes of the memory for thimble_init, which must be 16-byte aligned. */\n"
      "#define {0}_MEMORY_BYTES ({0}_ARENA_BYTES + {0}_STATE_BYTES)\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
      "extern const unsigned char {0}_pte[{0}_PTE_BYTES];\n"
      "/* The kernels that this model calls. */\n"
      "const thimble_kernels *{0}_kernels(void);\n"
      "#ifdef __cplusplus\n}}\n#endif\n"
      "#endif\n",
      name, label, pte_bytes, arena_bytes, state_bytes);
}

/// The file as an array: any compiler accepts it, and an editor's indexer too.
std::string pte_array(const std::string& name, const Bytes& bytes) {
  std::string text = fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// The model, in read-only memory and aligned so that constants are read in place.\n"
      "#include \"{0}.h\"\n\n"
      "alignas(16) extern const unsigned char {0}_pte[{0}_PTE_BYTES] = {{",
      name);
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += i % 24 == 0 ? "\n    " : "";
    text += fmt::format("{},", static_cast<unsigned>(bytes[i]));
  }
  return text + "\n};\n";
}

std::string readme(const std::string& name, const std::string& label, const engine::Core& core) {
  return fmt::format(
      "{0} for {1}: the runtime, and the kernels that the model calls.\n"
      "Apache-2.0, see LICENSE. Written by `thimble export-sources`.\n\n"
      "One command compiles everything into thimble.o:\n\n"
      "    arm-none-eabi-g++ {2} -std=c++17 -Os -ffunction-sections -fdata-sections \\\n"
      "      -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffp-contract=off \\\n"
      "      -fomit-frame-pointer -DTHIMBLE_TRACE=0 -I. -Iruntime/include @includes.txt \\\n"
      "      @sources.txt -r -nostdlib -o thimble.o\n\n"
      "In another build system: add the files of sources.txt as C++17, the include folders ., "
      "runtime/include\nand those of includes.txt, and the flags above. -mcpu and the "
      "floating-point ABI must be those of the\nproduct. Link with -Wl,--gc-sections.\n\n"
      "    #include \"{3}.h\"\n"
      "    static unsigned char memory[{3}_MEMORY_BYTES] __attribute__((aligned(16)));\n"
      "    static thimble_model model;\n"
      "    thimble_init(&model, {3}_pte, {3}_PTE_BYTES, {3}_kernels(), memory, sizeof memory);\n"
      "    thimble_set_input(&model, 0, x, sizeof x);\n"
      "    thimble_run(&model);\n"
      "    thimble_output(&model, 0, &view);\n\n"
      "thimble.h describes the functions; thimble.hpp has the same as a class of C++.\n",
      label, core.name, core_flags(core), name);
}

/// The kernels of the file for the core; delegates are no kernels.
Result<hostrun::DeviceSelection> select(const hostrun::Interface& interface,
                                        const hostrun::UsedKernels& used, abi::Isa isa,
                                        const std::string& label) {
  hostrun::Interface kernels_only = interface;
  kernels_only.ops.clear();
  kernels_only.arguments.clear();
  for (size_t i = 0; i < interface.ops.size(); ++i) {
    if (interface.ops[i].starts_with("(delegate ")) continue;
    kernels_only.ops.push_back(interface.ops[i]);
    kernels_only.arguments.push_back(interface.arguments[i]);
  }
  hostrun::DeviceSelection selection;
  THIMBLE_TRY(selection.kernels, hostrun::chosen_kernels(kernels_only, isa, label));
  // A kernel that needs more than addresses is called by the runtime, not by kernels/c_call.h.
  for (formats::pte::ChosenKernel& kernel : selection.kernels) kernel.addresses_only = true;
  selection.devices = used.devices;
  selection.runtime = true;
  return selection;
}

Status write_folder(const ExportArguments& arguments) {
  const std::string label = arguments.model.filename().string();
  THIMBLE_TRY(const engine::Part part, engine::find_part(arguments.core));
  const engine::Core& core = *part.cpu;
  THIMBLE_TRY(const Bytes bytes, read_file(arguments.model));
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(bytes, label));
  THIMBLE_TRY(const hostrun::Interface interface, hostrun::read_interface(program, label));
  const auto compiled_for = engine::find_part(interface.target);
  if (!interface.target.empty() && compiled_for && compiled_for->cpu->isa != core.isa) {
    return unsupported(
        "{}: compiled for {}, whose constants are packed for another instruction set than that of "
        "{}: compile the model with --target {}",
        label, interface.target, core.name, core.name);
  }
  THIMBLE_TRY(const hostrun::UsedKernels used,
              hostrun::used_kernels(interface, core.isa, label));
  THIMBLE_TRY(const hostrun::DeviceSelection selection,
              select(interface, used, core.isa, label));
  THIMBLE_TRY(std::vector<hostrun::DeviceFile> device, hostrun::device_sources(selection));
  THIMBLE_TRY(const fs::path device_folder, hostrun::device_folder());
  THIMBLE_TRY(const Bytes license, read_file(device_folder / "LICENSE"));

  const std::string name = emit::c::model_name(arguments.model.stem().string());
  const int64_t state = formats::pte::runtime_bytes(hostrun::executed_plan(program));
  std::string table = hostrun::kernel_source(used, label);
  table = fmt::format("#define thimble_model_kernels {}_kernels\n{}", name, table);
  device.push_back({name + ".h", model_header(name, label, static_cast<int64_t>(bytes.size()),
                                              interface.arena_bytes, state)});
  device.push_back({name + "_pte.cpp", pte_array(name, bytes)});
  device.push_back({name + "_kernels.cpp", std::move(table)});

  OutputFiles files;
  files.protect(arguments.model);
  std::string sources, includes;
  for (const hostrun::DeviceFile& file : device) {
    const fs::path path = arguments.folder / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return bad_input("{}: {}", path.parent_path().string(), error.message());
    THIMBLE_CHECK(files.add(path, with_license(file.text)));
    if (file.is_source()) sources += file.path + "\n";
    const fs::path folder = fs::path(file.path).parent_path();
    const std::string option = "-I" + folder.generic_string() + "\n";
    const bool is_interface = folder.filename() == "include" && folder != "runtime/include";
    if (is_interface && includes.find(option) == std::string::npos) includes += option;
  }
  THIMBLE_CHECK(files.add(arguments.folder / "sources.txt", sources));
  THIMBLE_CHECK(files.add(arguments.folder / "includes.txt", includes));
  THIMBLE_CHECK(files.add(arguments.folder / "LICENSE", as_text(license)));
  THIMBLE_CHECK(files.add(arguments.folder / "README", readme(name, label, core)));
  THIMBLE_CHECK(files.commit());
  const auto count = std::ranges::count(sources, '\n');
  if (arguments.json) {
    print_json({{"core", core.name},
                {"name", name},
                {"sources", count},
                {"arena_bytes", interface.arena_bytes},
                {"state_bytes", state}});
  } else {
    std::printf("%s: %d sources for %s; README has the command that compiles them\n",
                arguments.folder.string().c_str(), static_cast<int>(count),
                std::string(core.name).c_str());
  }
  return ok();
}

}  // namespace

void add_export_sources(CommandLine& line, int* exit_code) {
  Verb verb(line, "export-sources", "Copy the files that a product compiles for a .pte");
  auto arguments = std::make_shared<ExportArguments>();
  ExportArguments& a = *arguments;
  verb.option("--core", a.core, "Core or part of the product, as listed by `thimble targets`")
      .required();
  verb.option("--model", a.model, "The .pte").required();
  verb.option("folder", a.folder, "Output folder").required();
  verb.flag("--json", a.json, "Print the result as one JSON object");
  verb.callback([arguments, exit_code] {
    const Status done = write_folder(*arguments);
    *exit_code = done.ok() ? 0 : fail(done.error(), arguments->json);
  });
}

}  // namespace thimble::tools
