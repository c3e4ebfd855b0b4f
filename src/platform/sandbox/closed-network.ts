/** Creates a network namespace whose only connection is a Unix socket, for tools that may reach only a few hosts. */
import { execFile } from 'node:child_process'
import type { Machine } from './inspect-machine.ts'

export const PROXY = 'http://127.0.0.1:3128'
const PORT = new URL(PROXY).port

const UNSHARE = '/usr/bin/unshare'
const TRY_MS = 20_000

const RAISE = `import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x41))`

export function raiseLoopback(python: string | undefined): string {
  const other = python === undefined ? 'false' : `'${python}' -I -S -c '${RAISE}'`
  return `{ ip link set lo up 2>/dev/null || ${other}; }`
}

/** Listens at the loopback address, runs the tool, and exits with it. Arguments: the socket and the command. */
const RELAY = `const net = require('node:net')
const [socket, command, ...args] = process.argv.slice(1)
const server = net.createServer((near) => {
  const far = net.connect(socket)
  near.pipe(far).pipe(near)
  near.on('error', () => far.destroy()).on('close', () => far.destroy())
  far.on('error', () => near.destroy()).on('close', () => near.destroy())
})
server.listen(${PORT}, '127.0.0.1', () => {
  const tool = require('node:child_process').spawn(command, args, { stdio: 'inherit' })
  tool.on('error', (error) => { console.error(error.message); process.exit(127) })
  tool.on('exit', (code) => process.exit(code ?? 1))
})`

/** Returns a command with a relay to the socket. `node`: absolute path. */
export function relayed(node: string, socket: string, command: readonly string[]): readonly string[] {
  return [node, '--eval', RELAY, socket, ...command]
}

/** Explains why this machine cannot create such a network, found by trying; undefined: it can. */
export function closedNetworkProblem({ interpreters }: Machine): Promise<string | undefined> {
  const userFlags = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const script = `PATH=/usr/bin:/bin:/usr/sbin:/sbin; ${raiseLoopback(interpreters.get('python')?.path)}`
  return new Promise((resolve) => {
    const options = { env: {}, timeout: TRY_MS, killSignal: 'SIGKILL' } as const
    execFile(UNSHARE, [...userFlags, '--net', '/bin/sh', '-c', script], options, (error, _output, stderr) => {
      const last = stderr.trim().split('\n').at(-1)
      resolve(error === null ? undefined : last || 'the loopback address cannot be raised: install ip or python3')
    })
  })
}
