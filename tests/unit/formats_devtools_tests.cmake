# SPDX-License-Identifier: Apache-2.0
# Formats of ExecuTorch's devtools, with files that ExecuTorch wrote.
thimble_test(formats_devtools_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/formats_devtools_test.cpp
  DEPS thimble_formats thimble_emit
  LABELS unit fast)
if(TARGET formats_devtools_test)
  target_compile_definitions(formats_devtools_test PRIVATE
    THIMBLE_DEVTOOLS_FILES="${CMAKE_SOURCE_DIR}/tests/data/executorch/devtools")
endif()
