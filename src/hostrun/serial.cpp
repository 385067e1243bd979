// SPDX-License-Identifier: Apache-2.0
#include "hostrun/serial.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "abi/serial/protocol.h"
#include "hostrun/serial_link.h"
#include "hostrun/status_error.h"
#include "runtime/include/thimble.h"

namespace thimble::hostrun {

namespace serial = abi::serial;

namespace {

uint32_t word(ByteView bytes, size_t index) {
  if (bytes.size() < 4 * index + 4) return 0;
  return serial::load_u32(reinterpret_cast<const uint8_t*>(bytes.data()) + 4 * index);
}

uint32_t crc_of(ByteView bytes) {
  return serial::crc32(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

/// The payload of a request, word by word.
Bytes words(std::initializer_list<uint32_t> list) {
  Bytes bytes;
  for (const uint32_t each : list) append_le(bytes, each);
  return bytes;
}

class Session {
 public:
  Session(SerialLink link, std::string_view label, const Interface& interface,
          const SerialOptions& options)
      : link_(std::move(link)), label_(label), interface_(interface), options_(options) {
    facts_.board = link_.board().board;
    facts_.core = link_.board().core;
    facts_.clock_mhz = link_.board().clock_hz / 1e6;
    const auto dwt = static_cast<uint32_t>(serial::Counter::kDwt);
    facts_.counter = link_.board().counter == dwt ? "DWT" : "SysTick";
  }

  Status load(ByteView pte) {
    const serial::Hello& board = link_.board();
    const uint32_t crc = crc_of(pte);
    auto source = serial::Source::kRam;
    if (board.flash_bytes == pte.size() && board.flash_crc == crc) {
      source = serial::Source::kFlash;
      facts_.model_in = "flash";
    } else if (board.ram_model_bytes == pte.size() && board.ram_model_crc == crc) {
      facts_.model_in = "RAM, sent before";
    } else {
      facts_.model_in = "RAM";
      THIMBLE_CHECK(send_model(pte, crc));
    }
    const Bytes request = words({static_cast<uint32_t>(source), options_.profile ? 1U : 0U});
    THIMBLE_TRY(const Bytes reply, call(serial::kInit, request, "load"));
    if (reply.size() != 4 + sizeof(serial::Facts)) return wrong_size("load", reply.size());
    facts_.arena_bytes = word(reply, 1);
    facts_.state_bytes = word(reply, 2);
    inputs_ = word(reply, 3);
    outputs_ = word(reply, 4);
    instructions_ = word(reply, 5);
    return ok();
  }

  Status check_interface(const Interface& interface) const {
    if (inputs_ == interface.inputs.size() && outputs_ == interface.outputs.size() &&
        instructions_ == interface.ops.size()) {
      return ok();
    }
    return bad_input(
        "{}: the board's model has {} inputs, {} outputs and {} instructions, the file {}, {} and "
        "{}",
        label_, inputs_, outputs_, instructions_, interface.inputs.size(), interface.outputs.size(),
        interface.ops.size());
  }

  Status set_input(uint32_t index, ByteView data) {
    const size_t block = link_.board().block_bytes - 8;
    for (size_t at = 0; at < data.size(); at += block) {
      Bytes request = words({index, static_cast<uint32_t>(at)});
      append(request, data.subspan(at, std::min(block, data.size() - at)));
      THIMBLE_TRY(const Bytes reply, call(serial::kInput, request, "input"));
    }
    return ok();
  }

  Status run() {
    THIMBLE_TRY(const Bytes reply, link_.run(options_.time_limit));
    THIMBLE_CHECK(check(reply, "run"));
    if (reply.size() != 4 + sizeof(serial::Result)) return wrong_size("run", reply.size());
    facts_.cycles += static_cast<int64_t>(uint64_t{word(reply, 2)} << 32 | word(reply, 1));
    facts_.stack_bytes = std::max<int64_t>(facts_.stack_bytes, word(reply, 3));
    return ok();
  }

  Status add_op_cycles() {
    std::vector<int64_t>& sums = facts_.op_cycles;
    sums.resize(instructions_);
    for (size_t first = 0; first < sums.size();) {
      const Bytes request = words({static_cast<uint32_t>(first)});
      THIMBLE_TRY(const Bytes reply, call(serial::kOps, request, "profile"));
      const size_t count = reply.size() / 4 - 1;
      if (count == 0 || count > sums.size() - first) return wrong_size("profile", reply.size());
      for (size_t i = 0; i < count; ++i) sums[first + i] += word(reply, i + 1);
      first += count;
    }
    return ok();
  }

  Result<Bytes> output(uint32_t index, size_t bytes) {
    const size_t block = link_.board().block_bytes - 4;
    Bytes data;
    while (data.size() < bytes) {
      const size_t count = std::min(block, bytes - data.size());
      const Bytes request =
          words({index, static_cast<uint32_t>(data.size()), static_cast<uint32_t>(count)});
      THIMBLE_TRY(const Bytes reply, call(serial::kOutput, request, "output"));
      if (reply.size() != 4 + count) return wrong_size("output", reply.size());
      append(data, ByteView(reply).subspan(4));
    }
    return data;
  }

  [[nodiscard]] SerialFacts facts() const { return facts_; }

 private:
  Status send_model(ByteView pte, uint32_t crc) {
    const auto start = std::chrono::steady_clock::now();
    const Bytes request = words({static_cast<uint32_t>(pte.size()), crc});
    THIMBLE_TRY(Bytes reply, call(serial::kLoad, request, "load"));
    const size_t block = link_.board().block_bytes - 4;
    for (size_t at = 0; at < pte.size(); at += block) {
      Bytes data = words({static_cast<uint32_t>(at)});
      append(data, pte.subspan(at, std::min(block, pte.size() - at)));
      THIMBLE_TRY(reply, call(serial::kBlock, data, "load"));
    }
    facts_.sent_bytes = static_cast<int64_t>(pte.size());
    facts_.sent_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return ok();
  }

  Result<Bytes> call(serial::Type type, ByteView request, const char* step) {
    THIMBLE_TRY(Bytes reply, link_.call(type, request));
    THIMBLE_CHECK(check(reply, step));
    return reply;
  }

  Error wrong_size(const char* step, size_t bytes) const {
    return bad_input("{}: {} on {}: an answer of {} bytes", label_, step, options_.port, bytes);
  }

  /// Returns the error for a status of the board's runtime. Its message is that of the host if the
  /// runtime lacks something that the file needs.
  Error runtime_error(thimble_status status, const char* step) const {
    Error error = status_error(status, label_, interface_);
    if (error.kind == ErrorKind::kUnsupported) return error;
    return bad_input("{}: {} on {}: {}", label_, step, options_.port, thimble_status_text(status));
  }

  Status check(ByteView reply, const char* step) const {
    if (reply.size() < 4) return wrong_size(step, reply.size());
    switch (word(reply, 0)) {
      case serial::kOk:
        return ok();
      case serial::kNoModel:
        return bad_input("{}: {} on {}: the board has no model any more: it was reset", label_,
                         step, options_.port);
      case serial::kTooLarge:
        return bad_input("{}: {} on {}: needs {} bytes of RAM, {} has {} bytes left", label_, step,
                         options_.port, word(reply, 1), facts_.board, word(reply, 2));
      case serial::kWrongBytes:
        return bad_input("{}: {} on {}: the board has received other bytes than were sent", label_,
                         step, options_.port);
      case serial::kRuntime:
        return runtime_error(static_cast<thimble_status>(word(reply, 1)), step);
      default:
        return bad_input("{}: {} on {}: the board refuses the request with status {}", label_, step,
                         options_.port, word(reply, 0));
    }
  }

  SerialLink link_;
  std::string_view label_;
  const Interface& interface_;
  const SerialOptions& options_;
  SerialFacts facts_;
  size_t inputs_ = 0, outputs_ = 0, instructions_ = 0;
};

}  // namespace

Result<SerialOptions> parse_serial_port(std::string_view text) {
  SerialOptions options;
  const size_t colon = text.rfind(':');
  const std::string_view last = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const bool has_baud =
      !last.empty() && std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
  if (has_baud) {
    const auto parsed = std::from_chars(last.data(), last.data() + last.size(), options.baud);
    if (parsed.ec != std::errc()) return bad_input("--on serial: baud rate {} is too large", last);
    text = text.substr(0, colon);
  }
  options.port = std::string(text);
  if (options.port.empty()) {
    return bad_input(
        "--on serial: found no port, expected serial:PORT or serial:PORT:BAUD; `thimble boards` "
        "lists ports");
  }
  return options;
}

Result<SerialRun> run_on_serial(ByteView pte, std::string_view label, const Interface& interface,
                                std::span<const std::vector<ir::Tensor>> calls,
                                const SerialOptions& options) {
  for (const std::vector<ir::Tensor>& call : calls) {
    THIMBLE_CHECK(check_inputs(interface.inputs, call, label));
  }
  THIMBLE_TRY(SerialLink link, SerialLink::open(options.port, options.baud, options.patience));
  Session session(std::move(link), label, interface, options);
  THIMBLE_CHECK(session.load(pte));
  THIMBLE_CHECK(session.check_interface(interface));
  SerialRun run;
  for (const std::vector<ir::Tensor>& call : calls) {
    for (size_t i = 0; i < call.size(); ++i) {
      THIMBLE_CHECK(session.set_input(static_cast<uint32_t>(i),
                                      ir::to_memory(call[i], interface.inputs[i].dim_order)));
    }
    THIMBLE_CHECK(session.run());
    if (options.profile) THIMBLE_CHECK(session.add_op_cycles());
    std::vector<ir::Tensor>& outputs = run.outputs.emplace_back();
    for (size_t i = 0; i < interface.outputs.size(); ++i) {
      const Port& port = interface.outputs[i];
      THIMBLE_TRY(const Bytes bytes, session.output(static_cast<uint32_t>(i), port.bytes()));
      outputs.push_back(ir::from_memory(bytes, port.dtype, port.shape, port.dim_order));
    }
  }
  run.facts = session.facts();
  return run;
}

}  // namespace thimble::hostrun
