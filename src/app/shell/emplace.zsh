#compdef emplace
# Completion of emplace in zsh; the program computes the words that are offered. Made by `emplace completion zsh`.
_emplace() {
  local line text rest
  local -a full open
  for line in "${(@f)$(${(Q)words[1]} completion zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    text=${line%%$'\t'*} rest=${line#*$'\t'}
    case $text in
      '') ;;
      :files)
        # The text before the file's name is kept.
        local word=${(Q)PREFIX}
        local before=${word%$rest}
        [[ -z $before ]] || compset -P ${(b)before}
        _files
        ;;
      *[=:]) open+=("${text//:/\\:}:$rest") ;;
      *) full+=("${text//:/\\:}:$rest") ;;
    esac
  done
  (( $#open )) && _describe -t keys key open -S ''
  (( $#full )) && _describe -t values value full
}
if [[ $funcstack[1] == _emplace ]]; then _emplace "$@"; else compdef _emplace emplace; fi
