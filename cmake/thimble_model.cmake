# SPDX-License-Identifier: Apache-2.0
# Models in an application's build. find_package(thimble), add_subdirectory and FetchContent all use this file.
#
#   thimble_add_model(APP MODEL.pt2|MODEL.pte TARGET cortex-m4 [EMIT pte|c] [CALIBRATE DATA.npz] [REPORT FILE.json|.html]
#                     [NAME name] [NPU_BASE 0x48102000] [METHODS name MODEL.pt2 DATA.npz ...] [OPTIONS ...])
#
# compiles MODEL.pt2 when the application is built, prints the fit, and adds to APP: the `.pte` in read-only memory, aligned
# for execution in place; a table of exactly the kernels that it calls; a C header `NAME.h`; the libraries that it needs
# (thimble_libraries.cmake). NAME is the model's file name without extension. OPTIONS go to `thimble compile`.
#
#   #include "NAME.h"
#   thimble_init(&model, NAME_pte, NAME_pte_bytes, NAME_kernels(), memory, NAME_MEMORY_BYTES);
#
# If the target has an NPU whose driver is a part of Thimble, APP also gets the object with the address of its registers,
# NPU_BASE or that of the part, unless it defines this object itself.
#
# With METHODS, the model is the method `forward` of a file that also has the other methods (thimble_init_method).
# NAME_STATE_BYTES is then the sum for all methods.
#
# With EMIT c, APP gets NAME.c and NAME.h of `thimble compile --emit c`, and the kernels that they call.
#
# A MODEL.pte that has records (`thimble compile` without --compat, for a core) is added as it is, and the build machine needs
# no program of Thimble. TARGET is then optional: if it is given, it must be that of the file.
#
# If the application is built for the build machine itself, for a test of its code, set THIMBLE_HOST_BUILD: the model runs
# with the portable kernels, with the same results. Needs GCC or Clang for the device, and C++17; the application may be C.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/thimble_libraries.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/thimble_read_pte.cmake)
option(THIMBLE_HOST_BUILD "The application is a program for the build machine" OFF)

# Ends with one sentence if the compiler is not one for the model's core.
function(thimble_check_compiler what target_name)
  if(THIMBLE_HOST_BUILD OR NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    return()
  endif()
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  set(target)
  if(CMAKE_CXX_COMPILER_TARGET)
    set(target --target=${CMAKE_CXX_COMPILER_TARGET})
  endif()
  set(empty ${CMAKE_BINARY_DIR}/CMakeFiles/thimble_empty.cpp)
  file(WRITE ${empty} "")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${target} ${flags} -dM -E ${empty} OUTPUT_VARIABLE macros ERROR_QUIET)
  if(macros AND NOT macros MATCHES "#define __arm__ ")
    message(FATAL_ERROR "${what}: ${CMAKE_CXX_COMPILER} is not a compiler for Arm: set CMAKE_TOOLCHAIN_FILE, or "
                        "THIMBLE_HOST_BUILD for a program that runs on this machine")
  endif()
  # Only if the flags of the whole project select the core: those of a target are not known here.
  if(target_name MATCHES "^cortex-m(4|7|33)$" AND macros MATCHES "#define __ARM_FEATURE_DSP 1" AND NOT macros MATCHES "#define __ARM_FP ")
    message(WARNING "${what}: the FPU of the ${target_name} is not used, so floats are computed by the C library: give "
                    "-mfloat-abi=hard or softfp with -mfpu, or --io int8, which needs none")
  endif()
endfunction()

# Ends with one sentence if THIMBLE_PROGRAM does not run, or does not know the target.
function(thimble_check_target what target_name)
  execute_process(COMMAND ${THIMBLE_PROGRAM} targets ${target_name} RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error)
  if(result EQUAL 0)
    return()
  endif()
  string(STRIP "${error}" error)
  if(NOT error MATCHES "^target ")
    message(FATAL_ERROR "${what}: THIMBLE_PROGRAM ${THIMBLE_PROGRAM}: does not run (${result}): give the path of the program thimble")
  endif()
  message(FATAL_ERROR "${what}: ${error}")
