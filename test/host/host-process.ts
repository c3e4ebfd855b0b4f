/** Whole hosts on one data folder, one after the other, each a process of its own that can be killed with -9. */
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

/** One process, from its start to its death. */
export interface HostProcess {
  readonly url: string
  /** with the one key pair that it knows */
  readonly headers: { readonly authorization: string }
  /** with the same */
  readonly client: Client
  readonly isKilled: boolean
  /** `kill -9`; resolves when it is gone */
  kill(): Promise<void>
}

const CREDENTIALS = { key: 'k', secret: 's' }

export class HostProcesses {
  readonly #folder: string
  /** the running ones, and when they are gone */
  readonly #running = new Map<ChildProcess, Promise<unknown>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Resolves when it listens; `name`: that of a folder within its own. */
  async start(name = ''): Promise<HostProcess> {
    const { key, secret } = CREDENTIALS
    const args = ['serve', '--port', '0', '--data', join(this.#folder, name), '--key', key, '--secret', secret]
    // messages of tests are of any time
    const more = ['--rate-limit', '0', '--empty', '--log-level', 'silent', '--max-ahead', 'off', '--max-behind', 'off']
    const child = spawn(process.execPath, [builtCode('cli.js'), ...args, ...more], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const gone = once(child, 'close').then(() => this.#running.delete(child))
    this.#running.set(child, gone)
    return hostProcess(await addressOf(child.stdout, gone), child, gone)
  }

  /** Kills those that a test left; resolves when they are gone. */
  async end(): Promise<void> {
    for (const child of this.#running.keys()) child.kill('SIGKILL')
    await Promise.all(this.#running.values())
  }
}

/** Over a temporary folder, with which they end after the tests of the file. */
export function crashingHosts(folder = mkdtempSync(join(tmpdir(), 'reflexarc-crash-'))): HostProcesses {
  const hosts = new HostProcesses(folder)
  afterAll(async () => {
    await hosts.end()
    rmSync(folder, { recursive: true, force: true })
  })
  return hosts
}

/** Where a host listens, as its stdout says. Rejects when it is gone before. */
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
