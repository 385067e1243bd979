#pragma once
// The formats whose files `corruptions` damages, and what reads them.

#include <span>
#include <string>
#include <vector>

#include "tests/faults/damage.h"
#include "tests/unit/runtime_support.h"

namespace thimble::faults {

enum class Outcome : uint8_t {
  kOuter,     // rejected by the outer check: identifier, sum, or syntax of a text
  kInside,    // passes the outer check, and rejected by a later one
  kAccepted,  // a valid file of the format that was not run, or whose run ended with a status
  kRan,       // ran to its end
};
inline constexpr size_t kOutcomes = 4;

struct Format {
  std::string name;
  /// Folders of the source tree, with the end of the file names.
  std::vector<std::pair<std::string, std::string>> files;
  void (*prepare)(Input& input) = nullptr;
  Bytes (*damage)(const Input& input, const Input& other, Random& random) = nullptr;
  /// Reads and, if there is something to run, runs the bytes, which were made from `original`.
  /// Aborts if memory that is not its own was changed.
  Outcome (*run)(ByteView bytes, const Input& original) = nullptr;
  /// Bytes that the compressed members of an archive can have; null: no compressed members.
  size_t (*inflated_bytes)(ByteView bytes) = nullptr;
};

[[nodiscard]] std::span<const Format> formats();

// The functions of Format::run.
Outcome run_pt2(ByteView bytes, const Input&);
Outcome run_npy(ByteView bytes, const Input&);
Outcome run_npz(ByteView bytes, const Input&);
Outcome run_ir(ByteView bytes, const Input&);
Outcome run_part(ByteView bytes, const Input&);
Outcome run_ptd(ByteView bytes, const Input&);
Outcome run_bundle(ByteView bytes, const Input&);
Outcome run_tflite(ByteView bytes, const Input&);
/// The host's reader, then the loader of the device, and one run with zeros.
Outcome run_pte(ByteView bytes, const Input&);
/// As `thimble run`, with the simulated NPUs.
Outcome run_pte_npu(ByteView bytes, const Input&);
/// The stream of a payload, which runs with the payload's constants and scratch.
void prepare_ethos_u_stream(Input& input);
Outcome run_ethos_u_payload(ByteView bytes, const Input&);
Outcome run_ethos_u_stream(ByteView bytes, const Input&);
Outcome run_axon(ByteView bytes, const Input&);
Outcome run_neutron(ByteView bytes, const Input&);

Bytes damage_ethos_u_payload(const Input& input, const Input& other, Random& random);
Bytes damage_axon(const Input& input, const Input& other, Random& random);
Bytes damage_neutron(const Input& input, const Input& other, Random& random);

size_t inflated_zip_bytes(ByteView bytes);

/// Memory of exactly `bytes` bytes at a multiple of 16. The address sanitizer finds each access
/// outside of it; without it, guard bytes on both sides are compared at the end, and a change ends
/// the program.
class ExactMemory {
 public:
  explicit ExactMemory(size_t bytes, uint8_t fill_byte = 0);
  explicit ExactMemory(ByteView bytes);
  ~ExactMemory();
  ExactMemory(ExactMemory&& other) noexcept;
  ExactMemory& operator=(ExactMemory&&) = delete;
  [[nodiscard]] uint8_t* data() const { return data_; }
  [[nodiscard]] size_t size() const { return size_; }
  /// Returns true if the memory has these bytes.
  [[nodiscard]] bool equals(ByteView bytes) const;

 private:
  static constexpr size_t kGuard = runtime_test::kAddressSanitizer ? 0 : 64;
  size_t size_;
  uint8_t* data_;
};

}  // namespace thimble::faults
