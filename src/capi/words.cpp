// SPDX-License-Identifier: Apache-2.0
#include "capi/words.h"

namespace thimble::capi {

Words joined(std::initializer_list<std::string> first, const Words& rest) {
  Words words(first);
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

std::string text_of(const tools::Json& json) {
  return json.dump(2, ' ', false, tools::Json::error_handler_t::replace);
}

}  // namespace thimble::capi
