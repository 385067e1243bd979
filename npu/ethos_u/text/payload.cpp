#include "npu/ethos_u/text/payload.h"

#include "npu/ethos_u/text/text.h"

namespace thimble::ethos_u::text {
namespace {

constexpr uint32_t kCop1 = 0x31504F43;
constexpr uint32_t kCop2 = 0x32504F43;
constexpr uint32_t kMetadataMagic = 0x4D554556;  // "VEUM"

enum class Action : uint8_t { kOptimizerConfig = 1, kCommandStream = 2, kNop = 5 };

PayloadConfig read_config(uint32_t word) {
  PayloadConfig config;
  config.word = word;
  config.macs = 1U << (word & 15U);
  config.stream_version = word >> 4 & 15U;
  const uint32_t product = word >> 28;
  config.generation = product == 0   ? Generation::kU55
                      : product == 1 ? Generation::kU65
                                     : Generation::kU85;
  if (config.generation == Generation::kU85) {
    config.axi_sram_ports = 1U << (word >> 8 & 3U);
    config.axi_external_ports = 1U << (word >> 10 & 1U);
    config.weight_decoders = 1U << (word >> 12 & 3U);
  } else {
    config.shram_kib = word >> 8 & 255U;
    config.custom_dma = (word >> 27 & 1U) != 0;
  }
  return config;
}

/// Words of a payload, read in order; every read is checked.
class Reader {
 public:
  Reader(ByteView bytes, std::string_view label) : bytes_(bytes), label_(label) {}

  [[nodiscard]] size_t offset() const { return at_; }
  [[nodiscard]] size_t left() const { return bytes_.size() - at_; }

  Result<uint32_t> word(std::string_view what) {
    if (left() < 4) {
      return bad_input("{}: byte {}: {} expected, the payload ends after {} bytes", label_, at_,
                       what, bytes_.size());
    }
    const uint32_t value = load_le<uint32_t>(bytes_, at_);
    at_ += 4;
    return value;
  }

  Result<std::vector<uint32_t>> words(size_t count) {
    if (count > left() / 4) {
      return bad_input("{}: byte {}: a stream of {} words, {} bytes are left", label_, at_, count,
                       left());
    }
    std::vector<uint32_t> list(count);
    for (uint32_t& value : list) {
      value = load_le<uint32_t>(bytes_, at_);
      at_ += 4;
    }
    return list;
  }

