#include "engines/neutron/cli/cli.h"

#include "engines/neutron/cli/neutron_files.h"
#include "engines/neutron/container/program.h"
#include "engines/neutron/formats/payload.h"
#include "engines/neutron/text/text.h"

namespace thimble::tools {
namespace {

class NeutronCli : public EngineCli {
 public:
  void add_compile_options(Verb& verb) override {
    NeutronArguments& a = arguments_;
    verb.option("--neutron", a.form,
                "Form of Neutron subgraphs: a Thimble kernel list, or microcode of NXP's converter")
        .one_of({"model", "sdk"});
    verb.option("--neutron-sdk", a.sdk,
                "Folder of the eIQ Neutron SDK; default: EIQ_NEUTRON_SDK_PATH");
    verb.option("--neutron-flags", a.flags,
                "Additional options for NXP's converter, passed unchanged");
    verb.option("--neutron-time-limit", a.time_limit, "Time limit of a converter call in seconds");
    verb.flag("--neutron-kernels", a.kernels,
              "Also list the kernels of NXP's firmware that the model needs, as C");
    verb.flag("--neutron-prefetch", a.prefetch,
              "Copy weights to SRAM while the previous kernel runs");
  }

  Status apply_options(const std::string& part, const std::filesystem::path& model,
                       engine::VendorTools* tools) const override {
    return add_neutron_tools(arguments_, part, model, tools);
  }

  Status add_files(const EngineOutput& output, OutputFiles* files,
                   std::vector<std::string>* notes) const override {
    return add_neutron_files(output.delegates, output.vendor, output.kernels_folder, files, notes);
  }

  [[nodiscard]] Result<std::optional<std::string>> print_delegate(
      const formats::pte::Program& program, const formats::pte::BackendDelegate& row,
      const std::string& label) const override {
    if (row.id != neutron::kDelegateId) return std::optional<std::string>();
    const auto payload = formats::neutron::read_payload(program.delegate_blobs[row.blob].bytes);
    if (!payload.ok()) return bad_input("{}: {}", label, payload.error().message);
    THIMBLE_TRY(std::string text, neutron::text::print(payload->program, payload->weights, label));
    return std::optional<std::string>(std::move(text));
  }

 private:
  NeutronArguments arguments_;
};

}  // namespace

std::unique_ptr<EngineCli> neutron_cli() {
  return std::make_unique<NeutronCli>();
}

}  // namespace thimble::tools
