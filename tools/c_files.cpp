// SPDX-License-Identifier: Apache-2.0
#include "tools/c_files.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "emit/c/model.h"
#include "formats/pte/read.h"
#include "hostrun/device_sources.h"
#include "hostrun/interface.h"
#include "hostrun/kernel_source.h"
#include "tools/library_files.h"
#include "tools/linker_files.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

/// Rejects models with delegates: an NPU's driver requires the runtime that executes a `.pte`.
Status check_engines(const driver::Compiled& compiled) {
  const std::string_view cpu = compiled.part->cpu->engine;
  if (compiled.lowered.delegates.empty()) return ok();
  for (const driver::OpReport& op : compiled.report.ops) {
    if (op.engine == cpu) continue;
    return unsupported(
        "--emit c: {} {}: {} runs on {}, which C code cannot call: use --target {}, or the .pte",
        op.source.where(), op.source.text, op.name, op.engine, compiled.part->cpu->name);
  }
  return unsupported(
      "--emit c: {} runs operators on an NPU, which C code cannot call: use --target {}",
      compiled.report.target, compiled.part->cpu->name);
}

struct CModel {
  std::string name;
  emit::c::Model text;
  std::vector<formats::pte::ChosenKernel> kernels;
  std::string linker_file;  // empty: the part has one memory
};

Result<CModel> write_model(const driver::Compiled& compiled, const fs::path& path) {
  THIMBLE_CHECK(check_engines(compiled));
  const std::string label = path.filename().string();
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(compiled.pte, label));
  THIMBLE_TRY(const hostrun::Interface interface, hostrun::read_interface(program, label));
  CModel model;
  THIMBLE_TRY(model.kernels, hostrun::chosen_kernels(interface, compiled.part->cpu->isa, label));
  emit::c::ModelInfo info;
  info.name = emit::c::model_name(path.stem().string());
  info.target = compiled.report.target;
  emit::c::Options options;
  options.owns_inputs = compiled.lowered.owns_inputs;
  info.kernels = model.kernels;
  for (const engine::KernelCall& call : compiled.lowered.calls) {
    info.result_names.push_back(compiled.lowered.graph.value(call.out).name);
  }
  info.result_names.resize(model.kernels.size());
  for (const driver::IoReport& input : compiled.report.inputs)
    info.input_names.push_back(input.name);
  for (const driver::IoReport& port : compiled.report.outputs)
    info.output_names.push_back(port.name);
  model.name = info.name;
  if (compiled.report.placement) {
    const emit::LinkerFile file = linker_file_of(compiled, info.name);
    options.placed = true;
    options.loaded = emit::loaded_memories(file);
    model.linker_file = emit::linker_file(file);
  }
  THIMBLE_TRY(model.text, emit::c::write(program, info, options));
  return model;
}

std::string cmake_text(const CModel& model) {
  return fmt::format(
      "# Written by `thimble compile --emit c`: links {0}.c and the kernels that it calls.\n"
      "#\n"
      "#   find_package(thimble)              # or add_subdirectory(<thimble>): the device's "
      "sources\n"
      "#   include(<this file>)\n"
      "#   thimble_link_{0}(firmware)\n"
      "set(THIMBLE_{0}_FOLDER ${{CMAKE_CURRENT_LIST_DIR}})\n"
      "\n"
      "function(thimble_link_{0} target)\n"
      "  if(NOT COMMAND thimble_device_libraries)\n"
      "    message(FATAL_ERROR \"find_package(thimble) or add_subdirectory(<thimble>) comes before "
      "thimble_link_{0}\")\n"
      "  endif()\n"
      "  thimble_device_libraries()\n"
      "  target_sources(${{target}} PRIVATE ${{THIMBLE_{0}_FOLDER}}/{0}.c)\n"
      "  target_include_directories(${{target}} PRIVATE ${{THIMBLE_{0}_FOLDER}})\n"
      "  target_link_libraries(${{target}} PRIVATE thimble_device)\n"
      "  target_link_options(${{target}} PRIVATE -Wl,--gc-sections{1})\n"
      "endfunction()\n",
      model.name,
      // Folder in which the linker script finds NAME_sections.ld.
      model.linker_file.empty() ? "" : fmt::format(" -L${{THIMBLE_{}_FOLDER}}", model.name));
}

/// Adds a file and creates its folder if necessary.
Status add(const fs::path& path, std::string_view text, OutputFiles* files) {
  THIMBLE_CHECK(files->make_folder(path.parent_path()));
  return files->add(path, text);
}

}  // namespace

Status add_c_files(const driver::Compiled& compiled, const fs::path& path,
                   const std::string& layout, OutputFiles* files) {
  THIMBLE_TRY(const CModel model, write_model(compiled, path));
  const fs::path folder = path.parent_path();
  if (!model.linker_file.empty()) {
    const fs::path beside = layout == "plain" ? folder : folder / model.name;
    THIMBLE_CHECK(add(beside / linker_file_name(model.name), model.linker_file, files));
  }
  if (layout == "plain") {
    THIMBLE_CHECK(add(folder / (model.name + ".h"), model.text.header, files));
    THIMBLE_CHECK(add(folder / (model.name + ".c"), model.text.source, files));
    return add(folder / (model.name + ".cmake"), cmake_text(model), files);
  }
  const engine::Core& core = *compiled.part->cpu;
  hostrun::DeviceSelection selection;
  selection.kernels = model.kernels;
  selection.isa = core.isa;
  selection.core = core.name;
  THIMBLE_TRY(const std::vector<hostrun::DeviceFile> device, hostrun::device_sources(selection));
  const fs::path root = folder / model.name, source = root / "src";
  THIMBLE_CHECK(add(source / (model.name + ".h"), model.text.header, files));
  THIMBLE_CHECK(add(source / (model.name + ".c"), model.text.source, files));
  for (const hostrun::DeviceFile& file : device) {
    THIMBLE_CHECK(add(source / file.path, file.text, files));
  }
  THIMBLE_TRY(const fs::path device_folder, hostrun::device_folder());
  THIMBLE_TRY(const Bytes license, read_file(device_folder / "LICENSE"));
  THIMBLE_CHECK(add(root / "LICENSE", as_text(license), files));
  Library library;
  library.name = model.name;
  library.target = compiled.report.target;
  library.cpu = core.name;
  library.contains = "its kernels";
  library.files = device;
  library.model_sources = {model.name + ".c"};
  for (const LibraryFile& file :
       layout == "arduino" ? arduino_files(library) : cmsis_files(library)) {
    THIMBLE_CHECK(add(root / file.path, file.text, files));
  }
  return ok();
}

}  // namespace thimble::tools
