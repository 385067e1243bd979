// SPDX-License-Identifier: Apache-2.0
// thimble-axon-sdk: calls the functions of Nordic's AXON compiler library in a separate process, so
// that a crash of the library does not end the compiler. `thimble compile` starts it. To run it by
// hand:
//
//   thimble-axon-sdk RESULT LIBRARY compile|infer ARGUMENT...
//
// The arguments are passed to the library unchanged: its name, then options, each a letter directly
// followed by its value. Output of the library is passed through. RESULT is a text file, written
// when the calls have returned:
//
//   compile 0
//   sizes 420 16 0 552 0
//
// It has one line per called function, then the sizes that the library has returned: bytes of
// constants, interlayer buffer, partial sums and commands, then cycles. If the library cannot be
// called, the file has `error TEXT` instead. The exit code is 0 if RESULT was written.

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/library.h"
#include "base/process.h"

namespace {

/// Values that the library returns: docs/nordic-axon.md.
struct Sizes {
  uint32_t constants = 0, interlayer = 0, partial_sums = 0, commands = 0, cycles = 0;
};
/// Space for a later version of the library, which may return more values after the five.
struct Room {
  Sizes sizes;
  std::array<uint32_t, 59> more{};
};

using Function = int (*)(int, char**, Sizes*);

struct Step {
  const char* name;
  const char* symbol;
};
constexpr Step kSteps[] = {{"compile", "nrf_axon_compile_model"},
                           {"infer", "nrf_axon_infer_test_vectors"}};

std::string call(const thimble::base::Library& library, std::string_view last,
                 std::vector<char*>& arguments) {
  std::string result;
  Room room;
  const auto count = static_cast<int>(arguments.size()) - 1;
  for (const Step& step : kSteps) {
    const auto function = reinterpret_cast<Function>(library.symbol(step.symbol));
    if (function == nullptr)
      return fmt::format("error the library has no function {}\n", step.symbol);
    const int code = function(count, arguments.data(), &room.sizes);
    std::fflush(stdout);
    result += fmt::format("{} {}\n", step.name, code);
    if (code != 0 || step.name == last) break;
  }
  const Sizes& sizes = room.sizes;
  return result + fmt::format("sizes {} {} {} {} {}\n", sizes.constants, sizes.interlayer,
                              sizes.partial_sums, sizes.commands, sizes.cycles);
}

}  // namespace

int main(int count, char** words) {
  const std::string_view last = count > 3 ? words[3] : "";
  if (last != kSteps[0].name && last != kSteps[1].name) {
    std::fprintf(stderr, "usage: thimble-axon-sdk RESULT LIBRARY compile|infer ARGUMENT...\n");
    return 2;
  }
  thimble::base::end_with_parent();
  std::vector<char*> arguments(words + 4, words + count);
  arguments.push_back(nullptr);
  const auto library = thimble::base::Library::open(words[2]);
  const std::string result =
      library ? call(*library, last, arguments) : "error " + library.error().message + "\n";
  std::FILE* const file = std::fopen(words[1], "wb");
  if (file == nullptr) return 2;
  const bool written = std::fwrite(result.data(), 1, result.size(), file) == result.size();
  return std::fclose(file) == 0 && written ? 0 : 2;
}
