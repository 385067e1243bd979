# SPDX-License-Identifier: Apache-2.0
# thimble_commit(OUT SOURCE): the first 12 digits of the commit of SOURCE; "unknown" if SOURCE is not the top of a git
# checkout, such as an unpacked archive in another project's tree. A source distribution has the commit in cmake/commit.txt.
function(thimble_commit out source)
  find_program(GIT git)
  set(commit "unknown")
  if(GIT)
    execute_process(COMMAND ${GIT} -C ${source} rev-parse --show-toplevel OUTPUT_VARIABLE top ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${GIT} -C ${source} rev-parse --verify HEAD OUTPUT_VARIABLE head RESULT_VARIABLE failed
                    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(REAL_PATH ${source} real)
    if(NOT failed AND top STREQUAL real)
      string(SUBSTRING ${head} 0 12 commit)
    endif()
  endif()
  if(commit STREQUAL "unknown" AND EXISTS ${source}/cmake/commit.txt)
    file(STRINGS ${source}/cmake/commit.txt commit LIMIT_COUNT 1)
  endif()
  set(${out} ${commit} PARENT_SCOPE)
endfunction()
