# Entry point of a Python program's process: loads the program's module, and exchanges calls and answers over file
# descriptor 3. The host must not trust what arrives over that channel.
import asyncio
import importlib.util
import inspect
import json
import os
import sys

CHANNEL = 3

# Forbidden system calls, which no program needs: they could escape from the sandbox, reach rarely reviewed parts of the
# kernel, or take memory that is charged to no process. Numbers are for (x86_64, aarch64).
FORBIDDEN = {
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
}
MACHINES = {"x86_64": (0, 0xC000003E, 41, 56), "aarch64": (1, 0xC00000B7, 198, 220)}
CLONE3 = 435
CLONE_NEW = 0x7E020000
# Allowed socket families: local, IPv4, IPv6
FAMILIES = (1, 2, 10)
EPERM, ENOSYS = 1, 38


def forbid_system_calls():
    """Makes the kernel reject the forbidden system calls for good. Raises OSError if that is impossible."""
    import ctypes
    import struct

    column, architecture, socket_call, clone = MACHINES[os.uname().machine]

    def load(offset):
        return (0x20, 0, 0, offset)

    def give(value):
        return (0x06, 0, 0, value)

    def refuse(error):
        return give(0x00050000 | error)

    def when(value, skip, code=0x15):
        # continues if the condition holds, otherwise skips
        return (code, 0, skip, value)

    allow, kill = 0x7FFF0000, 0x80000000
    filters = [load(4), (0x15, 1, 0, architecture), give(kill), load(0)]
    # x86_64 has a second table of call numbers
    filters += [when(0x40000000, 1, 0x35), refuse(ENOSYS)]
    for numbers in FORBIDDEN.values():
        filters += [when(numbers[column], 1), refuse(EPERM)]
    # clone3 has its flags in memory, which a filter cannot read: libraries then use the older call
    filters += [when(CLONE3, 1), refuse(ENOSYS)]
    filters += [when(clone, 4), load(16), when(CLONE_NEW, 1, 0x45), refuse(EPERM), give(allow)]
    known = [(0x15, len(FAMILIES) - at, 0, family) for at, family in enumerate(FAMILIES)]
    filters += [when(socket_call, 3 + len(known)), load(16), *known, refuse(EPERM), give(allow), give(allow)]

    code = b"".join(struct.pack("HBBI", *one) for one in filters)
    memory = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filters", ctypes.c_void_p)]

    program = Program(len(filters), ctypes.addressof(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    set_seccomp, filter_mode = 22, 2
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(set_seccomp, filter_mode, ctypes.addressof(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "system calls cannot be forbidden")


def say(value):
    try:
        data = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        if "answer" not in value:
            raise
        text = "its answer is not JSON: " + str(error)
        data = json.dumps({"answer": value["answer"], "error": text}).encode()
    data += b"\n"
    while data:
        try:
            data = data[os.write(CHANNEL, data):]
        except BlockingIOError:
            import select

            select.select([], [CHANNEL], [])


class Host:
    def __init__(self, loop):
        self.loop = loop
        self.questions = {}
        self.last = 0

    async def ask(self, method, params):
        self.last += 1
        future = self.loop.create_future()
        self.questions[self.last] = future
        say({"ask": self.last, "method": method, "params": params})
        return await future

    def log(self, level, text):
        say({"log": level, "text": str(text)})

    def reply(self, order):
        future = self.questions.pop(order["reply"], None)
        if future is None or future.done():
            return
        if "error" in order:
            future.set_exception(RuntimeError(order["error"]))
        else:
            future.set_result(order.get("value"))


def text_of(error):
    return str(error) or type(error).__name__


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Calls:
    def __init__(self, host):
        self.host = host
        self.handle = None
        self.open = {}

    async def start(self, order):
        try:
            started = load(order["module"]).start(order["argument"], self.host)
            self.handle = await started if inspect.isawaitable(started) else started
            say({"ready": True})
        except BaseException as error:
            say({"failed": type(error).__name__ + ": " + text_of(error)})

    async def run(self, number, method, params):
        try:
            value = self.handle(method, params)
            if inspect.isawaitable(value):
                value = await value
            say({"answer": number, "value": value})
        except asyncio.CancelledError:
            say({"answer": number, "error": "it was cancelled"})
        except Exception as error:
            say({"answer": number, "error": text_of(error)})
        finally:
            self.open.pop(number, None)

    def take(self, order):
        if "start" in order:
            asyncio.ensure_future(self.start(order["start"]))
        elif "call" in order:
            task = asyncio.ensure_future(self.run(order["call"], order["method"], order.get("params")))
            self.open[order["call"]] = task
        elif "ping" in order:
            say({"pong": order["ping"]})
        elif "cancel" in order:
            if order["cancel"] in self.open:
                self.open[order["cancel"]].cancel()
        elif "reply" in order:
            self.host.reply(order)


async def main():
    loop = asyncio.get_running_loop()
    calls = Calls(Host(loop))
    over = asyncio.Event()
    rest = bytearray()

    def readable():
        try:
            data = os.read(CHANNEL, 65536)
        except BlockingIOError:
            return
        if not data:
            over.set()
            return
        rest.extend(data)
        *lines, left = bytes(rest).split(b"\n")
        rest[:] = left
        for line in lines:
            calls.take(json.loads(line))

    os.set_blocking(CHANNEL, False)
    loop.add_reader(CHANNEL, readable)
    await over.wait()


if sys.argv[1:] == ["confined"]:
    forbid_system_calls()
asyncio.run(main())
sys.exit(0)
