// SPDX-License-Identifier: Apache-2.0
// npu_hazard_experiment [--verbose] FOLDER...: tests the hazard checker on command streams that
// another compiler made.
//
// A folder is a case (case.h) or holds archives of cases. Only streams that wait for both engines
// are used. In each stream, every KERNEL_WAIT and DMA_WAIT is deleted and the BLOCKDEP of every
// kernel is raised by one, one change at a time. The checker examines the changed stream, and the
// adversarial modes run it (sim/adversary.h). If a mode gives another output byte or a fault, the
// checker must have reported a hazard. For the unchanged stream, no mode may change a byte and the
// checker must report none. Prints a row per stream; exit code 1 if the checker missed a hazard.
//
// A reported hazard that changes no byte is not an error: the data happened to be the same, or the
// bytes that were read too early do not reach an output.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "case.h"
#include "engines/ethos_u/sim/adversary.h"
#include "engines/ethos_u/sim/decode.h"
#include "engines/ethos_u/sim/hazard.h"

namespace {

namespace ethos_u = thimble::ethos_u;
namespace sim = thimble::ethos_u::sim;
namespace testing = thimble::ethos_u::testing;
using Bytes = testing::Bytes;
using Stream = std::vector<uint32_t>;

struct Case : testing::Case {
  std::string name;
};

/// Memory for one run, aligned as the driver aligns it.
class Run {
 public:
  Run(const Case& c, const Stream& stream) : case_(c), stream_(stream), regions_(sim::kRegions) {
    for (uint32_t i = 0; i < sim::kRegions; ++i) {
      regions_[i].resize(c.regions[i].size() / 8 + 2);
      if (c.regions[i].empty()) continue;
      std::memcpy(regions_[i].data(), c.regions[i].data(), c.regions[i].size());
    }
  }
  sim::Job job(std::vector<uint64_t>& workspace) {
    sim::Job job;
    job.config = case_.config;
    job.words = stream_.data();
    job.word_count = static_cast<uint32_t>(stream_.size());
    for (uint32_t i = 0; i < sim::kRegions; ++i) {
      job.regions[i] = {reinterpret_cast<uint8_t*>(regions_[i].data()), case_.regions[i].size(),
                        case_.read_only[i]};
    }
    job.workspace = reinterpret_cast<uint8_t*>(workspace.data());
    job.workspace_bytes = workspace.size() * 8;
    return job;
  }
  /// Returns the bytes of all outputs.
  [[nodiscard]] Bytes outputs() const {
    Bytes bytes;
    for (const testing::Expected& output : case_.outputs) {
      const auto* data = reinterpret_cast<const uint8_t*>(regions_[output.region].data());
      bytes.insert(bytes.end(), data + output.offset, data + output.offset + output.bytes.size());
    }
    return bytes;
  }

