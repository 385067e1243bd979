thimble_test(runtime_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/runtime_malformed_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_run_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
  DEPS thimble_runtime thimble_formats)
