// SPDX-License-Identifier: Apache-2.0
// Targets, most with one defect, which fuzz_replay must find (replay_test.py). The input of each is
// tests/fuzz/corpus/<name>/input in the folder that the test makes: the word "good".

#include <cstdlib>
#include <ctime>

#include "tests/fuzz/exact_memory.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

bool is_good(ByteView bytes) {
  return as_text(bytes) == "good";
}
Outcome run(ByteView bytes) {
  return is_good(bytes) ? Outcome::kExecuted : Outcome::kAccepted;
}
Outcome abort_later(ByteView bytes) {
  if (!is_good(bytes)) std::abort();
  return Outcome::kExecuted;
}
Outcome take_long(ByteView) {
  const std::clock_t end = std::clock() + 11 * CLOCKS_PER_SEC / 10;
  while (std::clock() < end) {
  }
  return Outcome::kAccepted;
}
Outcome allocate(ByteView bytes) {
  return Bytes((size_t{16} << 20) + 64 * bytes.size() + 1).empty() ? Outcome::kRejected
                                                                   : Outcome::kAccepted;
}
size_t one_byte(ByteView) {
  return 1;
}
Outcome accept_good(ByteView bytes) {
  return is_good(bytes) ? Outcome::kAccepted : Outcome::kRejected;
}
Outcome reject(ByteView) {
  return Outcome::kRejected;
}
Outcome write_after_end(ByteView bytes) {
  const ExactMemory memory(bytes);
  volatile uint8_t* const end = memory.data() + memory.size();
  if (!is_good(bytes)) *end = 1;
  return Outcome::kAccepted;
}
Bytes keep(Bytes bytes, const Bytes&, Random&) {
  return bytes;
}
Bytes keep_quarter(Bytes bytes, const Bytes&, Random& random) {
  if (random() % 4 != 0) bytes.clear();
  return bytes;
}
bool is_bad(ByteView bytes) {
  return !is_good(bytes);
}

}  // namespace

std::span<const Target> targets() {
  static const std::vector<Target> all = {
      {"abort_later", abort_later},
      {"allocate", allocate, keep},
      {"allocate_inflated", allocate, keep, nullptr, one_byte},
      {"few_pass", accept_good, keep_quarter, is_good},
      {"good", run, mutate, nullptr},
      {"keep", accept_good, keep, is_good},
      {"no_input_accepted", reject, keep},
      {"take_long", take_long, keep},
      {"write_after_end", write_after_end},
      {"wrong_first_check", accept_good, keep, is_bad},
  };
  return all;
}

const Target* find_target(std::string_view name) {
  for (const Target& target : targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace thimble::fuzz