 private:
  const Case& case_;
  const Stream& stream_;
  std::vector<std::vector<uint64_t>> regions_;
};

enum class Kind { kKernelWait, kDmaWait, kBlockDependency };
constexpr const char* kKindNames[] = {"KERNEL_WAIT", "DMA_WAIT", "BLOCKDEP"};

struct Change {
  Kind kind;
  uint32_t word;  // index of the wait or kernel command
  Stream stream;
};

struct Verdict {
  bool hazard = false;
  sim::Fault first;
};

uint32_t block_dependency_most(const Case& c) {
  return ethos_u::find_field("BLOCKDEP", "_", c.config->generation).of(~0U);
}

/// Collects all single changes. Returns false if the stream has branches: a change would move them.
bool changes_of(const Case& c, std::vector<Change>* changes) {
  sim::Decoder decoder(*c.config, c.words.data(), static_cast<uint32_t>(c.words.size()));
  constexpr auto kBlockdep = static_cast<uint16_t>(ethos_u::Reg0::BLOCKDEP);
  sim::Step step;
  while (decoder.next(&step).none() && step.kind != sim::StepKind::kStop) {
    const auto at = c.words.begin() + step.word;
    Stream stream(c.words.begin(), at);
    if (step.kind == sim::StepKind::kBranch) return false;
    if (step.kind == sim::StepKind::kKernelWait || step.kind == sim::StepKind::kDmaWait) {
      stream.insert(stream.end(), at + 1, c.words.end());
      const bool kernels = step.kind == sim::StepKind::kKernelWait;
      changes->push_back(
          {kernels ? Kind::kKernelWait : Kind::kDmaWait, step.word, std::move(stream)});
    } else if (step.kind == sim::StepKind::kKernel &&
               step.kernel.blockdep < block_dependency_most(c)) {
      stream.push_back(ethos_u::word0(kBlockdep, step.kernel.blockdep + 1U));
      stream.push_back(*at);
      stream.push_back(ethos_u::word0(kBlockdep, step.kernel.blockdep));
      stream.insert(stream.end(), at + 1, c.words.end());
      changes->push_back({Kind::kBlockDependency, step.word, std::move(stream)});
    }
  }
  return true;
}

Verdict check(const Case& c, const Stream& stream) {
  sim::HazardChecker checker(*c.config);
  sim::Decoder decoder(*c.config, stream.data(), static_cast<uint32_t>(stream.size()));
  sim::Step step;
  while (decoder.next(&step).none() && step.kind != sim::StepKind::kStop) {
    if (step.kind == sim::StepKind::kKernel) (void)checker.kernel(step.word, step.kernel);
    if (step.kind == sim::StepKind::kDma) (void)checker.dma(step.word, step.dma);
    if (step.kind == sim::StepKind::kKernelWait) checker.wait(true, step.parameter);
    if (step.kind == sim::StepKind::kDmaWait) checker.wait(false, step.parameter);
  }
  return {checker.count() != 0, checker.first()};
}

class Experiment {
 public:
  explicit Experiment(const Case& c) : case_(c) {
    size_t bytes = 0;
    const auto words = static_cast<uint32_t>(c.words.size());
    fault_ = sim::workspace_bytes(*c.config, c.words.data(), words, &bytes);
    workspace_.resize(bytes / 8 + 1);
    if (!fault_.none()) return;
    Run run(c, c.words);
    const sim::Job job = run.job(workspace_);
    fault_ = sim::adversary_bytes(job, &bytes);
    memory_.resize(bytes / 8 + 1);
    if (fault_.none()) fault_ = sim::run(job);
    expected_ = run.outputs();
  }
  [[nodiscard]] const sim::Fault& fault() const { return fault_; }

  /// Returns true if the outputs in this mode differ from those of the unchanged stream.
  bool changes(const Stream& stream, sim::Adversary mode) {
    Run run(case_, stream);
    const sim::Fault fault = sim::run_adversary(
        run.job(workspace_), mode, reinterpret_cast<uint8_t*>(memory_.data()), memory_.size() * 8);
    return !fault.none() || run.outputs() != expected_;
  }

