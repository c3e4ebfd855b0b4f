/** Runs whole hosts on one data folder, one after another, each as a process that can be killed with -9. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll } from 'vitest'
import { createClient, type Client } from '../../src/client.ts'
import { builtCode } from '../support/built-code.ts'
import { basic } from './sample-host.ts'

/** One process of a host, from its start until its end. */
export interface HostProcess {
  readonly url: string
  /** Headers with the host's only key pair */
  readonly headers: { readonly authorization: string }
  /** Client with the same key pair */
  readonly client: Client
  readonly isKilled: boolean
  /** Sends SIGKILL; resolves when the process has ended */
  kill(): Promise<void>
}

const CREDENTIALS = { key: 'k', secret: 's' }

export class HostProcesses {
  readonly #folder: string
  /** Running processes, each with a promise for its end */
  readonly #running = new Map<ChildProcess, Promise<unknown>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Starts a host; resolves when it listens. `name`: a folder inside this object's folder. `options`: more flags. */
  async start(name = '', options: readonly string[] = []): Promise<HostProcess> {
    const { key, secret } = CREDENTIALS
    const args = ['serve', '--port', '0', '--data', join(this.#folder, name), '--key', key, '--secret', secret]
    // tests send messages with any timestamps
    const more = ['--rate-limit', '0', '--empty', '--log-level', 'silent', '--max-ahead', 'off', '--max-behind', 'off']
    const child = spawn(process.execPath, [builtCode('cli.js'), ...args, ...more, ...options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const gone = once(child, 'close').then(() => this.#running.delete(child))
    this.#running.set(child, gone)
    return hostProcess(await addressOf(child.stdout, gone), child, gone)
  }

  /** Kills the processes that a test left running; resolves when they have ended. */
  async end(): Promise<void> {
    for (const child of this.#running.keys()) child.kill('SIGKILL')
    await Promise.all(this.#running.values())
  }
}

/** Creates hosts over a temporary folder; both are removed after the tests of the file. */
export function crashingHosts(folder = mkdtempSync(join(tmpdir(), 'reflexarc-crash-'))): HostProcesses {
  const hosts = new HostProcesses(folder)
  afterAll(async () => {
    await hosts.end()
    rmSync(folder, { recursive: true, force: true })
  })
  return hosts
}

/** Reads from stdout at which address a host listens. Rejects if the process ends before. */
export async function addressOf(stdout: Readable, gone: Promise<unknown>): Promise<string> {
  stdout.setEncoding('utf8')
  for (let text = ''; ;) {
    const [part] = (await Promise.race([once(stdout, 'data'), gone.then(() => [])])) as unknown[]
    if (typeof part !== 'string') throw new Error(`the host ended by itself: ${text}`)
    text += part
    const url = /listening on (\S+)\n/.exec(text)?.[1]
    if (url !== undefined) return url
  }
}

function hostProcess(url: string, child: ChildProcess, gone: Promise<unknown>): HostProcess {
  let isKilled = false
  return {
    url,
    headers: { authorization: basic(CREDENTIALS.key, CREDENTIALS.secret) },
    client: createClient({ url, credentials: CREDENTIALS }),
    get isKilled() {
      return isKilled
    },
    kill: async () => {
      isKilled = true
      child.kill('SIGKILL')
      await gone
    },
  }
}
