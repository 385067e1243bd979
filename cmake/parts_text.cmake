# SPDX-License-Identifier: Apache-2.0
# Writes OUT, a source file with the content of PARTS (see src/engine/parts_text.h).
set(rows)
foreach(part ${PARTS})
  get_filename_component(name ${part} NAME_WE)
  file(READ ${part} text)
  string(APPEND rows "    {\"${name}\", R\"part(${text})part\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"engine/parts_text.h\"

namespace thimble::engine {

std::span<const PartText> parts_text() {
  static constexpr PartText kParts[] = {
${rows}  };
  return kParts;
}

}  // namespace thimble::engine
")