 private:
  const Case& case_;
  std::vector<uint64_t> workspace_, memory_;
  std::vector<uint8_t> expected_;
  sim::Fault fault_;
};

struct Row {
  int tried = 0, named = 0, changed = 0, missed = 0;
  void add(const Row& other) {
    tried += other.tried;
    named += other.named;
    changed += other.changed;
    missed += other.missed;
  }
};

constexpr sim::Adversary kModes[] = {sim::Adversary::kLateWrites, sim::Adversary::kLateKernels,
                                     sim::Adversary::kLateDmas};

/// Returns false if the unchanged stream has a hazard or a mode changes its outputs.
bool has_no_hazard(const Case& c, Experiment& experiment) {
  const Verdict verdict = check(c, c.words);
  if (verdict.hazard) {
    std::printf("%s: word %u against %u: %s\n", c.name.c_str(), verdict.first.word,
                verdict.first.other_word, verdict.first.detail);
    return false;
  }
  for (const sim::Adversary mode : kModes) {
    if (!experiment.changes(c.words, mode)) continue;
    std::printf("%s: mode %d changes an output of the unchanged stream\n", c.name.c_str(),
                static_cast<int>(mode));
    return false;
  }
  return true;
}

void judge(const Case& c, const Change& change, Experiment& experiment, bool verbose, Row* row) {
  const Verdict verdict = check(c, change.stream);
  bool changed[3] = {};
  for (int i = 0; i < 3; ++i) {
    // Only the late-writes mode models block dependencies.
    if (change.kind == Kind::kBlockDependency && i != 0) continue;
    changed[i] = experiment.changes(change.stream, kModes[i]);
  }
  const bool any = changed[0] || changed[1] || changed[2];
  const bool missed = any && !verdict.hazard;
  row->add({1, verdict.hazard ? 1 : 0, any ? 1 : 0, missed ? 1 : 0});
  if (!verbose && !missed) return;
  std::printf("  %s %-11s word %-6u %s%s%s", missed ? "MISSED" : "      ",
              kKindNames[static_cast<int>(change.kind)], change.word, changed[0] ? "W" : "-",
              changed[1] ? "K" : "-", changed[2] ? "D" : "-");
  if (verdict.hazard) {
    std::printf("  word %u against %u: %s", verdict.first.word, verdict.first.other_word,
                verdict.first.detail);
  }
  std::printf("\n");
}

/// Returns false if the checker was wrong.
bool check_case(const Case& c, bool verbose, Row total[3]) {
  std::vector<Change> changes;
  if (!changes_of(c, &changes)) {
    std::printf("%-44s skipped: it has branches\n", c.name.c_str());
    return true;
  }
  Experiment experiment(c);
  if (!experiment.fault().none()) {
    std::printf("%s: word %u: %s\n", c.name.c_str(), experiment.fault().word,
                experiment.fault().detail);
    return false;
  }
  bool good = has_no_hazard(c, experiment);
  Row rows[3];
  for (const Change& change : changes) {
    judge(c, change, experiment, verbose, &rows[static_cast<int>(change.kind)]);
  }
  std::printf("%-44s", c.name.c_str());
  for (int i = 0; i < 3; ++i) {
    std::printf("  %4d %4d %4d %4d |", rows[i].tried, rows[i].named, rows[i].changed,
                rows[i].missed);
    total[i].add(rows[i]);
    good = good && rows[i].missed == 0;
  }
  std::printf("%s\n", good ? "" : " WRONG");
  std::fflush(stdout);
  return good;
}

/// Returns the folder as one case, or the cases of the archives in it.
std::vector<Case> cases_of(const std::filesystem::path& folder) {
  std::vector<Case> cases;
  const std::string name = folder.parent_path().filename().string();
  if (std::filesystem::exists(folder / "meta.txt")) {
    cases.push_back({testing::read_case(testing::read_folder(folder)),
                     name + "/" + folder.filename().string()});
    return cases;
  }
  std::vector<std::filesystem::path> archives;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".cases") {
      archives.push_back(entry.path());
    }
  }
  std::ranges::sort(archives);
  for (const std::filesystem::path& path : archives) {
    std::string error;
    for (const auto& [key, files] : testing::read_archive(path, &error)) {
      cases.push_back({testing::read_case(files), path.stem().string() + "/" + key});
    }
    if (!error.empty()) cases.emplace_back().error = path.filename().string() + ": " + error;
  }
  return cases;
}

/// Returns true if the stream waits for both engines; other streams have no wait to remove.
bool waits_for_both(const Case& c) {
  sim::Decoder decoder(*c.config, c.words.data(), static_cast<uint32_t>(c.words.size()));
  sim::Step step;
  bool kernels = false, dmas = false;
  while (decoder.next(&step).none() && step.kind != sim::StepKind::kStop) {
    kernels = kernels || step.kind == sim::StepKind::kKernelWait;
    dmas = dmas || step.kind == sim::StepKind::kDmaWait;
  }
  return kernels && dmas;
}

}  // namespace

int main(int argc, char** argv) {
  bool verbose = false, good = true;
  int streams = 0;
  Row total[3];
  std::printf("%-44s  %-20s|  %-20s|  %-20s|\n", "", "KERNEL_WAIT deleted", "DMA_WAIT deleted",
              "BLOCKDEP + 1");
  std::printf("%-44s", "stream");
  for (int i = 0; i < 3; ++i) std::printf("   try name chng miss |");
  std::printf("\n");
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--verbose") == 0) {
      verbose = true;
      continue;
    }
    for (const Case& c : cases_of(argv[i])) {
      if (!c.error.empty()) {
        std::printf("%s %s: %s\n", argv[i], c.name.c_str(), c.error.c_str());
        good = false;
      } else if (waits_for_both(c)) {
        good = check_case(c, verbose, total) && good;
        ++streams;
      }
    }
  }
  std::printf("%-44s", (std::to_string(streams) + " streams").c_str());
  for (const Row& row : total) {
    std::printf("  %4d %4d %4d %4d |", row.tried, row.named, row.changed, row.missed);
  }
  std::printf("\n");
  return streams != 0 && good ? 0 : 1;
}
