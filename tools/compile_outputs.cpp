// SPDX-License-Identifier: Apache-2.0
#include "tools/compile_outputs.h"

#include <string>
#include <vector>

#include "driver/report.h"
#include "emit/c/model.h"
#include "formats/pte/read.h"
#include "hostrun/kernel_source.h"
#include "interchange/tflite.h"
#include "interchange/tosa.h"
#include "ir/print.h"
#include "report/model_explorer.h"
#include "report/report.h"
#include "tools/c_files.h"
#include "tools/linker_files.h"
#include "tools/version.h"

namespace thimble::tools {

namespace fs = std::filesystem;

fs::path pte_path(const CompileArguments& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  return arguments.out_dir / arguments.model.filename().replace_extension(".pte");
}

namespace {

/// --kernels and --kernels-dir: what a firmware links for the file.
Status add_kernels(const CompileArguments& arguments, const driver::Compiled& compiled,
                   ByteView pte, const std::string& label, OutputFiles* files) {
  if (arguments.kernels.empty() && arguments.kernels_dir.empty()) return ok();
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(pte, label));
  THIMBLE_TRY(const hostrun::Interface interface, hostrun::read_all_methods(program, label));
  THIMBLE_TRY(const hostrun::UsedKernels used,
              hostrun::used_kernels(interface, compiled.part->cpu->isa, label));
  const std::string source = hostrun::kernel_source(used, label);
  if (!arguments.kernels.empty()) THIMBLE_CHECK(files->add(arguments.kernels, source));
  if (arguments.kernels_dir.empty()) return ok();
  std::vector<std::string> sources = {"kernels_used.cpp"};
  // Kernel lists that a vendor's compiler has generated for the subgraphs.
  for (const std::string& name : files->names_in(arguments.kernels_dir)) {
    if (extension(name) == ".c") sources.push_back(name);
  }
  THIMBLE_CHECK(files->add(arguments.kernels_dir / "kernels_used.cpp", source));
  if (compiled.report.placement && !arguments.emits("c")) {
    const std::string name = emit::c::model_name(pte_path(arguments).stem().string());
    THIMBLE_CHECK(files->add(arguments.kernels_dir / linker_file_name(name),
                             emit::linker_file(linker_file_of(compiled, name))));
  }
  return files->add(arguments.kernels_dir / "kernels_used.cmake",
                    hostrun::kernel_cmake(used, label, sources));
}

std::string report_file(const CompileArguments& arguments, const driver::Compiled& compiled) {
  if (extension(arguments.report) != ".html") return driver::json_report(compiled.report);
  return report::html_page(compiled, {arguments.command, release_version()});
}

}  // namespace

Status add_outputs(const CompileArguments& arguments, const engine::VendorTools& vendor,
                   driver::Compiled& compiled, OutputFiles* files) {
  THIMBLE_CHECK(files->make_folder(arguments.out_dir));
  THIMBLE_CHECK(files->make_folder(arguments.kernels_dir));
  const size_t first = files->added().size();
  files->protect_stages(arguments.save_stages);
  files->protect(arguments.model);
  files->protect(arguments.calibrate);
  fs::path path = pte_path(arguments);
  const std::string label = path.filename().string();
  if (arguments.emits("pte")) THIMBLE_CHECK(files->add(path, compiled.pte));
  if (arguments.emits("tflite")) {
    THIMBLE_TRY(const Bytes model, interchange::to_tflite(compiled.integer_graph));
    THIMBLE_CHECK(files->add(path.replace_extension(".tflite"), model));
  }
  if (arguments.emits("tosa")) {
    THIMBLE_TRY(const Bytes model, interchange::to_tosa(compiled.integer_graph));
    THIMBLE_CHECK(files->add(path.replace_extension(".tosa"), model));
  }
  if (arguments.emits("tosa-fp")) {
    THIMBLE_TRY(const driver::CompileOptions options, compile_options(arguments));
    THIMBLE_TRY(const ir::Graph graph, driver::load_float_graph(arguments.model, options.shapes));
    THIMBLE_TRY(const Bytes model, interchange::to_tosa_fp(graph));
    THIMBLE_CHECK(files->add(path.replace_extension(".fp.tosa"), model));
  }
  if (arguments.emits("ir")) {
    THIMBLE_TRY(const ir::Graph whole,
                partition::inline_subgraphs(compiled.lowered.graph, compiled.subgraphs));
    THIMBLE_CHECK(files->add(path.replace_extension(".ir"), ir::print(whole)));
  }
  if (arguments.emits("model-explorer")) {
    path.replace_extension(".model_explorer.json");
    THIMBLE_CHECK(files->add(path, report::model_explorer_json(compiled)));
  }
  if (arguments.emits("c")) {
    const std::string layout = arguments.c_layout.empty() ? "plain" : arguments.c_layout;
    THIMBLE_CHECK(add_c_files(compiled, pte_path(arguments), layout, files));
  }
  const fs::path folder = path.parent_path();
  const EngineOutput output{compiled.lowered.delegates, vendor, folder,
                            arguments.kernels_dir.empty() ? folder : arguments.kernels_dir};
  for (const auto& engine : arguments.engines) {
    THIMBLE_CHECK(engine->add_files(output, files, &compiled.report.notes));
  }
  THIMBLE_CHECK(add_kernels(arguments, compiled, compiled.pte, label, files));
  for (size_t i = first; i < files->added().size(); ++i) {
    const OutputFiles::Added& file = files->added()[i];
    compiled.report.files.push_back({file.path.string(), file.bytes});
  }
  if (!arguments.report.empty()) {
    THIMBLE_CHECK(files->add(arguments.report, report_file(arguments, compiled)));
  }
  return ok();
}

Status write_outputs(const CompileArguments& arguments, const engine::VendorTools& vendor,
                     driver::Compiled& compiled) {
  OutputFiles files;
  THIMBLE_CHECK(add_outputs(arguments, vendor, compiled, &files));
  return files.commit();
}

Status write_refusal(const CompileArguments& arguments, const driver::Compiled& compiled) {
  OutputFiles files;
  files.protect_stages(arguments.save_stages);
  files.protect(arguments.model);
  files.protect(arguments.calibrate);
  THIMBLE_CHECK(files.add(arguments.report, report_file(arguments, compiled)));
  return files.commit();
}

Status write_methods(const CompileArguments& arguments,
                     const std::vector<driver::MethodModel>& methods,
                     const driver::CompiledMethods& compiled) {
  OutputFiles files;
  THIMBLE_CHECK(files.make_folder(arguments.out_dir));
  THIMBLE_CHECK(files.make_folder(arguments.kernels_dir));
  for (const driver::MethodModel& method : methods) {
    files.protect(method.model);
    files.protect(method.calibration);
  }
  const fs::path path = pte_path(arguments);
  THIMBLE_CHECK(files.add(path, compiled.pte));
  THIMBLE_CHECK(
      add_kernels(arguments, compiled.methods[0], compiled.pte, path.filename().string(), &files));
  if (!arguments.report.empty()) {
    THIMBLE_CHECK(files.add(arguments.report, driver::methods_json(compiled)));
  }
  return files.commit();
}

}  // namespace thimble::tools
