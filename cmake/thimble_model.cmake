# Models in an application's build. find_package(thimble) and add_subdirectory both use this file.
#
#   thimble_add_model(TARGET_NAME MODEL.pt2 TARGET cortex-m4 [CALIBRATE DATA.npz] [NAME name] [OPTIONS ...])
#
# compiles MODEL.pt2 when the application is built, and adds to TARGET_NAME: the `.pte` in read-only memory, aligned for
# execution in place; a table of exactly the kernels that it calls; a C header `NAME.h`; the runtime, compiled with the
# application's own toolchain and flags. NAME is the model's file name without extension. OPTIONS go to `thimble compile`.
#
#   #include "NAME.h"
#   thimble_init(&model, NAME_pte, NAME_pte_bytes, NAME_kernels(), memory, NAME_MEMORY_BYTES);
#
# -DTHIMBLE_DEVICE_LIBRARY=FILE... links libraries from an earlier build, with the same core and flags, in place of
# compiling runtime and kernels again: a libthimble_device.a, or the archives of firmware/ of Thimble's own build.
#
# Needs GCC or Clang for the device, and C++17 for the runtime; the application itself may be C.
include_guard(GLOBAL)
set(THIMBLE_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

# Creates the runtime without kernels and the library of kernels: static libraries, so that only called code is linked.
function(thimble_device_libraries)
  if(TARGET thimble_device)
    return()
  endif()
  file(GLOB_RECURSE runtime ${THIMBLE_DEVICE_DIR}/runtime/*.cpp)
  file(GLOB_RECURSE kernels ${THIMBLE_DEVICE_DIR}/kernels/*.cpp)
  list(FILTER runtime EXCLUDE REGEX "/all_kernels\\.cpp$")
  # Delegates of the engines, and the code that executes their payloads if no driver for the NPU is linked. Folders
  # outside the tree (docs/adding-a-target.md) are those with which the program was built.
  include(${THIMBLE_CMAKE_DIR}/engine_rows.cmake)
  thimble_read_engines(engines ${THIMBLE_DEVICE_DIR} ${THIMBLE_EXTRA_TARGETS})
  set(engine_sources)
  set(engine_includes)
  foreach(engine ${engines})
    get_property(folder GLOBAL PROPERTY thimble_engine_${engine}_folder)
    get_property(apart GLOBAL PROPERTY thimble_engine_${engine}_MODEL_APART)
    thimble_engine_sources(model ${engine} "${THIMBLE_ENGINE_MODEL}")
    thimble_engine_sources(sources ${engine} "${THIMBLE_ENGINE_SHARED}|${THIMBLE_ENGINE_DELEGATE}")
    list(APPEND engine_sources ${sources})
    if(EXISTS ${folder}/delegate/include)
      list(APPEND engine_includes ${folder}/delegate/include)
    endif()
    if(apart)
      # A product with the NPU links the vendor's driver instead of this library.
      add_library(thimble_${engine}_model STATIC EXCLUDE_FROM_ALL ${model})
      target_link_libraries(thimble_${engine}_model PUBLIC thimble_device)
      target_compile_options(thimble_${engine}_model PRIVATE -fno-exceptions -fno-rtti -ffunction-sections
                                                             -fdata-sections)
    else()
      list(APPEND engine_sources ${model})
    endif()
  endforeach()
  set(includes ${THIMBLE_DEVICE_DIR} ${THIMBLE_DEVICE_DIR}/runtime/include ${engine_includes} ${THIMBLE_EXTRA_TARGETS})
  if(THIMBLE_DEVICE_LIBRARY)
    add_library(thimble_device INTERFACE)
    target_link_libraries(thimble_device INTERFACE ${THIMBLE_DEVICE_LIBRARY})
    target_include_directories(thimble_device INTERFACE ${includes})
    target_compile_features(thimble_device INTERFACE cxx_std_17)
    return()
  endif()
  add_library(thimble_device STATIC ${runtime} ${kernels} ${engine_sources})
  target_include_directories(thimble_device PUBLIC ${includes})
  target_compile_features(thimble_device PUBLIC cxx_std_17)
  target_compile_definitions(thimble_device PRIVATE THIMBLE_TRACE=0)
  target_compile_options(thimble_device PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffp-contract=off
                                                -ffunction-sections -fdata-sections)
endfunction()

function(thimble_add_model target model)
  cmake_parse_arguments(arg "" "TARGET;CALIBRATE;NAME" "OPTIONS" ${ARGN})
  if(NOT arg_TARGET)
    message(FATAL_ERROR "thimble_add_model(${target} ${model}): TARGET is missing")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "thimble_add_model(${target} ${model}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(model ${model} ABSOLUTE)
  set(name ${arg_NAME})
  if(NOT name)
    get_filename_component(name ${model} NAME_WE)
  endif()
  thimble_device_libraries()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/thimble/${target})
  set(templates ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  file(MAKE_DIRECTORY ${folder})
  set(pte ${folder}/${name}.pte)
  set(calibrate)
  set(inputs ${model})
  if(arg_CALIBRATE)
    get_filename_component(data ${arg_CALIBRATE} ABSOLUTE)
    set(calibrate --calibrate ${data})
    list(APPEND inputs ${data})
  endif()
  add_custom_command(OUTPUT ${pte} ${folder}/${name}_kernels.cpp ${folder}/${name}.json
    COMMAND ${THIMBLE_PROGRAM} compile ${model} --target ${arg_TARGET} ${calibrate} ${arg_OPTIONS} -o ${pte}
            --kernels ${folder}/${name}_kernels.cpp --report ${folder}/${name}.json
    DEPENDS ${inputs} ${THIMBLE_PROGRAM} VERBATIM COMMENT "Compiling ${name} for ${arg_TARGET}")
  add_custom_command(OUTPUT ${folder}/${name}.h ${folder}/${name}_model.cpp
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DPTE=${pte} -DREPORT=${folder}/${name}.json
            -DKERNELS=${folder}/${name}_kernels.cpp -DTEMPLATES=${templates} -DFOLDER=${folder}
            -P ${templates}/thimble_model_sources.cmake
    DEPENDS ${pte} ${folder}/${name}_kernels.cpp ${folder}/${name}.json VERBATIM)
  add_library(${target}_${name} OBJECT ${folder}/${name}_model.cpp ${folder}/${name}.h)
  target_link_libraries(${target}_${name} PRIVATE thimble_device)
  target_compile_options(${target}_${name} PRIVATE -fno-exceptions -fno-rtti)
  add_dependencies(${target} ${target}_${name})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${name}>)
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE thimble_device)
endfunction()
