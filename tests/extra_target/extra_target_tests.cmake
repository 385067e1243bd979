# SPDX-License-Identifier: Apache-2.0
# Tests an engine in a folder outside the tree (cmake/engine_rows.cmake). The example's program and its
# conformance test are linked here, from the tree's libraries and lists with the additional engine. This
# equals a build with -DTHIMBLE_EXTRA_TARGETS=..., but compiles only a few files.
#
# THIMBLE_EXTRA_BUILD: extra_target_test.py also runs such a build; minutes without a compiler cache.
option(THIMBLE_EXTRA_BUILD "Test THIMBLE_EXTRA_TARGETS by a whole build" OFF)
if(THIMBLE_TESTS)
  set(root ${THIMBLE_EXAMPLE_TARGET})
  thimble_engine_libraries(${root})
  add_library(extra_lists OBJECT)
  target_link_libraries(extra_lists PUBLIC thimble_engines thimble_hostrun thimble_driver nlohmann_json::nlohmann_json)
  thimble_engine_registry(extra_lists ROOTS ${CMAKE_SOURCE_DIR} ${root})
  thimble_engine_list(extra_lists DEVICES ROOTS ${CMAKE_SOURCE_DIR} ${root})
  thimble_add_engines(extra_lists compiler ROOTS ${root} LIBRARIES formats container)
  thimble_add_engines(extra_lists hostrun ROOTS ${root} LIBRARIES delegate model formats)
  add_library(extra_cli OBJECT)
  target_link_libraries(extra_cli PUBLIC thimble_engine_cli)
  thimble_engine_list(extra_cli CLI ROOTS ${CMAKE_SOURCE_DIR} ${root})
  thimble_add_engines(extra_cli cli ROOTS ${root} LIBRARIES text)

  # The lists are object files, so the linker uses them instead of the lists in the libraries.
  add_executable(thimble_extra ${CMAKE_SOURCE_DIR}/tools/main.cpp)
  target_link_libraries(thimble_extra PRIVATE thimble_tools extra_lists extra_cli)
  set_target_properties(thimble_extra PROPERTIES OUTPUT_NAME thimble
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/extra_target)
  thimble_test(engines_extra_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/../conformance/engines_test.cpp
    DEPS extra_lists test_runs test_networks thimble_driver thimble_hostrun
    LABELS conformance fast)
  set_tests_properties(engines_extra_test PROPERTIES ENVIRONMENT THIMBLE_ENGINE=abacus)

  if(ARM_CXX AND QEMU_ARM)
    set(build)
    if(THIMBLE_EXTRA_BUILD)
      set(build --build)
    endif()
    add_test(NAME extra_target
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/extra_target_test.py $<TARGET_FILE:thimble_extra>
                     $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} ${CMAKE_COMMAND} ${build})
    set_tests_properties(extra_target PROPERTIES LABELS e2e TIMEOUT 1800)
  endif()
endif()
