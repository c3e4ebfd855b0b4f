/**
 * Starts a separate PostgreSQL server with new data in a temporary folder, reached through a socket file there. It ends
 * with the process that started it, even if that is killed. `fsync` is on, because tests check durability.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { accessSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface PostgresServer {
  readonly url: string
  /** Kills the server without a checkpoint, like a machine failure; its data stays. */
  crash(): Promise<void>
  start(): Promise<void>
  /** Ends the server and removes its data. */
  stop(): Promise<void>
}

export const OLDEST_MAJOR = 15

/** Returns the folder of `initdb` and `postgres`, or undefined if PostgreSQL 15 or later is not installed. */
export function postgresBinaries(): string | undefined {
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

/** `copied`: the new server is a standby of this server until promoted. */
export async function startPostgres(binaries: string, copied?: PostgresServer): Promise<PostgresServer> {
  const owner = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'pg-'))
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  const [tool, args] =
    copied === undefined
      ? ['initdb', ['-D', data, '-U', 'tester', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']]
      : ['pg_basebackup', ['-D', data, '-R', '-X', 'stream', '-c', 'fast', '-d', copied.url, '--no-sync']]
  try {
    execFileSync(join(binaries, tool), args, { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }

  let watchdog: ChildProcess | undefined
  const start = async (): Promise<void> => {
    // The shell ends the server and cleans up when its input ends, however this process dies
    const script =
      'folder=$0; "$@" & server=$!; read -r word; kill -QUIT $server; wait $server; [ "$word" = keep ] || rm -rf "$folder"'
    const settings = { listen_addresses: '', unix_socket_directories: folder, fsync: 'on', max_connections: '60' }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn('/bin/sh', ['-c', script, folder, join(binaries, 'postgres'), '-D', data, ...options], {
      ...owner,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'pipe'],
      // Ctrl-C must only reach the parent
      detached: true,
    })
    watchdog = child
    await ready(child)
  }
  const end = async (lastWord: string): Promise<void> => {
    const child = watchdog
    watchdog = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
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

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000)
      if (/ready to accept (?:read-only )?connections/.test(said)) resolve()
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${said}`)))
  })
}

/** PostgreSQL refuses to run as root, so use the user that Debian created for it, or the user `nobody`. */
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
