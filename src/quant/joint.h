// SPDX-License-Identifier: Apache-2.0
#pragma once
// Joint calibration of the methods of one model, such as the step and the prefill of a decoder.
// Each is a graph of its own. A value of one graph and a value of another one are counterparts if
// they have the same key:
//
// - an input or state: its name
// - a result: the kind of its operator, its line in the model's source, the names of its weights,
//   and how many results before it have the same of these. Results whose number differs between two
//   methods that have them have no counterparts.
// - a constant: the operator that reads it or its rows, and the number of the operand
//
// Counterparts get the union of the ranges that all methods observed, and the channel means of the
// first method, so that equal layers get equal constants. A method after the first one takes the
// parameters of the states, and which linears have one weight scale, from the first one.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "quant/calibrate.h"
#include "quant/range.h"

namespace thimble::quant {

class JointCalibration {
 public:
  /// Adds what a method observed.
  void add(const ir::Graph& graph, const Observations& seen);
  /// Replaces the observations of all values that have counterparts.
  void apply(const ir::Graph& graph, Observations* seen) const;

  /// Decisions of the first method.
  struct Decided {
    std::map<std::string, Params> states;  // by name
    std::set<std::string> per_tensor;      // names of the weights of linears
  };
  [[nodiscard]] const std::optional<Decided>& decided() const { return decided_; }
  void decide(Decided decided) { decided_ = std::move(decided); }

 private:
  struct Observed {
    Histogram range;
    std::vector<double> channel_means;
  };
  struct Method {
    std::map<std::string, std::vector<Observed>> values;  // by key without the number
  };
  [[nodiscard]] bool has_counterparts(const std::string& key, size_t count) const;

  std::vector<Method> methods_;
  std::optional<Decided> decided_;
};

}  // namespace thimble::quant
