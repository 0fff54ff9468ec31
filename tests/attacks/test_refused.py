"""What a program asks the kernel for, and what it is told: all of it in one
call, because no attempt is in the way of another."""

import json
import socket
import uuid

from arena import facts_of, program, python

EPERM, EROFS, EACCES = "EPERM", "EROFS", "EACCES"
NO_FAMILY, UNREACHABLE = "EAFNOSUPPORT", "ENETUNREACH"
NONE = "0" * 16
# Where more than one answer is right: not every kernel has every file.
HIDDEN, LOCKED = {"", "ENOENT"}, {EROFS, "ENOENT"}

ATTEMPTS = {
    "what it is": {
        "os.getresuid() + os.getresgid()": 6 * [65534],
        "set(os.getgroups()) <= {65534}": True,
        "status('CapInh')": NONE,
        "status('CapPrm')": NONE,
        "status('CapEff')": NONE,
        "status('CapBnd')": NONE,
        "status('CapAmb')": NONE,
        "status('NoNewPrivs')": "1",
        "status('Seccomp')": "2",
        "socket.gethostname()": "sandbox",
        "resource.getrlimit(resource.RLIMIT_CORE)": [0, 0],
        # Its own process table, with nothing of the host and of other containers.
        "max(int(p) for p in os.listdir('/proc') if p.isdigit()) < 100": True,
    },
    "becoming somebody": {
        "os.setuid(0)": EPERM,
        "os.setgid(0)": EPERM,
        "os.setgroups([0])": EPERM,
        "os.nice(-5)": EPERM,
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))": EPERM,
        "write('/proc/self/oom_score_adj', '-1000')": EACCES,
        "resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))":
            "ValueError: not allowed to raise maximum limit",
    },
    "ptrace": {
        "libc('ptrace', 0, 0, 0, 0)": EPERM,
        "libc('ptrace', 16, 1, 0, 0)": EPERM,
        "libc('process_vm_readv', 1, None, 0, None, 0, 0)": EPERM,
        "libc('process_vm_writev', 1, None, 0, None, 0, 0)": EPERM,
        "syscall(438, 438, 0, 0, 0)": EPERM,  # pidfd_getfd
        "syscall(312, 272, 1, 1, 0, 0, 0)": EPERM,  # kcmp
    },
    "/proc": {
        "read('/proc/kcore')": HIDDEN,
        "read('/proc/keys')": HIDDEN,
        "read('/proc/timer_list')": HIDDEN,
        "write('/proc/sysrq-trigger', 'h')": LOCKED,
        "write('/proc/sys/kernel/core_pattern', '|/bin/sh')": EROFS,
        "write('/proc/sys/kernel/hostname', 'x')": EROFS,
        "write('/proc/sys/net/ipv4/ip_forward', '1')": EROFS,
        "write('/proc/irq/default_smp_affinity', '1')": LOCKED,
        "write('/proc/1/oom_score_adj', '-1000')": EACCES,
    },
    "/sys": {
        "os.listdir('/sys/firmware')": [],
        "write('/sys/kernel/mm/transparent_hugepage/enabled', 'never')": LOCKED,
        "write(glob.glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True)[0], '1')": EROFS,
    },
    "/dev and mknod": {
        "os.mknod('dev', stat.S_IFBLK | 0o600, os.makedev(8, 0))": EPERM,
        "os.mknod('dev', stat.S_IFCHR | 0o600, os.makedev(1, 1))": EPERM,
        "open('/dev/new', 'w')": EACCES,
        "open('/dev/kmsg')": "ENOENT",
        "open('/dev/mem')": "ENOENT",
        "open('/dev/fuse')": "ENOENT",
        "open('/dev/net/tun')": "ENOENT",
        "open('/dev/kvm')": "ENOENT",
    },
    "root file system": {
        "open('/new', 'w')": EROFS,
        "open('/etc/passwd', 'w')": EROFS,
        "open('/usr/bin/new', 'w')": EROFS,
        "open('/var/new', 'w')": EROFS,
        "os.mkdir('/usr/new')": EROFS,
        "os.remove('/usr/bin/env')": EROFS,
        "os.rename('/etc', '/sandbox/etc')": "EXDEV",
        "os.chmod('/bin/sh', 0o6755)": EROFS,
        "open('/run/new', 'w')": EACCES,
    },
    "mount, chroot, fsopen": {
        "libc('mount', b'none', b'/tmp', b'tmpfs', 0, None)": EPERM,
        "libc('mount', None, b'/', None, 0x1020, None)": EPERM,  # remount with write access
        "libc('umount2', b'/proc/kcore', 2)": EPERM,
        "syscall(155, 41, b'.', b'.')": EPERM,  # pivot_root
        "os.chroot('.')": EPERM,
        "syscall(428, 428, -100, b'/', 1)": EPERM,  # open_tree
        "syscall(429, 429, 0, b'', 0, b'', 0)": EPERM,  # move_mount
        "syscall(430, 430, b'tmpfs', 0)": EPERM,  # fsopen
        "syscall(431, 431, -1, 0, None, None, 0)": EPERM,  # fsconfig
        "syscall(432, 432, -1, 0, 0)": EPERM,  # fsmount
        "syscall(433, 433, -100, b'/', 0)": EPERM,  # fspick
        "syscall(442, 442, -100, b'/', 0, None, 0)": EPERM,  # mount_setattr
        "libc('open_by_handle_at', 0, None, 0)": EPERM,
        "libc('name_to_handle_at', -100, b'/', None, None, 0)": EPERM,
    },
    "unshare, setns": {
        "libc('unshare', 0x10000000)": EPERM,  # users
        "libc('unshare', 0x00020000)": EPERM,  # mounts
        "libc('unshare', 0x40000000)": EPERM,  # network
        "libc('unshare', 0x20000000)": EPERM,  # processes
        "libc('unshare', 0x08000000)": EPERM,  # IPC
        "libc('unshare', 0x04000000)": EPERM,  # host name
        "libc('unshare', 0x02000000)": EPERM,  # cgroups
        "libc('setns', os.open('/proc/1/ns/net', os.O_RDONLY), 0)": EPERM,
        "libc('setns', os.open('/proc/1/ns/user', os.O_RDONLY), 0)": EPERM,
        "libc('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)": EPERM,
        # clone with users; docker 20 has an errno of its own for what is not in the profile
        "syscall(56, 220, 0x10000000 | 17, 0, 0, 0, 0)": {"ENOSYS", EPERM},
        "syscall(435, 435, None, 0)": "ENOSYS",  # clone3
    },
    "keyctl, io_uring, bpf": {
        "syscall(248, 217, b'user', b'x', b'x', 1, -1)": EPERM,  # add_key
        "syscall(249, 218, b'user', b'x', None, -1)": EPERM,  # request_key
        "syscall(250, 219, 0, -3, 1)": EPERM,  # keyctl
        "syscall(425, 425, 1, None)": EPERM,  # io_uring_setup
        "syscall(426, 426, 0, 0, 0, 0, None, 0)": EPERM,  # io_uring_enter
        "syscall(427, 427, 0, 0, None, 0)": EPERM,  # io_uring_register
        "syscall(321, 280, 0, None, 0)": EPERM,  # bpf
        "syscall(323, 282, 1)": EPERM,  # userfaultfd
        "syscall(298, 241, None, 0, -1, -1, 0)": EPERM,  # perf_event_open
    },
    "what is the machine's": {
        "time.clock_settime(time.CLOCK_REALTIME, 0)": EPERM,
        "libc('settimeofday', (ctypes.c_long * 2)(0, 0), None)": EPERM,
        "libc('adjtimex', (ctypes.c_long * 64)(1))": EPERM,
        "socket.sethostname('x')": EPERM,
        "libc('reboot', 0)": EPERM,
        "libc('swapon', b'x', 0)": EPERM,
        "libc('klogctl', 3, b'x', 1)": EPERM,
        "libc('acct', None)": EPERM,
        "libc('quotactl', 0, None, 0, None)": EPERM,
        "syscall(246, 104, 0, 0, None, 0)": EPERM,  # kexec_load
        "syscall(175, 105, b'', 0, b'')": EPERM,  # init_module
    },
    "AF_VSOCK, AF_ALG, AF_PACKET": {
        "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)": NO_FAMILY,
        "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)": NO_FAMILY,
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)": NO_FAMILY,
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)": NO_FAMILY,
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)": EPERM,
    },
    "network that is off": {
        "[name for name in os.listdir('/sys/class/net') if read(f'/sys/class/net/{name}/operstate') == 'up\\n']": [],
        "connect(('169.254.169.254', 80))": UNREACHABLE,  # metadata of a cloud
        "connect(('10.88.0.1', 22))": UNREACHABLE,  # gateways of the engines
        "connect(('172.17.0.1', 22))": UNREACHABLE,
        "connect(('198.18.250.1', 22))": UNREACHABLE,
        "connect(('10.0.2.2', 22))": UNREACHABLE,
        "connect(('192.0.2.1', 80))": UNREACHABLE,
        "connect(('fd00:ec2::254', 80), socket.AF_INET6)": {UNREACHABLE, "EADDRNOTAVAIL"},
        "send_udp('8.8.8.8')": UNREACHABLE,
        "socket.getaddrinfo('example.com', 80)": "[Errno -3] Temporary failure in name resolution",
    },
    "engine sockets": {
        "[path for path in ('/run/docker.sock', '/run/podman/podman.sock', '/run/containerd', '/run/user',"
        " '/run/crio/crio.sock') if os.path.exists(path)]": [],
        "connect('/var/run/docker.sock', socket.AF_UNIX)": "ENOENT",
    },
    "terminal": {
        "fcntl.ioctl(0, 0x5412, b'x')": "ENOTTY",  # TIOCSTI
        "open('/dev/tty')": "ENXIO",
        "os.isatty(0) or os.isatty(1) or os.isatty(2)": False,
    },
}


def outcomes(arena, attempts):
    tries = program("attempts.py")
    result = arena.call(python(f"ATTEMPTS = {list(attempts)!r}\n{tries.code}"))
    arena.settle()
    assert facts_of(result)["exit_code"] == 0, result
    return json.loads(facts_of(result)["stdout"])


def is_right(said, expected):
    return said in expected if isinstance(expected, set) else said == expected


def test_every_attempt_is_refused(engine, enter):
    expected = {attempt: right for group in ATTEMPTS.values() for attempt, right in group.items()}
    said = outcomes(enter(engine), expected)
    assert {attempt: said[attempt] for attempt in expected if not is_right(said[attempt], expected[attempt])} == {}


def test_abstract_socket_of_the_host(engine, enter):
    """Abstract names belong to the network, which is the container's own."""
    name = f"\0code-sandbox-test-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        attempt = f"connect({name!r}, socket.AF_UNIX)"
        assert outcomes(enter(engine), [attempt]) == {attempt: "ECONNREFUSED"}
