/**
 * A PostgreSQL server of a test's own: new data in a temporary folder, reached over a socket file in it, gone with the
 * test, also when the process that tests is killed. `fsync` is on, because durability is what the tests are about.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { accessSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, it } from 'vitest'

export interface PostgresServer {
  readonly url: string
  /** Ends the server at once, without a checkpoint, as a fall of the machine would; its data stays. */
  crash(): Promise<void>
  start(): Promise<void>
  /** Ends the server and removes its data. */
  stop(): Promise<void>
}

/** A way to the server that can be cut. */
export interface CuttableWay {
  readonly url: string
  /** Drops all connections; later ones are refused until `mend`. */
  cut(): void
  mend(): void
  /** Drops all connections on the client's side only: the server goes on to believe in them. Later ones are let through. */
  strand(): void
  /** what the server has said since to those that it believes in */
  saidToStranded(): string
  /** Calls back with each piece of bytes from a client before it goes on; true cuts the way instead. */
  watch(spy: ((bytes: Buffer) => boolean) | undefined): void
  /** Holds back what the server answers, for ever: it is lost with the next `cut`. */
  muffle(): void
  close(): Promise<void>
}

const OLDEST_MAJOR = 15

/** The folder of `initdb` and `postgres`; undefined where no PostgreSQL of at least version 15 is installed. */
function postgresBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const installed = existsSync(debian)
    ? readdirSync(debian)
        .filter((version) => Number(version) >= OLDEST_MAJOR)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(debian, version, 'bin'))
    : []
  const onPath = (process.env['PATH'] ?? '').split(delimiter)
  return [...installed, ...onPath.filter((folder) => folder !== '')].find(
    (folder) =>
      existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')) && majorOf(folder) >= OLDEST_MAJOR,
  )
}

/** Facts that need a server: left out, with a word on stderr that nobody overlooks, where none is installed. */
export function describeWithPostgres(title: string, define: (start: () => Promise<PostgresServer>) => void): void {
  const binaries = postgresBinaries()
  describe(title, () => {
    if (binaries !== undefined) return define(() => startPostgres(binaries))
    const reason = `PostgreSQL ${OLDEST_MAJOR} or later (initdb) is not installed: apt-get install -y --no-install-recommends postgresql`
    process.stderr.write(`\n*** NOT TESTED: ${title}. ${reason}\n\n`)
    // oxlint-disable-next-line vitest/expect-expect -- it only says why the others are left out
    it('needs PostgreSQL', ({ skip }) => {
      skip(reason)
    })
  })
}

async function startPostgres(binaries: string): Promise<PostgresServer> {
  const owner = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'pg-'))
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  try {
    execFileSync(
      join(binaries, 'initdb'),
      ['-D', data, '-U', 'tester', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
      { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }

  let watchdog: ChildProcess | undefined
  const start = async (): Promise<void> => {
    // The shell ends the server and clears up when its own input ends, which happens however this process dies
    const script =
      'folder=$0; "$@" & server=$!; read -r word; kill -QUIT $server; wait $server; [ "$word" = keep ] || rm -rf "$folder"'
    const settings = { listen_addresses: '', unix_socket_directories: folder, fsync: 'on', max_connections: '60' }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn('/bin/sh', ['-c', script, folder, join(binaries, 'postgres'), '-D', data, ...options], {
      ...owner,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    watchdog = child
    await ready(child)
  }
  const end = async (lastWord: string): Promise<void> => {
    const child = watchdog
    watchdog = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.stdin?.end(lastWord)
    await ended
  }
  const crash = async (): Promise<void> => {
    await end('keep\n')
  }
  const stop = async (): Promise<void> => {
    await end('')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await start()
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `postgresql:///postgres?host=${encodeURIComponent(folder)}&user=tester`, crash, start, stop }
}

/** A loopback port that leads to the server's socket file. */
export async function cuttableWay(server: PostgresServer): Promise<CuttableWay> {
  const folder = new URL(server.url).searchParams.get('host') ?? ''
  const open = new Set<Socket>()
  const ways = new Map<Socket, Socket>()
  const stranded: Socket[] = []
  let saidToStranded = ''
  let down = false
  let muffled = false
  let spy: ((bytes: Buffer) => boolean) | undefined
  const cut = (): void => {
    down = true
    for (const socket of open) socket.destroy()
    open.clear()
  }
  const listener = createServer((client) => {
    if (down) return void client.destroy()
    const upstream = connect(join(folder, '.s.PGSQL.5432'))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        if (!stranded.includes(other)) other.destroy()
      })
    }
    ways.set(client, upstream)
    client.on('data', (bytes: Buffer) => {
      if (spy?.(bytes) === true) cut()
      else upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (stranded.includes(upstream)) saidToStranded += bytes.toString('latin1')
      else if (!muffled) client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `postgresql://tester@127.0.0.1:${address.port}/postgres`,
    cut,
    mend: () => {
      down = false
      muffled = false
    },
    strand: () => {
      for (const [client, upstream] of ways) {
        if (!open.has(client)) continue
        stranded.push(upstream)
        client.destroy()
      }
    },
    saidToStranded: () => saidToStranded,
    watch: (next) => {
      spy = next
    },
    muffle: () => {
      muffled = true
    },
    close: async () => {
      cut()
      for (const socket of stranded) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000)
      if (said.includes('database system is ready to accept connections')) resolve()
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${said}`)))
  })
}

/** PostgreSQL refuses to run as root; then it runs as the user that Debian made for it, or as nobody. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const fields = ['postgres', 'nobody'].map((name) => users.find((line) => line.startsWith(`${name}:`))).find(Boolean)
  const [, , uid, gid] = (fields ?? '').split(':')
  if (uid === undefined || gid === undefined) throw new Error('no user postgres or nobody to run PostgreSQL as')
  return { uid: Number(uid), gid: Number(gid) }
}

function majorOf(folder: string): number {
  try {
    accessSync(join(folder, 'postgres'))
    const text = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
    return Number(/\d+/.exec(text)?.[0] ?? 0)
  } catch {
    return 0
  }
}
