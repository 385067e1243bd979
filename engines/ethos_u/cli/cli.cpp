// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/cli/cli.h"

#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/hostrun/ethos_u.h"
#include "engines/ethos_u/text/payload.h"
#include "engines/ethos_u/text/text.h"

namespace thimble::tools {
namespace {

class EthosUCli : public EngineCli {
 public:
  [[nodiscard]] Result<std::optional<std::string>> print_delegate(
      const formats::pte::Program& program, const formats::pte::BackendDelegate& row,
      const std::string& label) const override {
    if (row.id != abi::ethos_u::kDelegateId) return std::optional<std::string>();
    const Result<Bytes> commands = hostrun::ethos_u_commands(program, row);
    if (!commands.ok()) return prefixed(label, commands.error());
    THIMBLE_TRY(const ethos_u::text::Payload payload,
                ethos_u::text::read_payload(*commands, label));
    return std::optional<std::string>(ethos_u::text::print(payload));
  }

  [[nodiscard]] std::string_view file_format() const override {
    return "Ethos-U payload (COP1, COP2)";
  }

  /// Describes the header of a driver payload, and its command stream as text.
  [[nodiscard]] Result<std::optional<InspectReport>> inspect_file(
      const Bytes& bytes, const std::string& label) const override {
    namespace text = ethos_u::text;
    if (!text::is_payload(bytes)) return std::optional<InspectReport>();
    THIMBLE_TRY(const text::Payload payload, text::read_payload(bytes, label));
    const ethos_u::Config* hardware = payload.hardware();
    InspectReport report;
    report.text = text::print(payload);
    report.json = {{"file", label},
                   {"format", fmt::format("cop{}", payload.header.cop_version)},
                   {"configuration", hardware == nullptr ? Json(nullptr) : Json(hardware->name)},
                   {"config", payload.header.config},
                   {"id", payload.header.id},
                   {"stream_offset", payload.header.stream_offset},
                   {"stream_words", payload.stream.size()},
                   {"stream", text::disassemble(payload.stream, payload.generation)}};
    return std::optional<InspectReport>(std::move(report));
  }
};

}  // namespace

std::unique_ptr<EngineCli> ethos_u_cli() {
  return std::make_unique<EthosUCli>();
}

}  // namespace thimble::tools
