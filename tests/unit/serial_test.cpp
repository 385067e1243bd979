// SPDX-License-Identifier: Apache-2.0
// Frames of abi/serial/protocol.h, `serial:PORT[:BAUD]`, and the list of serial ports.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "abi/serial/protocol.h"
#include "base/serial_port.h"
#include "hostrun/serial.h"

namespace thimble {
namespace {

namespace fs = std::filesystem;
namespace serial = abi::serial;
using Event = serial::FrameReader::Event;

std::vector<uint8_t> frame(uint8_t type, uint8_t sequence, const std::vector<uint8_t>& payload) {
  std::vector<uint8_t> bytes(serial::kFrameMax);
  std::ranges::copy(payload, bytes.begin() + serial::kHeaderBytes);
  bytes.resize(serial::finish_frame(bytes.data(), type, sequence, payload.size()));
  return bytes;
}

std::vector<Event> events_of(serial::FrameReader& reader, const std::vector<uint8_t>& bytes) {
  std::vector<Event> events;
  for (const uint8_t byte : bytes) {
    const Event event = reader.take(byte);
    if (event != Event::kNone) events.push_back(event);
  }
  return events;
}

TEST(SerialFrame, CrcIsThatOfZlib) {
  const std::string text = "123456789";  // the check value of CRC-32/ISO-HDLC
  EXPECT_EQ(serial::crc32(reinterpret_cast<const uint8_t*>(text.data()), text.size()), 0xCBF43926U);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
  EXPECT_EQ(serial::crc32(bytes + 4, 5, serial::crc32(bytes, 4)), 0xCBF43926U);
}

TEST(SerialFrame, ReadsFramesBetweenOtherBytes) {
  serial::FrameReader reader;
  for (const size_t size : {size_t{0}, size_t{1}, serial::kPayloadMax}) {
    std::vector<uint8_t> payload(size, 0xA5);
    std::vector<uint8_t> bytes = {0x00, 0xA5, 0xA5, 0x17, 0xA5};  // ends with half a start
    const std::vector<uint8_t> good = frame(serial::kBlock, 7, payload);
    bytes.insert(bytes.end(), good.begin(), good.end());
    EXPECT_EQ(events_of(reader, bytes), std::vector{Event::kFrame});
    EXPECT_EQ(reader.type(), serial::kBlock);
    EXPECT_EQ(reader.sequence(), 7);
    EXPECT_EQ(reader.payload_bytes(), size);
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), reader.payload()));
  }
}

TEST(SerialFrame, EveryFlippedBitIsNoticed) {
  const std::vector<uint8_t> good = frame(serial::kInit, 3, {1, 2, 3, 4});
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    serial::FrameReader reader;
    std::vector<uint8_t> bytes = good;
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ 1U << bit % 8);
    const std::vector<Event> events = events_of(reader, bytes);
    EXPECT_TRUE(std::ranges::find(events, Event::kFrame) == events.end()) << bit;
    // Zeros fill up a frame of another length, and the next frame is read.
    events_of(reader, std::vector<uint8_t>(serial::kFrameMax));
    EXPECT_EQ(events_of(reader, good), std::vector{Event::kFrame}) << bit;
  }
}

TEST(SerialFrame, RandomBytesDoNotLeaveTheBuffer) {
  std::mt19937 random(1);
  serial::FrameReader reader;
  for (int i = 0; i < 200000; ++i) {
    // Starts of frames are frequent, so that lengths are read often.
    const auto number = static_cast<uint32_t>(random());
    const auto other = static_cast<uint8_t>(number >> 8);
    reader.take(number % 4 == 0 ? serial::kSync[number / 4 % 2] : other);
  }
  events_of(reader, std::vector<uint8_t>(serial::kFrameMax));
  EXPECT_EQ(events_of(reader, frame(1, 1, {})), std::vector{Event::kFrame});
}

TEST(SerialPort, ParsesTheOption) {
  const auto parse = [](const char* text) {
    const auto options = hostrun::parse_serial_port(text);
    return options ? options->port + " " + std::to_string(options->baud) : options.error().message;
  };
  EXPECT_EQ(parse("/dev/ttyACM0"), "/dev/ttyACM0 115200");
  EXPECT_EQ(parse("/dev/ttyACM0:921600"), "/dev/ttyACM0 921600");
  EXPECT_EQ(parse("COM3:9600"), "COM3 9600");
  EXPECT_EQ(parse("/dev/serial/by-path/pci-0:1.0"), "/dev/serial/by-path/pci-0:1.0 115200");
  EXPECT_NE(parse(":9600").find("found no port"), std::string::npos);
  EXPECT_NE(parse("x:99999999999").find("too large"), std::string::npos);
}

TEST(SerialPort, ListsPortsWithTheirUsbDevice) {
  const fs::path root = fs::path(testing::TempDir()) / "serial_ports";
  fs::remove_all(root);
  const auto write = [&](const fs::path& path, const char* text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  const auto add = [&](const char* name, const fs::path& device) {
    fs::create_directories(root / device);
    fs::create_directories(root / "class/tty" / name);
    fs::create_directory_symlink(root / device, root / "class/tty" / name / "device");
  };
  write("usb1/1-1/idVendor", "0483");
  write("usb1/1-1/idProduct", "374b");
  write("usb1/1-1/product", "STM32 STLink");
  add("ttyACM0", "usb1/1-1/1-1:1.2");
  add("ttyAMA0", "soc/uart");
  write("class/tty/ttyAMA0/type", "32");
  add("ttyS1", "soc/unused");  // a UART that the driver has not found
  write("class/tty/ttyS1/type", "0");
  add("ttyS0", "platform/serial8250");
  fs::create_directories(root / "class/tty/tty1");  // a terminal
  const std::vector<base::SerialPortFacts> ports = base::list_serial_ports(root.string());
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].name, "/dev/ttyACM0");
  EXPECT_EQ(ports[0].usb_id, "0483:374b");
  EXPECT_EQ(ports[0].product, "STM32 STLink");
  EXPECT_EQ(ports[1].name, "/dev/ttyAMA0");
  EXPECT_EQ(ports[1].usb_id, "");
  EXPECT_TRUE(base::list_serial_ports((root / "nothing").string()).empty());
  fs::remove_all(root);
}

}  // namespace
}  // namespace thimble
