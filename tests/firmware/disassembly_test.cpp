// SPDX-License-Identifier: Apache-2.0
// No image contains an instruction that its core does not have. Emulated boards have newer cores
// than some images need (Armv6-M code runs on a Cortex-M3), so a successful run proves nothing; the
// disassembly does. Data between instructions has mapping symbols: objdump prints .word or .short.

#include <set>
#include <sstream>
#include <string_view>

#include "support.h"

namespace thimble::firmware_test {
namespace {

struct Instruction {
  bool wide;             // 32-bit encoding
  std::string mnemonic;  // without suffixes such as .w and .n
  std::string operands;
};

/// Parses "10000cb2:\tf000 fcf9 \tbl\t100016a8 <name>"; returns false if it is not an instruction.
bool parse(const std::string& line, Instruction& out) {
  const size_t colon = line.find(":\t");
  if (colon == std::string::npos) return false;
  const size_t code = colon + 2;
  const size_t tab = line.find('\t', code);
  if (tab == std::string::npos) return false;
  std::string encoding = line.substr(code, tab - code);
  while (!encoding.empty() && encoding.back() == ' ') encoding.pop_back();
  const size_t end = line.find('\t', tab + 1);
  out.wide = encoding.size() > 4;
  out.mnemonic = line.substr(tab + 1, end == std::string::npos ? end : end - tab - 1);
  while (!out.mnemonic.empty() && out.mnemonic.back() == ' ') out.mnemonic.pop_back();
  out.operands = end == std::string::npos ? "" : line.substr(end + 1);
  return out.mnemonic[0] != '.';
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  for (const std::string_view start : starts) {
    if (text.starts_with(start)) return true;
  }
  return false;
}

std::string base_of(const std::string& mnemonic) {
  return mnemonic.substr(0, mnemonic.find('.'));
}

/// Rejects 16-bit instructions of Armv7-M, and 32-bit ones except BL, barriers, MRS and MSR.
bool allowed_v6m(const Instruction& insn) {
  const std::string base = base_of(insn.mnemonic);
  if (!insn.wide) return base != "cbz" && base != "cbnz" && !(base[0] == 'i' && base[1] == 't');
  static const std::set<std::string> kWide = {"bl", "mrs", "msr", "dmb", "dsb", "isb", "udf"};
  return kWide.contains(base);
}

bool allowed_v8m_base(const Instruction& insn) {
  const std::string base = base_of(insn.mnemonic);
  static const std::set<std::string> kMore = {"cbz", "cbnz", "b",    "movw", "movt",
                                              "mov", "sdiv", "udiv", "clrex"};
  if (allowed_v6m(insn) || kMore.contains(base)) return true;
  return starts_with_any(base, {"ldrex", "strex", "lda", "stl"});
}

/// Recognizes the DSP extension by mnemonic prefixes; ssat and usat are Armv7-M.
bool is_dsp(const std::string& base) {
  if (starts_with_any(base, {"ssat16", "usat16", "smull", "smlal", "umull", "umlal"})) {
    // smull, smlal, umull and umlal are Armv7-M; smlalbb, smlald and 16-bit saturations are DSP.
    static const std::set<std::string> kPlain = {"smull", "smlal", "umull", "umlal"};
    for (const std::string& plain : kPlain) {
      if (base.starts_with(plain)) {
        const std::string rest = base.substr(plain.size());
        return !rest.empty() && rest != "s" && (rest[0] == 'b' || rest[0] == 't' || rest[0] == 'd');
      }
    }
    return true;
  }
  return starts_with_any(base, {"smla",  "smls",  "smm",    "smu",  "sxtab", "sxtah", "sxtb16",
                                "uxtab", "uxtah", "uxtb16", "qadd", "qsub",  "qdadd", "qdsub",
                                "sadd",  "ssub",  "uadd",   "usub", "uqadd", "uqsub", "shadd",
                                "shsub", "uhadd", "uhsub",  "usad", "pkh",   "sel",   "umaal"});
}

bool is_low_overhead_loop(const std::string& base) {
  static const std::set<std::string> kLoops = {"dls",   "wls",  "le",  "dlstp",
                                               "wlstp", "letp", "lctp"};
  return kLoops.contains(base);
}

/// Recognizes the conditional selects and the 64-bit shifts of Armv8.1-M.
bool is_v81m(const std::string& base) {
  static const std::set<std::string> kScalar = {
      "csel", "csinc", "csinv", "csneg", "cset",  "csetm", "cinc",   "cinv",   "cneg", "asrl",
      "lsll", "lsrl",  "sqshl", "uqshl", "srshr", "urshr", "sqrshr", "uqrshl", "clrm"};
  return kScalar.contains(base) || is_low_overhead_loop(base);
}

bool allowed(const Instruction& insn, Isa isa) {
  const std::string base = base_of(insn.mnemonic);
  if (insn.mnemonic.find("UNDEFINED") != std::string::npos) return false;
  const bool is_vector = base[0] == 'v';
  switch (isa) {
    case Isa::kV6m:
      return allowed_v6m(insn);
    case Isa::kV8mBase:
      return allowed_v8m_base(insn);
    case Isa::kV7m:
      return !is_vector && !is_dsp(base) && !is_v81m(base);
    case Isa::kV7em:
      // Floating-point instructions use s and d registers, Helium instructions q registers.
      return !is_v81m(base) && !(is_vector && insn.operands.find('q') == 0) && base != "vctp" &&
             base != "vpst";
    case Isa::kMve:
      return true;
  }
  return false;
}

std::string first_violation(const std::string& image, Isa isa, int& instructions) {
  const auto result = base::run_process({THIMBLE_OBJDUMP, "-d", "-w", image}, {});
  if (!result.ok()) return result.error().message;
  if (result->exit_code != 0) return result->output;
  std::istringstream lines(result->output);
  for (std::string line; std::getline(lines, line);) {
    Instruction insn;
    if (!parse(line, insn)) continue;
    ++instructions;
    if (!allowed(insn, isa)) return line;
  }
  return "";
}

class Disassembly : public testing::TestWithParam<Core> {};

TEST_P(Disassembly, ImagesContainOnlyInstructionsOfTheirCore) {
  for (const char* app : {"runner", "faults"}) {
    int instructions = 0;
    EXPECT_EQ(first_violation(image(app, GetParam()), GetParam().isa, instructions), "") << app;
    EXPECT_GT(instructions, 1000) << app;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, Disassembly, testing::ValuesIn(kCores), [](const auto& info) {
  std::string name = info.param.name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

/// The rules distinguish the instruction sets: images for newer cores violate the older rules.
TEST(DisassemblyRules, ImagesForNewerCoresViolateOlderRules) {
  int count = 0;
  const auto violation = [&](const char* core, Isa isa) {
    for (const Core& each : kCores) {
      if (std::string_view(each.name) == core) {
        return first_violation(image("runner", each), isa, count);
      }
    }
    return std::string();
  };
  EXPECT_NE(violation("cortex-m3", Isa::kV6m), "");
  EXPECT_NE(violation("cortex-m3", Isa::kV8mBase), "");
  EXPECT_NE(violation("cortex-m23", Isa::kV6m), "");
  EXPECT_NE(violation("cortex-m4", Isa::kV7m), "");
  EXPECT_NE(violation("cortex-m55", Isa::kV7em), "");
}

}  // namespace
}  // namespace thimble::firmware_test
