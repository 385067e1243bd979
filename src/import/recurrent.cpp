// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and plain recurrent layers and cells. Each layer and direction becomes one IR operator
// over all steps. IR sequences are [steps, batch, features]; IR states are [1, batch, hidden].

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

/// The properties of a recurrent operator apart from its sizes.
struct Family {
  OpKind kind{};
  bool relu = false;  // rnn only
  [[nodiscard]] size_t states() const { return kind == OpKind::lstm ? 2 : 1; }
};
constexpr Family kGru{OpKind::gru}, kLstm{OpKind::lstm}, kRnnRelu{OpKind::rnn, true},
    kRnnTanh{OpKind::rnn};

/// Returns the initial states: h0, or h0 and c0 for an LSTM.
Result<std::vector<ValueId>> initial_states(Call& call, const Family& family) {
  std::vector<ValueId> states;
  if (family.states() == 2) {
    THIMBLE_TRY(states, call.tensors("hx"));
  } else {
    THIMBLE_TRY(const ValueId h0, call.tensor("hx"));
    states = {h0};
  }
  if (states.size() == family.states()) return states;
  return bad_input("argument hx has {} tensors", states.size());
}

class Stack {
 public:
  Stack(Call& call, Family family) : call_(call), family_(family) {}

  Status import() {
    THIMBLE_CHECK(read_arguments());
    THIMBLE_TRY(ValueId x, call_.tensor("input"));
    if (batch_first_) {
      THIMBLE_TRY(x, swap_first(x));
    }
    for (int64_t layer = 0; layer < layers_; ++layer) {
      THIMBLE_TRY(x, add_layer(x, layer));
    }
    if (batch_first_) {
      THIMBLE_TRY(x, swap_first(x));
    }
    std::vector<ValueId> results = {x};
    for (const std::vector<ValueId>& last : last_) {
      if (last.size() == 1) {
        results.push_back(last[0]);
        continue;
      }
      THIMBLE_TRY(const ValueId all,
                  call_.add(OpKind::concat, last, {{ir::attr::dim, int64_t{0}}}));
      results.push_back(all);
    }
    return call_.results(results);
  }

 private:
  Status read_arguments() {
    THIMBLE_TRY(layers_, call_.integer("num_layers"));
    THIMBLE_TRY(const bool bidirectional, call_.boolean("bidirectional"));
    THIMBLE_TRY(has_biases_, call_.boolean("has_biases"));
    THIMBLE_TRY(batch_first_, call_.boolean("batch_first"));
    THIMBLE_TRY(const bool train, call_.boolean("train"));
    THIMBLE_TRY(const double dropout, call_.number("dropout"));
    if (train && dropout != 0) {
      return unsupported("the model is in training mode; call model.eval() before the export");
    }
    directions_ = bidirectional ? 2 : 1;
    THIMBLE_TRY(states_, initial_states(call_, family_));
    THIMBLE_TRY(params_, call_.tensors("params"));
    if (layers_ < 1) return bad_input("argument num_layers is {}", layers_);
    const size_t each = has_biases_ ? 4 : 2;
    const size_t wanted = static_cast<size_t>(layers_ * directions_) * each;
    if (family_.kind == OpKind::lstm && params_.size() == wanted / each * (each + 1)) {
      return unsupported("proj_size: use an LSTM without it, and a linear layer for its outputs");
    }
    if (params_.size() != wanted) {
      return bad_input("argument params has {} tensors, expected {}", params_.size(), wanted);
    }
    for (const ValueId id : params_) {
      if (call_.builder().constant_of(id) == nullptr) {
        return unsupported("its weights are computed at run time");
      }
    }
    last_.resize(family_.states());
    return ok();
  }

  Result<ValueId> swap_first(ValueId x) {
    if (call_.shape(x).size() != 3)
      return bad_input("a sequence of rank {}", call_.shape(x).size());
    return call_.add(OpKind::permute, {x}, {{ir::attr::dims, Ints{1, 0, 2}}});
  }

  Result<ValueId> add_layer(ValueId x, int64_t layer) {
    std::vector<ValueId> directions;
    for (int64_t d = 0; d < directions_; ++d) {
      THIMBLE_TRY(const ValueId y, add_direction(x, layer * directions_ + d, d == 1));
      directions.push_back(y);
    }
    if (directions.size() == 1) return directions[0];
    return call_.add(OpKind::concat, directions, {{ir::attr::dim, int64_t{2}}});
  }

