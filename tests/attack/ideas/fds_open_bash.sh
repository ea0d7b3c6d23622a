# attacks: descriptors left open for bash
# line: inheritance
bad=
for fd in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 20 50 63 64 100 200 254; do
	if { true >&$fd; } 2>/dev/null || { true <&$fd; } 2>/dev/null; then
		[ $fd = 255 ] || bad="$bad $fd"
	fi
done
[ -z "$bad" ] && echo SAFE || echo "ESCAPED descriptors$bad"
