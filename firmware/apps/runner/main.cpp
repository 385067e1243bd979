// SPDX-License-Identifier: Apache-2.0
// Runs one model on a board. The semihosting command line names all files:
//
//   runner [-p] MODEL.pte INPUT.bin... OUTPUT_PREFIX
//
// There is one INPUT per graph input, with the raw bytes of the tensor. If a file has N times the
// bytes of its input, the model runs N times; all inputs must have the same N. Output i of all runs
// is written to <PREFIX>_<i>.bin, and a report to <PREFIX>.txt, with one `key value...` line per
// fact:
//
//   status 0 ok
//   arena_bytes 20464 / state_bytes 40 / stack_bytes 1280 / runs 1
//   instructions 14
//   output 0 dtype 1 bytes 12 sizes 1 12 dim_order 0 1
//   op 0 cortex_m::quantize_per_tensor.out
//
// The board's largest RAM stores the file, the arena and the inputs, in this order. -p marks each
// instruction for the instruction counter. At the end it also runs the model once with kernels that
// do nothing, marked as a scope. Without -p, only load, set_input and run are marked.

#include <cstring>

#include "abi/status.h"
#include "firmware/apps/runner/empty_kernels.h"
#include "firmware/apps/runner/kernels.h"
#include "firmware/common/command_line.h"
#include "firmware/common/exit_codes.h"
#include "firmware/common/marks.h"
#include "firmware/common/rounding.h"
#include "firmware/common/semihosting.h"
#include "firmware/common/stack.h"
#include "firmware/common/text.h"
#include "runtime/include/thimble.h"
#include "runtime/include/thimble_trace.h"

extern "C" uint8_t big_start[], big_end[];

namespace thimble::firmware {
[[gnu::weak]] bool set_fault(bool) {
  return false;
}
}  // namespace thimble::firmware

namespace {

using namespace thimble::firmware;

constexpr uint32_t kTensorsMax = 16;  // maximum number of inputs, and of outputs
constexpr uint32_t kWordsMax = kTensorsMax + 8;

struct Tensor {
  HostFile file;
  uint8_t* data;  // buffer of an input
  size_t bytes;
};

char command_line[2048];
const char* words[kWordsMax];
thimble_model model;
Tensor inputs[kTensorsMax], outputs[kTensorsMax];
uint8_t* free_memory = big_start;

/// Writes the report. Each piece is written at once, so that a line needs no buffer.
class Report {
 public:
  explicit Report(const char* prefix) { file_ = open_output(prefix, ".txt"); }
  static HostFile open_output(const char* prefix, const char* suffix) {
    char name[512];
    Text text(name, sizeof name);
    text << prefix << suffix;
    const HostFile file = host_open(name, OpenMode::kWrite);
    if (file.handle < 0 || text.length() + 1 == sizeof name) usage_error("cannot write", name);
    return file;
  }
  Report& operator<<(const char* text) {
    if (!host_write(file_, text, std::strlen(text))) usage_error("cannot write", "the report");
    return *this;
  }
  Report& operator<<(uint32_t number) {
    char buffer[12];
    Text text(buffer, sizeof buffer);
    text << number;
    return *this << text.text();
  }