  Result<ValueId> add_direction(ValueId x, int64_t index, bool reverse) {
    std::vector<ValueId> inputs = {x};
    for (const ValueId state : states_) {
      THIMBLE_TRY(const ValueId initial, call_.add(OpKind::slice, {state},
                                                   {{ir::attr::dim, int64_t{0}},
                                                    {ir::attr::start, index},
                                                    {ir::attr::end, index + 1}}));
      inputs.push_back(initial);
    }
    const size_t each = has_biases_ ? 4 : 2;
    for (size_t i = 0; i < 4; ++i) {
      inputs.push_back(i < each ? params_[static_cast<size_t>(index) * each + i] : ir::kNoValue);
    }
    ir::Attrs attrs = {{ir::attr::reverse, int64_t{reverse ? 1 : 0}}};
    if (family_.kind == OpKind::rnn) attrs.set(ir::attr::relu, int64_t{family_.relu ? 1 : 0});
    THIMBLE_TRY(const ValueId y, call_.add(family_.kind, inputs, attrs));
    THIMBLE_TRY(const ValueId h, last_step(y, reverse));
    last_[0].push_back(h);
    if (family_.kind == OpKind::lstm) {
      attrs.set(ir::attr::cell, int64_t{1});
      THIMBLE_TRY(const ValueId cells, call_.add(family_.kind, inputs, attrs));
      THIMBLE_TRY(const ValueId c, last_step(cells, reverse));
      last_[1].push_back(c);
    }
    return y;
  }

  /// Returns the state after the last step that is computed: [1, batch, hidden].
  Result<ValueId> last_step(ValueId y, bool reverse) {
    const int64_t step = reverse ? 0 : call_.shape(y)[0] - 1;
    return call_.add(
        OpKind::slice, {y},
        {{ir::attr::dim, int64_t{0}}, {ir::attr::start, step}, {ir::attr::end, step + 1}});
  }

  Call& call_;
  const Family family_;
  int64_t layers_ = 1, directions_ = 1;
  bool has_biases_ = true, batch_first_ = false;
  std::vector<ValueId> states_;  // h0 and c0 of all layers and directions
  std::vector<ValueId> params_;
  std::vector<std::vector<ValueId>> last_;  // h_n and c_n by layer and direction
};

/// Imports a cell as a layer with one step: x [batch, features], states [batch, hidden].
Status import_cell(Call& call, Family family) {
  THIMBLE_TRY(const std::vector<ValueId> states, initial_states(call, family));
  THIMBLE_TRY(const ValueId x, call.tensor("input"));
  std::vector<ValueId> inputs = {x};
  inputs.insert(inputs.end(), states.begin(), states.end());
  for (ValueId& id : inputs) {
    ir::Shape shape = call.shape(id);
    if (shape.size() != 2) return bad_input("a cell with an operand of rank {}", shape.size());
    shape.insert(shape.begin(), 1);
    THIMBLE_TRY(id, call.reshape(id, shape));
  }
  for (const auto name : {"w_ih", "w_hh"}) {
    THIMBLE_CHECK(call.constant(name));
    THIMBLE_TRY(const ValueId weights, call.tensor(name));
    inputs.push_back(weights);
  }
  for (const auto name : {"b_ih", "b_hh"}) {
    if (call.has(name)) THIMBLE_CHECK(call.constant(name));
    THIMBLE_TRY(const ValueId bias, call.optional_tensor(name));
    inputs.push_back(bias);
  }
  std::vector<ValueId> results;
  for (size_t state = 0; state < family.states(); ++state) {
    ir::Attrs attrs;
    if (state == 1) attrs.set(ir::attr::cell, int64_t{1});
    if (family.relu) attrs.set(ir::attr::relu, int64_t{1});
    THIMBLE_TRY(const ValueId y, call.add(family.kind, inputs, attrs));
    THIMBLE_TRY(const ValueId flat, call.reshape(y, call.shape(states[state])));
    results.push_back(flat);
  }
  return call.results(results);
}

}  // namespace

namespace handlers {

Status gru(Call& call) {
  return Stack(call, kGru).import();
}
Status gru_cell(Call& call) {
  return import_cell(call, kGru);
}
Status lstm(Call& call) {
  return Stack(call, kLstm).import();
}
Status lstm_cell(Call& call) {
  return import_cell(call, kLstm);
}
Status rnn_relu(Call& call) {
  return Stack(call, kRnnRelu).import();
}
Status rnn_relu_cell(Call& call) {
  return import_cell(call, kRnnRelu);
}
Status rnn_tanh(Call& call) {
  return Stack(call, kRnnTanh).import();
}
Status rnn_tanh_cell(Call& call) {
  return import_cell(call, kRnnTanh);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
