// SPDX-License-Identifier: Apache-2.0
// Each status of abi/status.def on an emulated board: firmware_faults_test and
// firmware_npu_faults_test cause some; this test causes the others with changed files and with an
// NPU that does not match. Where a status depends on the place of a change, the candidates are
// tried in order. The table of docs/faults.md lists all statuses.

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "../unit/neutron_list_file.h"
#include "../unit/neutron_sample.h"
#include "../unit/test_files.h"
#include "abi/status.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/hostrun/ethos_u.h"
#include "formats/pte/read.h"
#include "formats/pte/write.h"
#include "models.h"
#include "support.h"

namespace thimble::firmware_test {
namespace {

using abi::Status;
using Words = std::vector<std::string>;

constexpr Core kM4 = {"cortex-m4", "mps2-an386", Isa::kV7em};
constexpr Core kM33 = {"cortex-m33", "mps2-an505", Isa::kV7em};
constexpr Core kM55 = {"cortex-m55", "mps3-an547", Isa::kMve};

Bytes source_file(const std::string& path) {
  return test::read_bytes(test::source_folder() / path);
}

formats::pte::Program program_of(const Bytes& file) {
  auto program = formats::pte::read(file, "x.pte");
  EXPECT_TRUE(program.ok());
  return std::move(*program);
}

/// Loads `file` on the board. Returns the status that the image prints; 0 if it prints none.
int status_on_board(const char* app, const Core& core, Words words, const Bytes& file) {
  write_file("model.pte", file);
  const auto result = run({image(app, core), core.machine, std::move(words), ""});
  const size_t at = result.output.find("status ");
  return at == std::string::npos ? 0 : std::atoi(result.output.c_str() + at + 7);
}

/// True if one of the changes of the file makes the runner of an M4 report this status.
bool any_change(const Bytes& file, Status status,
                const std::function<bool(formats::pte::Program&, size_t)>& change) {
  const formats::pte::Program original = program_of(file);
  for (size_t i = 0; i < original.plans[0].values.size(); ++i) {
    formats::pte::Program changed = original;
    if (!change(changed, i)) continue;
    const auto written = formats::pte::write(changed);
    if (!written) continue;
    if (status_on_board("runner", kM4, {"runner", "model.pte", "x", "y"}, *written) ==
        static_cast<int>(status)) {
      return true;
    }
  }
  return false;
}

formats::pte::Tensor* tensor_at(formats::pte::Program& program, size_t value) {
  return std::get_if<formats::pte::Tensor>(&program.plans[0].values[value]);
}

TEST(StatusOnBoard, ChangedPrograms) {
  const Words fine = {"faults", "fine", "model.pte"};
  pte::Program program = copy_program();
  program.plans[0].chains.push_back(program.plans[0].chains[0]);
  const auto two_chains = formats::pte::write(program);
  ASSERT_TRUE(two_chains.ok());
  EXPECT_EQ(status_on_board("faults", kM4, fine, *two_chains),
            static_cast<int>(Status::kUnsupported));
  program = copy_program();
  std::get<pte::Tensor>(program.plans[0].values[1]).sizes = {1, 8};
  const auto larger = formats::pte::write(program);
  ASSERT_TRUE(larger.ok());
  EXPECT_EQ(status_on_board("faults", kM4, fine, *larger), static_cast<int>(Status::kBadShape));

  Bytes native = source_file("tests/fuzz/corpus/pte/hello_sin_cortex-m4.pte");
  const size_t records = as_text(native).find("THMB");
  ASSERT_NE(records, std::string_view::npos);
  native[records + 6] = std::byte{99};
  EXPECT_EQ(status_on_board("runner", kM4, {"runner", "model.pte", "x", "y"}, native),
            static_cast<int>(Status::kLayoutVersion));
}

TEST(StatusOnBoard, ChangedArguments) {
  const Bytes file = source_file("tests/data/executorch/separable.pte");
  EXPECT_TRUE(any_change(file, Status::kBadDType, [](formats::pte::Program& p, size_t i) {
    formats::pte::Tensor* const tensor = tensor_at(p, i);
    if (tensor == nullptr || tensor->scalar_type != formats::pte::ScalarType::kChar) return false;
    tensor->scalar_type = formats::pte::ScalarType::kByte;
    return true;
  }));
  EXPECT_TRUE(any_change(file, Status::kBadDimOrder, [](formats::pte::Program& p, size_t i) {
    formats::pte::Tensor* const tensor = tensor_at(p, i);
    if (tensor == nullptr || tensor->dim_order.size() != 4) return false;
    std::swap(tensor->dim_order[0], tensor->dim_order[3]);
    return true;
  }));
  EXPECT_TRUE(any_change(file, Status::kBadParameter, [](formats::pte::Program& p, size_t i) {
    auto* const number = std::get_if<formats::pte::Int>(&p.plans[0].values[i]);
    if (number == nullptr) return false;
    *number = formats::pte::Int{1'000'000};
    return true;
  }));
}

Words ethos_u_words(const Bytes& file, const char* config = nullptr) {
  const auto program = formats::pte::read(file, "x.pte");
  EXPECT_TRUE(program.ok());
  const auto needs = hostrun::read_ethos_u_needs(*program, "x.pte");
  EXPECT_TRUE(needs.ok() && needs->has_value());
  return {"runner",
          "-n",
          config != nullptr ? config : (*needs)->config->name,
          std::to_string((*needs)->workspace_bytes),
          std::to_string((*needs)->fast_bytes),
          "model.pte",
          "x",
          "y"};
}

/// The file with a changed payload of its delegate.
Bytes with_payload(const Bytes& file,
                   const std::function<void(formats::ethos_u::EthosUPayload&)>& change) {
  formats::pte::Program program = program_of(file);
  auto payload = formats::ethos_u::read_payload(program.delegate_blobs[0].bytes);
  EXPECT_TRUE(payload.ok());
  change(*payload);
  const auto blob = formats::ethos_u::write_payload(*payload);
  EXPECT_TRUE(blob.ok());
  program.delegate_blobs[0].bytes = *blob;
  const auto written = formats::pte::write(program);
  EXPECT_TRUE(written.ok());
  return *written;
}

TEST(StatusOnBoard, EthosU) {
  const Bytes file = source_file("tests/data/executorch/ethos_u/image_u55_128.pte");
  const auto status = [](const Words& words, const Bytes& changed) {
    return status_on_board("runner-ethos-u", kM55, words, changed);
  };
  EXPECT_EQ(status(ethos_u_words(file, "ethos-u85-256"), file),
            static_cast<int>(Status::kWrongNpu));
  EXPECT_EQ(status(ethos_u_words(file, "ethos-u55-256"), file),
            static_cast<int>(Status::kWrongMacs));
  const Bytes newer = with_payload(file, [](formats::ethos_u::EthosUPayload& payload) {
    // ID is the word at 12; bits 20 to 27 are the minor version of the architecture.
    payload.commands[14] |= std::byte{0xF0};
  });
  EXPECT_EQ(status(ethos_u_words(file), newer), static_cast<int>(Status::kNpuVersion));
  const Bytes missing = with_payload(file, [](formats::ethos_u::EthosUPayload& payload) {
    payload.commands.clear();
    payload.commands_key = std::string(64, 'a');
  });
  EXPECT_EQ(status(ethos_u_words(file), missing), static_cast<int>(Status::kMissingData));
  formats::pte::Program program = program_of(file);
  program.delegate_blobs[0].bytes[0] = std::byte{'x'};
  const auto corrupt = formats::pte::write(program);
  ASSERT_TRUE(corrupt.ok());
  EXPECT_EQ(status(ethos_u_words(file), *corrupt), static_cast<int>(Status::kBadPayload));
  EXPECT_EQ(status_on_board("runner-axon", kM33, {"runner", "model.pte", "x", "y"}, file),
            static_cast<int>(Status::kMissingDelegate));
}

/// A stream that uses fast scratch, which the file does not plan, on an NPU without that memory.
TEST(StatusOnBoard, EthosUWithoutFastMemory) {
  const Bytes file = source_file("tests/data/executorch/ethos_u/image_u65_256.pte");
  Words words = ethos_u_words(file);
  ASSERT_NE(words[4], "0");
  words[4] = "0";
  EXPECT_EQ(status_on_board("runner-ethos-u", kM55, words, file),
            static_cast<int>(Status::kNoFastMemory));
}

TEST(StatusOnBoard, Neutron) {
  const auto original = neutron_test::file_of(neutron_test::sample_list()).program();
  std::set<int> found;
  const std::set<int> wanted = {
      static_cast<int>(Status::kBadMagic), static_cast<int>(Status::kPayloadVersion),
      static_cast<int>(Status::kPayloadCounts), static_cast<int>(Status::kDriverError)};
  const auto try_byte = [&](size_t at) {
    formats::pte::Program program = original;
    program.delegate_blobs[0].bytes[at] ^= std::byte{0x11};
    const auto written = formats::pte::write(program);
    ASSERT_TRUE(written.ok());
    found.insert(
        status_on_board("runner-neutron", kM33, {"runner", "model.pte", "x", "y"}, *written));
  };
  // The header of the payload, then the content of the program.
  const Bytes& blob = original.delegate_blobs[0].bytes;
  for (size_t at = 0; at < 80 && !std::ranges::includes(found, wanted); ++at) try_byte(at);
  for (size_t at = blob.size() / 2; at < blob.size() / 2 + 4; ++at) {
    if (!std::ranges::includes(found, wanted)) try_byte(at);
  }
  for (const int status : wanted) EXPECT_TRUE(found.contains(status)) << status;
}

/// Each status has a row in the document.
TEST(StatusTable, DocumentHasEachStatus) {
  std::ifstream stream(test::source_folder() / "docs/faults.md");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
#define THIMBLE_STATUS(name, value, message) \
  EXPECT_NE(text.find("\n| " #value " | `" #name "` | "), std::string::npos) << #name;
#include "abi/status.def"
#undef THIMBLE_STATUS
}

}  // namespace
}  // namespace thimble::firmware_test
