# Runs as process 1 of a container: sees to it that the code which comes on
# stdin is run by the language's command, and says on both streams how that
# ended (see marker.h).
#
#	sh -c RUNNER runner NONCE FILE PRELOAD
#	    HOOK HOOK_FILE VARIABLE VALUE SEPARATOR COMMAND...
#
# Without a HOOK the code is read here, and then the command is started.  With
# one the command is started ahead of the code: VARIABLE=VALUE makes the
# interpreter load HOOK_FILE while it starts up.  The hook says that it is
# ready, takes in the code, and lets the start go on.
#
# Descriptors: 3 the container's stdin, 4 its stderr, 5 reads what the shell
# itself writes to 2, 7 a FIFO on which the hook says that it has the code.
# The program gets none of them.
nonce=$1 file=$2 preload=$3
hook=$4 hook_file=$5 variable=$6 value=$7 separator=$8
shift 8
say() {
	printf '\036%s %s\n' "$nonce" "$1"
	printf '\036%s %s\n' "$nonce" "$1" >&4
}
exec 3<&0 4>&2 </dev/null
own=/run/sandbox-runner
exec 2>$own/shell
exec 5<$own/shell
rm -f $own/shell
command -v "$1" >/dev/null || {
	say absent
	exit 127
}
[ -w . ] || cd "$HOME" || exit 1
[ ! -d /usr/share/code-sandbox/home ] ||
	cp -R /usr/share/code-sandbox/home/. "$HOME"
if [ -n "$hook" ]; then
	mkfifo $own/go && exec 7<>$own/go || exit 1
	rm -f $own/go
	printf '%s' "$hook" >"$hook_file"
	eval "old=\${$variable-}"
	export "$variable=$value${old:+$separator$old}"
	export SANDBOX_RUNNER="$nonce $file $preload"
else
	say ready
	read -r size <&3 || exit 0
	head -c "$size" <&3 >"$file" || exit 1
	printf '\036%s started\n' "$nonce"
	exec 7</dev/null
fi
# The dead-man's switch: stdin ends when the server closes it or dies, and
# then everything but process 1 is killed at once, which ends process 1 too.
(
	read -r _ <&7
	while read -r _ <&3; do :; done
	kill -9 -1
) >/dev/null 4>&- 5<&- &
# In the foreground, because a background job of a shell ignores SIGINT.  The
# redirection is the subshell's own, so that the shell's word on a death by
# signal goes to 2 and not to the program's stderr.
if [ -n "$hook" ]; then
	(
		exec 2>&4 4>&- 5<&-
		exec "$@"
	)
else
	(
		exec 2>&4 3<&- 4>&- 5<&- 7<&-
		exec "$@"
	)
fi
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
