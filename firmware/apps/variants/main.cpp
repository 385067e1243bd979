// SPDX-License-Identifier: Apache-2.0
// Semihosting command line: `variants [CASES|all [FIRST [COUNT]]]`, CASES as in cases.def. Prints a
// line per variant of an operator. At the first difference it prints the command that repeats the
// case and ends with exit code 1.

#include <cstring>
#include <string_view>

#include "firmware/apps/variants/case.h"
#include "firmware/common/exit_codes.h"
#include "firmware/common/semihosting.h"

extern "C" uint8_t big_start[], big_end[];

namespace thimble::firmware {

namespace {

constexpr uint8_t kGuard = 0xA5;
uint8_t* next_free = big_start;

uint8_t* take(uint32_t bytes) {
  uint8_t* const memory = next_free;
  next_free += (bytes + 15) & ~15U;
  if (next_free > big_end) {
    host_print("error: a case does not fit\n");
    host_exit(kExitUsage);
  }
  return memory;
}

uint32_t hash(const uint8_t* data, uint32_t bytes) {
  uint32_t value = 2166136261U;
  for (uint32_t i = 0; i < bytes; ++i) value = (value ^ data[i]) * 16777619U;
  return value;
}

bool is_guard(const uint8_t* data) {
  for (uint32_t i = 0; i < kGuardBytes; ++i) {
    if (data[i] != kGuard) return false;
  }
  return true;
}

}  // namespace

void* Case::operand(uint32_t bytes, Role role) {
  uint8_t* const memory = take(bytes + 2 * kGuardBytes) + kGuardBytes;
  roles_[count_] = role;
  bytes_[count_] = bytes;
  data_[count_++] = memory;
  if (role == Role::kInput) {
    for (uint32_t i = 0; i < bytes + kGuardBytes; ++i)
      memory[i] = static_cast<uint8_t>(next() >> 11);
  }
  return memory;
}

void Case::list(int32_t first, int32_t second) {
  auto* const items = reinterpret_cast<int32_t*>(take(2 * sizeof(int32_t)));
  items[0] = first;
  items[1] = second;
  list_of(items, 2);
}

void Case::shape(kernels::DType dtype, const int32_t* sizes, uint32_t rank) {
  dtypes_[count_ - 1] = dtype;
  ranks_[count_ - 1] = rank;
  for (uint32_t d = 0; d < rank; ++d) sizes_[count_ - 1][d] = sizes[d];
}

/// Runs a kernel on one case, and checks which memory it writes.
class Trial {
 public:
  explicit Trial(Case& c) : case_(c) {}

  const char* run(const kernels::Kernel& kernel, uint32_t fill_seed) {
    void* operands[kOperandsMax] = {};
    uint32_t before[kOperandsMax] = {};
    for (uint32_t i = 0; i < case_.count_; ++i) {
      operands[i] = case_.data_[i];
      prepare(i, fill_seed);
      if (case_.roles_[i] == Case::Role::kInput) before[i] = hash(case_.data_[i], case_.bytes_[i]);
    }
    if (kernel.run_bare != nullptr) {
      kernel.run_bare(operands);
    } else if (!run_with_tensors(kernel)) {
      return "check() refuses the case";
    }
    for (uint32_t i = 0; i < case_.count_; ++i) {
      uint8_t* const data = case_.data_[i];
      const uint32_t bytes = case_.bytes_[i];
      switch (case_.roles_[i]) {
        case Case::Role::kInput:
          if (hash(data, bytes) != before[i]) return "an input was written";
          break;
        case Case::Role::kScratch:
        case Case::Role::kOutput:
          if (!is_guard(data - kGuardBytes)) return "bytes before the operand were written";
          if (!is_guard(data + bytes)) return "bytes after the operand were written";
          break;
        case Case::Role::kNull:
        case Case::Role::kNumber:
        case Case::Role::kReal:
        case Case::Role::kList:
          break;
      }
    }
    return nullptr;
  }

  /// keep() saves the results. first_difference() compares them with the saved ones; -1 if equal.
  void keep() {
    for (uint32_t i = 0; i < case_.count_; ++i) {
      if (case_.roles_[i] != Case::Role::kOutput) continue;
      kept_[i] = take(case_.bytes_[i]);
      std::memcpy(kept_[i], case_.data_[i], case_.bytes_[i]);
    }
  }
  int32_t first_difference() const {
    for (uint32_t i = 0; i < case_.count_; ++i) {
      if (case_.roles_[i] != Case::Role::kOutput) continue;
      for (uint32_t k = 0; k < case_.bytes_[i]; ++k) {
        if (kept_[i][k] != case_.data_[i][k]) return static_cast<int32_t>(k);
      }
    }
    return -1;
  }
  bool has_output() const {
    for (uint32_t i = 0; i < case_.count_; ++i) {
      if (case_.roles_[i] == Case::Role::kOutput && case_.bytes_[i] != 0) return true;
    }
    return false;
  }

