# Turns text files into string literals, {name, text} each; embed_texts() in folders.cmake calls it:
# cmake -DFILES=a.toml;b.toml -DNAMES=NAME_WE -DHEADER=presets.hpp -DTYPE=PresetText -DFUNCTION=preset_texts -DOUTPUT=x.cpp -P embed.cmake
set(code "// Made by cmake/embed.cmake; edit the files it names instead.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
string(APPEND code "std::span<const ${TYPE}> ${FUNCTION}() {\n  static const ${TYPE} texts[] = {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} ${NAMES})
  file(READ ${file} text)
  string(APPEND code "      // ${file}\n      {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
string(APPEND code "  };\n  return texts;\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${code}")
