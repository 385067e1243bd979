// SPDX-License-Identifier: Apache-2.0
#include "tests/matrix/ledger.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace thimble::test {
namespace {

class Ledger {
 public:
  Ledger() {
    const char* folder = std::getenv("THIMBLE_MATRIX");
    if (folder != nullptr) folder_ = folder;
  }
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger() {
    if (rows_.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error).filename();
    std::ofstream file(folder_ / (program.string() + "-" + std::to_string(getpid()) + ".tsv"));
    for (const auto& [row, counts] : rows_) {
      for (const std::string& word : row) file << word << '\t';
      file << counts.equal << '\t' << counts.different << '\n';
    }
  }

  void add(const std::array<std::string, 4>& row, bool equal) {
    if (folder_.empty()) return;
    Counts& counts = rows_[row];
    (equal ? counts.equal : counts.different) += 1;
  }

 private:
  struct Counts {
    int64_t equal = 0, different = 0;
  };
  std::filesystem::path folder_;
  std::map<std::array<std::string, 4>, Counts> rows_;
};

}  // namespace

void record_comparison(std::string_view op, std::string_view types, std::string_view processor,
                       Scope scope, bool equal) {
  static Ledger ledger;
  const std::string_view what = scope == Scope::kAlone ? "alone" : "graph";
  ledger.add({std::string(op), std::string(types), std::string(processor), std::string(what)},
             equal);
}

}  // namespace thimble::test
