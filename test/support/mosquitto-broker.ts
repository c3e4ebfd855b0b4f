/** Runs the real broker Mosquitto: the installed one, or the one of Debian's packages in a cache folder. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'mqtt'
import { freePort } from './free-port.ts'

const PACKAGES = ['mosquitto', 'libwrap0', 'libdlt2', 'libmosquitto1', 'libcjson1']
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'reflexarc', 'mosquitto')

export interface Program {
  readonly path: string
  readonly env: NodeJS.ProcessEnv
}

/** Returns the program, or why it cannot be had. */
export function findMosquitto(): Program | string {
  for (const path of ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto', '/opt/homebrew/sbin/mosquitto']) {
    if (existsSync(path)) return { path, env: process.env }
  }
  const path = join(CACHE, 'usr/sbin/mosquitto')
  try {
    if (!existsSync(path)) {
      mkdirSync(CACHE, { recursive: true })
      execFileSync('apt-get', ['download', ...PACKAGES], { cwd: CACHE, stdio: 'pipe' })
      for (const name of readdirSync(CACHE).filter((file) => file.endsWith('.deb'))) {
        execFileSync('dpkg-deb', ['-x', name, '.'], { cwd: CACHE, stdio: 'pipe' })
      }
    }
    const folders = ['usr/lib', 'lib'].flatMap((folder) => {
      const found = join(CACHE, folder)
      return existsSync(found) ? readdirSync(found).map((name) => join(found, name)) : []
    })
    return { path, env: { ...process.env, LD_LIBRARY_PATH: folders.join(':') } }
  } catch (error) {
    return `mosquitto is not installed, and its packages cannot be fetched: ${String(error)}`
  }
}

/** Lets the broker store each change, so that it keeps what it accepted when it is killed. */
export const STORES_AT_ONCE = ['autosave_on_changes true', 'autosave_interval 1']

export interface Mosquitto {
  readonly port: number
  readonly url: string
  /** Starts it again on the same port, with what it stored. */
  start(): Promise<void>
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** `settings`: further lines of its configuration; default: everyone may connect. `scheme`: of its address. */
export async function startMosquitto(
  { path, env }: Program,
  settings: readonly string[] = ['allow_anonymous true'],
  scheme: 'mqtt' | 'mqtts' = 'mqtt',
): Promise<Mosquitto> {
  const folder = mkdtempSync(join(tmpdir(), 'mosquitto-'))
  const port = await freePort()
  const file = join(folder, 'mosquitto.conf')
  const lines = [
    'user root',
    `listener ${port} 127.0.0.1`,
    'persistence true',
    `persistence_location ${folder}/`,
    'max_queued_messages 0',
    ...settings,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  let child: ChildProcess | undefined
  let gone: Promise<unknown> = Promise.resolve()
  const start = async (): Promise<void> => {
    child = spawn(path, ['-c', file], { env, stdio: 'ignore' })
    gone = once(child, 'exit')
    while (!(await accepts(port))) if (child.exitCode !== null) throw new Error('mosquitto ended by itself')
  }
  const kill = async (): Promise<void> => {
    child?.kill('SIGKILL')
    await gone
  }
  await start()
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    start,
    kill,
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves to whether something listens on the port. */
function accepts(port: number): Promise<boolean> {
  const probe = connect(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 0 })
  return new Promise((resolve) => {
    const over = (does: boolean): void => {
      probe.end(true)
      resolve(does)
    }
    probe.on('error', (error) => over(!('code' in error) || typeof error.code === 'number'))
    probe.once('connect', () => over(true))
    probe.stream.once('connect', () => over(true))
  })
}
