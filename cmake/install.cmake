# `cmake --install build --prefix DIR`: the program with its emulator images, the device sources, the CMake package.
include(GNUInstallDirs)
get_property(helpers GLOBAL PROPERTY thimble_helper_programs)
install(TARGETS thimble ${helpers} RUNTIME DESTINATION bin)
install(DIRECTORY abi numerics kernels runtime DESTINATION share/thimble/device
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.def")
# The row of each engine, and its folders with device code.
thimble_read_engines(engines ${CMAKE_SOURCE_DIR})
foreach(engine ${engines})
  install(FILES engines/${engine}/engine.cmake DESTINATION share/thimble/device/engines/${engine})
  file(GLOB folders CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engines/${engine}/*)
  list(FILTER folders INCLUDE REGEX "/(${THIMBLE_ENGINE_SHARED}|${THIMBLE_ENGINE_MODEL}|${THIMBLE_ENGINE_DELEGATE})$")
  install(DIRECTORY ${folders} DESTINATION share/thimble/device/engines/${engine}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.def")
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engines/${engine}/delegate/include/*.h)
  install(FILES ${headers} DESTINATION include)
endforeach()
install(FILES runtime/include/thimble.h DESTINATION include)
install(FILES cmake/thimble-config.cmake cmake/thimble_model.cmake cmake/thimble_model_sources.cmake
              cmake/engine_rows.cmake
              cmake/thimble_model.h.in cmake/thimble_model.cpp.in DESTINATION share/thimble/cmake)
# An installed program cannot build images: it has all of them.
if(TARGET boards)
  install(CODE "
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target boards insn_count
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)")
endif()
install(DIRECTORY ${CMAKE_BINARY_DIR}/firmware/ DESTINATION bin/firmware
        FILES_MATCHING PATTERN "runner-*.elf" PATTERN "insn_count.so"
        PATTERN "CMakeFiles" EXCLUDE PATTERN "cortex-*" EXCLUDE)
