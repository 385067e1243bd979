# SPDX-License-Identifier: Apache-2.0
find_package(nlohmann_json REQUIRED)
thimble_test(pt2_mutation_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/pt2_mutation_test.cpp ${CMAKE_CURRENT_LIST_DIR}/mutate_json.cpp
          ${CMAKE_CURRENT_LIST_DIR}/mutate.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_peak.cpp
  DEPS thimble_import thimble_passes thimble_formats nlohmann_json::nlohmann_json
  LABELS fuzz fast)
if(NOT WIN32)
  thimble_test(import_bounds_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/import_bounds_test.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_peak.cpp
            ${CMAKE_CURRENT_LIST_DIR}/repeat_command.cpp
    DEPS thimble_import
    LABELS fuzz fast)
  thimble_test(pt2_values_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/pt2_values_test.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_peak.cpp
            ${CMAKE_CURRENT_LIST_DIR}/repeat_command.cpp
    DEPS thimble_import thimble_passes thimble_formats nlohmann_json::nlohmann_json
    LABELS fuzz fast)
endif()

thimble_test(shrink_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/shrink_test.cpp ${CMAKE_CURRENT_LIST_DIR}/differential_shrink.cpp
  DEPS test_integer_graphs
  LABELS fuzz fast)

# fuzz_schema(NAME): the header NAME_bfbs_generated.h, which contains the binary schema of the format.
add_library(fuzz_schemas INTERFACE)
function(fuzz_schema name schema)
  set(folder ${CMAKE_BINARY_DIR}/generated/fuzz_${name})
  set(header ${folder}/${name}_bfbs_generated.h)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${FLATC} --cpp --bfbs-gen-embed -o ${folder} ${schema}
    DEPENDS ${schema}
    COMMENT "flatc ${name}_bfbs_generated.h"
    VERBATIM)
  add_custom_target(fuzz_schema_${name} DEPENDS ${header})
  target_include_directories(fuzz_schemas SYSTEM INTERFACE ${folder})
  add_dependencies(fuzz_schemas fuzz_schema_${name})
endfunction()
foreach(format bundle/bundle pte/program ptd/ptd tflite/tflite)
  get_filename_component(stem ${format} NAME)
  fuzz_schema(${stem} ${CMAKE_SOURCE_DIR}/src/formats/${format}.fbs)
endforeach()

# fuzz_replay: every target on committed inputs and on seeded mutations. libFuzzer's program of the same targets is built by
# `make fuzz`, with clang and sanitizers.
if(THIMBLE_TESTS AND NOT WIN32)
  thimble_test_folders()
  file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*targets.cpp ${CMAKE_CURRENT_LIST_DIR}/differential*.cpp
       ${CMAKE_CURRENT_LIST_DIR}/mutate*.cpp ${CMAKE_SOURCE_DIR}/src/capi/shared/thimble_c.cpp)
  list(REMOVE_DUPLICATES fuzz_sources)
  add_library(fuzz_targets STATIC EXCLUDE_FROM_ALL ${fuzz_sources})
  # It contains the source of the runner, which has short names.
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/serial_board_targets.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(fuzz_targets PUBLIC
    fuzz_schemas test_integer_graphs test_networks thimble_axon_model thimble_axon_text thimble_capi thimble_driver thimble_emit
    thimble_engines thimble_ethos_u_model thimble_ethos_u_text thimble_eval thimble_hostrun thimble_import
    thimble_neutron_model thimble_neutron_text thimble_partition thimble_passes thimble_quant thimble_test_folders
    nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
  add_executable(fuzz_replay ${CMAKE_CURRENT_LIST_DIR}/replay.cpp ${CMAKE_CURRENT_LIST_DIR}/limits.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_peak.cpp
                 ${CMAKE_CURRENT_LIST_DIR}/repeat_command.cpp)
  target_link_libraries(fuzz_replay PRIVATE fuzz_targets)
  set_target_properties(fuzz_replay PROPERTIES ENABLE_EXPORTS ON) # the C output calls kernels of the program
  add_test(NAME fuzz_replay COMMAND fuzz_replay ${CMAKE_SOURCE_DIR} 500)
  set_tests_properties(fuzz_replay PROPERTIES LABELS "fuzz;fast" TIMEOUT 600)
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/limits_targets.txt limits_targets)
  add_test(NAME fuzz_limits COMMAND fuzz_replay ${CMAKE_SOURCE_DIR} 7 --limits ${limits_targets})
  set_tests_properties(fuzz_limits PROPERTIES LABELS "fuzz;fast" TIMEOUT 600)
  add_test(NAME fuzz_readme COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/readme_test.py $<TARGET_FILE:fuzz_replay>
                                    ${CMAKE_CURRENT_LIST_DIR}/README.md)
  set_tests_properties(fuzz_readme PROPERTIES LABELS "fuzz;fast" TIMEOUT 60)
  # fuzz_replay with targets that have one defect each, to test it.
  add_executable(fuzz_replay_defects ${CMAKE_CURRENT_LIST_DIR}/replay.cpp ${CMAKE_CURRENT_LIST_DIR}/limits.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_peak.cpp
                                     ${CMAKE_CURRENT_LIST_DIR}/repeat_command.cpp ${CMAKE_CURRENT_LIST_DIR}/replay_defects.cpp ${CMAKE_CURRENT_LIST_DIR}/mutate.cpp)
  target_link_libraries(fuzz_replay_defects PRIVATE thimble_runtime thimble_formats thimble_base)
  add_test(NAME fuzz_replay_test COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/replay_test.py $<TARGET_FILE:fuzz_replay_defects>
                                         ${CMAKE_CURRENT_LIST_DIR}/fuzz.py)
  set_tests_properties(fuzz_replay_test PROPERTIES LABELS "fuzz;fast" TIMEOUT 60)
  if(THIMBLE_FUZZERS)
    add_executable(thimble_fuzz ${CMAKE_CURRENT_LIST_DIR}/libfuzzer_main.cpp)
    target_link_libraries(thimble_fuzz PRIVATE fuzz_targets)
    target_link_options(thimble_fuzz PRIVATE -fsanitize=fuzzer)
    set_target_properties(thimble_fuzz PROPERTIES ENABLE_EXPORTS ON)
  endif()
endif()
