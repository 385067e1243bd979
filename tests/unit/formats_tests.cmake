# SPDX-License-Identifier: Apache-2.0
find_package(nlohmann_json REQUIRED)
foreach(format zip npy pt2 pt2_source)
  thimble_test(formats_${format}_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/formats_${format}_test.cpp
    DEPS thimble_formats nlohmann_json::nlohmann_json
    LABELS unit fast)
endforeach()
