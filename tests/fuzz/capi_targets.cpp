// SPDX-License-Identifier: Apache-2.0
// Sequences of calls of the C API, in any order, with wrong arguments. Data is always as long as
// the shape says, because no library can check that; everything else may be wrong.

#include <algorithm>
#include <deque>
#include <limits>

#include "src/capi/thimble_c.h"
#include "tests/folders.h"
#include "tests/fuzz/exact_memory.h"
#include "tests/fuzz/read_file.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

/// The bytes of an input as choices; zeros after the end.
class Choices {
 public:
  explicit Choices(ByteView bytes) : bytes_(bytes) {}
  [[nodiscard]] bool ended() const { return at_ >= bytes_.size(); }
  uint8_t byte() { return ended() ? uint8_t{0} : std::to_integer<uint8_t>(bytes_[at_++]); }
  size_t below(size_t limit) { return byte() % limit; }
  bool one_in(size_t count) { return below(count) == 0; }
  template <typename T, size_t kCount>
  T of(const T (&all)[kCount]) {
    return all[below(kCount)];
  }
  ByteView part(size_t size) {
    const ByteView rest = bytes_.subspan(std::min(at_, bytes_.size()));
    const ByteView taken = rest.first(std::min(size, rest.size()));
    at_ += taken.size();
    return taken;
  }

 private:
  ByteView bytes_;
  size_t at_ = 0;
};

const Bytes& program_bytes() {
  static const Bytes bytes =
      read_file(test::source_folder() / "tests/fuzz/corpus/pte/hello_sin_cortex-m4.pte");
  return bytes;
}
const Bytes& model_bytes() {
  static const Bytes bytes = read_file(test::source_folder() / "models/hello_sin/hello_sin.pt2");
  return bytes;
}

constexpr const char* kOptions[] = {
    "--on=host", "--on=eval", "--on=nowhere", "--profile", "--steps",    "--",
    "",          "--io=int8", "--json",       "-",         "--target=x", "--bogus=1"};
constexpr const char* kTargets[] = {"cortex-m4", "corstone-300", "no such part", "", "cortex"};
constexpr const char* kParts[] = {"cortex-m4", "corstone-300"};
constexpr const char* kFilters[] = {nullptr, "", "cortex", "no such part"};
constexpr const char* kNames[] = {nullptr, "", "x", "input_0", "no such input"};

size_t type_bytes(thimble_c_type type) {
  switch (type) {
    case THIMBLE_C_INT16:
      return 2;
    case THIMBLE_C_INT32:
    case THIMBLE_C_FLOAT32:
      return 4;
    case THIMBLE_C_INT64:
    case THIMBLE_C_FLOAT64:
      return 8;
    default:
      return 1;
  }
}

/// Arrays and the memory of their shapes and data.
class Arrays {
 public:
  void add(Choices& choices, const thimble_c_array* like) {
    constexpr int64_t kExtents[] = {0,
                                    1,
                                    2,
                                    3,
                                    64,
                                    -1,
                                    int64_t{1} << 31,
                                    int64_t{1} << 32,
                                    std::numeric_limits<int64_t>::max(),
                                    std::numeric_limits<int64_t>::min()};
    constexpr size_t kBytesMax = size_t{1} << 16;
    thimble_c_array array = {};
    std::vector<int64_t> shape;
    array.name = choices.of(kNames);
    array.type = static_cast<thimble_c_type>(choices.below(9));
    if (like != nullptr) {
      shape.assign(like->shape, like->shape + like->rank);
      if (!choices.one_in(4)) array.type = like->type;
      if (!choices.one_in(4)) array.name = nullptr;
    }
    if (like == nullptr || choices.one_in(4)) {
      shape.resize(choices.below(6));
      for (int64_t& extent : shape) extent = choices.of(kExtents);
    } else if (choices.one_in(4)) {
      shape.insert(shape.begin(), choices.of(kExtents));
    }
    size_t bytes = type_bytes(array.type);
    bool is_short = true;
    for (const int64_t extent : shape) {
      if (extent < 0 || (extent > 0 && bytes > kBytesMax / static_cast<size_t>(extent))) {
        is_short = false;
        break;
      }
      bytes *= static_cast<size_t>(extent);
    }
    shapes_.push_back(std::move(shape));
    array.shape = shapes_.back().data();
    array.rank = shapes_.back().size();
    if (is_short && !choices.one_in(16)) {
      const ExactMemory& memory = memories_.emplace_back(bytes);
      for (size_t i = 0; i < bytes; ++i) memory.data()[i] = choices.byte();
      array.data = memory.data();
    }
    arrays_.push_back(array);
  }
  [[nodiscard]] const thimble_c_array* data() const { return arrays_.data(); }
  [[nodiscard]] size_t size() const { return arrays_.size(); }

