# Runs as process 1 of a container: takes the code on stdin, runs the language's
# command, and says on both streams how it ended (see marker.h).
#
#	sh -c RUNNER runner NONCE FILE COMMAND...
#
# Descriptors: 3 the container's stdin, 4 its stderr, 5 reads what the shell
# itself writes to 2.  The program gets none of them.
nonce=$1 file=$2
shift 2
say() {
	printf '\036%s %s\n' "$nonce" "$1"
	printf '\036%s %s\n' "$nonce" "$1" >&4
}
exec 3<&0 4>&2 </dev/null
exec 2>/tmp/.runner 5</tmp/.runner
rm -f /tmp/.runner
say ready
read -r size <&3 || exit 0
head -c "$size" <&3 >"$file" || exit 1
# The dead-man's switch: stdin ends when the server closes it or dies, and
# then everything but process 1 is killed at once, which ends process 1 too.
(
	cat <&3 >/dev/null
	kill -9 -1
) >/dev/null 4>&- 5<&- &
# In the foreground, because a background job of a shell ignores SIGINT.  The
# redirection is the subshell's own, so that the shell's word on a death by
# signal goes to 2 and not to the program's stderr.
(
	exec 2>&4 3<&- 4>&- 5<&-
	exec "$@"
)
status=$?
# Above 128 it is a signal if the shell has said so.  Of SIGINT and SIGPIPE
# shells say nothing; nobody else uses those two numbers.
word=
if [ "$status" -gt 128 ]; then
	read -r word <&5
	case $status in 130 | 141) word=signal ;; esac
fi
if [ -n "$word" ]; then
	say "signal $((status - 128))"
else
	say "exit $status"
fi
