/** What a program of somebody else may try, and what it meets. Node's and Python's, each a body of a function. */
export interface Attack {
  readonly name: string
  /** what it gives, or the error that it meets, as text */
  readonly meets: RegExp
  readonly code: string
  /** it ends its process, so that it has one to itself */
  readonly isFatal?: true
  /** ms after which it is given up */
  readonly timeMs?: number
}

/** Words in the code that the test replaces by what is really there. */
export const PLACES = { port: '@PORT', host: '@PID', file: '@FILE', folder: '@FOLDER' } as const

const DENIED = /Access to this API has been restricted/
const HIDDEN = /Access to this API has been restricted|ENOENT|No such file|Cannot find module/
const NO_NETWORK = /ENETUNREACH|fetch failed|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEOUT|EADDRNOTAVAIL|unreachable/
const READ_ONLY = /Access to this API has been restricted|requires full fs.read|EROFS|EACCES|ERR_ACCESS_DENIED/
const SLOW = /did not answer within/
const ENDED = /it ended with code|it was ended by/
const TOGETHER = /took more than its limit of 128 MiB of memory in total/
const PROTOCOL = /it broke the protocol/

export const NODE_ATTACKS: readonly Attack[] = [
  { name: 'reads the list of users', meets: HIDDEN, code: `return fs.readFileSync('/etc/passwd', 'utf8')` },
  { name: 'reads the passwords', meets: HIDDEN, code: `return (await fs.promises.readFile('/etc/shadow')).length` },
  { name: 'lists the root folder', meets: HIDDEN, code: `return fs.readdirSync('/')` },
  { name: 'lists the home of the host', meets: HIDDEN, code: `return fs.readdirSync('/root')` },
  { name: 'reads a file of the host', meets: HIDDEN, code: `return fs.readFileSync('@FILE', 'utf8')` },
  {
    name: 'streams a file of the host',
    meets: HIDDEN,
    code: `for await (const p of fs.createReadStream('@FILE')) return String(p)`,
  },
  { name: 'opens a file of the host', meets: HIDDEN, code: `return fs.openSync('@FILE', 'r')` },
  { name: 'asks whether a file is there', meets: /^false$|restricted/, code: `return fs.existsSync('@FILE')` },
  { name: 'leaves its folder upwards', meets: HIDDEN, code: `return fs.readFileSync('@FOLDER/../secret.txt', 'utf8')` },
  { name: 'imports a file of the host', meets: HIDDEN, code: `return Object.keys(await import('@FILE'))` },
  { name: 'requires a file of the host', meets: /restricted|Cannot find module/, code: `return require('@FILE')` },
  {
    name: 'reads its environment in /proc',
    meets: HIDDEN,
    code: `return fs.readFileSync('/proc/self/environ', 'utf8')`,
  },
  {
    name: 'reads the environment of the first process',
    meets: HIDDEN,
    code: `return fs.readFileSync('/proc/1/environ', 'utf8')`,
  },
  {
    name: 'goes through the root of another process',
    meets: HIDDEN,
    code: `return fs.readFileSync('/proc/@PID/root/etc/passwd')`,
  },
  { name: 'looks for the old root', meets: HIDDEN, code: `return fs.readdirSync('/.old')` },
  { name: 'reads a disk', meets: HIDDEN, code: `return fs.openSync('/dev/vda', 'r')` },
  { name: 'reads the memory of the machine', meets: HIDDEN, code: `return fs.openSync('/dev/mem', 'r')` },
  { name: 'reads the kernel settings', meets: HIDDEN, code: `return fs.readdirSync('/sys')` },
  {
    name: 'writes into its own folder',
    meets: READ_ONLY,
    code: `fs.writeFileSync('@FOLDER/new.txt', 'x'); return 'written'`,
  },
  {
    name: 'changes its own program',
    meets: READ_ONLY,
    code: `fs.appendFileSync('@FOLDER/main.mjs', ' '); return 'written'`,
  },
  { name: 'removes its own program', meets: READ_ONLY, code: `fs.unlinkSync('@FOLDER/main.mjs'); return 'gone'` },
  { name: 'makes a link', meets: READ_ONLY, code: `fs.symlinkSync('/', '@FOLDER/root'); return 'made'` },
  { name: 'writes to /tmp', meets: READ_ONLY, code: `fs.writeFileSync('/tmp/x', 'x'); return 'written'` },
  { name: 'changes rights', meets: READ_ONLY, code: `fs.chmodSync('@FOLDER/main.mjs', 0o777); return 'changed'` },
  { name: 'watches the files of the host', meets: HIDDEN, code: `fs.watch('/etc'); return 'watching'` },
  {
    name: 'writes a snapshot of the heap',
    meets: DENIED,
    code: `return require('node:v8').writeHeapSnapshot('/tmp/heap')`,
  },
  {
    name: 'writes a report',
    meets: /restricted|EROFS|^""$|ENOENT/,
    code: `return process.report.writeReport('/tmp/report')`,
  },
  { name: 'reads secrets from the environment', meets: /^\{\}$/, code: `return process.env` },
  {
    name: 'reads them from a report',
    meets: /^\{\}$/,
    code: `return process.report.getReport().environmentVariables ?? {}`,
  },
  {
    name: 'asks who the user is',
    meets: /ENOENT|uv_os_get_passwd|restricted/,
    code: `return require('node:os').userInfo()`,
  },
  { name: 'connects to the host', meets: NO_NETWORK, code: `return await connect('127.0.0.1', @PORT)` },
  { name: 'connects to the host by IPv6', meets: NO_NETWORK, code: `return await connect('::1', @PORT)` },
  { name: 'connects to any address of the machine', meets: NO_NETWORK, code: `return await connect('0.0.0.0', @PORT)` },
  { name: 'fetches from the host', meets: NO_NETWORK, code: `return (await fetch('http://127.0.0.1:@PORT/')).status` },
  {
    name: 'fetches metadata of the cloud',
    meets: NO_NETWORK,
    code: `return (await fetch('http://169.254.169.254/latest/')).status`,
  },
  {
    name: 'fetches by an embedded address',
    meets: NO_NETWORK,
    code: `return (await fetch('http://[::ffff:127.0.0.1]:@PORT/')).status`,
  },
  {
    name: 'looks up a name',
    meets: NO_NETWORK,
    code: `return await require('node:dns').promises.lookup('localhost.example')`,
  },
  {
    name: 'asks a name server',
    meets: /ECONNREFUSED|ETIMEOUT|ENETUNREACH|EAI|ESERVFAIL|ENOTFOUND/,
    code: `const r = new (require('node:dns').promises.Resolver)({ timeout: 100, tries: 1 }); r.setServers(['127.0.0.53']); return await r.resolve4('example.com')`,
  },
  {
    name: 'sends a datagram',
    meets: NO_NETWORK,
    code: `const s = require('node:dgram').createSocket('udp4'); return await new Promise((ok, no) => { s.on('error', no); s.send('x', @PORT, '127.0.0.1', (e) => (e ? no(e) : ok('sent'))) })`,
  },
  {
    name: 'speaks HTTP/2',
    meets: NO_NETWORK,
    code: `return await new Promise((ok, no) => require('node:http2').connect('http://127.0.0.1:@PORT').on('error', no).on('connect', () => ok('connected')))`,
  },
  {
    name: 'opens a WebSocket',
    meets: /^"refused"$/,
    code: `return await new Promise((ok) => { const w = new WebSocket('ws://127.0.0.1:@PORT'); w.onerror = () => ok('refused'); w.onopen = () => ok('open') })`,
  },
  {
    name: 'opens a database',
    meets: /No such built-in module|Cannot find|ERR_UNKNOWN_BUILTIN/,
    code: `return require('node:sqlite') && 'loaded'`,
  },
  {
    name: 'imports the database',
    meets: /No such built-in module|Cannot find|ERR_UNKNOWN_BUILTIN/,
    code: `return Object.keys(await import('node:sqlite'))`,
  },
  {
    name: 'starts a thread',
    meets: DENIED,
    code: `new (require('node:worker_threads').Worker)('0', { eval: true }); return 'started'`,
  },
  { name: 'starts a process', meets: DENIED, code: `return require('node:child_process').execSync('id').toString()` },
  { name: 'spawns a process', meets: DENIED, code: `require('node:child_process').spawn('/bin/sh'); return 'started'` },
  { name: 'forks', meets: DENIED, code: `require('node:child_process').fork('@FOLDER/main.mjs'); return 'started'` },
  { name: 'forks a cluster', meets: DENIED, code: `require('node:cluster').fork(); return 'started'` },
  {
    name: 'spawns by the inner binding',
    meets: /restricted|No such module|deprecated|process\.binding/,
    code: `return process.binding('spawn_sync').spawn({ file: '/bin/sh', args: ['sh'] })`,
  },
  {
    name: 'loads a native add-on',
    meets: /restricted|ERR_DLOPEN|cannot open|Cannot load native/,
    code: `process.dlopen({ exports: {} }, '/usr/lib/x86_64-linux-gnu/libc.so.6'); return 'loaded'`,
  },
  {
    name: 'opens the inspector',
    meets: /restricted|not available|ERR_INSPECTOR/,
    code: `require('node:inspector').open(0); return 'open'`,
  },
  {
    name: 'uses WASI to reach files',
    meets: DENIED,
    code: `new (require('node:wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }); return 'made'`,
  },
  { name: 'becomes root', meets: /EPERM|EINVAL/, code: `process.setuid(0); return process.getuid()` },
  { name: 'signals the host', meets: /ESRCH|EPERM/, code: `return process.kill(@PID, 0)` },
  { name: 'signals everybody', meets: /ESRCH|EPERM/, code: `return process.kill(-@PID, 0)` },
  { name: 'debugs the host', meets: /ESRCH|EPERM|restricted/, code: `process._debugProcess(@PID); return 'attached'` },
  {
    name: 'raises its limits by flags',
    meets: /^"bounded"$/,
    code: `require('node:v8').setFlagsFromString('--max-old-space-size=100000'); return 'bounded'`,
  },
  {
    name: 'changes the prototypes of everything',
    meets: /^\{\}$/,
    code: `Object.prototype.polluted = 1; const v = {}; delete Object.prototype.polluted; return v`,
  },
  { name: 'answers what is not JSON', meets: /is not JSON/, code: `return 1n` },
  { name: 'answers a cycle', meets: /is not JSON/, code: `const a = {}; a.a = a; return a` },
  { name: 'answers a trap', meets: /is not JSON/, code: `return { toJSON() { throw new Error('trap') } }` },
  { name: 'throws what cannot be told', meets: /cannot be told|Object/, code: `throw { toString() { throw 1 } }` },
  { name: 'overflows the stack', meets: /Maximum call stack/, code: `const f = () => f() + 1; return f()` },
  {
    name: 'allocates one buffer that is too large',
    meets: /allocation failed|Invalid typed array length|Array buffer/,
    code: `return new ArrayBuffer(2 ** 33).byteLength`,
  },
  {
    name: 'reserves WebAssembly memory',
    meets: /could not allocate|Cannot allocate|out of memory/,
    code: `const all = []; for (;;) all.push(new WebAssembly.Memory({ initial: 16384 }))`,
  },
  {
    name: 'prints what looks like the protocol',
    meets: /^"mine"$/,
    code: `fs.writeSync(1, '{"answer":1,"value":"forged"}\\n'); return 'mine'`,
  },
  { name: 'ends its output', meets: /^"ended"$/, code: `process.stdout.end(); return 'ended'` },
  { name: 'asks for what there is not', meets: /no such question/, code: `return await host.ask('__proto__', {})` },
  {
    name: 'asks the host for more than it may',
    meets: /at most \d+ questions/,
    code: `await Promise.all(Array.from({ length: 200 }, () => host.ask('slow'))); return 'asked'`,
  },
  { name: 'loops for ever', meets: SLOW, isFatal: true, timeMs: 300, code: `for (;;);` },
  {
    name: 'loops in microtasks',
    meets: SLOW,
    isFatal: true,
    timeMs: 300,
    code: `const f = () => Promise.resolve().then(f); return await f()`,
  },
  { name: 'never settles', meets: SLOW, isFatal: true, timeMs: 300, code: `return await new Promise(() => {})` },
  {
    name: 'waits for a lock',
    meets: SLOW,
    isFatal: true,
    timeMs: 300,
    code: `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
  },
  {
    name: 'has an expression that takes for ever',
    meets: SLOW,
    isFatal: true,
    timeMs: 300,
    code: `return /^(a+)+$/.test('a'.repeat(50) + 'b')`,
  },
  {
    name: 'fills the heap',
    meets: ENDED,
    isFatal: true,
    code: `const all = []; for (;;) all.push(new Array(1000).fill({}))`,
  },
  {
    name: 'fills memory with buffers',
    meets: /allocation failed|Failed to allocate|it ended|it was ended/i,
    isFatal: true,
    code: `const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))`,
  },
  {
    name: 'makes a text that is too long',
    meets: /Invalid string length|it ended|it was ended/,
    isFatal: true,
    code: `let s = 'x'; for (;;) s += s + Math.random()`,
  },
  { name: 'exits', meets: ENDED, isFatal: true, code: `process.exit(0)` },
  { name: 'aborts', meets: /restricted|it ended|it was ended/, isFatal: true, code: `process.abort()` },
  {
    name: 'throws in a timer',
    meets: ENDED,
    isFatal: true,
    code: `setTimeout(() => { throw new Error('late') }); await new Promise(() => {})`,
  },
  {
    name: 'rejects where nobody listens',
    meets: ENDED,
    isFatal: true,
    code: `void Promise.reject(new Error('late')); await new Promise(() => {})`,
  },
  {
    name: 'floods its output',
    meets: /printed more than|EAGAIN/,
    isFatal: true,
    code: `for (;;) { try { fs.writeSync(1, 'x'.repeat(65536)) } catch { await new Promise(setImmediate) } }`,
  },
  {
    name: 'floods its errors',
    // On a busy machine it may reach the bound of its memory first, which the system tells by a signal.
    meets: /printed more than|it was ended by SIG/,
    isFatal: true,
    code: `for (;;) { process.stderr.write('x'.repeat(65536)); await new Promise(setImmediate) }`,
  },
  {
    name: 'floods its log',
    // As with its errors.
    meets: /sent more than|it was ended by SIG/,
    isFatal: true,
    code: `for (;;) { console.log('x'.repeat(1000)); await null; if (Math.random() < 0.01) await new Promise(setImmediate) }`,
  },
  {
    name: 'answers what nobody asked',
    meets: PROTOCOL,
    isFatal: true,
    code: `fs.writeSync(3, '{"answer":999,"value":1}\\n'); await new Promise(() => {})`,
  },
  {
    name: 'says that it is ready again',
    meets: PROTOCOL,
    isFatal: true,
    code: `fs.writeSync(3, '{"ready":true}\\n'); await new Promise(() => {})`,
  },
  {
    name: 'speaks no JSON',
    meets: PROTOCOL,
    isFatal: true,
    code: `fs.writeSync(3, 'hello\\n'); await new Promise(() => {})`,
  },
  {
    name: 'speaks without end',
    meets: PROTOCOL,
    isFatal: true,
    code: `for (;;) { try { fs.writeSync(3, 'x'.repeat(65536)) } catch { await new Promise(setImmediate) } }`,
  },
  {
    name: 'says a list',
    meets: PROTOCOL,
    isFatal: true,
    code: `fs.writeSync(3, '[]\\n'); await new Promise(() => {})`,
  },
  { name: 'answers too much', meets: PROTOCOL, isFatal: true, code: `return 'x'.repeat(3e6)` },
  {
    name: 'closes the channel',
    meets: /it ended|it was ended|did not answer/,
    isFatal: true,
    timeMs: 1000,
    code: `fs.closeSync(3); await new Promise(() => {})`,
  },
]

export const PYTHON_ATTACKS: readonly Attack[] = [
  { name: 'reads the list of users', meets: HIDDEN, code: `return open('/etc/passwd').read()` },
  { name: 'reads a file of the host', meets: HIDDEN, code: `return open('@FILE').read()` },
  {
    name: 'lists the home of the host',
    meets: /No such file|Permission denied|^\[("\.pyenv")?\]$/,
    code: `return os.listdir('/root')`,
  },
  { name: 'reads the environment', meets: /^\{("LC_CTYPE": ?"[^"]*")?\}$/, code: `return dict(os.environ)` },
  { name: 'reads the environment of others', meets: HIDDEN, code: `return open('/proc/1/environ').read()` },
  { name: 'reads a disk', meets: HIDDEN, code: `return open('/dev/vda','rb').read(1)` },
  { name: 'writes into its own folder', meets: /Read-only|Permission denied/, code: `open('@FOLDER/new.txt','w')` },
  { name: 'writes anywhere', meets: /Read-only|Permission denied|No such file/, code: `open('/tmp/x','w')` },
  {
    name: 'makes a database',
    meets: /unable to open|No module/,
    code: `import sqlite3; sqlite3.connect('@FOLDER/x.db').execute('create table t(a)')`,
  },
  { name: 'connects to the host', meets: /unreachable/, code: `socket.create_connection(('127.0.0.1', @PORT), 2)` },
  {
    name: 'connects to the metadata of the cloud',
    meets: /unreachable/,
    code: `socket.create_connection(('169.254.169.254', 80), 2)`,
  },
  { name: 'looks up a name', meets: /Name or service|resolution/, code: `socket.getaddrinfo('example.com', 80)` },
  {
    name: 'opens a raw socket',
    meets: /not permitted|denied/i,
    code: `socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)`,
  },
  {
    name: 'reaches a machine by vsock',
    meets: /not permitted|denied|not supported/i,
    code: `socket.socket(40, socket.SOCK_STREAM)`,
  },
  { name: 'starts a shell', meets: /No such file|Read-only|127|32512|32256/, code: `return os.system('id')` },
  {
    name: 'starts a process',
    meets: /No such file|Permission|not permitted/,
    code: `import subprocess; return subprocess.run(['/bin/sh','-c','id']).returncode`,
  },
  {
    name: 'becomes root',
    meets: /not permitted|"still bounded"/,
    code: `os.setuid(0); open('/etc/passwd'); return 'root'`,
  },
  {
    name: 'raises its limits',
    meets: /not allowed|exceeds|not permitted/,
    code: `import resource; resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))`,
  },
  { name: 'signals the host', meets: /No such process|not permitted/, code: `os.kill(@PID, 0)` },
  { name: 'leaves its root', meets: /not permitted/, code: `os.chroot('/usr')` },
  { name: 'makes a device', meets: /not permitted|Read-only/, code: `os.mknod('@FOLDER/dev', 0o60600, 0)` },
  {
    name: 'mounts by a native call',
    meets: /^"-1"$|not permitted/,
    code: `import ctypes; return str(ctypes.CDLL(None).mount(b'x', b'/usr', b'tmpfs', 0, 0))`,
  },
  {
    name: 'makes namespaces of its own',
    meets: /^"-1"$|not permitted/,
    code: `import ctypes; return str(ctypes.CDLL(None).unshare(0x10000000))`,
  },
  {
    name: 'makes namespaces by cloning',
    meets: /^"-1"$|not permitted/,
    code: `import ctypes; return str(ctypes.CDLL(None).syscall(56, 0x10000011, 0, 0, 0, 0) if os.uname().machine == 'x86_64' else -1)`,
  },
  {
    name: 'makes namespaces by the newer call',
    meets: /^"-1"$|not permitted/,
    code: `import ctypes; return str(ctypes.CDLL(None).syscall(435, 0, 0))`,
  },
  { name: 'uses a socket of the kernel', meets: /not permitted/, code: `socket.socket(16, socket.SOCK_RAW, 0)` },
  {
    name: 'traces another process',
    meets: /^"-1"$|not permitted/,
    code: `import ctypes; return str(ctypes.CDLL(None).ptrace(16, @PID, 0, 0))`,
  },
  { name: 'answers what is not JSON', meets: /not JSON/, code: `return {1,2}` },
  { name: 'answers no number', meets: /not JSON/, code: `return float('nan')` },
  { name: 'overflows the stack', meets: /recursion/, code: `f = lambda: f(); f()` },
  { name: 'fills memory', meets: /MemoryError|it ended/, code: `return len('x' * 10**10)` },
  {
    name: 'makes threads without end',
    meets: /can't start new thread|it ended/,
    isFatal: true,
    code: `import threading, time\n  while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()`,
  },
  {
    name: 'is a fork bomb',
    meets: /unavailable|not permitted|did not answer|it broke|it ended/,
    isFatal: true,
    timeMs: 2000,
    code: `while True: os.fork()`,
  },
  {
    name: 'takes memory that no process has',
    meets: /^\[(-1,){4}-1\]$/,
    code: `import ctypes; libc = ctypes.CDLL(None); take = lambda n: libc.shmget(0, 64 << 20, 0o1600)\n  return [take(n) for n in range(3)] + [libc.semget(0, 1, 0o600), libc.msgget(0, 0o600)]`,
  },
  {
    name: 'keeps memory in a file without a name',
    meets: /not permitted/,
    code: `os.memfd_create('x')`,
  },
  {
    name: 'takes memory in many processes',
    meets: TOGETHER,
    isFatal: true,
    code: `for n in range(6):\n    if os.fork() == 0:\n      held = b'x' * (90 << 20); import time; time.sleep(600)\n  await asyncio.Event().wait()`,
  },
  {
    name: 'takes memory in processes that a thread starts',
    meets: TOGETHER,
    isFatal: true,
    code: `import threading, time\n  def work():\n    for n in range(6):\n      if os.fork() == 0:\n        held = b'x' * (90 << 20); time.sleep(600)\n    time.sleep(600)\n  threading.Thread(target=work, daemon=True).start(); await asyncio.Event().wait()`,
  },
  { name: 'loops for ever', meets: SLOW, isFatal: true, timeMs: 300, code: `while True: pass` },
  { name: 'never settles', meets: SLOW, isFatal: true, timeMs: 300, code: `await asyncio.Event().wait()` },
  { name: 'exits', meets: ENDED, isFatal: true, code: `os._exit(0)` },
  {
    name: 'floods its output',
    meets: /printed more than/,
    isFatal: true,
    code: `while True: print('x' * 65536, flush=True)`,
  },
  {
    name: 'prints what looks like the protocol',
    meets: /^"mine"$/,
    code: `print('{"answer":1,"value":"forged"}', flush=True); return 'mine'`,
  },
  {
    name: 'answers what nobody asked',
    meets: PROTOCOL,
    isFatal: true,
    code: `os.write(3, b'{"answer":999}\\n'); await asyncio.Event().wait()`,
  },
]