 private:
  std::vector<std::vector<int64_t>> shapes_;
  std::deque<ExactMemory> memories_;
  std::vector<thimble_c_array> arrays_;
};

class Caller {
 public:
  explicit Caller(ByteView bytes) : choices_(bytes) {}
  ~Caller() {
    thimble_c_interpreter_free(interpreter_);
    thimble_c_compiled_free(compiled_);
    thimble_c_cancellation_free(cancellation_);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  /// Returns true if a run succeeded.
  bool call_all() {
    for (int calls = 0; calls < 32 && !choices_.ended(); ++calls) call();
    return ran_;
  }

 private:
  /// Checks that exactly the failures have an error, and frees it.
  bool done(thimble_c_code code) {
    const bool failed = code != THIMBLE_C_OK;
    if (wants_error_ && failed != (error_ != nullptr)) std::abort();
    if (failed && wants_error_ && (error_->code != code || error_->message[0] == 0)) std::abort();
    thimble_c_error_free(error_);
    error_ = nullptr;
    return !failed;
  }
  thimble_c_error** error() {
    wants_error_ = !choices_.one_in(8);
    return wants_error_ ? &error_ : nullptr;
  }
  std::vector<const char*> options() {
    std::vector<const char*> words;
    for (size_t left = choices_.one_in(2) ? choices_.below(3) : 0; left > 0; --left) {
      words.push_back(choices_.of(kOptions));
    }
    return words;
  }
  thimble_c_file file(Bytes& bytes) {
    for (size_t left = choices_.one_in(2) ? choices_.below(8) : 0; left > 0; --left) {
      bytes[(choices_.byte() * 256U + choices_.byte()) % bytes.size()] ^=
          std::byte{choices_.byte()};
    }
    thimble_c_file file = {};
    if (!choices_.one_in(16)) file.bytes = bytes.data();
    file.size = choices_.one_in(8) ? choices_.below(256) : bytes.size();
    if (!choices_.one_in(16)) file.name = "net.pte";
    return file;
  }

  void call() {
    switch (choices_.below(16)) {
      case 0:
        return open();
      case 1:
      case 2:
      case 3:
        return run();
      case 4:
        return read_results();
      case 5:
        if (interpreter_ != nullptr) done(thimble_c_reset(interpreter_, error()));
        return;
      case 6:
        thimble_c_interpreter_free(interpreter_);
        interpreter_ = nullptr;
        return;
      case 7: {
        Bytes bytes = choices_.one_in(2) ? program_bytes() : model_bytes();
        const thimble_c_file from = file(bytes);
        text([&](char** json) { return thimble_c_inspect(&from, json, error()); });
        return;
      }
      case 8: {
        const char* name = choices_.of(kParts);
        // A search in all parts takes as long as a hundred other calls.
        if (choices_.one_in(2) && lists_++ == 0) name = choices_.of(kFilters);
        text([&](char** json) { return thimble_c_targets(name, json, error()); });
        return;
      }
      case 9:
        if (cancellation_ == nullptr) cancellation_ = thimble_c_cancellation_new();
        if (choices_.one_in(2)) thimble_c_cancel(cancellation_);
        return;
      case 10:
        thimble_c_cancellation_free(cancellation_);
        cancellation_ = nullptr;
        return;
      case 11:
        // A compilation takes as long as a thousand other calls.
        if (choices_.one_in(8) && compilations_++ == 0) compile();
        return;
      case 12:
        use_compiled();
        return;
      case 13:
        thimble_c_error_free(nullptr);
        thimble_c_text_free(nullptr);
        thimble_c_compiled_free(compiled_);
        compiled_ = nullptr;
        return;
      default:
        return run();
    }
  }

  template <typename Call>
  void text(const Call& call) {
    char* json = nullptr;
    if (done(call(&json)) && (json == nullptr || json[0] == 0)) std::abort();
    thimble_c_text_free(json);
  }

  void open() {
    thimble_c_interpreter_free(interpreter_);
    interpreter_ = nullptr;
    Bytes bytes = program_bytes();
    const thimble_c_file from = file(bytes);
    const std::vector<const char*> words = options();
    const bool opened =
        done(thimble_c_open(&from, words.data(), words.size(), &interpreter_, error()));
    if (opened != (interpreter_ != nullptr)) std::abort();
  }

  void run() {
    if (interpreter_ == nullptr) return open();
    Arrays arrays;
    const size_t inputs = thimble_c_input_count(interpreter_);
    const size_t count = choices_.one_in(8) ? choices_.below(4) : inputs;
    for (size_t i = 0; i < count; ++i) arrays.add(choices_, thimble_c_input(interpreter_, i));
    ran_ = done(thimble_c_run(interpreter_, arrays.data(), arrays.size(), error())) || ran_;
    read_results();
  }

  void read_results() {
    if (interpreter_ == nullptr) return;
    for (size_t i = 0; i <= thimble_c_output_count(interpreter_); ++i) {
      const thimble_c_array* const array = thimble_c_output(interpreter_, i);
      if ((array == nullptr) != (i == thimble_c_output_count(interpreter_))) std::abort();
      if (array == nullptr || array->data == nullptr) continue;
      size_t bytes = type_bytes(array->type);
      for (size_t k = 0; k < array->rank; ++k) bytes *= static_cast<size_t>(array->shape[k]);
      for (size_t k = 0; k < bytes; ++k) {
        sum_ = sum_ + static_cast<const uint8_t*>(array->data)[k];
      }
    }
    if (thimble_c_input(interpreter_, choices_.byte() + (size_t{1} << 20)) != nullptr) std::abort();
  }

  void compile() {
    thimble_c_compiled_free(compiled_);
    compiled_ = nullptr;
    Bytes bytes = model_bytes();
    thimble_c_compile_request request = {};
    request.version = choices_.one_in(8) ? choices_.byte() : THIMBLE_C_API_VERSION;
    request.model = file(bytes);
    if (!choices_.one_in(8))
      request.target = choices_.one_in(4) ? choices_.of(kTargets) : "cortex-m4";
    const std::vector<const char*> words = options();
    request.options = words.data();
    request.option_count = words.size();
    Arrays samples;
    if (choices_.one_in(2)) {
      request.calibration_path = "random";
    } else {
      samples.add(choices_, nullptr);
      request.calibration = samples.data();
      request.calibration_count = samples.size();
    }
    request.cancellation = cancellation_;
    if (done(thimble_c_compile(&request, &compiled_, error())) != (compiled_ != nullptr)) {
      std::abort();
    }
  }

  void use_compiled() {
    if (compiled_ == nullptr) return;
    size_t size = 0;
    if (thimble_c_bytes(compiled_, &size) == nullptr || size == 0) std::abort();
    if (thimble_c_report_json(compiled_)[0] != '{') std::abort();
    Arrays samples;
    samples.add(choices_, nullptr);
    text([&](char** json) {
      return thimble_c_compare(compiled_, samples.data(), samples.size(), json, error());
    });
  }

  Choices choices_;
  thimble_c_interpreter* interpreter_ = nullptr;
  thimble_c_compiled* compiled_ = nullptr;
  thimble_c_cancellation* cancellation_ = nullptr;
  thimble_c_error* error_ = nullptr;
  bool wants_error_ = true;
  bool ran_ = false;
  int compilations_ = 0;
  int lists_ = 0;
  volatile uint32_t sum_ = 0;  // of the bytes of all outputs; volatile: the reads are not removed
};

Outcome call_c_api(ByteView bytes) {
  return Caller(bytes).call_all() ? Outcome::kExecuted : Outcome::kRejected;
}

}  // namespace

std::vector<Target> capi_targets() {
  return {{"c_api", call_c_api}};
}

}  // namespace thimble::fuzz
