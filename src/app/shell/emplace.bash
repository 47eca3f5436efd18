# shellcheck shell=bash
# Completion of emplace in bash; the program computes the words that are offered. Made by `emplace completion bash`.
_emplace() {
  local line=${COMP_LINE:0:COMP_POINT} words=() i
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    # bash also splits words at = and :, but arguments of emplace end only at blanks.
    if [ -z "$COMP_LINE" ] || [ "$i" -eq 0 ] || [[ $line == [[:blank:]]* ]]; then words+=(''); fi
    line=${line#"${line%%[![:blank:]]*}"}
    words[-1]+=${COMP_WORDS[i]}
    line=${line#"${COMP_WORDS[i]}"}
  done
  # bash replaces only its own last word with the chosen text.
  local word=${words[-1]} last=${COMP_WORDS[COMP_CWORD]} before
  case $last in [=:@]) before=$word ;; *) before=${word%"$last"} ;; esac

  local program=${words[0]/#\~\//$HOME/} text rest path
  COMPREPLY=()
  while IFS=$'\t' read -r text rest; do
    if [ "$text" != :files ]; then
      COMPREPLY+=("${text#"$before"}")
      continue
    fi
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do
      path=${word%"$rest"}$path
      COMPREPLY+=("${path#"$before"}")
    done < <(compgen -f -- "$rest")
  done < <("$program" completion bash -- "${words[@]:1}" 2>/dev/null)
  # After a key comes its value, so no blank is added.
  if [ ${#COMPREPLY[@]} -eq 1 ] && [[ ${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _emplace emplace
