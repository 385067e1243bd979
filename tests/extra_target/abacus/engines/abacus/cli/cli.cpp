// SPDX-License-Identifier: Apache-2.0
#include "engines/abacus/cli/cli.h"

#include "engines/abacus/container/program.h"
#include "engines/abacus/text/text.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

class AbacusCli : public EngineCli {
 public:
  void add_compile_options(Verb& verb) override {
    verb.option("--abacus-listing", listing_, "Text file for the commands of the Abacus");
  }

  Status add_files(const EngineOutput& output, OutputFiles* files,
                   std::vector<std::string>* notes) const override {
    if (listing_.empty()) return ok();
    std::string text;
    for (const engine::Delegate& delegate : output.delegates) {
      if (delegate.id == abacus::kDelegateId) text += abacus::text::print(delegate.payload);
    }
    notes->push_back(fmt::format("commands of the Abacus: {}", listing_.filename().string()));
    return files->add(listing_, text);
  }

  [[nodiscard]] Result<std::optional<std::string>> print_delegate(
      const formats::pte::Program& program, const formats::pte::BackendDelegate& row,
      const std::string& label) const override {
    if (row.id != abacus::kDelegateId) return std::optional<std::string>();
    const Bytes& payload = program.delegate_blobs[row.blob].bytes;
    if (!abacus::text::is_program(payload)) return bad_input("{}: a broken Abacus program", label);
    return std::optional<std::string>(abacus::text::print(payload));
  }

  [[nodiscard]] std::string_view file_format() const override { return "Abacus program"; }

  [[nodiscard]] Result<std::optional<InspectReport>> inspect_file(
      const Bytes& bytes, const std::string& label) const override {
    if (!abacus::text::is_program(bytes)) return std::optional<InspectReport>();
    InspectReport report;
    report.text = abacus::text::print(bytes);
    report.json = {{"file", label}, {"format", "abacus"}, {"text", report.text}};
    return std::optional<InspectReport>(std::move(report));
  }

 private:
  fs::path listing_;
};

}  // namespace

std::unique_ptr<EngineCli> abacus_cli() {
  return std::make_unique<AbacusCli>();
}

}  // namespace thimble::tools
