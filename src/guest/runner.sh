# Runs as process 1 of a container: sees to it that the code which comes on
# stdin is run by the language's command, and says on both streams how that
# ended (see marker.h; what comes on stdin is in message.h).
#
#	sh -c RUNNER runner NONCE FILE PRELOAD INSTALL VARIABLE VALUE SEPARATOR
#	    [NAME TEXT] -- COMMAND...
#
# Without a NAME the call is read here, and then the command is started.  With it
# the command is started ahead of the code: VARIABLE=VALUE makes the interpreter
# load that file while it starts up, which takes in the rest of the hook.  The
# hook says that it is ready, takes in the code, and lets the start go on; a call
# that is more than code it leaves to the servant.
#
# Descriptors: 3 the container's stdin, 4 its stderr, 5 reads what the shell
# itself writes to 2, 7 a pipe on which the hook lets the servant have stdin, 8
# one on which the servant tells the hook to go.  The program gets none of them.
nonce=$1 file=$2 preload=$3 install=$4 variable=$5 value=$6 separator=$7
shift 7
say() {
	printf '\036%s %s\n' "$nonce" "$1"
	printf '\036%s %s\n' "$nonce" "$1" >&4
}
say_out() {
	printf '\036%s %s\n' "$nonce" "$1"
}
# Node has writes that do not block, and with it all who share its streams: what
# does not fit in a pipe would be lost.
fd=/proc/self/fd
reopen_streams() {
	[ ! -w $fd/1 ] || exec >$fd/1
	[ ! -w $fd/4 ] || exec 4>$fd/4
}
# Else bash, which goes by this name in some images, says nothing of a death by
# signal.
# shellcheck disable=SC3040 # bash only
command set +o posix 2>/dev/null
# The kernel keeps signals of the program from process 1, but for those that it
# catches.  Shells catch SIGINT, and end by it unless there is a trap.
trap : INT
exec 3<&0 4>&2 </dev/null
own=/run/sandbox-runner
scratch=/home/sandbox/.sandbox
# A file, because the program can fill a pipe.  The first page of it is taken now:
# it can fill the file system as well.
exec 2>$own/shell
exec 5<$own/shell
echo >&2
read -r _ <&5
# Many shells make a pipe for a text that they are to read, which takes no
# program: to start one is what costs most here.
make_pipes() {
	exec 7<<'end' 8<<'end'
-
end
-
end
	if [ -p $fd/8 ]; then
		read -r _ <&7
		read -r _ <&8
		exec 7<>$fd/7 8<>$fd/8
	else
		mkfifo $own/go $own/next || exit 1
		exec 7<>$own/go 8<>$own/next
		rm -f $own/go $own/next
	fi
}
hooked=
if [ "$1" = -- ]; then
	exec 7</dev/null 8</dev/null
else
	hooked=yes
	make_pipes
	printf '%s' "$2" >"$own/$1"
	shift 2
fi
shift
command -v "$1" >/dev/null || {
	say absent
	exit 127
}
# By their date it is known that no program has written them.
place_work() {
	cp -R "$1/." .
	for name in "$1"/*; do
		case $name in
		*/node_modules) ;; # nobody looks into it
		*) TZ=UTC0 find "./${name##*/}" -type f -exec touch -t 200001020000 {} + ;;
		esac
	done
} 2>/dev/null
[ -w . ] || cd "$HOME" || exit 1
seed=/usr/share/code-sandbox
[ ! -d $seed/home ] || cp -R $seed/home/. "$HOME" 2>/dev/null
[ ! -d $seed/work ] || place_work $seed/work

