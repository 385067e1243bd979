// SPDX-License-Identifier: Apache-2.0
// Runs many small models in one boot of a board. The semihosting command line is `series CASES
// RESULTS`, two files of little-endian words:
//
//   CASES    per model: bytes of the `.pte`, number of calls, bytes of the inputs of one call; the
//            `.pte`; per call the inputs, each padded to 16 bytes. At the end a 0.
//   RESULTS  per model: status, bytes that follow; per call the outputs, each padded to 16 bytes.
//
// A model whose status is not 0 has no outputs, and the next one still runs. States are kept
// between the calls of a model.

#include <cstring>

#include "abi/status.h"
#include "firmware/common/command_line.h"
#include "firmware/common/exit_codes.h"
#include "firmware/common/rounding.h"
#include "firmware/common/semihosting.h"
#include "runtime/include/thimble.h"

extern "C" uint8_t big_start[], big_end[];

namespace {

using namespace thimble::firmware;

struct Case {
  uint32_t pte_bytes, calls, input_bytes;
};
struct Answer {
  uint32_t status, bytes;
};

char command_line[512];
thimble_model model;
HostFile cases, results;

constexpr size_t kPadding = 16;

/// Memory for one model at a time: its file, the inputs of a call, its arena, and all its outputs.
class Memory {
 public:
  uint8_t* take(size_t bytes) {
    const size_t rounded = round_up(bytes, kPadding);
    if (rounded > static_cast<size_t>(big_end - next_)) usage_error("a model does not fit");
    uint8_t* memory = next_;
    next_ += rounded;
    return memory;
  }
  uint8_t* next() const { return next_; }

 private:
  uint8_t* next_ = big_start;
};

void read(void* data, size_t bytes) {
  if (bytes != 0 && !host_read(cases, data, bytes)) usage_error("the file of cases is truncated");
}

thimble_status call(uint8_t* inputs, Memory& outputs) {
  thimble_view view;
  thimble_status status = 0;
  for (uint32_t i = 0; i < thimble_input_count(&model) && status == 0; ++i) {
    status = thimble_input(&model, i, &view);
    if (status == 0) status = thimble_set_input(&model, i, inputs, view.bytes);
    inputs += round_up(view.bytes, kPadding);
  }
  if (status == 0) status = thimble_run(&model);
  for (uint32_t i = 0; i < thimble_output_count(&model) && status == 0; ++i) {
    status = thimble_output(&model, i, &view);
    if (status == 0) std::memcpy(outputs.take(view.bytes), view.data, view.bytes);
  }
  return status;
}

void run(const Case& one) {
  Memory memory;
  uint8_t* pte = memory.take(one.pte_bytes);
  read(pte, one.pte_bytes);
  uint8_t* inputs = memory.take(one.input_bytes);
  thimble_needs needs = {};
  thimble_status status = thimble_size(pte, one.pte_bytes, thimble_all_kernels(), &needs);
  const size_t bytes = needs.arena_bytes + needs.state_bytes;
  if (status == 0) {
    status =
        thimble_init(&model, pte, one.pte_bytes, thimble_all_kernels(), memory.take(bytes), bytes);
  }
  const uint8_t* const outputs = memory.next();
  for (uint32_t i = 0; i < one.calls; ++i) {
    read(inputs, one.input_bytes);
    if (status == 0) status = call(inputs, memory);
  }
  const Answer answer = {static_cast<uint32_t>(status),
                         status == 0 ? static_cast<uint32_t>(memory.next() - outputs) : 0};
  const bool wrote = host_write(results, &answer, sizeof answer) &&
                     (answer.bytes == 0 || host_write(results, outputs, answer.bytes));
  if (!wrote) usage_error("cannot write the results");
}

}  // namespace

int main() {
  constexpr uint32_t kWords = 3;
  const char* words[kWords];
  if (split_command_line(command_line, sizeof command_line, words, kWords) != kWords) {
    usage_error("usage: series CASES RESULTS");
  }
  cases = host_open(words[1], OpenMode::kRead);
  results = host_open(words[2], OpenMode::kWrite);
  if (cases.handle < 0 || results.handle < 0) usage_error("cannot open the files");
  for (;;) {
    Case one = {};
    read(&one.pte_bytes, sizeof one.pte_bytes);
    if (one.pte_bytes == 0) return kExitOk;
    read(&one.calls, sizeof one - sizeof one.pte_bytes);
    run(one);
  }
}
