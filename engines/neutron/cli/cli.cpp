// SPDX-License-Identifier: Apache-2.0
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
    verb.option(
            "--neutron", a.program,
            "model: each Neutron subgraph as Thimble's kernel list, for the integer model; sdk: as "
            "microcode from NXP's converter, for the hardware")
        .one_of({"model", "sdk"});
    verb.option("--neutron-sdk", a.sdk, "The eIQ Neutron SDK; default: EIQ_NEUTRON_SDK_PATH");
    verb.option("--neutron-flags", a.flags, "More options of NXP's converter, as they are");
    verb.option("--neutron-time-limit", a.time_limit,
                "Time limit for each call of NXP's converter, in seconds")
        .positive();
    verb.flag("--neutron-kernels", a.kernels,
              "Also write MODEL_kernel_selection.c, NXP's table of the firmware kernels in use");
    verb.flag("--neutron-prefetch", a.prefetch,
              "Copy the weights of a kernel to SRAM while the previous kernel runs");
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
