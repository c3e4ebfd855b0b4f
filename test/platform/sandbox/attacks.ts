/**
 * Lists attempts of a hostile program with the expected result: for Node and Python, each as the body of a function.
 */
export interface Attack {
  readonly name: string
  /** the expected result or error, as text */
  readonly meets: RegExp
  readonly code: string
  /** the attack ends its process, so it needs a separate one */
  readonly isFatal?: true
  /** ms after which it is abandoned */
  readonly timeMs?: number
}

/** Placeholders in the code that the test replaces by actual values. */
export const PLACES = { port: '@PORT', host: '@PID', file: '@FILE', folder: '@FOLDER' } as const

const DENIED = /Access to this API has been restricted/
const HIDDEN = /Access to this API has been restricted|ENOENT|No such file|Cannot find module/
const NO_NETWORK = /ENETUNREACH|fetch failed|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEOUT|EADDRNOTAVAIL|unreachable/
const READ_ONLY = /Access to this API has been restricted|requires full fs.read|EROFS|EACCES|ERR_ACCESS_DENIED/
const SLOW = /did not respond within/
const ENDED = /it exited with code|it was killed by/
const TOGETHER = /exceeded its limit of 128 MiB of memory in total/
const PROTOCOL = /it violated the protocol/

/** Attacks with the same expectation, by name. */
const meeting = (
  meets: RegExp,
  codes: Readonly<Record<string, string>>,
  more: Pick<Attack, 'isFatal' | 'timeMs'> = {},
): readonly Attack[] => Object.entries(codes).map(([name, code]) => ({ name, meets, code, ...more }))

