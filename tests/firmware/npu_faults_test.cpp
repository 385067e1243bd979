// SPDX-License-Identifier: Apache-2.0
// An NPU that hangs, answers late, raises each error bit or loses its interrupt, on emulated
// boards: the run returns a status, and after thimble_reset() every result equals that of the host.
// The table of docs/faults.md has the same rows.

#include <fstream>
#include <iterator>

#include "../unit/axon_program.h"
#include "../unit/axon_sample.h"
#include "../unit/neutron_list_file.h"
#include "../unit/neutron_sample.h"
#include "../unit/test_files.h"
#include "abi/status.h"
#include "engines/ethos_u/hostrun/ethos_u.h"
#include "formats/pte/read.h"
#include "formats/pte/write.h"
#include "hostrun/host.h"
#include "support.h"

namespace thimble::firmware_test {
namespace {

using abi::Status;

constexpr Core kM55 = {"cortex-m55", "mps3-an547", Isa::kMve};
constexpr Core kM33 = {"cortex-m33", "mps2-an505", Isa::kV7em};
constexpr size_t kRuns = 2;

struct FaultCase {
  const char* engine;
  const char* fault;
  Status status;
};
constexpr FaultCase kCases[] = {
    {"ethos-u", "hang", Status::kNpuTimeout},
    {"ethos-u", "late", Status::kOk},
    {"ethos-u", "bus", Status::kNpuFault},
    {"ethos-u", "parse", Status::kNpuFault},
    {"ethos-u", "weight", Status::kNpuFault},
    {"ethos-u", "ecc", Status::kNpuFault},
    {"ethos-u", "branch", Status::kNpuFault},
    {"ethos-u", "ended-with-fault", Status::kNpuFault},
    {"ethos-u", "early-interrupt", Status::kNpuFault},
    {"ethos-u", "stop", Status::kNpuFault},
    {"ethos-u", "lost-interrupt", Status::kOk},
    {"ethos-u", "endless-reset", Status::kNpuTimeout},
    {"ethos-u", "wrong-level", Status::kNpuFault},
    {"axon", "hang", Status::kNpuTimeout},
    {"axon", "error", Status::kNpuFault},
    {"neutron", "error", Status::kDriverError},
};

/// Networks for a U55, a U65 and a U85, in tests/data/executorch/ethos_u.
constexpr const char* kEthosUFiles[] = {"image_u55_128", "image_u65_256", "image_u85_256"};

struct Run {
  FaultCase fault;
  std::string file;  // of kEthosUFiles; empty for other engines
};

std::vector<Run> all_runs() {
  std::vector<Run> runs;
  for (const FaultCase& fault : kCases) {
    if (std::string_view(fault.engine) != "ethos-u") {
      runs.push_back({fault, ""});
      continue;
    }
    for (const std::string file : kEthosUFiles) {
      // Only the U85 has the bit for a branch.
      if (fault.fault != std::string_view("branch") || file.starts_with("image_u85")) {
        runs.push_back({fault, file});
      }
    }
  }
  return runs;
}

struct Sample {
  Core core;
  Bytes file;
  std::vector<std::string> words;  // of the image, before the model
};

Sample ethos_u_sample(const std::string& name) {
  const Bytes file =
      test::read_bytes(test::source_folder() / "tests/data/executorch/ethos_u" / (name + ".pte"));
  const auto program = formats::pte::read(file, "image");
  EXPECT_TRUE(program.ok());
  const auto needs = hostrun::read_ethos_u_needs(*program, "image");
  EXPECT_TRUE(needs.ok() && needs->has_value());
  return {kM55,
          file,
          {"-n", (*needs)->config->name, std::to_string((*needs)->workspace_bytes),
           std::to_string((*needs)->fast_bytes)}};
}

Sample sample_of(const Run& run) {
  if (!run.file.empty()) return ethos_u_sample(run.file);
  const std::string engine = run.fault.engine;
  const auto file =
      engine == "axon"
          ? formats::pte::write(axon_test::axon_program(axon_test::sample_list().build()))
          : formats::pte::write(neutron_test::file_of(neutron_test::sample_list()).program());
  EXPECT_TRUE(file.ok());
  return {kM33, *file, {}};
}

ir::Tensor tensor_for(const hostrun::Port& port, size_t run) {
  ir::Tensor tensor;
  tensor.dtype = port.dtype;
  tensor.shape = port.shape;
  const bool is_float = port.dtype == ir::DType::kF32;
  for (size_t i = 0; i < port.bytes(); ++i) {
    const size_t value = is_float && i % 4 == 3 ? 0x3E + i / 4 % 2 : run * 31 + i * 17;
    tensor.bytes.push_back(static_cast<std::byte>(value));
  }
  return tensor;
}

class NpuFaults : public testing::TestWithParam<Run> {};

TEST_P(NpuFaults, StatusThenSameResults) {
  const FaultCase& fault = GetParam().fault;
  Sample sample = sample_of(GetParam());
  auto host = hostrun::HostModel::load(sample.file, "sample");
  ASSERT_TRUE(host.ok()) << host.error().message;
  const hostrun::Interface interface = host->interface();
  std::vector<Bytes> inputs(interface.inputs.size()), outputs(interface.outputs.size());
  for (size_t run = 0; run < kRuns; ++run) {
    ASSERT_TRUE(host->reset());  // as on the board, after the fault
    std::vector<ir::Tensor> tensors;
    for (size_t i = 0; i < inputs.size(); ++i) {
      tensors.push_back(tensor_for(interface.inputs[i], run));
      append(inputs[i], ir::to_memory(tensors[i], interface.inputs[i].dim_order));
    }
    const auto answers = host->run(tensors);
    ASSERT_TRUE(answers.ok()) << answers.error().message;
    for (size_t i = 0; i < outputs.size(); ++i) {
      append(outputs[i], ir::to_memory((*answers)[i], interface.outputs[i].dim_order));
    }
  }
  write_file("model.pte", sample.file);
  std::vector<std::string> words = {"runner", "-f", fault.fault};
  std::ranges::copy(sample.words, std::back_inserter(words));
  words.emplace_back("model.pte");
  for (size_t i = 0; i < inputs.size(); ++i) {
    words.push_back("x" + std::to_string(i));
    write_file(words.back(), inputs[i]);
  }
  words.emplace_back("y");
  const std::string image_name = std::string("runner-") + fault.engine;
  const auto result = run({image(image_name.c_str(), sample.core), sample.core.machine, words, ""});
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const std::string line = "fault status " + std::to_string(static_cast<int>(fault.status)) + "\n";
  const std::string report = read_file("y.txt");
  EXPECT_NE(report.find(line + line), std::string::npos) << report;
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(read_file("y_" + std::to_string(i) + ".bin") == as_text(outputs[i])) << i;
  }
}

const char* status_name(Status status) {
  switch (status) {
#define THIMBLE_STATUS(name, value, text) \
  case Status::name:                      \
    return #name;
#include "abi/status.def"
#undef THIMBLE_STATUS
  }
  return "";
}

/// Each row of the document's table is a case, and each case has a row.
TEST(NpuFaultsTable, DocumentHasEachCase) {
  std::ifstream file(test::source_folder() / "docs/faults.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  size_t rows = 0;
  for (const std::string_view engine : {"ethos-u", "axon", "neutron"}) {
    const std::string start = "\n| `" + std::string(engine) + "` |";
    for (size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1))
      ++rows;
  }
  EXPECT_EQ(rows, std::size(kCases));
  for (const FaultCase& fault : kCases) {
    const std::string row = "\n| `" + std::string(fault.engine) + "` | `" + fault.fault + "` |";
    const size_t at = text.find(row);
    ASSERT_NE(at, std::string::npos) << row;
    const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    EXPECT_TRUE(line.ends_with(std::string("| `") + status_name(fault.status) + "` |")) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, NpuFaults, testing::ValuesIn(all_runs()), [](const auto& info) {
  std::string name =
      std::string(info.param.fault.engine) + "_" + info.param.fault.fault + "_" + info.param.file;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace thimble::firmware_test
