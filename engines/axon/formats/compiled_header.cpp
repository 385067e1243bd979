// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/formats/compiled_header.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>

#include "engines/axon/formats/c_text.h"

namespace thimble::formats::axon {
namespace {

constexpr std::string_view kWordType = "NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE";
constexpr std::string_view kModelType = "nrf_axon_nn_compiled_model_s";
constexpr std::string_view kOutputType = "nrf_axon_compiled_model_output_s";
constexpr std::string_view kVariableType = "nrf_axon_nn_model_persistent_var_s";
constexpr std::string_view kInterlayerName = "nrf_axon_interlayer_buffer";
constexpr std::string_view kPartialSumsName = "nrf_axon_psum_buffer";
/// An array has at most this number of elements and kElementsPerToken for each token of the text.
/// Values may be omitted at the end of an array; the limit bounds the memory for a short text.
constexpr size_t kElementsBase = 4096, kElementsPerToken = 8;

std::optional<uint32_t> size_of(std::string_view type) {
  if (type == "int8_t" || type == "uint8_t" || type == "char") return 1;
  if (type == "int16_t" || type == "uint16_t") return 2;
  if (type == "int32_t" || type == "uint32_t") return 4;
  return std::nullopt;
}

bool mentions(const CSpan& type, std::string_view name) {
  return std::ranges::any_of(type, [&](const CToken& token) { return token.is(name); });
}

/// An array that an address can refer to.
struct LayerCheck {
  AddressSpace space;
  uint32_t offset;
  uint32_t element_bytes;
};

class HeaderReader {
 public:
  explicit HeaderReader(const CText& text) : text_(text) {
    places_[std::string(kInterlayerName)] = {AddressSpace::kInterlayer, 0, 4};
    places_[std::string(kPartialSumsName)] = {AddressSpace::kPartialSums, 0, 4};
  }

  Result<CompiledHeader> read() {
    THIMBLE_TRY(definitions_, read_definitions(text_));
    for (const CDefinition& definition : definitions_) THIMBLE_CHECK(declare(definition));
    if (model_ == nullptr) return bad_input("no {} in it", kModelType);
    if (commands_ == nullptr) return bad_input("no commands in it");
    THIMBLE_CHECK(read_model(*model_));
    THIMBLE_CHECK(read_words(*commands_));
    return std::move(header_);
  }

 private:
  Status declare(const CDefinition& definition) {
    const CSpan& type = definition.type;
    if (definition.is_function) {
      header_.functions.push_back(definition.name);
      return ok();
    }
    if (mentions(type, "struct")) return read_constants(definition);
    if (mentions(type, kModelType)) return once(&model_, definition);
    if (mentions(type, kWordType)) return once(&commands_, definition);
    if (mentions(type, kOutputType) || mentions(type, kVariableType)) {
      lists_[definition.name] = &definition;
      return ok();
    }
    if (mentions(type, "char")) return ok();  // class names
    if (mentions(type, "extern")) return ok();
    if (definition.is_array && !definition.value && definition.length && type.size() == 1) {
      return declare_variables(definition);
    }
    return bad_input("line {}: {}: unknown kind of definition", definition.line, definition.name);
  }

  static Status once(const CDefinition** slot, const CDefinition& definition) {
    if (!definition.value) {
      return bad_input("line {}: {}: an initializer expected", definition.line, definition.name);
    }
    if (*slot != nullptr) {
      return bad_input("line {}: {}: a second one of its type", definition.line, definition.name);
    }
    *slot = &definition;
    return ok();
  }

  /// `int32_t axon_model_NAME_persistent_vars[N];`
  Status declare_variables(const CDefinition& definition) {
    const std::optional<uint32_t> element = size_of(definition.type[0].text);
    if (!element || header_.variable_bytes != 0) {
      return bad_input("line {}: {}: one array of variables expected", definition.line,
                       definition.name);
    }
    places_[definition.name] = {AddressSpace::kVariables, 0, *element};
    header_.variable_bytes = static_cast<uint32_t>(*definition.length) * *element;
    return ok();
  }

