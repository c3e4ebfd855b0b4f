/**
 * `npm run try:cluster`: runs three hosts of a cluster and their own PostgreSQL on this machine until Ctrl-C. Their
 * data is in a temporary folder, which is removed afterwards. The tour in docs/concepts/cluster.md can be followed on
 * these hosts.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OLDEST_MAJOR, postgresBinaries, startPostgres } from '../../support/start-postgres.ts'

const CLI = join(import.meta.dirname, '../../../src/cli/main.ts')
const PORTS = [8081, 8082, 8083]

const say = (text: string): void => void process.stdout.write(`${text}\n`)

function startHost(store: string, folder: string, port: number): ChildProcess {
  const own = ['--port', String(port), '--data', join(folder, `host-${port}`), '--key', 'me', '--secret', 'my-secret']
  const shared = ['--cluster', '--store', store, '--blobs', join(folder, 'objects'), '--log-level', 'warn']
  return spawn(process.execPath, [CLI, 'serve', ...own, ...shared], { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Resolves to true when a host is ready; false when it ended before. */
async function isReady(host: ChildProcess): Promise<boolean> {
  host.stderr?.pipe(process.stderr)
  const gone = once(host, 'close').then(() => undefined)
  for (let said = ''; !said.includes('listening on ');) {
    const parts: readonly unknown[] | undefined = await Promise.race([once(host.stdout ?? host, 'data'), gone])
    if (parts === undefined) return false
    said += String(parts[0])
  }
  host.stdout?.resume()
  return true
}

async function main(): Promise<number> {
  const binaries = postgresBinaries()
  if (binaries === undefined) {
    say(`There is no PostgreSQL ${OLDEST_MAJOR} or later here: apt-get install -y --no-install-recommends postgresql`)
    return 1
  }
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-try-'))
  const server = await startPostgres(binaries)
  const hosts: ChildProcess[] = []
  try {
    for (const port of PORTS) {
      const host = startHost(server.url, folder, port)
      hosts.push(host)
      if (!(await isReady(host))) return 1
      say(`http://127.0.0.1:${port} is process ${host.pid ?? 0}`)
    }
    say(`export REFLEXARC_STORE='${server.url}'`)
    say('key me, secret my-secret; "npx reflexarc cluster" shows them, "kill -9" ends one, Ctrl-C ends all')
    await stop
    return 0
  } finally {
    for (const host of hosts) host.stderr?.destroy()
    const running = hosts.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    await Promise.all(
      running.map(async (host) => {
        // the hosts' data is removed as well
        const gone = once(host, 'close')
        host.kill('SIGKILL')
        await gone
      }),
    )
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
