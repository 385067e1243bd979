// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/cli/axon_files.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/folder.h"
#include "base/library.h"
#include "base/program_folder.h"
#include "base/read_file.h"
#include "engines/axon/compiler/vendor/subgraph_text.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;
using engine::axon::SubgraphNote;

/// Reads the notes in the first lines of the generated headers in the folder.
Result<std::vector<SubgraphNote>> notes_in(const fs::path& folder) {
  std::vector<SubgraphNote> notes;
  if (!folder.empty()) {
    THIMBLE_TRY(const bool exists, base::path_exists(folder));
    if (!exists) return notes;
  }
  THIMBLE_TRY(const std::vector<fs::path> paths, base::list_folder(folder));
  for (const fs::path& path : paths) {
    const bool is_header = path.filename().string().starts_with("axon_subgraph_");
    std::error_code error;
    if (!is_header || !fs::is_regular_file(path, error)) continue;
    THIMBLE_TRY(const Bytes bytes, base::read_file(path));
    const std::string_view text = as_text(bytes);
    const std::string line(text.substr(0, text.find('\n')));
    for (SubgraphNote& note : engine::axon::read_subgraph_note(line + "\n")) {
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

}  // namespace

engine::VendorTools axon_tools(const std::string& form, const fs::path& sdk,
                               const fs::path& model) {
  engine::VendorTools tools;
  if (form == "layers") return tools;
  tools.form = form;
  const char* const variable = std::getenv("SDK_EDGE_AI_PATH");
  tools.folder = !sdk.empty() ? sdk : fs::path(variable != nullptr ? variable : "");
  const char* const suffix = base::host().system == "Windows" ? ".exe" : "";
  const std::string helper = fmt::format("thimble-axon-sdk{}", suffix);
  tools.helper = base::program_folder() / helper;
  // The module of the Python package is in the folder that contains bin/.
  const fs::path in_package = base::program_folder() / "bin" / helper;
  std::error_code error;
  if (fs::exists(in_package, error)) tools.helper = in_package;
  tools.model = model.stem().string();
  return tools;
}

Status check_axon_options(const std::string& form, const fs::path& sdk, const fs::path& folder) {
  if (!sdk.empty() && form == "layers") {
    return bad_input(
        "--axon-sdk is for Nordic's compiler: it requires --axon program or --axon header");
  }
  if (!folder.empty() && form != "header") {
    return bad_input("--axon-dir is for headers: it requires --axon header, not {}", form);
  }
  return ok();
}

Status add_axon_files(const std::vector<engine::Delegate>& delegates, const fs::path& folder,
                      OutputFiles* files) {
  std::map<std::string, const std::string*> texts;  // by file name
  std::map<std::string, std::string> models;        // model name, by identifier of the network
  std::set<std::string> names;
  for (const engine::Delegate& delegate : delegates) {
    for (const engine::GeneratedFile& file : delegate.files) {
      if (!file.name.starts_with("axon_")) continue;
      const auto [known, is_new] = texts.emplace(file.name, &file.text);
      if (!is_new && *known->second != file.text) {
        return bad_input("{}: two different networks have this name: rename the model", file.name);
      }
      for (const SubgraphNote& note : engine::axon::read_subgraph_note(file.text)) {
        names.insert(note.name);
        models[engine::axon::identifier_without_hash(note.name)] = note.model;
      }
    }
  }
  if (texts.empty()) return ok();
  THIMBLE_TRY(const std::vector<SubgraphNote> old_notes, notes_in(folder));
  for (const SubgraphNote& note : old_notes) {
    const auto own = models.find(engine::axon::identifier_without_hash(note.name));
    if (own == models.end()) {
      names.insert(note.name);
    } else if (own->second != note.model) {
      return bad_input(
          "{}: the folder has networks of {} with the same names as those of {}: "
          "rename one of the models, or use another --axon-dir",
          folder.string(), note.model, own->second);
    }
  }
  THIMBLE_CHECK(files->make_folder(folder));
  for (const auto& [name, text] : texts) THIMBLE_CHECK(files->add(folder / name, *text));
  const std::vector<std::string> sorted(names.begin(), names.end());
  return files->add(folder / engine::axon::kTableFileName, engine::axon::subgraph_table(sorted));
}

}  // namespace thimble::tools
