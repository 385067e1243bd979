find_package(nlohmann_json REQUIRED)
thimble_test(pt2_mutation_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/pt2_mutation_test.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_peak.cpp
  DEPS thimble_import thimble_passes thimble_formats nlohmann_json::nlohmann_json
  LABELS fuzz fast)
