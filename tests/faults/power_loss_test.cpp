// SPDX-License-Identifier: Apache-2.0
// Power that is lost between two calls of a model with states: the saved states continue in new
// memory, and without them the model starts again. An image that was written in part is found by
// the scheme of docs/faults.md: two places that are written in turn, each with a sum and a counter.

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <optional>

#include "base/process.h"
#include "tests/folders.h"
#include "tests/unit/formats_test_support.h"
#include "tests/unit/runtime_support.h"
#include "tests/unit/test_files.h"
#include "thimble.h"

namespace thimble {
namespace {

using runtime_test::AlignedBytes;
using runtime_test::GuardedMemory;

constexpr uint32_t kCalls = 8;
using Image = std::vector<uint8_t>;

/// A recurrent network, compiled once.
const Bytes& network() {
  static const Bytes file = [] {
    const auto folder = test::build_folder() / "power_loss_test_files";
    std::filesystem::create_directories(folder);
    base::ProcessOptions options;
    options.folder = folder;
    const std::string model = (test::source_folder() / "tests/data/pt2/state_gru.pt2").string();
    const auto result = base::run_process({THIMBLE_PROGRAM, "compile", model, "--target",
                                           "cortex-m4", "--calibrate", "random", "-o", "gru.pte"},
                                          options);
    EXPECT_TRUE(result.ok() && result->exit_code == 0) << (result.ok() ? result->output : "");
    return test::read_bytes(folder / "gru.pte");
  }();
  return file;
}

/// A device: its memory has any content when the power returns.
class Device {
 public:
  explicit Device(uint8_t content) : file_(ByteView(network())) {
    EXPECT_EQ(thimble_size(file_.data(), file_.size(), thimble_all_kernels(), &needs_), 0);
    memory_.emplace(needs_.arena_bytes + needs_.state_bytes, content);
    init();
  }
  /// The power returns; the memory has its content from before.
  void init() {
    model_ = {};
    EXPECT_EQ(thimble_init(&model_, file_.data(), file_.size(), thimble_all_kernels(),
                           memory_->data(), memory_->size()),
              0);
  }
  /// Runs call `call` of the series. Returns the bytes of all outputs.
  Image run(uint32_t call) {
    for (uint32_t i = 0; i < thimble_input_count(&model_); ++i) {
      thimble_view view;
      EXPECT_EQ(thimble_input(&model_, i, &view), 0);
      inputs_.resize(view.bytes);
      std::vector<float> values(view.bytes / sizeof(float));
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<float>((call * 7 + k * 5) % 11) / 11 - 0.5F;
      }
      std::memcpy(inputs_.data(), values.data(), values.size() * sizeof(float));
      EXPECT_EQ(thimble_set_input(&model_, i, inputs_.data(), inputs_.size()), 0);
    }
    EXPECT_EQ(thimble_run(&model_), 0);
    Image all;
    for (uint32_t i = 0; i < thimble_output_count(&model_); ++i) {
      thimble_view view;
      EXPECT_EQ(thimble_output(&model_, i, &view), 0);
      const auto* const bytes = static_cast<const uint8_t*>(view.data);
      all.insert(all.end(), bytes, bytes + view.bytes);
    }
    EXPECT_TRUE(memory_->intact());
    return all;
  }
  [[nodiscard]] Image save() const {
    Image image(needs_.saved_bytes);
    EXPECT_EQ(thimble_save(&model_, image.data(), image.size()), 0);
    return image;
  }
  void restore(const Image& image) {
    EXPECT_EQ(thimble_restore(&model_, image.data(), image.size()), 0);
  }