  /// Reads the struct of constants. Its members have the layout of C: each starts at a multiple of
  /// its element size.
  Status read_constants(const CDefinition& definition) {
    if (!header_.constants.empty() || !definition.value) {
      return bad_input("line {}: {}: one struct of constants expected", definition.line,
                       definition.name);
    }
    places_[definition.name] = {AddressSpace::kConstants, 0, 1};
    const CSpan& type = definition.type;
    const auto body = std::ranges::find_if(type, [](const CToken& t) { return t.is("{"); });
    // A member is `type name [ count ] ;`.
    constexpr ptrdiff_t kWords = 6;
    auto at = body == type.end() ? body : body + 1;
    while (at != type.end() && !at->is("}")) {
      const bool whole = type.end() - at > kWords && at[2].is("[") && at[5].is(";");
      const std::optional<uint32_t> element = size_of(at->text);
      const int64_t count = whole ? c_number(at[3].text).value_or(-1) : -1;
      if (!element || count < 0) {
        return bad_input("line {}: an array of integers expected, {} found", at->line, at->text);
      }
      THIMBLE_CHECK(add_member(definition, at[1], *element, count));
      at += kWords;
    }
    align_size(header_.constants, 4);
    return ok();
  }

  Status add_member(const CDefinition& definition, const CToken& name, uint32_t element,
                    int64_t count) {
    const CValue* const values = definition.value->field(name.text);
    if (values == nullptr || values->items.size() > static_cast<size_t>(count)) {
      return bad_input("line {}: {}: {} values expected", name.line, name.text, count);
    }
    const size_t most = kElementsBase + kElementsPerToken * text_.tokens.size();
    if (static_cast<size_t>(count) > most) {
      return bad_input(
          "line {}: {}: an array of {} elements with {} values, at most {} elements are expected "
          "in a text of this length",
          name.line, name.text, count, values->items.size(), most);
    }
    align_size(header_.constants, element);
    const auto offset = static_cast<uint32_t>(header_.constants.size());
    places_[definition.name + "." + name.text] = {AddressSpace::kConstants, offset, element};
    for (const CValue& item : values->items) {
      THIMBLE_TRY(const int64_t value, item.number());
      for (uint32_t i = 0; i < element; ++i) {
        header_.constants.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
      }
    }
    header_.constants.resize(offset + static_cast<size_t>(count) * element);
    return ok();
  }

  Status read_words(const CDefinition& definition) {
    const std::vector<CValue>& items = definition.value->items;
    if (!definition.length || items.size() != static_cast<size_t>(*definition.length)) {
      return bad_input("line {}: {}: {} words announced, {} found", definition.line,
                       definition.name, definition.length.value_or(0), items.size());
    }
    for (uint32_t i = 0; i < items.size(); ++i) {
      const CSpan& words = items[i].expression;
      const bool is_address = !words.empty() && words[0].is("(");
      if (!is_address) {
        THIMBLE_TRY(const int64_t value, items[i].number());
        if (value < std::numeric_limits<int32_t>::min() ||
            value > std::numeric_limits<uint32_t>::max()) {
          return bad_input("line {}: {} is not a 32-bit word", items[i].line, value);
        }
        header_.words.push_back(static_cast<uint32_t>(value));
        continue;
      }
      THIMBLE_TRY(const std::optional<Address> address, read_address(items[i]));
      header_.words.push_back(0);
      if (address) header_.relocations.push_back({i, *address});
    }
    return ok();
  }

  /// The value of an address expression during evaluation.
  struct Pointer {
    std::optional<Address> address;  // nullopt: null pointer
    std::optional<uint32_t> element_bytes;
  };

  Result<std::optional<Address>> read_address(const CValue& value) {
    size_t at = 0;
    THIMBLE_TRY(const Pointer pointer, read_sum(value, at, 0));
    if (at != value.expression.size()) return not_understood(value, at);
    return pointer.address;
  }

  [[nodiscard]] static Error not_understood(const CValue& value, size_t at) {
    return bad_input("line {}: address expression not supported, at {}", value.line,
                     at < value.expression.size() ? value.expression[at].text : "its end");
  }

  /// Grammar: term { + number }
  Result<Pointer> read_sum(const CValue& value, size_t& at, int depth) {
    THIMBLE_TRY(Pointer pointer, read_term(value, at, depth));
    const CSpan& words = value.expression;
    while (at + 1 < words.size() && words[at].is("+")) {
      const std::optional<int64_t> number = c_number(words[at + 1].text);
      if (!number || *number < 0 || !pointer.address || !pointer.element_bytes) {
        return not_understood(value, at);
      }
      const int64_t offset = pointer.address->offset + *number * *pointer.element_bytes;
      if (offset > std::numeric_limits<int32_t>::max()) return not_understood(value, at);
      pointer.address->offset = static_cast<uint32_t>(offset);
      at += 2;
    }
    return pointer;
  }

