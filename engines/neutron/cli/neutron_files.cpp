// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/cli/neutron_files.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "engine/part.h"
#include "engines/neutron/compiler/vendor/sdk.h"

namespace thimble::tools {

namespace fs = std::filesystem;
using engine::GeneratedFile;

Status add_neutron_tools(const NeutronArguments& arguments, const std::string& part,
                         const fs::path& model, engine::VendorTools* tools) {
  tools->prefetch = arguments.prefetch;
  if (arguments.program == "model") {
    const bool asked = !arguments.sdk.empty() || !arguments.flags.empty() || arguments.kernels;
    if (!asked) return ok();
    return bad_input(
        "--neutron-sdk, --neutron-flags and --neutron-kernels need --neutron sdk, which calls "
        "NXP's "
        "converter");
  }
  if (!tools->form.empty())
    return bad_input("--neutron sdk and --axon cannot be combined: no part has both NPUs");
  THIMBLE_TRY(const engine::Part found, engine::find_part(part));
  const bool has = std::ranges::any_of(
      found.engines, [](const engine::PartNpu& use) { return use.engine->kind == "neutron"; });
  if (!has) return bad_input("--neutron sdk: {} has no Neutron", part);
  const char* const variable = std::getenv(std::string(engine::neutron::kSdkVariable).c_str());
  tools->form = arguments.program;
  tools->folder = !arguments.sdk.empty() ? arguments.sdk : fs::path(variable ? variable : "");
  tools->flags = arguments.flags;
  tools->kernel_selection = arguments.kernels;
  tools->model = model.stem().string();
  tools->time_limit = std::chrono::seconds(arguments.time_limit);
  // Errors of the SDK's folder are reported before the compilation.
  if (auto found = engine::neutron::find_converter(tools->folder); !found.ok()) {
    return found.error();
  }
  tools->folder = fs::absolute(tools->folder);
  return ok();
}

Status add_neutron_files(const std::vector<engine::Delegate>& delegates,
                         const engine::VendorTools& tools, const fs::path& folder,
                         OutputFiles* files, std::vector<std::string>* notes) {
  if (tools.form != "sdk") return ok();
  std::map<std::string, std::string> texts;  // equal delegates have equal names and texts
  for (const engine::Delegate& delegate : delegates) {
    for (const GeneratedFile& file : delegate.files) texts[file.name] = file.text;
  }
  if (texts.empty()) return ok();
  std::vector<GeneratedFile> all;
  for (const auto& [name, text] : texts) all.push_back({name, text});
  engine::neutron::SdkOptions options;
  options.root = tools.folder;
  options.time_limit = tools.time_limit;
  std::optional<std::string> merged = all[0].text;
  if (all.size() > 1) {
    THIMBLE_TRY(merged, engine::neutron::merge_selections(all, options));
  }
  if (merged) return files->add(folder / (tools.model + "_kernel_selection.c"), *merged);
  for (const GeneratedFile& file : all) THIMBLE_CHECK(files->add(folder / file.name, file.text));
  notes->push_back(fmt::format(
      "{} kernel selections ({}_kernel_selection_*.c) for one firmware image: {} has no "
      "merge_kernel_selection_code to merge them",
      all.size(), tools.model, tools.folder.string()));
  return ok();
}

}  // namespace thimble::tools
