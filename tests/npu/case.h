#pragma once
// A case of the simulator: a command stream, the memory that it runs on, and what must be there
// afterwards. Written by tests/peers/ethos_u. Its files, in a folder or in an archive:
//
//   cmd.bin    the driver payload
//   meta.txt   lines; other first words than these are ignored
//     config ethos-u55-128
//     region INDEX FILE|zero BYTES       memory of a region; `zero` is filled with 0xA5
//     input REGION OFFSET FILE           copied before the run
//     output REGION OFFSET BYTES FILE    compared after it
//
// An archive is a sequence of entries, each a line `file CASE/FILE BYTES` and then those bytes.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::testing {

using Bytes = std::vector<uint8_t>;
using Files = std::map<std::string, Bytes>;

struct Expected {
  uint32_t region = 0;
  uint64_t offset = 0;
  Bytes bytes;
  std::string file;
};

struct Case {
  std::string error;  // why it cannot be run
  const Config* config = nullptr;
  Bytes commands;                // the payload
  std::vector<uint32_t> words;   // the stream in it
  Bytes regions[sim::kRegions];  // before the run, inputs included
  bool read_only[sim::kRegions] = {};
  std::vector<Expected> outputs;
};

/// Files of a folder; empty if it has no meta.txt.
Files read_folder(const std::filesystem::path& folder);
/// Files of each case of an archive, by the case's name; `error` says why it ends early.
std::map<std::string, Files> read_archive(const std::filesystem::path& path, std::string* error);

Case read_case(const Files& files);

struct Options {
  bool slow = false;     // only the general paths
  bool hazards = false;  // a hazard is a difference too
};

/// Empty if every byte is as expected.
std::string run_case(const Case& c, const Options& options, double* milliseconds = nullptr);
/// Empty if the stream as text is the same stream again.
std::string round_trip(const Case& c);

}  // namespace thimble::ethos_u::testing