endfunction()

# Sets `out` to the options of the objects that the model adds: the first error is the sentence about the compiler's flags.
function(thimble_model_options library)
  target_compile_options(${library} PRIVATE -Wfatal-errors -w $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>
                                            -ffunction-sections -fdata-sections)
  if(THIMBLE_HOST_BUILD)
    target_compile_definitions(${library} PRIVATE THIMBLE_PORTABLE)
  endif()
endfunction()

# Links APP with `libraries` and with the objects of `library`.
function(thimble_link_model target library folder)
  add_dependencies(${target} ${library})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${library}>)
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE ${ARGN})
endfunction()

function(thimble_add_model target model)
  cmake_parse_arguments(arg "" "TARGET;CALIBRATE;NAME;EMIT;REPORT;NPU_BASE" "METHODS;OPTIONS" ${ARGN})
  set(what "thimble_add_model(${target} ${model})")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${what}: unknown or empty arguments ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${what}: no target ${target}: add_executable or add_library comes before")
  endif()
  if(NOT arg_EMIT)
    set(arg_EMIT pte)
  elseif(NOT arg_EMIT MATCHES "^(pte|c)$")
    message(FATAL_ERROR "${what}: EMIT ${arg_EMIT}; pte or c was expected")
  endif()
  if(model STREQUAL "")
    message(FATAL_ERROR "${what}: the model's file is missing: a .pt2 or a .pte")
  endif()
  get_filename_component(model ${model} ABSOLUTE)
  if(IS_DIRECTORY ${model})
    message(FATAL_ERROR "${what}: ${model} is a folder; a .pt2 or a .pte was expected")
  elseif(NOT EXISTS ${model})
    get_source_file_property(generated ${model} GENERATED)
    if(NOT generated)
      message(FATAL_ERROR "${what}: no file ${model}")
    endif()
  endif()
  get_filename_component(extension ${model} LAST_EXT)
  set(name ${arg_NAME})
  if(NOT name)
    get_filename_component(name ${model} NAME_WE)
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${what}: '${name}' is not an identifier of C: NAME name")
  endif()
  thimble_check_compiler("${what}" "${arg_TARGET}")
  thimble_device_libraries()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/thimble/${target})
  file(MAKE_DIRECTORY ${folder})
  set(library ${target}_${name})
  if(TARGET ${library})
    message(FATAL_ERROR "${what}: ${target} has a model of the name ${name} already: NAME name")
  endif()

  if(extension STREQUAL ".pte")
    if(arg_EMIT STREQUAL "c" OR arg_CALIBRATE OR arg_METHODS OR arg_OPTIONS OR arg_REPORT)
      message(FATAL_ERROR "${what}: EMIT c, CALIBRATE, METHODS, REPORT and OPTIONS are for a .pt2; this file is compiled already")
    endif()
    thimble_add_pte("${what}" ${library} ${model} ${name} ${folder} "${arg_TARGET}")
    thimble_link_model(${target} ${library} ${folder} thimble::kernels thimble::runtime)
    return()
  endif()

  if(NOT arg_TARGET)
    message(FATAL_ERROR "${what}: TARGET is missing: a name that `thimble targets` lists")
  endif()
  if(NOT THIMBLE_PROGRAM)
    message(FATAL_ERROR "${what}: the program thimble, which compiles a .pt2, was not found: set THIMBLE_PROGRAM, or add a "
                        ".pte that was compiled elsewhere")
  endif()
  thimble_check_target("${what}" "${arg_TARGET}")
  if(arg_REPORT AND NOT arg_REPORT MATCHES "\\.([Jj][Ss][Oo][Nn]|[Hh][Tt][Mm][Ll])$")
    message(FATAL_ERROR "${what}: REPORT ${arg_REPORT}; a name that ends in .json or .html was expected")
  endif()
  set(calibrate)
  set(inputs ${model})
  if(arg_CALIBRATE STREQUAL "random")
    set(calibrate --calibrate random)
  elseif(arg_CALIBRATE)
    get_filename_component(data ${arg_CALIBRATE} ABSOLUTE)
    if(NOT EXISTS ${data})
      message(FATAL_ERROR "${what}: CALIBRATE: no file ${data}")
    endif()
    set(calibrate --calibrate ${data})
    list(APPEND inputs ${data})
  endif()
  if(IS_ABSOLUTE "${THIMBLE_PROGRAM}" AND EXISTS "${THIMBLE_PROGRAM}")
    list(APPEND inputs ${THIMBLE_PROGRAM})
  endif()
  set(what_compiles ${model})
  if(arg_METHODS)
    set(what_compiles --method forward=${model})
    set(rest ${arg_METHODS})
    while(rest)
      list(LENGTH rest count)
      if(count LESS 3)
        message(FATAL_ERROR "${what}: METHODS: a name, a .pt2 and a .npz expected for each method")
      endif()
      list(POP_FRONT rest method file data)
      foreach(each ${file} ${data})
        if(NOT EXISTS ${each})
          message(FATAL_ERROR "${what}: METHODS: no file ${each}")
        endif()
      endforeach()
      get_filename_component(file ${file} ABSOLUTE)
      get_filename_component(data ${data} ABSOLUTE)
      list(APPEND what_compiles --method ${method}=${file})
      list(APPEND calibrate --calibrate ${method}=${data})
      list(APPEND inputs ${file} ${data})
    endwhile()
  endif()
  set(compile ${THIMBLE_PROGRAM} compile ${what_compiles} --target ${arg_TARGET} ${calibrate} ${arg_OPTIONS})

  # Code of a network for a core calls no delegate.
  set(libraries thimble_device)
  if(THIMBLE_MODEL_LIBRARIES)
    set(libraries ${THIMBLE_MODEL_LIBRARIES}) # of a build system that selects them itself (zephyr/)
  elseif(arg_TARGET MATCHES "^cortex-m")
    set(libraries thimble::kernels thimble::runtime)
  endif()
  if(arg_EMIT STREQUAL "c")
    add_custom_command(OUTPUT ${folder}/${name}.c ${folder}/${name}.h ${folder}/${name}.json
      COMMAND ${compile} --emit c -o ${folder}/${name}.pte --report ${folder}/${name}.json
      DEPENDS ${inputs} VERBATIM COMMENT "Compiling ${name} to C for ${arg_TARGET}")
    add_library(${library} OBJECT ${folder}/${name}.c ${folder}/${name}.h)
    target_link_libraries(${library} PRIVATE ${libraries})
    thimble_model_options(${library})
    thimble_link_model(${target} ${library} ${folder} ${libraries})
  else()
    set(pte ${folder}/${name}.pte)
    add_custom_command(OUTPUT ${pte} ${folder}/${name}_kernels.cpp ${folder}/${name}.json
      COMMAND ${compile} -o ${pte} --kernels ${folder}/${name}_kernels.cpp --report ${folder}/${name}.json
      DEPENDS ${inputs} VERBATIM COMMENT "Compiling ${name} for ${arg_TARGET}")
    set(script ${THIMBLE_CMAKE_DIR}/thimble_model_sources.cmake)
    add_custom_command(OUTPUT ${folder}/${name}.h ${folder}/${name}_model.cpp
      COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DPTE=${pte} -DREPORT=${folder}/${name}.json
              -DKERNELS=${folder}/${name}_kernels.cpp -DFOLDER=${folder} -P ${script}
      DEPENDS ${pte} ${folder}/${name}_kernels.cpp ${folder}/${name}.json ${script}
              ${THIMBLE_CMAKE_DIR}/thimble_model.cpp.in ${THIMBLE_CMAKE_DIR}/thimble_model.h.in VERBATIM)
    add_library(${library} OBJECT ${folder}/${name}_model.cpp ${folder}/${name}.h)
    target_link_libraries(${library} PRIVATE ${libraries})
    thimble_model_options(${library})
    thimble_npu_devices(devices)
    thimble_link_model(${target} ${library} ${folder} ${devices} ${libraries})
  endif()
  if(arg_REPORT)
    get_filename_component(report ${arg_REPORT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
    add_custom_command(OUTPUT ${report}
      COMMAND ${compile} -o ${folder}/report/${name}.pte --report ${report} --json > ${folder}/${name}_report.txt
      DEPENDS ${inputs} ${folder}/${name}.json VERBATIM COMMENT "Writing ${report}")
    file(MAKE_DIRECTORY ${folder}/report)
    add_custom_target(${library}_report DEPENDS ${report})
    add_dependencies(${target} ${library}_report)
  endif()
endfunction()

# Sets `out` to libraries with the objects of NPUs (engines/<name>/delegate/device.c.in), in thimble_add_model. bases.txt of
# the same folder has the addresses of parts.
macro(thimble_npu_devices out)
  set(${out})
  file(GLOB templates ${THIMBLE_DEVICE_DIR}/engines/*/delegate/device.c.in)
  foreach(template ${templates})
    get_filename_component(engine ${template} DIRECTORY)
    set(NPU_BASE ${arg_NPU_BASE})
    if(NOT NPU_BASE)
      file(STRINGS ${engine}/bases.txt row REGEX "^${arg_TARGET} ")
      string(REGEX REPLACE "^.* " "" NPU_BASE "${row}")
    endif()
    if(NPU_BASE)
      get_filename_component(engine ${engine} DIRECTORY)
      get_filename_component(engine ${engine} NAME)
      configure_file(${template} ${folder}/${name}_${engine}.c @ONLY)
      add_library(${library}_${engine} STATIC ${folder}/${name}_${engine}.c)
      target_link_libraries(${library}_${engine} PRIVATE ${libraries})
      list(APPEND ${out} ${library}_${engine})
    endif()
  endforeach()
endmacro()

# Adds the library of a `.pte` that exists when the build is configured, without the program of the build machine.
function(thimble_add_pte what library pte name folder target)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pte})
  thimble_read_pte(FILE ${pte})
  # A file with a delegate has the records of no executor: the program writes the table of its kernels and NPUs.
  file(STRINGS ${pte} delegates REGEX "^(Thimble[A-Za-z]+Model|[A-Z][A-Za-z]+Backend)$")
  if(delegates)
    list(REMOVE_DUPLICATES delegates)
    set(part PART)
    if(target)
      set(part ${target})
    endif()
    message(FATAL_ERROR "${what}: the file calls an NPU (${delegates}), and only a .pte for a core can be added: add the .pt2 with "
                        "TARGET ${part}, or the files of `thimble export-sources --core ${part} --model ${pte} FOLDER`")
  endif()
  if(NOT DEFINED FILE_KEYS)
    message(FATAL_ERROR "${what}: the file has no records, so only the program thimble can list its kernels: add the .pt2, or "
                        "compile for a core and without --compat executorch")
  endif()
  if(target AND NOT target STREQUAL FILE_TARGET)
    message(FATAL_ERROR "${what}: TARGET ${target}; the file is for ${FILE_TARGET}")
  endif()
  file(SIZE ${pte} bytes)
  math(EXPR state "4 * ${FILE_POINTERS}")
  list(LENGTH FILE_KEYS operators)
  message(STATUS "${name}.pte: ${FILE_TARGET}, ${bytes} B, ${operators} operators, arena ${FILE_ARENA_BYTES} B, runtime ${state} B")
  thimble_write_model(${name} ${pte} ${folder} ${FILE_ARENA_BYTES} ${FILE_POINTERS} ${bytes} "${FILE_ISA}" "${FILE_TARGET}"
                      "${FILE_KEYS}" "")
  add_library(${library} OBJECT ${folder}/${name}_model.cpp ${folder}/${name}.h)
  target_link_libraries(${library} PRIVATE thimble::kernels thimble::runtime)
  thimble_model_options(${library})
  set_property(SOURCE ${folder}/${name}_model.cpp APPEND PROPERTY OBJECT_DEPENDS ${pte})
endfunction()
include(${CMAKE_CURRENT_LIST_DIR}/thimble_write_model.cmake)
