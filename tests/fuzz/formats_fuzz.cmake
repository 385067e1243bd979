find_package(nlohmann_json REQUIRED)
thimble_test(pt2_mutation_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/pt2_mutation_test.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_peak.cpp
  DEPS thimble_import thimble_passes thimble_formats nlohmann_json::nlohmann_json
  LABELS fuzz fast)

# fuzz_replay: every target on committed inputs and on seeded mutations. libFuzzer's program of the same targets is built by
# `make fuzz`, with clang and sanitizers.
set(targets ${CMAKE_CURRENT_LIST_DIR}/archive_targets.cpp ${CMAKE_CURRENT_LIST_DIR}/engine_targets.cpp
            ${CMAKE_CURRENT_LIST_DIR}/program_targets.cpp ${CMAKE_CURRENT_LIST_DIR}/targets.cpp
            ${CMAKE_CURRENT_LIST_DIR}/text_targets.cpp)
set(libraries thimble_axon_text thimble_engines thimble_ethos_u_text thimble_hostrun thimble_import thimble_neutron_text thimble_passes)
if(THIMBLE_TESTS AND NOT WIN32)
  add_executable(fuzz_replay ${targets} ${CMAKE_CURRENT_LIST_DIR}/mutate.cpp ${CMAKE_CURRENT_LIST_DIR}/replay.cpp
                             ${CMAKE_CURRENT_LIST_DIR}/heap_peak.cpp)
  target_link_libraries(fuzz_replay PRIVATE ${libraries})
  add_test(NAME fuzz_replay COMMAND fuzz_replay ${CMAKE_SOURCE_DIR} 300)
  set_tests_properties(fuzz_replay PROPERTIES LABELS "fuzz;fast" TIMEOUT 600)
endif()
if(THIMBLE_FUZZERS)
  add_executable(thimble_fuzz ${targets} ${CMAKE_CURRENT_LIST_DIR}/libfuzzer_main.cpp)
  target_link_libraries(thimble_fuzz PRIVATE ${libraries})
  target_link_options(thimble_fuzz PRIVATE -fsanitize=fuzzer)
endif()