 private:
  bool run_with_tensors(const kernels::Kernel& kernel) {
    static constexpr uint8_t kContiguous[abi::kMaxRank] = {0, 1, 2, 3, 4, 5};
    static_assert(abi::kMaxRank == 6);
    static constexpr uint8_t kChannelsLast[] = {0, 2, 3, 1};
    static constexpr uint8_t kTransposed[] = {0, 2, 1};
    static kernels::Arg args[kOperandsMax];
    for (uint32_t i = 0; i < case_.count_; ++i) {
      if (case_.roles_[i] == Case::Role::kNumber) {
        args[i].integer = case_.sizes_[i][0];
        continue;
      }
      if (case_.roles_[i] == Case::Role::kReal) {
        args[i].number = case_.reals_[i];
        continue;
      }
      if (case_.roles_[i] == Case::Role::kList) {
        kernels::IntList& list = args[i].ints = {};
        list.count = case_.ranks_[i];
        std::memcpy(list.items, case_.data_[i], list.count * sizeof list.items[0]);
        continue;
      }
      kernels::Tensor& tensor = args[i].tensor = {};
      tensor.data = case_.data_[i];
      tensor.sizes = case_.sizes_[i];
      tensor.dim_order = case_.is_channels_last_[i] ? kChannelsLast
                         : case_.is_transposed_[i]  ? kTransposed
                                                    : kContiguous;
      tensor.is_null = case_.roles_[i] == Case::Role::kNull;
      tensor.bytes = case_.bytes_[i];
      tensor.rank = static_cast<uint8_t>(case_.ranks_[i]);
      tensor.dtype = case_.dtypes_[i];
      // Parameters of native kernels are constants of type kU8.
      tensor.is_constant = case_.roles_[i] != Case::Role::kScratch &&
                           (case_.is_constant_[i] || tensor.dtype == kernels::DType::kU8);
    }
    const kernels::Call call = {args, nullptr, nullptr};
    if (kernel.check(call) != kernels::Status::kOk) return false;
    kernel.run(call);
    return true;
  }
  void prepare(uint32_t i, uint32_t fill_seed) {
    uint8_t* const data = case_.data_[i];
    const uint32_t bytes = case_.bytes_[i];
    switch (case_.roles_[i]) {
      case Case::Role::kInput:
        for (uint32_t k = 0; k < kGuardBytes; ++k)
          data[bytes + k] ^= static_cast<uint8_t>(fill_seed + k);
        break;
      case Case::Role::kScratch:
      case Case::Role::kOutput:
        std::memset(data - kGuardBytes, kGuard, kGuardBytes);
        std::memset(data, static_cast<int>(fill_seed & 255), bytes);
        std::memset(data + bytes, kGuard, kGuardBytes);
        break;
      case Case::Role::kNull:
      case Case::Role::kNumber:
      case Case::Role::kReal:
      case Case::Role::kList:
        break;
    }
  }

