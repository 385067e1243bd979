# The Ethos-U driver; the program has platform functions of its own.
thimble_test(npu_driver_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/npu_driver_test.cpp
  DEPS thimble_ethos_u_delegate thimble_base
  LABELS unit fast)
thimble_test(delegates_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/delegates_mutation_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/delegates_test.cpp
  DEPS test_runtime_files thimble_hostrun
  LABELS unit fast)

# Calls of the core while an NPU works.
thimble_test(background_delegates_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/background_delegates_test.cpp
  DEPS test_runtime_files thimble_driver thimble_hostrun
  LABELS unit fast)
