# SPDX-License-Identifier: Apache-2.0
# Writes OUT, a source file with the content of page.css and page.js of FOLDER (see assets.h).
set(functions)
foreach(asset css js)
  file(READ ${FOLDER}/page.${asset} text)
  string(APPEND functions "std::string_view page_${asset}() {\n  return R\"asset(${text})asset\";\n}\n")
endforeach()
file(WRITE ${OUT} "#include \"report/assets.h\"

namespace thimble::report {

${functions}
}  // namespace thimble::report
")
