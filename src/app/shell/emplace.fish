# Completion of emplace in fish; the program computes the words that are offered. Made by `emplace completion fish`.
function __emplace_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] completion fish -- $words[2..-1] "$word" 2>/dev/null)
        set -l parts (string split -m 1 \t -- $line)
        if test "$parts[1]" = :files
            set -l length (math (string length -- "$word") - (string length -- "$parts[2]"))
            set -l before (string sub -l $length -- "$word")
            for path in (__fish_complete_path "$parts[2]")
                echo -- $before$path
            end
        else
            echo -- $line
        end
    end
end
complete -c emplace -f -a '(__emplace_complete)'
