# SPDX-License-Identifier: Apache-2.0
# `cmake --install build --prefix DIR`: the program, the images of emulated boards, the device sources, the CMake package.
# The packages (cmake/pack.cmake) and the wheel (pyproject.toml) contain the same files.
include(GNUInstallDirs)
include(cmake/licenses.cmake)
include(cmake/sbom.cmake)
get_property(helpers GLOBAL PROPERTY thimble_helper_programs)
install(TARGETS thimble ${helpers} RUNTIME DESTINATION bin)
# Component `device`: the sources, which can be installed without building anything.
install(DIRECTORY abi numerics kernels runtime DESTINATION share/thimble/device COMPONENT device
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.cpp" PATTERN "*.def" PATTERN "*.ld")
# For ExecuTorch's own runtime: a CMake project that the user builds with an ExecuTorch, which no package contains.
install(DIRECTORY executorch DESTINATION share/thimble/device COMPONENT device
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "CMakeLists.txt")
# For Linux: a CMake project too.
install(DIRECTORY linux DESTINATION share/thimble/device COMPONENT device)
# The row of each engine, and its folders with device code.
thimble_read_engines(engines ${CMAKE_SOURCE_DIR})
foreach(engine ${engines})
  install(FILES engines/${engine}/engine.cmake DESTINATION share/thimble/device/engines/${engine} COMPONENT device)
  file(GLOB folders CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engines/${engine}/*)
  string(JOIN "|" kinds ${THIMBLE_ENGINE_SHARED} ${THIMBLE_ENGINE_MODEL} ${THIMBLE_ENGINE_DELEGATE} ${THIMBLE_ENGINE_VENDOR_DRIVER}
         ${THIMBLE_ENGINE_VENDOR_MODEL} linux_driver executorch)
  list(FILTER folders INCLUDE REGEX "/(${kinds})$")
  install(DIRECTORY ${folders} DESTINATION share/thimble/device/engines/${engine} COMPONENT device
          FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.def" PATTERN "library.cmake" PATTERN "device.c.in"
                         PATTERN "bases.txt")
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engines/${engine}/delegate/include/*.h)
  install(FILES ${headers} DESTINATION include)
endforeach()
install(FILES runtime/include/thimble.h runtime/include/thimble.hpp DESTINATION include)
if(SKBUILD)
  install(TARGETS _thimble LIBRARY DESTINATION .)
  if(TARGET thimble_core) # next to the module, in whose folder the images are found (src/hostrun/board_image.h)
    install(TARGETS thimble_core LIBRARY DESTINATION .)
  endif()
endif()
# The networks of the examples, the board that several of them use, and the runner for `run --on serial:PORT`: the examples
# build outside of the source tree.
foreach(model digits_cnn hello_sin)
  install(FILES models/${model}/${model}.pt2 models/${model}/calibrate.npz DESTINATION share/thimble/models/${model}
          COMPONENT device)
endforeach()
install(DIRECTORY examples/app examples/serial_runner DESTINATION share/thimble/examples COMPONENT device)
# The CMake package needs no program: component `device` alone suffices for models that are compiled elsewhere.
configure_file(cmake/thimble-config-version.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/thimble-config-version.cmake @ONLY)
install(FILES cmake/thimble-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/thimble-config-version.cmake
              cmake/engine_rows.cmake cmake/thimble_libraries.cmake cmake/thimble_model.cmake
              cmake/thimble_model_sources.cmake cmake/thimble_read_pte.cmake cmake/thimble_write_model.cmake
              cmake/thimble_model.h.in cmake/thimble_model.cpp.in cmake/thimble_pte_model.cpp.in
        DESTINATION share/thimble/cmake COMPONENT device)
install(DIRECTORY targets DESTINATION share/thimble FILES_MATCHING PATTERN "*.toml")
install(FILES LICENSE DESTINATION share/doc/thimble-ml RENAME copyright)
install(FILES LICENSE DESTINATION share/thimble/device COMPONENT device)
thimble_install_licenses(share/thimble/licenses)
thimble_install_sbom(share/thimble)
# An installed program cannot build images: it has all of them, without symbols, which are most of an image's bytes.
# The firmware marks the operators of a profile without symbols. An image that is equal to another one is a line of a list.
if(TARGET boards)
  get_property(runners GLOBAL PROPERTY thimble_runner_images)
  install(CODE "
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target boards insn_count
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/thimble/firmware\")
    file(MAKE_DIRECTORY \"\${folder}\")
    set(images \"${runners}\")
    set(equal)
    foreach(image IN LISTS images)
      get_filename_component(name \"\${image}\" NAME_WE)
      message(STATUS \"Installing: \${folder}/\${name}.elf\")
      execute_process(COMMAND \"${ARM_STRIP}\" -o \"\${folder}/\${name}.elf\" \"\${image}\" COMMAND_ERROR_IS_FATAL ANY)
      file(SHA256 \"\${folder}/\${name}.elf\" digest)
      if(DEFINED first_\${digest})
        file(REMOVE \"\${folder}/\${name}.elf\")
        string(APPEND equal \"\${name} \${first_\${digest}}\\n\")
      else()
        set(first_\${digest} \${name})
      endif()
    endforeach()
    file(WRITE \"\${folder}/equal_images.txt\" \"\${equal}\")")
endif()
if(TARGET insn_count)
  install(TARGETS insn_count LIBRARY DESTINATION lib/thimble/firmware)
endif()
