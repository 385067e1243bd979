// SPDX-License-Identifier: Apache-2.0
#pragma once
// One request and one reply at a time with examples/serial_runner (abi/serial/protocol.h).
//
// A request is repeated if no frame comes for a sixth of the patience, or if the board reports a
// damaged frame. Before that, zeros fill up a frame that the board may still wait for. The request
// fails if no frame comes for the whole patience. The board answers a repeated request with its
// first reply, so nothing is executed twice. Only frames count: a line that sends other bytes is as
// good as silent.

#include <chrono>
#include <string>

#include "abi/serial/protocol.h"
#include "base/bytes.h"
#include "base/serial_port.h"

namespace thimble::hostrun {

class SerialLink {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Opens the port and asks the board for its facts.
  [[nodiscard]] static Result<SerialLink> open(const std::string& port, int baud,
                                               std::chrono::milliseconds patience);

  /// Facts of the board; its protocol and kernel layout are those of this program.
  [[nodiscard]] const abi::serial::Hello& board() const { return hello_; }
  /// Sends the request and returns the payload of the reply, with its status word.
  [[nodiscard]] Result<Bytes> call(abi::serial::Type type, ByteView payload);
  /// Runs the model. Returns the payload of kDone.
  [[nodiscard]] Result<Bytes> run(std::chrono::milliseconds limit);

 private:
  SerialLink(base::SerialPort port, std::string name, std::chrono::milliseconds patience)
      : port_(std::move(port)), name_(std::move(name)), patience_(patience) {}

  struct Frame {
    uint8_t type = 0;  // 0: none came in time
    uint8_t sequence = 0;
    Bytes payload;
  };
  [[nodiscard]] Status send(uint8_t type, ByteView payload);
  [[nodiscard]] Status flush_board();
  [[nodiscard]] Result<Frame> receive(std::chrono::steady_clock::time_point end);
  [[nodiscard]] Result<Bytes> say_hello();
  [[nodiscard]] Status check_event(const Frame& frame) const;
  [[nodiscard]] Error silence(const std::string& what) const;

  base::SerialPort port_;
  std::string name_;
  std::chrono::milliseconds patience_;
  abi::serial::FrameReader reader_;
  Bytes waiting_;  // read from the port and not yet given to the reader
  uint8_t sequence_ = 0;
  size_t stray_bytes_ = 0;  // received since the last frame
  bool greeted_ = false;
  abi::serial::Hello hello_ = {};
};

}  // namespace thimble::hostrun
