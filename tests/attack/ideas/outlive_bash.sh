# attacks: background jobs, nohup, setsid, disown, coproc
# line: end
# within: 8
nohup sleep 60 >/dev/null 2>&1 &
setsid sleep 60 &
(trap '' TERM HUP INT; sleep 60) & disown
coproc sleep 60
( ( sleep 60 & ) & )
echo SAFE
