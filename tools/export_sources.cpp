// SPDX-License-Identifier: Apache-2.0
// thimble export-sources: the files that a product compiles for a `.pte`, for build systems that
// know nothing of Thimble (ESP-IDF, MCUXpresso, STM32Cube, Makefiles, IAR, Keil), or as a library
// for Arduino and PlatformIO, or as a CMSIS pack.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
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
#include "tools/export_folder.h"
#include "tools/library_files.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  std::string core;
  fs::path model;
  fs::path folder;
  std::string layout = "plain";
  bool json = false;
};

/// The compiler's flags for a core. Only the cores whose floating-point unit Thimble's kernels use
/// get its calling convention.
std::string core_flags(const engine::Core& core) {
  const bool scalar = core.isa == abi::Isa::kThumb1 || core.isa == abi::Isa::kThumb2;
  return fmt::format("-mthumb -mcpu={}{}", core.name, scalar ? "" : " -mfloat-abi=hard");
}

/// The word after THIMBLE_NEEDS_ of kernels/require_isa.h.
std::string_view needed_instructions(abi::Isa isa) {
  switch (isa) {
    case abi::Isa::kThumb1:
      return "thumb1";
    case abi::Isa::kThumb2:
      return "thumb2";
    case abi::Isa::kDsp:
      return "dsp";
    case abi::Isa::kMve:
      return "mve";
  }
  return "";
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

/// The statements that load the model and run it once with an input of zeros, for both languages.
std::string load_and_run(const std::string& name, const hostrun::Interface& interface,
                         std::string_view report) {
  std::string text = fmt::format(
      "  thimble_view y;\n"
      "  thimble_status status = thimble_init(&model, {0}_pte, {0}_PTE_BYTES, {0}_kernels(),\n"
      "                                       memory, sizeof memory);\n",
      name);
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    text += fmt::format(
        "  if (status == 0) status = thimble_set_input(&model, {0}, input_{0}, "
        "sizeof input_{0});\n",
        i);
  }
  text +=
      "  if (status == 0) status = thimble_run(&model);\n"
      "  if (status == 0) status = thimble_output(&model, 0, &y);\n";
  return text + std::string(report);
}

std::string buffers(const std::string& name, const hostrun::Interface& interface) {
  std::string text = fmt::format(
      "static thimble_model model;\n"
      "static unsigned char memory[{}_MEMORY_BYTES] __attribute__((aligned(16)));\n",
      name);
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    text += fmt::format(
        "/* {2} */\n"
        "static unsigned char input_{0}[{1}] __attribute__((aligned(8)));\n",
        i, interface.inputs[i].bytes(), interface.inputs[i].describe());
  }
  return text;
}

std::string sketch_text(const std::string& name, const hostrun::Interface& interface) {
  return fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// Runs {0} once a second with an input of zeros, and prints the bytes of output 0.\n"
      "#include <{0}.h>\n\n"
      "{1}\n"
      "void setup() {{\n"
      "  Serial.begin(115200);\n"
      "}}\n\n"
      "void loop() {{\n"
      "{2}"
      "  delay(1000);\n"
      "}}\n",
      name, buffers(name, interface),
      load_and_run(name, interface,
                   "  if (status != 0) {\n"
                   "    Serial.println(thimble_status_text(status));\n"
                   "  } else {\n"
                   "    const uint8_t* bytes = (const uint8_t*)y.data;\n"
                   "    for (size_t i = 0; i < y.bytes; ++i) {\n"
                   "      Serial.print(bytes[i]);\n"
                   "      Serial.print(' ');\n"
                   "    }\n"
                   "    Serial.println();\n"
                   "  }\n"));
}

std::string main_text(const std::string& name, const hostrun::Interface& interface) {
  return fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "/* Runs {0} once with an input of zeros. A debugger shows the output. */\n"
      "#include \"{0}.h\"\n\n"
      "{1}"
      "const volatile void* output_0;\n\n"
      "int main(void) {{\n"
      "{2}"
      "}}\n",
      name, buffers(name, interface),
      load_and_run(name, interface, "  if (status == 0) output_0 = y.data;\n  return status;\n"));
}

/// Folders of public headers, which are included by their bare names.
bool is_interface_folder(const fs::path& folder) {
  return folder.filename() == "include";
}

Status add_plain(const std::vector<hostrun::DeviceFile>& device, const std::string& readme,
                 ExportFolder& files) {
  std::string sources, includes;
  for (const hostrun::DeviceFile& file : device) {
    THIMBLE_CHECK(files.add(file.path, file.text));
    if (file.is_source()) sources += file.path + "\n";
    const fs::path folder = fs::path(file.path).parent_path();
    const std::string option = "-I" + folder.generic_string() + "\n";
    const bool is_other = is_interface_folder(folder) && folder != "runtime/include";
    if (is_other && includes.find(option) == std::string::npos) includes += option;
  }
  THIMBLE_CHECK(files.add("sources.txt", sources));
  THIMBLE_CHECK(files.add("includes.txt", includes));
  return files.add("README", readme);
}

/// Replaces flags that Arduino does not pass to a library: no hooks around operators, and floats
/// are not contracted, so that results are those of the host.
constexpr std::string_view kArduinoPrelude =
    "#define THIMBLE_TRACE 0\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize(\"fp-contract=off\")\n"
    "#endif\n";