  Case& case_;
  uint8_t* kept_[kOperandsMax] = {};
};

namespace {

/// A fast variant of an operator, and the portable kernel.
struct Variant {
  const char* name;  // "mve"
  const char* op;    // "thimble_max_pool2d_packed"
  const kernels::Kernel* fast;
  const kernels::Kernel* portable;
};
#define THIMBLE_VARIANT(name, op) \
  THIMBLE_IF_##name({#name, #op, &kernels::name##_##op, &kernels::portable_##op}, )
#define THIMBLE_VARIANT_portable(op)
#define THIMBLE_VARIANT_mve(op) THIMBLE_VARIANT(mve, op)
#define THIMBLE_VARIANT_dsp(op) THIMBLE_VARIANT(dsp, op)
#define THIMBLE_VARIANT_v7m(op) THIMBLE_VARIANT(v7m, op)
#define THIMBLE_VARIANT_v6m(op) THIMBLE_VARIANT(v6m, op)
constexpr Variant kVariants[] = {
#define THIMBLE_KERNEL(variant, op) THIMBLE_VARIANT_##variant(op)
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
    {"loops", "dot", &dot_loops, &dot_formula},
    {"loops", "dot16", &dot16_loops, &dot16_formula},
    {"loops", "dot_int4", &dot_int4_loops, &dot_int4_formula},
    {"loops", "depthwise16", &depthwise16_loops, &depthwise16_formula},
    {"loops", "narrow16", &narrow16_loops, &narrow16_formula},
};

/// The cases of an operator; each depends on its index only.
struct Cases {
  const char* op;
  const char* name;  // "make_window_pool"
  void (*make)(uint32_t index, Case& c);
  uint32_t count;
};
constexpr Cases kCases[] = {
#define THIMBLE_CASES(op, make, count) {#op, #make, make, count},
#include "firmware/apps/variants/cases.def"
#undef THIMBLE_CASES
};

constexpr bool has_cases(std::string_view op) {
  for (const Cases& cases : kCases) {
    if (op == cases.op) return true;
  }
  return false;
}
#define THIMBLE_KERNEL(variant, op)                                         \
  static_assert(std::string_view(#variant) == "portable" || has_cases(#op), \
                #variant " " #op " of kernels.def has no row in cases.def");
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL

void print(const char* what, const Variant& variant, const Cases& cases, uint32_t index,
           const char* note) {
  char line[320];
  Text text(line, sizeof line);
  text << "error: " << variant.name << " " << variant.op << ": " << what << "; repeat: variants "
       << cases.name << " " << index << " 1 (" << note << ")\n";
  host_print(line);
}

bool is_equal(const Variant& variant, const Cases& cases, uint32_t index) {
  next_free = big_start;
  Case c(index + 1);
  cases.make(index, c);
  Trial trial(c);
  const char* note = c.text().text();
  if (!trial.has_output()) {
    print("the case has no output", variant, cases, index, note);
    return false;
  }
  const char* wrong = trial.run(*variant.portable, 0x5A);
  if (wrong != nullptr) {
    c.text() << ", portable kernel";
    print(wrong, variant, cases, index, note);
    return false;
  }
  trial.keep();
  wrong = trial.run(*variant.fast, 0x3C);
  if (wrong != nullptr) {
    print(wrong, variant, cases, index, note);
    return false;
  }
  const int32_t at = trial.first_difference();
  if (at < 0) return true;
  c.text() << " at byte " << static_cast<uint32_t>(at);
  print("differs", variant, cases, index, note);
  return false;
}

bool run_cases(const Variant& variant, const Cases& cases, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; ++i) {
    if (!is_equal(variant, cases, i)) return false;
  }
  char line[128];
  Text text(line, sizeof line);
  text << variant.name << " " << variant.op << ", " << cases.name << ": " << count
       << " cases equal\n";
  host_print(line);
  return true;
}

uint32_t number(const char*& text) {
  uint32_t value = 0;
  while (*text == ' ') ++text;
  for (; *text >= '0' && *text <= '9'; ++text)
    value = value * 10 + static_cast<uint32_t>(*text - '0');
  return value;
}

/// Terminates and returns the second word. `rest` is the text after it.
const char* second_word(char* line, const char*& rest) {
  char* at = line;
  while (*at != 0 && *at != ' ') ++at;
  while (*at == ' ') ++at;
  const char* const word = at;
  while (*at != 0 && *at != ' ') ++at;
  if (*at != 0) *at++ = 0;
  rest = at;
  return word;
}

char command_line[256];

int start() {
  if (!host_command_line(command_line, sizeof command_line)) return kExitUsage;
  const char* rest = nullptr;
  const char* const wanted = second_word(command_line, rest);
  const uint32_t first = number(rest);
  const uint32_t count = number(rest);
  const bool all = *wanted == 0 || std::strcmp(wanted, "all") == 0;
  bool found = false;
  for (const Variant& variant : kVariants) {
    for (const Cases& cases : kCases) {
      const bool is_asked = all || std::strcmp(wanted, cases.name) == 0;
      if (!is_asked || std::strcmp(variant.op, cases.op) != 0) continue;
      found = true;
      if (!run_cases(variant, cases, first, count != 0 ? count : cases.count)) return kExitStatus;
    }
  }
  if (!found) host_print("error: no such cases on this core\n");
  return static_cast<int>(found ? kExitOk : kExitUsage);
}

}  // namespace
}  // namespace thimble::firmware

int main() {
  return thimble::firmware::start();
}