export const NODE_ATTACKS: readonly Attack[] = [
  ...meeting(HIDDEN, {
    'reads the list of users': `return fs.readFileSync('/etc/passwd', 'utf8')`,
    'reads the passwords': `return (await fs.promises.readFile('/etc/shadow')).length`,
    'lists the root folder': `return fs.readdirSync('/')`,
    'lists the home of the host': `return fs.readdirSync('/root')`,
    'reads a file of the host': `return fs.readFileSync('@FILE', 'utf8')`,
    'streams a file of the host': `for await (const p of fs.createReadStream('@FILE')) return String(p)`,
    'opens a file of the host': `return fs.openSync('@FILE', 'r')`,
    'leaves its folder upwards': `return fs.readFileSync('@FOLDER/../secret.txt', 'utf8')`,
    'imports a file of the host': `return Object.keys(await import('@FILE'))`,
    'reads its environment in /proc': `return fs.readFileSync('/proc/self/environ', 'utf8')`,
    'reads the environment of the first process': `return fs.readFileSync('/proc/1/environ', 'utf8')`,
    'goes through the root of another process': `return fs.readFileSync('/proc/@PID/root/etc/passwd')`,
    'looks for the old root': `return fs.readdirSync('/.old')`,
    'reads a disk': `return fs.openSync('/dev/vda', 'r')`,
    'reads the memory of the machine': `return fs.openSync('/dev/mem', 'r')`,
    'reads the kernel settings': `return fs.readdirSync('/sys')`,
    'watches the files of the host': `fs.watch('/etc'); return 'watching'`,
  }),
  ...meeting(/^false$|restricted/, {
    'asks whether a file is there': `return fs.existsSync('@FILE')`,
  }),
  ...meeting(/restricted|Cannot find module/, {
    'requires a file of the host': `return require('@FILE')`,
  }),
  ...meeting(READ_ONLY, {
    'writes into its own folder': `fs.writeFileSync('@FOLDER/new.txt', 'x'); return 'written'`,
    'changes its own program': `fs.appendFileSync('@FOLDER/main.mjs', ' '); return 'written'`,
    'removes its own program': `fs.unlinkSync('@FOLDER/main.mjs'); return 'gone'`,
    'makes a link': `fs.symlinkSync('/', '@FOLDER/root'); return 'made'`,
    'writes to /tmp': `fs.writeFileSync('/tmp/x', 'x'); return 'written'`,
    'changes rights': `fs.chmodSync('@FOLDER/main.mjs', 0o777); return 'changed'`,
  }),
  ...meeting(DENIED, {
    'writes a snapshot of the heap': `return require('node:v8').writeHeapSnapshot('/tmp/heap')`,
    'starts a thread': `new (require('node:worker_threads').Worker)('0', { eval: true }); return 'started'`,
    'starts a process': `return require('node:child_process').execSync('id').toString()`,
    'spawns a process': `require('node:child_process').spawn('/bin/sh'); return 'started'`,
    forks: `require('node:child_process').fork('@FOLDER/main.mjs'); return 'started'`,
    'forks a cluster': `require('node:cluster').fork(); return 'started'`,
    'uses WASI to reach files': `new (require('node:wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }); return 'made'`,
  }),
  ...meeting(/restricted|EROFS|^""$|ENOENT/, {
    'writes a report': `return process.report.writeReport('/tmp/report')`,
  }),
  ...meeting(/^\{\}$/, {
    'reads secrets from the environment': `return process.env`,
    'reads them from a report': `return process.report.getReport().environmentVariables ?? {}`,
    'changes the prototypes of everything': `Object.prototype.polluted = 1; const v = {}; delete Object.prototype.polluted; return v`,
  }),
  ...meeting(/ENOENT|uv_os_get_passwd|restricted/, {
    'asks who the user is': `return require('node:os').userInfo()`,
  }),
  ...meeting(NO_NETWORK, {
    'connects to the host': `return await connect('127.0.0.1', @PORT)`,
    'connects to the host by IPv6': `return await connect('::1', @PORT)`,
    'connects to any address of the machine': `return await connect('0.0.0.0', @PORT)`,
    'fetches from the host': `return (await fetch('http://127.0.0.1:@PORT/')).status`,
    'fetches metadata of the cloud': `return (await fetch('http://169.254.169.254/latest/')).status`,
    'fetches by an embedded address': `return (await fetch('http://[::ffff:127.0.0.1]:@PORT/')).status`,
    'looks up a name': `return await require('node:dns').promises.lookup('localhost.example')`,
    'sends a datagram': `const s = require('node:dgram').createSocket('udp4'); return await new Promise((ok, no) => { s.on('error', no); s.send('x', @PORT, '127.0.0.1', (e) => (e ? no(e) : ok('sent'))) })`,
    'speaks HTTP/2': `return await new Promise((ok, no) => require('node:http2').connect('http://127.0.0.1:@PORT').on('error', no).on('connect', () => ok('connected')))`,
  }),
  ...meeting(/ECONNREFUSED|ETIMEOUT|ENETUNREACH|EAI|ESERVFAIL|ENOTFOUND/, {
    'asks a name server': `const r = new (require('node:dns').promises.Resolver)({ timeout: 100, tries: 1 }); r.setServers(['127.0.0.53']); return await r.resolve4('example.com')`,
  }),
  ...meeting(/^"refused"$/, {
    'opens a WebSocket': `return await new Promise((ok) => { const w = new WebSocket('ws://127.0.0.1:@PORT'); w.onerror = () => ok('refused'); w.onopen = () => ok('open') })`,
  }),
  ...meeting(/No such built-in module|Cannot find|ERR_UNKNOWN_BUILTIN/, {
    'opens a database': `return require('node:sqlite') && 'loaded'`,
    'imports the database': `return Object.keys(await import('node:sqlite'))`,
  }),
  ...meeting(/restricted|No such module|deprecated|process\.binding/, {
    'spawns by the inner binding': `return process.binding('spawn_sync').spawn({ file: '/bin/sh', args: ['sh'] })`,
  }),
  ...meeting(/restricted|ERR_DLOPEN|cannot open|Cannot load native/, {
    'loads a native add-on': `process.dlopen({ exports: {} }, '/usr/lib/x86_64-linux-gnu/libc.so.6'); return 'loaded'`,
  }),
  ...meeting(/restricted|not available|ERR_INSPECTOR/, {
    'opens the inspector': `require('node:inspector').open(0); return 'open'`,
  }),
  ...meeting(/EPERM|EINVAL/, {
    'becomes root': `process.setuid(0); return process.getuid()`,
  }),
  ...meeting(/ESRCH|EPERM/, {
    'signals the host': `return process.kill(@PID, 0)`,
    'signals everybody': `return process.kill(-@PID, 0)`,
  }),
  ...meeting(/ESRCH|EPERM|restricted/, {
    'debugs the host': `process._debugProcess(@PID); return 'attached'`,
  }),
  ...meeting(/^"bounded"$/, {
    'raises its limits by flags': `require('node:v8').setFlagsFromString('--max-old-space-size=100000'); return 'bounded'`,
  }),
  ...meeting(/is not valid JSON/, {
    'answers what is not JSON': `return 1n`,
    'answers a cycle': `const a = {}; a.a = a; return a`,
    'answers a trap': `return { toJSON() { throw new Error('trap') } }`,
  }),
  ...meeting(/an unprintable value|Object/, {
    'throws what cannot be told': `throw { toString() { throw 1 } }`,
  }),
  ...meeting(/Maximum call stack/, {
    'overflows the stack': `const f = () => f() + 1; return f()`,
  }),
  ...meeting(/allocation failed|Invalid typed array length|Array buffer/, {
    'allocates one buffer that is too large': `return new ArrayBuffer(2 ** 33).byteLength`,
  }),
  ...meeting(/could not allocate|Cannot allocate|out of memory/, {
    'reserves WebAssembly memory': `const all = []; for (;;) all.push(new WebAssembly.Memory({ initial: 16384 }))`,
  }),
  ...meeting(/^"mine"$/, {
    'prints what looks like the protocol': `fs.writeSync(1, '{"answer":1,"value":"forged"}\\n'); return 'mine'`,
  }),
  ...meeting(/^"ended"$/, {
    'ends its output': `process.stdout.end(); return 'ended'`,
  }),
  ...meeting(/no such question/, {
    'asks for what there is not': `return await host.ask('__proto__', {})`,
  }),
  ...meeting(/too many open questions/, {
    'asks the host for more than it may': `await Promise.all(Array.from({ length: 200 }, () => host.ask('slow'))); return 'asked'`,
  }),
  ...meeting(
    SLOW,
    {
      'loops for ever': `for (;;);`,
      'loops in microtasks': `const f = () => Promise.resolve().then(f); return await f()`,
      'never settles': `return await new Promise(() => {})`,
      'waits for a lock': `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
      'has an expression that takes for ever': `return /^(a+)+$/.test('a'.repeat(50) + 'b')`,
    },
    { isFatal: true, timeMs: 300 },
  ),
  ...meeting(
    ENDED,
    {
      'fills the heap': `const all = []; for (;;) all.push(new Array(1000).fill({}))`,
      exits: `process.exit(0)`,
      'throws in a timer': `setTimeout(() => { throw new Error('late') }); await new Promise(() => {})`,
      'rejects where nobody listens': `void Promise.reject(new Error('late')); await new Promise(() => {})`,
    },
    { isFatal: true },
  ),
  ...meeting(
    /allocation failed|Failed to allocate|it exited|it was killed/i,
    {
      'fills memory with buffers': `const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))`,
    },
    { isFatal: true },
  ),
  ...meeting(
    /Invalid string length|it exited|it was killed/,
    {
      'makes a text that is too long': `let s = 'x'; for (;;) s += s + Math.random()`,
    },
    { isFatal: true },
  ),
  ...meeting(
    /restricted|it exited|it was killed/,
    {
      aborts: `process.abort()`,
    },
    { isFatal: true },
  ),
  ...meeting(
    /printed more than|EAGAIN/,
    {
      'floods its output': `for (;;) { try { fs.writeSync(1, 'x'.repeat(65536)) } catch { await new Promise(setImmediate) } }`,
    },
    { isFatal: true },
  ),
  // On a busy machine it may first reach its memory limit, which the system reports by a signal.
  ...meeting(
    /printed more than|it was killed by SIG/,
    {
      'floods its errors': `for (;;) { process.stderr.write('x'.repeat(65536)); await new Promise(setImmediate) }`,
    },
    { isFatal: true },
  ),
  // Like its errors.
  ...meeting(
    /sent more than|it was killed by SIG/,
    {
      'floods its log': `for (;;) { console.log('x'.repeat(1000)); await null; if (Math.random() < 0.01) await new Promise(setImmediate) }`,
    },
    { isFatal: true },
  ),
  ...meeting(
    PROTOCOL,
    {
      'answers what nobody asked': `fs.writeSync(3, '{"answer":999,"value":1}\\n'); await new Promise(() => {})`,
      'says that it is ready again': `fs.writeSync(3, '{"ready":true}\\n'); await new Promise(() => {})`,
      'speaks no JSON': `fs.writeSync(3, 'hello\\n'); await new Promise(() => {})`,
      'speaks without end': `for (;;) { try { fs.writeSync(3, 'x'.repeat(65536)) } catch { await new Promise(setImmediate) } }`,
      'says a list': `fs.writeSync(3, '[]\\n'); await new Promise(() => {})`,
      'answers too much': `return 'x'.repeat(3e6)`,
    },
    { isFatal: true },
  ),
  ...meeting(
    /it ended|it was killed|did not respond/,
    {
      'closes the channel': `fs.closeSync(3); await new Promise(() => {})`,
    },
    { isFatal: true, timeMs: 1000 },
  ),
]

export const PYTHON_ATTACKS: readonly Attack[] = [
  ...meeting(HIDDEN, {
    'reads the list of users': `return open('/etc/passwd').read()`,
    'reads a file of the host': `return open('@FILE').read()`,
    'reads the environment of others': `return open('/proc/1/environ').read()`,
    'reads a disk': `return open('/dev/vda','rb').read(1)`,
  }),
  ...meeting(/No such file|Permission denied|^\[("\.pyenv")?\]$/, {
    'lists the home of the host': `return os.listdir('/root')`,
  }),
  ...meeting(/^\{("LC_CTYPE": ?"[^"]*")?\}$/, {
    'reads the environment': `return dict(os.environ)`,
  }),
  ...meeting(/Read-only|Permission denied/, {
    'writes into its own folder': `open('@FOLDER/new.txt','w')`,
  }),
  ...meeting(/Read-only|Permission denied|No such file/, {
    'writes anywhere': `open('/tmp/x','w')`,
  }),
  ...meeting(/unable to open|No module/, {
    'makes a database': `import sqlite3; sqlite3.connect('@FOLDER/x.db').execute('create table t(a)')`,
  }),
  ...meeting(/unreachable/, {
    'connects to the host': `socket.create_connection(('127.0.0.1', @PORT), 2)`,
    'connects to the metadata of the cloud': `socket.create_connection(('169.254.169.254', 80), 2)`,
  }),
  ...meeting(/Name or service|resolution/, {
    'looks up a name': `socket.getaddrinfo('example.com', 80)`,
  }),
  ...meeting(/not permitted|denied/i, {
    'opens a raw socket': `socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)`,
  }),
  ...meeting(/not permitted|denied|not supported/i, {
    'reaches a machine by vsock': `socket.socket(40, socket.SOCK_STREAM)`,
  }),
  ...meeting(/No such file|Read-only|127|32512|32256/, {
    'starts a shell': `return os.system('id')`,
  }),
  ...meeting(/No such file|Permission|not permitted/, {
    'starts a process': `import subprocess; return subprocess.run(['/bin/sh','-c','id']).returncode`,
  }),
  ...meeting(/not permitted|"still bounded"/, {
    'becomes root': `os.setuid(0); open('/etc/passwd'); return 'root'`,
  }),
  ...meeting(/not allowed|exceeds|not permitted/, {
    'raises its limits': `import resource; resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))`,
  }),
  ...meeting(/No such process|not permitted/, {
    'signals the host': `os.kill(@PID, 0)`,
  }),
  ...meeting(/not permitted/, {
    'leaves its root': `os.chroot('/usr')`,
    'uses a socket of the kernel': `socket.socket(16, socket.SOCK_RAW, 0)`,
    'keeps memory in a file without a name': `os.memfd_create('x')`,
  }),
  ...meeting(/not permitted|Read-only/, {
    'makes a device': `os.mknod('@FOLDER/dev', 0o60600, 0)`,
  }),
  ...meeting(/^"-1"$|not permitted/, {
    'mounts by a native call': `import ctypes; return str(ctypes.CDLL(None).mount(b'x', b'/usr', b'tmpfs', 0, 0))`,
    'makes namespaces of its own': `import ctypes; return str(ctypes.CDLL(None).unshare(0x10000000))`,
    'makes namespaces by cloning': `import ctypes; return str(ctypes.CDLL(None).syscall(56, 0x10000011, 0, 0, 0, 0) if os.uname().machine == 'x86_64' else -1)`,
    'makes namespaces by the newer call': `import ctypes; return str(ctypes.CDLL(None).syscall(435, 0, 0))`,
    'traces another process': `import ctypes; return str(ctypes.CDLL(None).ptrace(16, @PID, 0, 0))`,
  }),
  ...meeting(/not JSON/, {
    'answers what is not JSON': `return {1,2}`,
    'answers no number': `return float('nan')`,
  }),
  ...meeting(/recursion/, {
    'overflows the stack': `f = lambda: f(); f()`,
  }),
  ...meeting(/MemoryError|it ended/, {
    'fills memory': `return len('x' * 10**10)`,
  }),
  ...meeting(
    /can't start new thread|it ended/,
    {
      'makes threads without end': `import threading, time\n  while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()`,
    },
    { isFatal: true },
  ),
  ...meeting(
    /unavailable|not permitted|did not respond|it violated|it exited/,
    {
      'is a fork bomb': `while True: os.fork()`,
    },
    { isFatal: true, timeMs: 2000 },
  ),
  ...meeting(/^\[(-1,){4}-1\]$/, {
    'takes memory that no process has': `import ctypes; libc = ctypes.CDLL(None); take = lambda n: libc.shmget(0, 64 << 20, 0o1600)\n  return [take(n) for n in range(3)] + [libc.semget(0, 1, 0o600), libc.msgget(0, 0o600)]`,
  }),
  ...meeting(
    TOGETHER,
    {
      'takes memory in many processes': `for n in range(6):\n    if os.fork() == 0:\n      held = b'x' * (90 << 20); import time; time.sleep(600)\n  await asyncio.Event().wait()`,
      'takes memory in processes that a thread starts': `import threading, time\n  def work():\n    for n in range(6):\n      if os.fork() == 0:\n        held = b'x' * (90 << 20); time.sleep(600)\n    time.sleep(600)\n  threading.Thread(target=work, daemon=True).start(); await asyncio.Event().wait()`,
    },
    { isFatal: true },
  ),
  ...meeting(
    SLOW,
    {
      'loops for ever': `while True: pass`,
      'never settles': `await asyncio.Event().wait()`,
    },
    { isFatal: true, timeMs: 300 },
  ),
  ...meeting(
    ENDED,
    {
      exits: `os._exit(0)`,
    },
    { isFatal: true },
  ),
  ...meeting(
    /printed more than/,
    {
      'floods its output': `while True: print('x' * 65536, flush=True)`,
    },
    { isFatal: true },
  ),
  ...meeting(/^"mine"$/, {
    'prints what looks like the protocol': `print('{"answer":1,"value":"forged"}', flush=True); return 'mine'`,
  }),
  ...meeting(
    PROTOCOL,
    {
      'answers what nobody asked': `os.write(3, b'{"answer":999}\\n'); await asyncio.Event().wait()`,
    },
    { isFatal: true },
  ),
]
