// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/cli/cli.h"

#include "engines/axon/cli/axon_files.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/text/text.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

class AxonCli : public EngineCli {
 public:
  void add_compile_options(Verb& verb) override {
    verb.option("--axon", form_,
                "Form of AXON subgraphs: a layer list, or, by Nordic's compiler, a program in the "
                "file, or as headers for the firmware")
        .one_of({"layers", "program", "header"});
    verb.option("--axon-sdk", sdk_, "Folder of Nordic's sdk-edge-ai; default: SDK_EDGE_AI_PATH");
    verb.option("--axon-dir", headers_, "Folder for --axon header; default: folder of the .pte");
  }

  Status apply_options(const std::string& /*part*/, const fs::path& model,
                       engine::VendorTools* tools) const override {
    THIMBLE_CHECK(check_axon_options(form_, sdk_, headers_));
    if (form_ != "layers") *tools = axon_tools(form_, sdk_, model);
    return ok();
  }

  Status add_files(const EngineOutput& output, OutputFiles* files,
                   std::vector<std::string>* /*notes*/) const override {
    const fs::path& folder = headers_.empty() ? output.pte_folder : headers_;
    return add_axon_files(output.delegates, folder, files);
  }

  [[nodiscard]] Result<std::optional<std::string>> print_delegate(
      const formats::pte::Program& program, const formats::pte::BackendDelegate& row,
      const std::string& label) const override {
    if (row.id != axon::kDelegateId) return std::optional<std::string>();
    THIMBLE_TRY(std::string text, axon::text::print(program.delegate_blobs[row.blob].bytes, label));
    return std::optional<std::string>(std::move(text));
  }

 private:
  std::string form_ = "layers";
  fs::path sdk_, headers_;
};

}  // namespace

std::unique_ptr<EngineCli> axon_cli() {
  return std::make_unique<AxonCli>();
}

}  // namespace thimble::tools
