# The manual page and the shells' completions, told by the program: cmake -DPROGRAM=emplace -DFOLDER=manual -P manual.cmake
file(MAKE_DIRECTORY ${FOLDER})
foreach(shell bash zsh fish)
  execute_process(COMMAND ${PROGRAM} completion ${shell} OUTPUT_FILE ${FOLDER}/emplace.${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${PROGRAM} manual OUTPUT_FILE ${FOLDER}/emplace.1 COMMAND_ERROR_IS_FATAL ANY)
# Debian wants it small, and the same each time.
execute_process(COMMAND gzip -9nkf ${FOLDER}/emplace.1 COMMAND_ERROR_IS_FATAL ANY)
