// Model files: .pte through the host's reader and through the runtime, .ptd, bundled
// programs, LiteRT models.

#include <cstring>

#include "formats/bundle/bundle.h"
#include "formats/ptd/ptd.h"
#include "formats/pte/print.h"
#include "formats/pte/read.h"
#include "formats/tflite/read.h"
#include "hostrun/host.h"
#include "tests/fuzz/exact_memory.h"
#include "tests/fuzz/mutate_flatbuffer.h"
#include "tests/fuzz/targets.h"
#include "thimble.h"

namespace thimble::fuzz {
namespace {

Outcome read_pte(ByteView bytes) {
  const auto program = formats::pte::read(bytes, "x.pte");
  if (!program) return Outcome::kRejected;
  (void)formats::pte::print(*program);
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

/// Loads the file in the runtime and runs it once with zeros. An application with a fixed arena
/// rejects files that need more.
Outcome run_on_device(ByteView bytes) {
  const size_t arena_max = (size_t{1} << 20) + 64 * bytes.size();
  const ExactMemory file(bytes.size());
  if (!bytes.empty()) std::memcpy(file.data(), bytes.data(), bytes.size());
  const thimble_kernels* kernels = thimble_all_kernels();
  thimble_needs needs = {};
  if (thimble_size(file.data(), bytes.size(), kernels, &needs) != 0) return Outcome::kRejected;
  if (needs.arena_bytes > arena_max || needs.state_bytes > arena_max) return Outcome::kRejected;
  const size_t memory_bytes = needs.arena_bytes + needs.state_bytes;
  const ExactMemory memory(memory_bytes);
  thimble_model model;
  if (thimble_init(&model, file.data(), bytes.size(), kernels, memory.data(), memory_bytes) != 0) {
    return Outcome::kRejected;
  }
  std::vector<Bytes> inputs(thimble_input_count(&model));
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    thimble_view view;
    if (thimble_input(&model, i, &view) != 0 || view.bytes > arena_max) return Outcome::kAccepted;
    inputs[i].resize(view.bytes);
    if (thimble_set_input(&model, i, inputs[i].data(), view.bytes) != 0) return Outcome::kAccepted;
  }
  if (thimble_run(&model) != 0) return Outcome::kAccepted;
  for (uint32_t i = 0; i < thimble_output_count(&model); ++i) {
    thimble_view view;
    if (thimble_output(&model, i, &view) != 0) continue;
    for (size_t k = 0; k < view.bytes; ++k) {
      output_sum = static_cast<uint8_t>(output_sum + static_cast<const uint8_t*>(view.data)[k]);
    }
  }
  return Outcome::kAccepted;
}

/// Loads the file as `thimble run` does, with the simulated NPUs, and runs it once with zeros.
Outcome run_on_host(ByteView bytes) {
  auto model = hostrun::HostModel::load(bytes, "x.pte");
  if (!model) return Outcome::kRejected;
  const int64_t arena_max = (int64_t{1} << 20) + 64 * static_cast<int64_t>(bytes.size());
  if (model->arena_bytes() > arena_max) return Outcome::kRejected;
  std::vector<ir::Tensor> inputs;
  for (const auto& input : model->interface().inputs) {
    if (ir::element_count(input.shape) > arena_max) return Outcome::kRejected;
    inputs.push_back(ir::zeros(input.dtype, input.shape));
  }
  (void)model->run(inputs);
  return Outcome::kAccepted;
}

/// The identifier of a FlatBuffer: ET12, FT01, BP08 or TFL3.
bool has_identifier(ByteView bytes) {
  if (bytes.size() < 8) return false;
  const std::string_view id = as_text(bytes).substr(4, 4);
  return id == "ET12" || id == "FT01" || id == "BP08" || id == "TFL3";
}

}  // namespace

std::vector<Target> program_targets() {
  return {{"bundle", read_bundle, mutate_bundle, has_identifier},
          {"ptd", read_ptd, mutate_ptd, has_identifier},
          {"pte", read_pte, mutate_pte, has_identifier},
          {"pte_run", run_on_device, mutate_pte, has_identifier},
          {"pte_run_npu", run_on_host, mutate_pte, has_identifier},
          {"pte_run_stock", run_on_device, mutate_pte, has_identifier},
          {"tflite", read_tflite, mutate_tflite, has_identifier}};
}

}  // namespace thimble::fuzz