  template <typename... Args>
  [[nodiscard]] Error error(fmt::format_string<Args...> format, Args&&... args) const {
    return bad_input("{}: byte {}: {}", label_, at_ < 4 ? 0 : at_ - 4,
                     fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  ByteView bytes_;
  std::string_view label_;
  size_t at_ = 0;
};

Status check_product(const Reader& reader, uint32_t config) {
  if (config >> 28 > 2) return reader.error("product {} is none of U55, U65, U85", config >> 28);
  return ok();
}

Result<Payload> read_cop1(Reader& reader) {
  Payload payload;
  bool configured = false;
  while (reader.left() != 0) {
    THIMBLE_TRY(const uint32_t tag, reader.word("an action"));
    switch (static_cast<Action>(tag & 255U)) {
      case Action::kOptimizerConfig: {
        THIMBLE_TRY(const uint32_t config, reader.word("the configuration"));
        THIMBLE_CHECK(check_product(reader, config));
        THIMBLE_TRY(payload.id, reader.word("the version"));
        payload.config = read_config(config);
        configured = true;
        break;
      }
      case Action::kCommandStream: {
        if (!configured) return reader.error("a command stream before the configuration");
        const uint32_t count = (tag >> 8 & 255U) << 16 | tag >> 16;
        payload.stream_offset = reader.offset();
        THIMBLE_TRY(payload.stream, reader.words(count));
        if (reader.left() != 0) return reader.error("{} bytes after the stream", reader.left());
        return payload;
      }
      case Action::kNop:
        break;
      default:
        return reader.error("no action {}", tag & 255U);
    }
  }
  return reader.error("no command stream");
}

/// The metadata block: its size counts itself; the rest of it up to 16 bytes is filling.
Status read_metadata(Reader& reader, Payload& payload) {
  const size_t start = reader.offset();
  THIMBLE_TRY(const uint32_t size, reader.word("the size of the metadata"));
  THIMBLE_TRY(const uint32_t magic, reader.word("the metadata"));
  if (magic != kMetadataMagic) return reader.error("metadata {:#x} is not VEUM", magic);
  THIMBLE_TRY(const uint32_t version, reader.word("the version of the metadata"));
  if (version != 1) return reader.error("metadata of version {:#x}, 1 expected", version);
  THIMBLE_TRY(const uint32_t rest, reader.word("the length of the metadata"));
  if (rest < 20 || rest > size || size - rest != 16) {
    return reader.error("metadata of {} bytes in a block of {}", rest, size);
  }
  THIMBLE_TRY(const uint32_t config, reader.word("the configuration"));
  THIMBLE_CHECK(check_product(reader, config));
  THIMBLE_TRY(payload.id, reader.word("the version"));
  THIMBLE_TRY(payload.addressing, reader.word("the addressing"));
  THIMBLE_TRY(const uint32_t low, reader.word("the staging size"));
  THIMBLE_TRY(const uint32_t high, reader.word("the staging size"));
  payload.config = read_config(config);
  payload.staging_bytes = uint64_t{high} << 32 | low;
  payload.has_metadata = true;
  while (reader.offset() < start + size || reader.offset() % 16 != 0) {
    THIMBLE_TRY([[maybe_unused]] const uint32_t filling, reader.word("the stream"));
  }
  return ok();
}

Result<Payload> read_cop2(Reader& reader) {
  Payload payload;
  payload.form = 2;
  THIMBLE_TRY(const uint32_t version, reader.word("the version"));
  if ((version & 0xFFFFU) != 1) {
    return reader.error("a payload of version {:#x}, 1 expected", version);
  }
  THIMBLE_TRY(const uint32_t length, reader.word("the length"));
  THIMBLE_TRY([[maybe_unused]] const uint32_t reserved, reader.word("a reserved word"));
  if (length != reader.left()) {
    return reader.error("a length of {} bytes, {} follow", length, reader.left());
  }
  THIMBLE_TRY(const uint32_t type, reader.word("an entry"));
  if (type != 1) return reader.error("no entry of type {}", type);
  THIMBLE_TRY(const uint32_t entry, reader.word("the length of the entry"));
  if (entry != reader.left()) {
    return reader.error("an entry of {} bytes, {} follow", entry, reader.left());
  }
  THIMBLE_CHECK(read_metadata(reader, payload));
  payload.stream_offset = reader.offset();
  THIMBLE_TRY(payload.stream, reader.words(reader.left() / 4));
  if (reader.left() != 0) return reader.error("{} bytes after the stream", reader.left());
  return payload;
}

std::string_view generation_text(Generation generation) {
  return generation == Generation::kU55 ? "U55" : generation == Generation::kU65 ? "U65" : "U85";
}

}  // namespace

const Config* Payload::hardware() const {
  for (const Config& row : kConfigs) {
    if (row.generation == config.generation && row.macs == config.macs) return &row;
  }
  return nullptr;
}

bool is_payload(ByteView bytes) {
  if (bytes.size() < 4) return false;
  const uint32_t magic = load_le<uint32_t>(bytes, 0);
  return magic == kCop1 || magic == kCop2;
}

Result<Payload> read_payload(ByteView bytes, std::string_view label) {
  Reader reader(bytes, label);
  THIMBLE_TRY(const uint32_t magic, reader.word("COP1 or COP2"));
  if (magic == kCop1) return read_cop1(reader);
  if (magic == kCop2) return read_cop2(reader);
  return reader.error("{:#010x} is neither COP1 nor COP2", magic);
}

std::string print(const Payload& payload) {
  const PayloadConfig& config = payload.config;
  const Config* hardware = payload.hardware();
  std::string text = fmt::format(
      "# COP{}, {} words from byte {}\n# config {:#010x}: {}, {} MACs, stream version {}",
      payload.form, payload.stream.size(), payload.stream_offset, config.word,
      hardware == nullptr ? generation_text(config.generation) : hardware->name, config.macs,
      config.stream_version);
  if (config.generation == Generation::kU85) {
    text += fmt::format(", AXI ports {} SRAM and {} external, {} weight decoders",
                        config.axi_sram_ports, config.axi_external_ports, config.weight_decoders);
  } else {
    text +=
        fmt::format(", SHRAM {} KiB{}", config.shram_kib, config.custom_dma ? ", custom DMA" : "");
  }
  text += fmt::format("\n# id {:#010x}: architecture {}.{}.{}\n", payload.id, payload.id >> 28,
                      payload.id >> 20 & 255U, payload.id >> 16 & 15U);
  if (payload.has_metadata) {
    text +=
        fmt::format("# addressing {}, staging {} B\n", payload.addressing, payload.staging_bytes);
  }
  return text + disassemble(payload.stream, config.generation, {.offsets = true});
}

}  // namespace thimble::ethos_u::text