 private:
  AlignedBytes file_;
  thimble_needs needs_ = {};
  std::optional<GuardedMemory> memory_;
  thimble_model model_ = {};
  std::vector<uint8_t> inputs_;
};

/// Outputs of each call without a loss of power, and the states before it.
struct Series {
  std::vector<Image> outputs, states;
};
const Series& reference() {
  static const Series all = [] {
    Series series;
    Device device(0);
    for (uint32_t call = 0; call < kCalls; ++call) {
      series.states.push_back(device.save());
      series.outputs.push_back(device.run(call));
    }
    return series;
  }();
  return all;
}

TEST(PowerLoss, StatesMatter) {
  ASSERT_GE(reference().states[0].size(), 4U);
  for (uint32_t call = 1; call < kCalls; ++call) {
    EXPECT_NE(reference().states[call], reference().states[call - 1]);
    Device device(0x5A);
    EXPECT_NE(device.run(call), reference().outputs[call]) << "the states have no effect";
  }
}

TEST(PowerLoss, SavedStatesContinueInNewMemory) {
  for (uint32_t lost = 0; lost <= kCalls; ++lost) {
    Image saved;
    {
      Device before(0x5A);
      for (uint32_t call = 0; call < lost; ++call) {
        EXPECT_EQ(before.run(call), reference().outputs[call]);
      }
      saved = before.save();
    }
    Device after(0xC7);
    after.restore(saved);
    for (uint32_t call = lost; call < kCalls; ++call) {
      EXPECT_EQ(after.run(call), reference().outputs[call]) << lost << " " << call;
    }
  }
}

TEST(PowerLoss, WithoutSavedStatesTheModelStartsAgain) {
  Device device(0x5A);
  for (uint32_t call = 0; call < 3; ++call) (void)device.run(call);
  device.init();
  for (uint32_t call = 0; call < kCalls; ++call) {
    EXPECT_EQ(device.run(call), reference().outputs[call]);
  }
}

/// Non-volatile memory with two places, as docs/faults.md describes it.
class Store {
 public:
  explicit Store(size_t image_bytes) : image_bytes_(image_bytes) {
    for (Image& place : places_) place.assign(record_bytes(), 0xFF);  // erased
  }
  [[nodiscard]] size_t record_bytes() const { return sizeof(Header) + image_bytes_; }
  /// Writes the image to the place of the older one. The power is lost after `bytes` bytes.
  void write(const Image& image, size_t bytes) {
    const std::optional<size_t> newest = newest_place();
    const size_t place = newest ? 1 - *newest : 0;
    Header header = {newest ? header_of(*newest).counter + 1 : 1, 0};
    header.sum = sum_of(header.counter, image);
    Image record(sizeof header);
    std::memcpy(record.data(), &header, sizeof header);
    record.insert(record.end(), image.begin(), image.end());
    std::copy_n(record.begin(), std::min(bytes, record.size()), places_[place].begin());
  }
  /// The newest complete image.
  [[nodiscard]] std::optional<Image> read() const {
    const std::optional<size_t> place = newest_place();
    if (!place) return std::nullopt;
    return image_of(*place);
  }

 private:
  struct Header {
    uint32_t counter, sum;
  };
  [[nodiscard]] Header header_of(size_t place) const {
    Header header;
    std::memcpy(&header, places_[place].data(), sizeof header);
    return header;
  }
  [[nodiscard]] Image image_of(size_t place) const {
    return {places_[place].begin() + sizeof(Header), places_[place].end()};
  }
  static uint32_t sum_of(uint32_t counter, const Image& image) {
    Bytes bytes;
    append_le(bytes, counter);
    append(bytes, std::as_bytes(std::span(image)));
    return formats::testing::crc32(bytes);
  }
  [[nodiscard]] std::optional<size_t> newest_place() const {
    std::optional<size_t> newest;
    for (size_t i = 0; i < 2; ++i) {
      const Header header = header_of(i);
      if (header.sum != sum_of(header.counter, image_of(i))) continue;
      if (!newest || header.counter > header_of(*newest).counter) newest = i;
    }
    return newest;
  }

  size_t image_bytes_;
  Image places_[2];
};

/// The images after three and after four calls are written, then the one after five calls in part.
TEST(PowerLoss, PartialImageIsDetectedAndTheOneBeforeIsUsed) {
  const auto& states = reference().states;
  const size_t record_bytes = Store(states[0].size()).record_bytes();
  for (size_t written = 0; written <= record_bytes; ++written) {
    Store store(states[0].size());
    EXPECT_FALSE(store.read().has_value());
    store.write(states[3], record_bytes);
    store.write(states[4], record_bytes);
    store.write(states[5], written);
    const std::optional<Image> image = store.read();
    ASSERT_TRUE(image.has_value());
    const uint32_t next = *image == states[5] ? 5 : 4;
    EXPECT_EQ(*image, states[next]) << "an incomplete image at " << written;
    if (written == record_bytes) {
      EXPECT_EQ(next, 5U);
    }
    Device device(0xC7);
    device.restore(*image);
    EXPECT_EQ(device.run(next), reference().outputs[next]);
  }
}

/// The runtime accepts an incomplete image; its accesses stay in its memory (Device::run() checks).
TEST(PowerLoss, PartialImageIsHarmless) {
  const Image& old = reference().states[4];
  for (size_t written = 0; written <= old.size(); ++written) {
    Image image = reference().states[5];
    std::copy(old.begin() + static_cast<std::ptrdiff_t>(written), old.end(),
              image.begin() + static_cast<std::ptrdiff_t>(written));
    Device device(0xC7);
    device.restore(image);
    (void)device.run(5);
  }
}

}  // namespace
}  // namespace thimble
