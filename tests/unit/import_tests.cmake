# SPDX-License-Identifier: Apache-2.0
find_package(nlohmann_json REQUIRED)
thimble_test(import_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/import_cases_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import_expression_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import_graph_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/import_test.cpp
  DEPS thimble_import thimble_eval thimble_formats thimble_ir nlohmann_json::nlohmann_json
  LABELS unit fast)