/// Adds a library: all sources in src/, which is the only include folder.
Status add_library(const ExportArguments& arguments, std::vector<hostrun::DeviceFile> device,
                   Library library, ExportFolder& files) {
  const bool arduino = arguments.layout == "arduino";
  const std::string header = library.name + ".h";
  // Public headers are included by their bare names: each has a header in src/ that includes it.
  std::vector<hostrun::DeviceFile> forwarding;
  for (const hostrun::DeviceFile& file : device) {
    const fs::path path = file.path;
    if (!is_interface_folder(path.parent_path())) continue;
    forwarding.push_back(
        {path.filename().string(),
         fmt::format("// SPDX-License-Identifier: Apache-2.0\n#include \"{}\"\n", file.path)});
  }
  std::ranges::move(forwarding, std::back_inserter(device));
  for (hostrun::DeviceFile& file : device) {
    std::string text = file.text;
    if (arduino && file.is_source()) text.insert(text.find('\n') + 1, kArduinoPrelude);
    THIMBLE_CHECK(files.add("src/" + file.path, text));
    const bool is_model =
        file.path == library.name + "_pte.cpp" || file.path == library.name + "_kernels.cpp";
    if (is_model) library.model_sources.push_back(file.path);
    if (!is_model && file.path != header) library.files.push_back(std::move(file));
  }
  for (const LibraryFile& file : arduino ? arduino_files(library) : cmsis_files(library)) {
    THIMBLE_CHECK(files.add(file.path, file.text));
  }
  return ok();
}

/// The kernels of the file for the core; delegates are no kernels.
Result<hostrun::DeviceSelection> select(const hostrun::Interface& interface,
                                        const hostrun::UsedKernels& used, const engine::Core& core,
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
  THIMBLE_TRY(selection.kernels, hostrun::chosen_kernels(kernels_only, core.isa, label));
  // A kernel that needs more than addresses is called by the runtime, not by kernels/c_call.h.
  for (formats::pte::ChosenKernel& kernel : selection.kernels) kernel.addresses_only = true;
  selection.devices = used.devices;
  selection.runtime = true;
  selection.flatbuffer_executor = used.flatbuffer_executor;
  selection.isa = core.isa;
  selection.core = core.name;
  return selection;
}

/// Says what happened to the files of an earlier export.
void print_changes(const ExportFolder& files) {
  if (files.removed() > 0) {
    std::printf("  %d files of an earlier export are not needed any more and were removed\n",
                files.removed());
  }
  for (const std::string& path : files.kept()) {
    std::printf("  %s: changed after the earlier export, kept as it is\n", path.c_str());
  }
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
  THIMBLE_TRY(const hostrun::UsedKernels used, hostrun::used_kernels(interface, core.isa, label));
  THIMBLE_TRY(const hostrun::DeviceSelection selection, select(interface, used, core, label));
  THIMBLE_TRY(std::vector<hostrun::DeviceFile> device, hostrun::device_sources(selection));
  THIMBLE_TRY(const fs::path device_folder, hostrun::device_folder());
  THIMBLE_TRY(const Bytes license, read_file(device_folder / "LICENSE"));

  const std::string name = emit::c::model_name(arguments.model.stem().string());
  const int64_t state = formats::pte::runtime_bytes(hostrun::executed_plan(program));
  std::string table = hostrun::kernel_source(used, label);
  table = fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "#define THIMBLE_FILE \"{0} is for {1}\"\n"
      "#define THIMBLE_NEEDS_{2}\n"
      "#include \"kernels/require_isa.h\"\n"
      "#define thimble_model_kernels {3}_kernels\n{4}",
      label, core.name, needed_instructions(core.isa), name, table);
  device.push_back({name + ".h", model_header(name, label, static_cast<int64_t>(bytes.size()),
                                              interface.arena_bytes, state)});
  device.push_back({name + "_pte.cpp", pte_array(name, bytes)});
  device.push_back({name + "_kernels.cpp", std::move(table)});

  ExportFolder files(arguments.folder);
  files.protect(arguments.model);
  THIMBLE_CHECK(files.open());
  THIMBLE_CHECK(files.add("LICENSE", as_text(license)));
  const auto count = std::ranges::count_if(device, &hostrun::DeviceFile::is_source);
  if (arguments.layout == "plain") {
    THIMBLE_CHECK(add_plain(device, readme(name, label, core), files));
  } else {
    Library library;
    library.name = name;
    library.target = arguments.core;
    library.cpu = core.name;
    library.contains = "the runtime and its kernels";
    library.sketch = sketch_text(name, interface);
    library.main = main_text(name, interface);
    THIMBLE_CHECK(add_library(arguments, std::move(device), std::move(library), files));
  }
  THIMBLE_CHECK(files.commit());
  if (arguments.json) {
    print_json({{"core", core.name},
                {"name", name},
                {"layout", arguments.layout},
                {"sources", count},
                {"arena_bytes", interface.arena_bytes},
                {"state_bytes", state},
                {"removed", files.removed()},
                {"kept", files.kept()}});
  } else {
    std::printf("%s: %d sources for %s%s\n", arguments.folder.string().c_str(),
                static_cast<int>(count), std::string(core.name).c_str(),
                arguments.layout == "plain" ? "; README has the command that compiles them" : "");
    print_changes(files);
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
  verb.option("--layout", a.layout,
              "plain: a list of sources; arduino: a library for Arduino and PlatformIO; "
              "cmsis: a pack")
      .one_of({"plain", "arduino", "cmsis"});
  verb.flag("--json", a.json, "Print the result as one JSON object");
  verb.callback([arguments, exit_code] {
    const Status done = write_folder(*arguments);
    *exit_code = done.ok() ? 0 : fail(done.error(), arguments->json);
  });
}

}  // namespace thimble::tools
