# `cmake --install build --prefix DIR`: the program with its emulator images, the device sources, the CMake package.
include(GNUInstallDirs)
if(TARGET thimble)
  install(TARGETS thimble thimble-axon-sdk RUNTIME DESTINATION bin)
endif()
install(DIRECTORY abi numerics kernels runtime DESTINATION share/thimble/device
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.def")
install(DIRECTORY engines/ethos_u/isa DESTINATION share/thimble/device/npu/ethos_u
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(DIRECTORY engines/axon engines/neutron DESTINATION share/thimble/device/npu
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.def")
install(FILES runtime/include/thimble.h engines/axon/delegate/include/thimble_axon.h engines/axon/delegate/include/thimble_axon_vendor.h engines/ethos_u/delegate/include/thimble_ethos_u.h
              engines/neutron/delegate/include/thimble_neutron.h
        DESTINATION include)
install(FILES cmake/thimble-config.cmake cmake/thimble_model.cmake cmake/thimble_model_sources.cmake
              cmake/thimble_model.h.in cmake/thimble_model.cpp.in DESTINATION share/thimble/cmake)
install(DIRECTORY ${CMAKE_BINARY_DIR}/firmware/ DESTINATION bin/firmware
        FILES_MATCHING PATTERN "runner-*.elf" PATTERN "insn_count.so"
        PATTERN "CMakeFiles" EXCLUDE PATTERN "cortex-*" EXCLUDE)
