# SPDX-License-Identifier: Apache-2.0
# THIMBLE_MINGW: compiles the host code for Windows (minutes).
option(THIMBLE_MINGW "Test that the host code compiles with MinGW-w64" OFF)
if(THIMBLE_MINGW)
  add_test(NAME mingw COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/mingw_test.py ${CMAKE_SOURCE_DIR}
                              ${CMAKE_BINARY_DIR}-mingw ${CMAKE_COMMAND})
  set_tests_properties(mingw PROPERTIES LABELS portability TIMEOUT 3600 SKIP_REGULAR_EXPRESSION "^skipped:")
endif()