  /// Grammar: (TYPE) term, (TYPE *) term, (sum), & term, name, name.member
  Result<Pointer> read_term(const CValue& value, size_t& at, int depth) {
    constexpr int kDepthMax = 8;
    const CSpan& words = value.expression;
    if (at >= words.size() || depth == kDepthMax) return not_understood(value, at);
    if (words[at].is("&")) return read_term(value, ++at, depth + 1);
    if (!words[at].is("(")) return read_name(value, at);
    const bool cast = at + 1 < words.size() &&
                      (words[at + 1].is(kWordType) || size_of(words[at + 1].text).has_value());
    if (!cast) {
      THIMBLE_TRY(const Pointer pointer, read_sum(value, ++at, depth + 1));
      if (at >= words.size() || !words[at].is(")")) return not_understood(value, at);
      ++at;
      return pointer;
    }
    const std::optional<uint32_t> element = size_of(words[at + 1].text);
    at += 2;
    if (at < words.size() && words[at].is("*")) ++at;
    if (at >= words.size() || !words[at].is(")")) return not_understood(value, at);
    THIMBLE_TRY(Pointer pointer, read_term(value, ++at, depth + 1));
    if (element) pointer.element_bytes = element;
    return pointer;
  }

  Result<Pointer> read_name(const CValue& value, size_t& at) {
    const CSpan& words = value.expression;
    std::string name = words[at].text;
    const auto first = static_cast<unsigned char>(name[0]);
    if (std::isalpha(first) == 0 && name[0] != '_') return not_understood(value, at);
    ++at;
    if (at + 1 < words.size() && words[at].is(".")) {
      name += "." + words[at + 1].text;
      at += 2;
    }
    if (name == "NULL") return Pointer{};
    const auto place = places_.find(name);
    if (place != places_.end()) {
      return Pointer{Address{place->second.space, 0, place->second.offset},
                     place->second.element_bytes};
    }
    if (name.find('.') != std::string::npos) return not_understood(value, at - 1);
    const auto known = std::ranges::find(header_.symbols, name);
    const auto index = static_cast<uint32_t>(known - header_.symbols.begin());
    if (known == header_.symbols.end()) header_.symbols.push_back(name);
    return Pointer{Address{AddressSpace::kSymbol, index, 0}, std::nullopt};
  }

  [[nodiscard]] Result<const CValue*> need(const CValue& value, std::string_view name) const {
    const CValue* const field = value.field(name);
    if (field != nullptr) return field;
    return bad_input("line {}: field .{} is missing", value.line, name);
  }

  /// Returns a field that is a number or a macro of this text.
  Result<uint32_t> number(const CValue& value, std::string_view name) const {
    THIMBLE_TRY(const CValue* field, need(value, name));
    std::string text = field->expression.size() == 1 ? field->expression[0].text : "";
    const auto define = text_.defines.find(text);
    if (define != text_.defines.end()) text = define->second;
    const std::optional<int64_t> known = c_number(text);
    if (known && *known >= 0 && *known <= std::numeric_limits<uint32_t>::max()) {
      return static_cast<uint32_t>(*known);
    }
    return bad_input("line {}: .{}: a number expected", field->line, name);
  }

  Result<CompiledTensor> tensor(const CValue& value, std::string_view pointer,
                                std::string_view dimensions, std::string_view stride) {
    CompiledTensor tensor;
    THIMBLE_TRY(const CValue* at, need(value, pointer));
    THIMBLE_TRY(const std::optional<Address> address, read_address(*at));
    if (!address) return bad_input("line {}: .{} is null", at->line, pointer);
    tensor.address = *address;
    THIMBLE_TRY(const CValue* shape, need(value, dimensions));
    THIMBLE_TRY(const uint32_t height, number(*shape, "height"));
    THIMBLE_TRY(const uint32_t width, number(*shape, "width"));
    THIMBLE_TRY(const uint32_t channels, number(*shape, "channel_cnt"));
    THIMBLE_TRY(const uint32_t byte_width, number(*shape, "byte_width"));
    tensor.height = static_cast<uint16_t>(height);
    tensor.width = static_cast<uint16_t>(width);
    tensor.channels = static_cast<uint16_t>(channels);
    tensor.byte_width = static_cast<uint8_t>(byte_width);
    THIMBLE_TRY(tensor.row_stride, number(value, stride));
    return tensor;
  }

