# What is typed of the word, without quotes.
function @P@_typed
    commandline -ct | string replace -ra '[\\\\\'"]' ''
end

# $argv: command and option, then what is typed before the value
function @P@_value
    set -l given $argv[2]
    set -l typed (@P@_typed)
    set -l separator (@P@_separator $argv[1])
    if test -n "$separator"; and string match -q -- "*$separator*" $typed
        set given (string replace -r -- "$separator"'[^'"$separator"']*$' "$separator" $typed)
    end
    for word in (@P@_words $argv[1])
        if test $word = '<FILE>'
            # fish looks for files itself only where the whole word is one.
            string replace -r -- '^' $argv[2] (__fish_complete_path (string replace -- $argv[2] '' $typed))
        else
            echo -- $given$word
        end
    end
end

function @P@_jvms
    $argv list 2>/dev/null | string replace -rf '^(\d+) +\S+ +(.*)$' '$1\t$2'
end

function @P@_complete
    set -l before (commandline -opc)
    set -l typed (@P@_typed)
    set -l apart (@P@_apart)
    set -l value_of
    set -l command ''
    set -l jvm
    for word in $before[2..]
        if test -n "$value_of"
            set value_of
        else if test "$word" = --; and contains program (@P@_takes $command)
            complete -C (string replace -r '^.*? -- +' '' -- (commandline -cp))
            return
        else if contains -- $word $apart
            set value_of $word
        else if string match -q -- '-*' $word
            continue
        else if test -z "$command"; and test -n "$(@P@_commands)"
            set command $word
        else if test -z "$jvm"
            set jvm $word
        end
    end
    set -l takes (@P@_takes $command)
    if test -n "$value_of"
        @P@_value "$command $value_of" ''
    else if string match -q -- '-*' $typed; and not string match -q -- '*=*' $typed
        @P@_options "$command"
    else if test -z "$command"; and test -n "$(@P@_commands)"
        @P@_commands
    else if contains jvm $takes; and test -z "$jvm"
        @P@_jvms $before[1]
    else if string match -q -- '*=*' $typed
        set -l option (string replace -r '=.*' '=' -- $typed)
        @P@_value "$command $option" $option
    else if contains files $takes
        __fish_complete_path $typed
    else if contains agent $takes
        @P@_agent
        contains program $takes; and echo --
    else
        @P@_options "$command"
    end
end

complete -c @PROGRAM@ -f -a '(@P@_complete)'