 private:
  HostFile file_;
};

/// Ends the program if the status is not 0. Then the report's last line has the reason.
void require(Report& report, thimble_status status) {
  if (status == 0) return;
  char buffer[128];
  Text text(buffer, sizeof buffer);
  text << "status " << static_cast<uint32_t>(status) << " " << thimble_status_text(status) << "\n";
  report << text.text();
  host_print(text.text());
  host_exit(kExitStatus);
}

/// Ends the program because the RAM of the board is too small.
[[noreturn]] void ram_error(size_t bytes) {
  char buffer[128];
  Text text(buffer, sizeof buffer);
  text << "error: the RAM of the board is too small: " << static_cast<uint32_t>(bytes)
       << " B needed, " << static_cast<uint32_t>(big_end - free_memory) << " of "
       << static_cast<uint32_t>(big_end - big_start) << " B available\n";
  host_print(text.text());
  host_exit(kExitStatus);
}

uint8_t* allocate(size_t bytes) {
  constexpr size_t kCacheLine = 32;  // calls beside an NPU require this alignment of the arena
  const size_t rounded = round_up(bytes, kCacheLine);
  if (rounded > static_cast<size_t>(big_end - free_memory) || rounded < bytes) ram_error(bytes);
  uint8_t* memory = free_memory;
  free_memory += rounded;
  return memory;
}

HostFile open_input(const char* name, size_t& bytes) {
  const HostFile file = host_open(name, OpenMode::kRead);
  const int32_t length = file.handle < 0 ? -1 : host_length(file);
  if (length < 0) usage_error("cannot read", name);
  bytes = static_cast<size_t>(length);
  return file;
}

/// Arguments that load_model() has passed to thimble_init.
struct InitArguments {
  const uint8_t* pte;
  size_t pte_bytes;
  const thimble_kernels* kernels;
  uint8_t* memory;
  size_t memory_bytes;
};

InitArguments load_model(Report& report, const char* name) {
  size_t bytes = 0;
  const HostFile file = open_input(name, bytes);
  uint8_t* pte = allocate(bytes);
  if (!host_read(file, pte, bytes)) usage_error("cannot read", name);
  host_close(file);

  // Memory for an NPU is allocated after the file.
  const RamAllocator big = {nullptr, [](void*, size_t more) { return allocate(more); }};
  const thimble_kernels* kernels = kernels_for(pte, bytes, big);
  thimble_needs needs;
  require(report, thimble_size(pte, bytes, kernels, &needs));
  const size_t memory_bytes = needs.arena_bytes + needs.state_bytes;
  uint8_t* memory = allocate(memory_bytes);
  set_model_memory(memory, needs.arena_bytes);
  mark_load();
  const thimble_status status = thimble_init(&model, pte, bytes, kernels, memory, memory_bytes);
  mark_end();
  require(report, status);
  report << "arena_bytes " << static_cast<uint32_t>(needs.arena_bytes) << "\n";
  report << "state_bytes " << static_cast<uint32_t>(needs.state_bytes) << "\n";
  return {pte, bytes, kernels, memory, memory_bytes};
}

/// Opens the input files. Returns the number of runs for which they have data.
uint32_t open_inputs(Report& report, const char** names, uint32_t count) {
  uint32_t runs = 1;
  for (uint32_t i = 0; i < count; ++i) {
    thimble_view view;
    require(report, thimble_input(&model, i, &view));
    size_t length = 0;
    inputs[i] = {open_input(names[i], length), allocate(view.bytes), view.bytes};
    const uint32_t here = view.bytes == 0 ? runs : static_cast<uint32_t>(length / view.bytes);
    if (i == 0) runs = here;
    if (here != runs || runs == 0 || length != here * view.bytes) {
      usage_error("wrong number of bytes in", names[i]);
    }
  }
  return runs;
}

void open_outputs(Report& report, const char* prefix, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    thimble_view view;
    require(report, thimble_output(&model, i, &view));
    char suffix[20];
    Text text(suffix, sizeof suffix);
    text << "_" << i << ".bin";
    outputs[i] = {Report::open_output(prefix, suffix), nullptr, view.bytes};
    report << "output " << i << " dtype " << view.dtype << " bytes "
           << static_cast<uint32_t>(view.bytes) << " sizes";
    for (uint32_t d = 0; d < view.rank; ++d) report << " " << static_cast<uint32_t>(view.sizes[d]);
    report << " dim_order";
    for (uint32_t d = 0; d < view.rank; ++d) report << " " << uint32_t{view.dim_order[d]};
    report << "\n";
  }
}

thimble_status set_inputs(uint32_t count) {
  thimble_status status = 0;
  for (uint32_t i = 0; i < count && status == 0; ++i) {
    status = thimble_set_input(&model, i, inputs[i].data, inputs[i].bytes);
  }
  return status;
}