newline='
'
# Whole lines at a time, so that a program that goes on printing does not come
# between.  Not "sed -u", which reads bytes one by one.
mark() {
	awk -v "mark=\036$nonce $1 " '{ print mark $0; fflush() }'
}
# Each line as it comes, for which most awks would not do.
tell_notes() {
	while IFS= read -r line || [ -n "$line" ]; do
		say_out "note $(printf '%.4000s' "$line")"
	done
}
unplaced() {
	say_out "unplaced $1"
	complete=
}
# So many bytes and no more, which "head" of busybox does not promise.
take() {
	dd bs=65536 count="$size" iflag=count_bytes,fullblock <&3 2>/dev/null
}
# Its bytes are taken off stdin even if they cannot be kept: requests follow.
# Something else of that name makes way, unless it is a directory.
receive() {
	[ ! -e "$1" ] || { [ -f "$1" ] && [ -w "$1" ]; } || rm -f "$1"
	take | { cat >"$1" || { cat >/dev/null && false; }; }
} 2>/dev/null
# Python knows which is out of date by the date and the size of the file, and the
# date is always the same.
forget_bytecode() {
	name=${1##*/}
	cache=${1%"$name"}__pycache__
	[ ! -d "$cache" ] || rm -f "$cache/${name%.py}".*.pyc
}
# By its date it is known that the program was not the one to write it.
receive_file() {
	case $1 in */*) mkdir -p "./${1%/*}" 2>/dev/null ;; esac
	if receive "./$1"; then
		TZ=UTC0 touch -t 200001010000 "./$1"
		case $1 in *.py) forget_bytecode "./$1" ;; esac
	else
		rm -f "./$1" 2>/dev/null
		unplaced "$1"
	fi
}
receive_argument() {
	count=$((count + 1))
	argument=$(take && echo .)
	argument=${argument%.}
	eval "argument_$count=\$argument"
	arguments="$arguments \"\$argument_$count\""
	printf '%s\0' "$argument" 2>/dev/null >>$own/arguments || unplaced args
}
# Odd names, which a list of lines cannot hold, are counted only.
find_files() {
	find "$1" -name '*[[:cntrl:]]*' -prune -exec stat -c '%s 0 0|' {} + -o \
		\( -name '.?*' -o -name __pycache__ -o -name node_modules \) -prune -o \
		-type f -exec stat -c '%s %Y %y|%n' {} +
}
# The newest, and how many more there are.
list() {
	{
		[ ! -d $scratch/figures ] || find_files $scratch/figures
		find_files . | LC_ALL=C sort -k 2,2nr -k 4,4r
	} | awk 'NR <= 2000; END { if (NR > 2000) print NR - 2000 }' | mark entry
}
send() {
	stat -c '%s %Y %y|%n' "$1" | mark entry
	head -c "$size" "$1" | base64 -w 3000 | mark data
}
stop() {
	[ ! -s "$own/$2" ] || { read -r pid <"$own/$2" && kill "-$1" "$pid"; }
} 2>/dev/null
# Answers requests until the code of a call has come; fails when stdin ends.
serve() {
	packages='' arguments='' count=0 how=once complete=yes
	while IFS= read -r line <&3; do
		rest=${line#* }
		size=${rest%% *} path=${rest#* }
		case $line in
		'code '*)
			if [ -n "$hooked" ]; then
				receive "$file"
			else
				take >"$file" # sooner, and nothing follows
			fi || unplaced "$file"
			return 0
			;;
		'file '*) receive_file "$path" ;;
		'stdin '*)
			mkdir -p $scratch
			receive $scratch/stdin || unplaced stdin
			;;
		'argument '*) receive_argument ;;
		'package '*)
			packages=$packages$rest$newline
			: >$own/stopped
			;;
		session) how=session ;;
		interrupt)
			echo interrupt >&8
			stop INT pid
			echo yes >$own/stopped
			stop TERM installer
			;;
		list)
			list
			say_out answered
			;;
		'get '*)
			[ ! -f "$path" ] || [ -L "$path" ] || send "$path"
			say_out answered
			;;
		esac
	done
	return 1
}
install() {
	(
		IFS=$newline TMPDIR=$HOME
		export TMPDIR
		set -f
		# shellcheck disable=SC2086 # one word a line
		exec $install $packages
	) &
	echo $! >$own/installer
	# It may have been told to before it was there.
	[ ! -s $own/stopped ] || stop TERM installer
	wait $!
	echo $? >$own/status
	: >$own/installer
}
# All that the program needs is there; or nothing is left for the next one.
prepare() {
	if [ -n "$complete" ] && [ -n "$packages" ]; then
		install 2>&1 | tell_notes
		read -r status <$own/status
		[ "$status" = 0 ] || complete=
	fi
	[ -z "$complete" ] || return 0
	rm -f $own/arguments $scratch/stdin
	say_out failed
	return 1
}

[ -n "$hooked" ] || {
	say ready
	serve || exit 0
}
# The servant.  It is the dead-man's switch as well: stdin ends when the server
# closes it or dies, and then everything but process 1 is killed at once, which
# ends process 1 too.
(
	exec 2>/dev/null 4>&- 5<&-
	reopen_streams
	read -r _ <&7
	while serve; do
		{ prepare && echo "$how${packages:+ installed}" >&8; } &
	done
	kill -9 -1
) &
# In the foreground, because a background job of a shell ignores SIGINT.  The
# redirection is the subshell's own, so that the shell's word on a death by
# signal goes to 2 and not to the program's stderr.
if [ -n "$hooked" ]; then
	(
		exec 2>&4 4>&- 5<&-
		eval "old=\${$variable-}"
		export "$variable=$value${old:+$separator$old}"
		export SANDBOX_RUNNER="$nonce $file $preload"
		exec "$@"
	)
else
	prepare || exit 0
	say_out started
	[ ! -f $scratch/stdin ] || exec <$scratch/stdin
	(
		exec 2>&4 3<&- 4>&- 5<&- 7<&- 8<&-
		eval "exec \"\$@\" $arguments"
	)
fi
status=$?
reopen_streams
# Above 128 it is a signal if the shell has said so.  Of SIGINT and SIGPIPE
# shells say nothing; nobody else uses those two numbers.
word=
if [ "$status" -gt 128 ]; then
	read -r word <&5
	case $status in 130 | 141) word=signal ;; esac
fi
if [ -n "$word" ]; then
	word="signal $((status - 128))"
else
	word="exit $status"
fi
left_something() {
	[ ! -d $scratch/figures ] || return 0
	for name in *; do
		case $name in
		"$file" | node_modules | __pycache__ | '*') ;;
		*) return 0 ;;
		esac
	done
	return 1
}
if left_something; then
	# What the program has left running must not touch them any more.
	kill -9 -1
	list
	say_out stays
	say "$word"
	while serve; do :; done
else
	say "$word"
fi
