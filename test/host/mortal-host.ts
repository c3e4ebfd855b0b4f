/** Whole hosts on one data folder, one after the other, each a process that can be killed with -9. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { createClient } from '../../src/client.ts'
import type { RulesApi } from '../../src/services/rules/contract.ts'
import { root } from '../support/repository.ts'

type Child = ChildProcessByStdio<null, Readable, null>

export class MortalHosts {
  readonly #folder: string
  readonly #children = new Set<Child>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Resolves when it listens. */
  async start(): Promise<MortalHost> {
    const args = ['serve', '--port', '0', '--data', this.#folder, '--key', 'k', '--secret', 's', '--rate-limit', '0']
    const more = ['--empty', '--log-level', 'silent']
    const child = spawn(process.execPath, [join(root, 'src/host/cli.ts'), ...args, ...more], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#children.add(child)
    const gone = once(child, 'close').then(() => this.#children.delete(child))
    child.stdout.setEncoding('utf8')
    for (let text = ''; ;) {
      const [part] = (await Promise.race([once(child.stdout, 'data'), gone.then(() => [])])) as unknown[]
      if (typeof part !== 'string') throw new Error('the host ended by itself')
      text += part
      const url = /listening on (\S+)\n/.exec(text)?.[1]
      if (url !== undefined) return new MortalHost(url, child, gone)
    }
  }

  /** No child outlives a test that failed. */
  end(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }
}

/** One process, from its start to its death. */
export class MortalHost {
  readonly api: RulesApi
  readonly #child: Child
  readonly #gone: Promise<unknown>
  isKilled = false

  constructor(url: string, child: Child, gone: Promise<unknown>) {
    this.api = createClient({ url, credentials: { key: 'k', secret: 's' } }).rules
    this.#child = child
    this.#gone = gone
  }

  async kill(): Promise<void> {
    this.isKilled = true
    this.#child.kill('SIGKILL')
    await this.#gone
  }
}
