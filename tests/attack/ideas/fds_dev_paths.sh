# attacks: reopen the caller's descriptors by a name
# line: proc
for path in /dev/fd /dev/stdin /dev/stdout /dev/stderr /proc/self/fd /proc/self/fd/1 /dev/tty /dev/pts /dev/ptmx /dev/console; do
	if [ -e $path ]; then echo "ESCAPED $path exists"; exit; fi
done
echo SAFE
