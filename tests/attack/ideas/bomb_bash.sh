# attacks: the classic
# line: cgroup
# expect: timeout,ok,error
# timeout: 2
# within: 10
bomb() { bomb | bomb & }
bomb
sleep 5
echo SAFE
