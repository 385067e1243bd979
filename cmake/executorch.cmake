# SPDX-License-Identifier: Apache-2.0
# Libraries for ExecuTorch's own runtime (executorch/CMakeLists.txt), if an ExecuTorch is given. The default is that of the
# Python for tests of peers.
set(THIMBLE_EXECUTORCH "" CACHE PATH "Package folder of ExecuTorch's wheel, or prefix of its installation")
set(THIMBLE_TORCH_PYTHON "" CACHE STRING "A Python with torch and executorch, for tests of peers")
if(THIMBLE_TORCH_PYTHON AND NOT THIMBLE_EXECUTORCH)
  # A module of ExecuTorch: `executorch` alone would also find the folder of this name in the current folder.
  execute_process(COMMAND ${THIMBLE_TORCH_PYTHON} -c "import executorch.version as v; print(v.__file__, end='')"
                  OUTPUT_VARIABLE file ERROR_QUIET)
  get_filename_component(folder "${file}" DIRECTORY)
  if(file AND EXISTS ${folder}/include/executorch)
    set(THIMBLE_EXECUTORCH ${folder} CACHE PATH "" FORCE)
  endif()
endif()
if(THIMBLE_EXECUTORCH)
  add_subdirectory(executorch)
endif()
