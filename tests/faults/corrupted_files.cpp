// Readers of files: archives, arrays, texts, FlatBuffers; and the runtime that runs a .pte.

#include <cstring>
#include <new>

#include "engine/part.h"
#include "engine/toml_value.h"
#include "formats/bundle/bundle.h"
#include "formats/npy/npy.h"
#include "formats/pt2/reader.h"
#include "formats/ptd/ptd.h"
#include "formats/pte/print.h"
#include "formats/pte/read.h"
#include "formats/tflite/read.h"
#include "formats/zip/directory.h"
#include "formats/zip/zip.h"
#include "hostrun/host.h"
#include "import/import.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "tests/faults/corrupted.h"
#include "thimble.h"

namespace thimble::faults {
namespace {

/// Larger arenas only make the run slower: an application has a fixed one.
constexpr size_t kArenaMax = size_t{256} << 10;
constexpr uint8_t kUntouched = 0xC3;  // guard bytes

Bytes copy(ByteView bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Every member can be read, with its sum.
bool is_archive(ByteView bytes) {
  const auto archive = formats::zip::Archive::open(copy(bytes), "x");
  if (!archive) return false;
  for (const formats::zip::Member& member : archive->members()) {
    if (!archive->read(member.name)) return false;
  }
  return true;
}

bool has_identifier(ByteView bytes, std::string_view identifier) {
  uint32_t root = 0;
  if (bytes.size() < 12) return false;
  std::memcpy(&root, bytes.data(), sizeof root);
  return as_text(bytes).substr(4, identifier.size()) == identifier && root < bytes.size() - 4;
}

/// The text of a graph, in which every bracket has its other one: the syntax around its names.
bool has_pairs(std::string_view text) {
  constexpr std::string_view kOpen = "([{", kClose = ")]}";
  std::string open;
  for (const char c : text) {
    if (const size_t kind = kOpen.find(c); kind != std::string_view::npos) {
      open.push_back(kClose[kind]);
    } else if (kClose.find(c) != std::string_view::npos) {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
  }
  return open.empty() && text.starts_with("graph @");
}

Outcome rejected(bool passes_outer_check) {
  return passes_outer_check ? Outcome::kInside : Outcome::kOuter;
}

volatile uint8_t output_sum = 0;  // volatile, so that the reads of outputs are not removed

/// Loads the file in the runtime and runs it once with zeros.
Outcome run_on_device(ByteView bytes) {
  const ExactMemory file(bytes);
  const thimble_kernels* const kernels = thimble_all_kernels();
  thimble_needs needs = {};
  if (thimble_size(file.data(), file.size(), kernels, &needs) != 0) return Outcome::kInside;
  if (needs.arena_bytes > kArenaMax || needs.state_bytes > kArenaMax) return Outcome::kAccepted;
  const ExactMemory memory(needs.arena_bytes + needs.state_bytes, 0xA5);
  thimble_model model;
  if (thimble_init(&model, file.data(), file.size(), kernels, memory.data(), memory.size()) != 0) {
    return Outcome::kInside;
  }
  std::vector<ExactMemory> inputs;
  for (uint32_t i = 0; i < thimble_input_count(&model); ++i) {
    thimble_view view;
    if (thimble_input(&model, i, &view) != 0 || view.bytes > kArenaMax) return Outcome::kAccepted;
    inputs.emplace_back(view.bytes);
    if (thimble_set_input(&model, i, inputs.back().data(), view.bytes) != 0) {
      return Outcome::kAccepted;
    }
  }
  if (thimble_run(&model) != 0) return Outcome::kAccepted;
  for (uint32_t i = 0; i < thimble_output_count(&model); ++i) {
    thimble_view view;
    if (thimble_output(&model, i, &view) != 0) continue;
    for (size_t k = 0; k < view.bytes; ++k) {
      output_sum = static_cast<uint8_t>(output_sum + static_cast<const uint8_t*>(view.data)[k]);
    }
  }
  if (!file.equals(bytes)) std::abort();  // the file was written to
  for (const ExactMemory& input : inputs) {
    for (size_t k = 0; k < input.size(); ++k) {
      if (input.data()[k] != 0) std::abort();  // an input was written to
    }
  }
  return Outcome::kRan;
}

}  // namespace

Outcome run_npy(ByteView bytes, const Input&) {
  if (formats::npy::parse_npy(copy(bytes), "x.npy")) return Outcome::kAccepted;
  return rejected(as_text(bytes).starts_with(formats::npy::kMagic));
}

Outcome run_npz(ByteView bytes, const Input&) {
  if (formats::npy::read_npz(copy(bytes), "x.npz")) return Outcome::kAccepted;
  return rejected(is_archive(bytes));
}

Outcome run_pt2(ByteView bytes, const Input&) {
  const auto program = formats::pt2::read(copy(bytes), "x.pt2");
  if (!program) return rejected(is_archive(bytes));
  const auto model = import_pt2::import_program(*program, {}, "x.pt2");
  if (!model) return Outcome::kInside;
  if (!ir::verify(model->graph)) std::abort();
  const auto cleaned = passes::run_float_passes(model->graph);
  if (cleaned && !ir::verify(*cleaned)) std::abort();
  return Outcome::kAccepted;
}

Outcome run_ir(ByteView bytes, const Input&) {
  const auto graph = ir::parse(as_text(bytes), "x.ir");
  if (!graph) return rejected(has_pairs(as_text(bytes)));
  if (!ir::verify(*graph)) return Outcome::kInside;
  (void)ir::print(*graph);
  return Outcome::kAccepted;
}

Outcome run_part(ByteView bytes, const Input&) {
  if (engine::parse_part(as_text(bytes), "x")) return Outcome::kAccepted;
  return rejected(engine::parse_toml(as_text(bytes), "x").ok());
}

Outcome run_ptd(ByteView bytes, const Input&) {
  if (formats::ptd::read(bytes, "x.ptd")) return Outcome::kAccepted;
  return rejected(has_identifier(bytes, "FT01"));
}

Outcome run_bundle(ByteView bytes, const Input&) {
  if (formats::bundle::read(bytes, "x.bpte")) return Outcome::kAccepted;
  return rejected(has_identifier(bytes, "BP08"));
}

Outcome run_tflite(ByteView bytes, const Input&) {
  if (formats::tflite::read(bytes, "x.tflite")) return Outcome::kAccepted;
  return rejected(has_identifier(bytes, "TFL3"));
}

Outcome run_pte(ByteView bytes, const Input&) {
  const auto program = formats::pte::read(bytes, "x.pte");
  if (program) (void)formats::pte::print(*program);
  const Outcome device = run_on_device(bytes);
  if (device != Outcome::kInside) return device;
  return program ? Outcome::kInside : rejected(has_identifier(bytes, "ET12"));
}

Outcome run_pte_npu(ByteView bytes, const Input&) {
  auto model = hostrun::HostModel::load(bytes, "x.pte");
  if (!model) return rejected(has_identifier(bytes, "ET12"));
  if (model->arena_bytes() > static_cast<int64_t>(kArenaMax)) return Outcome::kAccepted;
  std::vector<ir::Tensor> inputs;
  for (const auto& input : model->interface().inputs) {
    if (ir::element_count(input.shape) > static_cast<int64_t>(kArenaMax)) return Outcome::kAccepted;
    inputs.push_back(ir::zeros(input.dtype, input.shape));
  }
  return model->run(inputs) ? Outcome::kRan : Outcome::kAccepted;
}

size_t inflated_zip_bytes(ByteView bytes) {
  formats::zip::Input input(copy(bytes));
  const auto entries = formats::zip::read_directory(input, "x");
  size_t sum = 0;
  if (!entries) return sum;
  for (const formats::zip::Entry& entry : *entries) {
    if (entry.method != formats::zip::kDeflated) continue;
    // Deflate reaches 1032:1.
    const uint64_t real = std::min<uint64_t>(entry.size_compressed_bytes, bytes.size()) * 1032;
    sum += std::min(entry.size_bytes, real);
  }
  return sum;
}

ExactMemory::ExactMemory(size_t bytes, uint8_t fill_byte)
    : size_(bytes),
      data_(static_cast<uint8_t*>(::operator new (bytes + 2 * kGuard, std::align_val_t{16})) +
            kGuard) {
  std::memset(data_ - kGuard, kUntouched, bytes + 2 * kGuard);
  std::memset(data_, fill_byte, bytes);
}
ExactMemory::ExactMemory(ByteView bytes) : ExactMemory(bytes.size()) {
  if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
}
ExactMemory::~ExactMemory() {
  if (data_ == nullptr) return;
  for (size_t i = 0; i < kGuard; ++i) {
    if (data_[size_ + i] != kUntouched || *(data_ - 1 - i) != kUntouched) std::abort();
  }
  ::operator delete (data_ - kGuard, std::align_val_t{16});
}
ExactMemory::ExactMemory(ExactMemory&& other) noexcept : size_(other.size_), data_(other.data_) {
  other.data_ = nullptr;
}
bool ExactMemory::equals(ByteView bytes) const {
  return size_ == bytes.size() && (size_ == 0 || std::memcmp(data_, bytes.data(), size_) == 0);
}

}  // namespace thimble::faults
