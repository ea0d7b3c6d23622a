# attacks: signals that the caller ignored or blocked, as bash inherits them
# line: inheritance
ignored=$(trap -p)
[ -z "$ignored" ] || { echo "ESCAPED inherited traps: $ignored"; exit; }
(sleep 5) & pid=$!
kill -TERM $pid
wait $pid
[ $? = 143 ] && echo SAFE || echo "ESCAPED SIGTERM was blocked or ignored"
