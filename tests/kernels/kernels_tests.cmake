# One program: every kernel linked directly, without the runtime; direct operators beside the evaluator.
file(GLOB kernel_test_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
thimble_test(kernels_test SOURCES ${kernel_test_sources} ${CMAKE_CURRENT_LIST_DIR}/../matrix/ledger.cpp
             DEPS thimble_kernels thimble_eval thimble_ir LABELS unit)