  Status read_model(const CDefinition& definition) {
    const CValue& model = *definition.value;
    THIMBLE_TRY(const CValue* name, need(model, "model_name"));
    if (name->expression.empty()) return bad_input("line {}: a name expected", name->line);
    header_.name = name->expression[0].text;
    if (header_.name.size() >= 2) header_.name = header_.name.substr(1, header_.name.size() - 2);
    THIMBLE_TRY(header_.compiler_version, number(model, "compiler_version"));
    THIMBLE_TRY(header_.driver_version, number(model, "min_driver_version_required"));
    THIMBLE_TRY(header_.interlayer_bytes, number(model, "interlayer_buffer_needed"));
    THIMBLE_TRY(header_.partial_sum_bytes, number(model, "psum_buffer_needed"));
    THIMBLE_TRY(const CValue* inputs, need(model, "inputs"));
    for (const CValue& input : inputs->items) {
      THIMBLE_TRY(const CValue* external, need(input, "is_external"));
      if (external->expression.empty() || !external->expression[0].is("true")) continue;
      THIMBLE_TRY(header_.input, tensor(input, "ptr", "dimensions", "stride"));
    }
    THIMBLE_TRY(CompiledTensor output,
                tensor(model, "output_ptr", "output_dimensions", "output_stride"));
    header_.outputs.push_back(output);
    THIMBLE_TRY(const uint32_t more, number(model, "extra_output_cnt"));
    if (more > 0) THIMBLE_CHECK(read_outputs(model, more));
    const CValue* const variables = model.field("persistent_vars");
    return variables != nullptr ? read_variables(*variables) : ok();
  }

  /// Returns the list that a field refers to by name.
  Result<const std::vector<CValue>*> list(const CValue& value, std::string_view name,
                                          uint32_t count) const {
    THIMBLE_TRY(const CValue* field, need(value, name));
    if (field->expression.empty()) {
      return bad_input("line {}: .{}: the name of a list expected", field->line, name);
    }
    const auto found = lists_.find(field->expression[0].text);
    if (found == lists_.end() || !found->second->value ||
        found->second->value->items.size() != count) {
      return bad_input("line {}: .{}: a list of {} expected", field->line, name, count);
    }
    return &found->second->value->items;
  }

  Status read_outputs(const CValue& model, uint32_t count) {
    THIMBLE_TRY(const std::vector<CValue>* outputs, list(model, "extra_outputs", count));
    for (const CValue& value : *outputs) {
      THIMBLE_TRY(CompiledTensor output, tensor(value, "ptr", "dimensions", "stride"));
      header_.outputs.push_back(output);
    }
    return ok();
  }

  Status read_variables(const CValue& value) {
    THIMBLE_TRY(const uint32_t count, number(value, "count"));
    if (count == 0) return ok();
    THIMBLE_TRY(const std::vector<CValue>* variables, list(value, "vars", count));
    for (const CValue& item : *variables) {
      CompiledVariable variable;
      THIMBLE_TRY(const CValue* at, need(item, "buf_ptr"));
      THIMBLE_TRY(const std::optional<Address> address, read_address(*at));
      if (!address || address->space != AddressSpace::kVariables) {
        return bad_input("line {}: a variable outside of the variables", at->line);
      }
      variable.address = *address;
      THIMBLE_TRY(variable.bytes, number(item, "buf_size"));
      THIMBLE_TRY(const CValue* initial, need(item, "initial_value"));
      THIMBLE_TRY(const int64_t first, initial->number());
      variable.initial = static_cast<int32_t>(first);
      THIMBLE_TRY(const uint32_t width, number(item, "byte_width"));
      variable.byte_width = static_cast<uint8_t>(width);
      header_.variables.push_back(variable);
    }
    return ok();
  }

  const CText& text_;
  std::vector<CDefinition> definitions_;
  std::map<std::string, LayerCheck, std::less<>> places_;
  std::map<std::string, const CDefinition*, std::less<>> lists_;
  const CDefinition* model_ = nullptr;
  const CDefinition* commands_ = nullptr;
  CompiledHeader header_;
};

}  // namespace

Result<CompiledHeader> read_compiled_header(std::string_view text, std::string_view label) {
  const Result<CText> tokens = read_c_text(text);
  if (!tokens) return bad_input("{}: {}", label, tokens.error().message);
  Result<CompiledHeader> header = HeaderReader(*tokens).read();
  if (!header) return bad_input("{}: {}", label, header.error().message);
  return header;
}

}  // namespace thimble::formats::axon
