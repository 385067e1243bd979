// SPDX-License-Identifier: Apache-2.0
// Model files: .pte through the host's reader and through the runtime, .ptd, bundled
// programs, LiteRT models.

#include <algorithm>
#include <cstdlib>
#include <deque>

#include "formats/bundle/bundle.h"
#include "formats/ptd/ptd.h"
#include "formats/pte/layout.h"
#include "formats/pte/print.h"
#include "formats/pte/read.h"
#include "formats/pte/records.h"
#include "formats/pte/select_method.h"
#include "formats/tflite/read.h"
#include "hostrun/host.h"
#include "tests/fuzz/exact_memory.h"
#include "tests/fuzz/mutate_flatbuffer.h"
#include "tests/fuzz/targets.h"
#include "thimble.h"

namespace thimble::fuzz {
namespace {

/// Models that need more are not run: an application has a fixed arena, and larger ones only take
/// longer.
constexpr size_t kArenaMax = size_t{256} << 10;

Outcome read_pte(ByteView bytes) {
  constexpr size_t kMethodsMax = 4;
  const auto program = formats::pte::read(bytes, "x.pte");
  if (!program) return Outcome::kRejected;
  (void)formats::pte::print(*program);
  (void)formats::pte::print_json(*program, {true});
  const auto layout = formats::pte::read_layout(bytes, "x.pte");
  if (layout) {
    (void)formats::pte::print(*layout);
    (void)formats::pte::print_json(*layout);
  }
  (void)hostrun::read_interface(*program, "x.pte");
  (void)formats::pte::check_kernel_layout(*program, "x.pte");
  for (size_t i = 0; i < std::min(program->plans.size(), kMethodsMax); ++i) {
    formats::pte::Program method = *program;
    (void)formats::pte::select_method(program->plans[i].name, "x.pte", &method);
  }
  return Outcome::kAccepted;
}

Outcome read_ptd(ByteView bytes) {
  return formats::ptd::read(bytes, "x.ptd") ? Outcome::kAccepted : Outcome::kRejected;
}

Outcome read_bundle(ByteView bytes) {
  return formats::bundle::read(bytes, "x.bpte") ? Outcome::kAccepted : Outcome::kRejected;
}

Outcome read_tflite(ByteView bytes) {
  return formats::tflite::read(bytes, "x.tflite") ? Outcome::kAccepted : Outcome::kRejected;
}

volatile uint8_t output_sum = 0;  // volatile, so that the reads of outputs are not removed

/// Runs the model with zeros. Returns false if it cannot be run.
bool run_once(thimble_model& model) {
  std::deque<ExactMemory> inputs;
  for (uint32_t i = 0; i < thimble_input_count(&model); ++i) {
    thimble_view view;
    if (thimble_input(&model, i, &view) != 0 || view.bytes > kArenaMax) return false;
    const ExactMemory& input = inputs.emplace_back(view.bytes);
    if (thimble_set_input(&model, i, input.data(), view.bytes) != 0) return false;
  }
  const bool ran = thimble_run(&model) == 0;
  for (uint32_t i = 0; ran && i < thimble_output_count(&model); ++i) {
    thimble_view view;
    if (thimble_output(&model, i, &view) != 0) continue;
    for (size_t k = 0; k < view.bytes; ++k) {
      output_sum = static_cast<uint8_t>(output_sum + static_cast<const uint8_t*>(view.data)[k]);
    }
  }
  for (const ExactMemory& input : inputs) {
    if (!input.equals(Bytes(input.size()))) std::abort();
  }
  return ran;
}

/// Runs the model twice from the same states. The second outputs may differ: a changed program may
/// read parts of the arena that it did not write.
Outcome run_twice(thimble_model& model, const thimble_needs& needs) {
  const ExactMemory saved(needs.saved_bytes);
  if (thimble_save(&model, saved.data(), saved.size()) != 0) std::abort();
  if (!run_once(model)) return Outcome::kAccepted;
  if (thimble_restore(&model, saved.data(), saved.size()) != 0) std::abort();
  run_once(model);
  return Outcome::kExecuted;
}

bool is_too_large(const thimble_needs& needs) {
  return std::max({needs.arena_bytes, needs.state_bytes, needs.saved_bytes}) > kArenaMax;
}

Outcome run_single(const ExactMemory& file) {
  const thimble_kernels* const kernels = thimble_all_kernels();
  thimble_needs needs = {};
  if (thimble_size(file.data(), file.size(), kernels, &needs) != 0) return Outcome::kRejected;
  if (is_too_large(needs)) return Outcome::kAccepted;
  const ExactMemory memory(needs.arena_bytes + needs.state_bytes, 0xA5);
  thimble_model model;
  if (thimble_init(&model, file.data(), file.size(), kernels, memory.data(), memory.size()) != 0) {
    return Outcome::kRejected;
  }
  return run_twice(model, needs);
}

Outcome run_method(const ExactMemory& file, const char* method) {
  const thimble_kernels* const kernels = thimble_all_kernels();
  thimble_needs needs = {};
  if (thimble_size_method(file.data(), file.size(), kernels, method, &needs) != 0) {
    return Outcome::kRejected;
  }
  if (is_too_large(needs)) return Outcome::kAccepted;
  const ExactMemory arena(needs.arena_bytes, 0xA5), state(needs.state_bytes, 0xA5);
  thimble_model model;
  if (thimble_init_method(&model, file.data(), file.size(), kernels, method, arena.data(),
                          arena.size(), state.data(), state.size()) != 0) {
    return Outcome::kRejected;
  }
  return run_twice(model, needs);
}

/// Loads the file in the runtime and runs it, as a file of one method and as one of two.
Outcome run_on_device(ByteView bytes) {
  const ExactMemory file(bytes);
  const Outcome outcome =
      std::max({run_single(file), run_method(file, "forward"), run_method(file, "second")});
  if (!file.equals(bytes)) std::abort();
  return outcome;
}

/// Loads the file as `thimble run` does, with the simulated NPUs, and runs it once with zeros.
Outcome run_on_host(ByteView bytes) {
  constexpr auto kMax = static_cast<int64_t>(kArenaMax);
  const auto program = formats::pte::read(bytes, "x.pte");
  if (!program) return Outcome::kRejected;
  const auto interface = hostrun::read_interface(*program, "x.pte");
  if (!interface) return Outcome::kRejected;
  if (interface->arena_bytes > kMax) return Outcome::kAccepted;
  std::vector<ir::Tensor> inputs;
  for (const auto& input : interface->inputs) {
    if (ir::element_count(input.shape) > kMax) return Outcome::kAccepted;
    inputs.push_back(ir::zeros(input.dtype, input.shape));
  }
  // Delegates of the program need more than its plan.
  const auto memory_bytes = hostrun::HostModel::memory_bytes_of(bytes, "x.pte");
  if (!memory_bytes) return Outcome::kRejected;
  if (*memory_bytes > 2 * kArenaMax) return Outcome::kAccepted;
  auto model = hostrun::HostModel::load(bytes, "x.pte");
  if (!model) return Outcome::kRejected;
  hostrun::CallTrace trace;
  if (!model->trace(&trace, true)) return Outcome::kRejected;
  return model->run(inputs) ? Outcome::kExecuted : Outcome::kAccepted;
}

constexpr uint32_t identifier(std::string_view text) {
  uint32_t word = 0;
  for (size_t i = 4; i-- > 0;) word = word << 8 | static_cast<uint8_t>(text[i]);
  return word;
}

/// A FlatBuffer with this identifier, whose root is inside.
template <uint32_t kIdentifier>
bool is_flatbuffer(ByteView bytes) {
  return bytes.size() >= 12 && load_le<uint32_t>(bytes, 4) == kIdentifier &&
         load_le<uint32_t>(bytes, 0) < bytes.size() - 4;
}

}  // namespace

std::vector<Target> program_targets() {
  constexpr auto kIsPte = is_flatbuffer<identifier("ET12")>;
  return {{"bundle", read_bundle, mutate_bundle, is_flatbuffer<identifier("BP08")>},
          {"ptd", read_ptd, mutate_ptd, is_flatbuffer<identifier("FT01")>},
          {"pte", read_pte, mutate_pte, kIsPte},
          {"pte_run", run_on_device, mutate_pte, kIsPte},
          {"pte_run_npu", run_on_host, mutate_pte, kIsPte},
          {"pte_run_stock", run_on_device, mutate_pte, kIsPte},
          {"tflite", read_tflite, mutate_tflite, is_flatbuffer<identifier("TFL3")>}};
}

}  // namespace thimble::fuzz
