// SPDX-License-Identifier: Apache-2.0
#pragma once
// A case of the simulator: a command stream, the memory that it runs on, and the expected memory
// after the run. Written by tests/peers/ethos_u. Its files, in a folder or in an archive:
//
//   cmd.bin    the driver payload
//   meta.txt   lines as follows; lines with another first word are ignored
//     config ethos-u55-128
//     region INDEX FILE|zero BYTES       memory of a region; `zero` is filled with 0xA5
//     input REGION OFFSET FILE           copied before the run
//     output REGION OFFSET BYTES FILE    compared after the run
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
  std::string error;  // reason why the case cannot be run; empty: none
  const Config* config = nullptr;
  Bytes commands;                // the payload
  std::vector<uint32_t> words;   // the command stream of the payload
  Bytes regions[sim::kRegions];  // memory before the run, inputs included
  bool read_only[sim::kRegions] = {};
  std::vector<Expected> outputs;
};

/// Returns the files of a folder; empty if it has no meta.txt.
Files read_folder(const std::filesystem::path& folder);
/// Returns the files of each case of an archive, by case name. `error`: why reading ended early.
std::map<std::string, Files> read_archive(const std::filesystem::path& path, std::string* error);

Case read_case(const Files& files);

struct Options {
  bool slow = false;     // uses only the general code paths
  bool hazards = false;  // reports a hazard as a difference
};

/// Returns the differences; empty if every byte is as expected.
std::string run_case(const Case& c, const Options& options, double* milliseconds = nullptr);
/// Returns a difference; empty if disassembly and assembly give the same stream.
std::string round_trip(const Case& c);

}  // namespace thimble::ethos_u::testing