/// Runs with a fault of the NPU and reports the status, then resets the model: the results after it
/// are those of a model without the fault.
void run_with_fault(Report& report, uint32_t input_count) {
  if (!set_fault(true)) return;
  report << "fault status " << static_cast<uint32_t>(thimble_run(&model)) << "\n";
  (void)set_fault(false);
  require(report, thimble_reset(&model));
  require(report, set_inputs(input_count));
}

void run_once(Report& report, uint32_t input_count, uint32_t output_count) {
  for (uint32_t i = 0; i < input_count; ++i) {
    if (!host_read(inputs[i].file, inputs[i].data, inputs[i].bytes)) {
      usage_error("cannot read", "an input");
    }
  }
  mark_set_input();
  thimble_status status = set_inputs(input_count);
  mark_end();
  require(report, status);
  run_with_fault(report, input_count);
  mark_run();
  status = thimble_run(&model);
  mark_end();
  require(report, status);
  for (uint32_t i = 0; i < output_count; ++i) {
    thimble_view view;
    require(report, thimble_output(&model, i, &view));
    if (!host_write(outputs[i].file, view.data, view.bytes)) {
      usage_error("cannot write", "an output");
    }
  }
}

/// Runs the model with kernels that do nothing, marked as a scope, if the memory is large enough.
void run_empty_kernels(Report& report, const InitArguments& init_arguments, uint32_t input_count) {
  const size_t bytes = empty_kernels_bytes(init_arguments.kernels);
  if (bytes == 0 || bytes > static_cast<size_t>(big_end - free_memory)) return;
  const thimble_kernels* kernels = empty_kernels(init_arguments.kernels, allocate(bytes));
  require(report, thimble_init(&model, init_arguments.pte, init_arguments.pte_bytes, kernels,
                               init_arguments.memory, init_arguments.memory_bytes));
  for (uint32_t i = 0; i < input_count; ++i) {
    require(report, thimble_set_input(&model, i, inputs[i].data, inputs[i].bytes));
  }
  mark_scope();
  const thimble_status status = thimble_run(&model);
  mark_end();
  require(report, status);
}

void trace(void*, uint32_t, const char*, int after) {
  if (after != 0) {
    mark_end();
  } else {
    mark_op();
  }
}

}  // namespace

int main() {
  stack_paint();
  const uint32_t count = split_command_line(command_line, sizeof command_line, words, kWordsMax);
  const uint32_t taken = count > 1 ? parse_words(words + 1, count - 1) : 0;
  const bool profile = count > taken + 1 && std::strcmp(words[taken + 1], "-p") == 0;
  const uint32_t first = taken + (profile ? 2 : 1);
  if (count < first + 2) usage_error("usage:", "runner [-p] MODEL.pte INPUT.bin... OUTPUT_PREFIX");
  const char* prefix = words[count - 1];
  Report report(prefix);
  const InitArguments init_arguments = load_model(report, words[first]);

  const uint32_t input_count = thimble_input_count(&model);
  const uint32_t output_count = thimble_output_count(&model);
  if (input_count > kTensorsMax || output_count > kTensorsMax) {
    usage_error("too many inputs or outputs in", words[first]);
  }
  if (count != first + 2 + input_count) usage_error("wrong number of inputs for", words[first]);
  const uint32_t runs = open_inputs(report, words + first + 1, input_count);
  open_outputs(report, prefix, output_count);
  const uint32_t instructions = thimble_instruction_count(&model);
  report << "instructions " << instructions << "\n";
  for (uint32_t i = 0; i < instructions; ++i) {
    report << "op " << i << " " << thimble_instruction_op(&model, i) << "\n";
  }
  if (profile) require(report, thimble_set_trace(&model, trace, nullptr));
  for (uint32_t i = 0; i < runs; ++i) run_once(report, input_count, output_count);

  report << "runs " << runs << "\n";
  report << "stack_bytes " << stack_high_water() << "\n";
  if (profile) run_empty_kernels(report, init_arguments, input_count);
  write_report_lines(&report,
                     [](void* to, const char* text) { *static_cast<Report*>(to) << text; });
  report << "status 0 ok\n";
  return kExitOk;
}
