/** Hosts of one cluster on a PostgreSQL, each a process of its own that can be killed, halted and told to stop. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scheduler } from 'node:timers/promises'
import { orderDrain, viewCluster } from '../../../src/cluster/placement/cluster-view.ts'
import { SLOTS } from '../../../src/cluster/placement/slots.ts'
import { createClient, type Client } from '../../../src/client.ts'
import { ApiKeys, KEY_RECORDS } from '../../../src/host/auth/api-keys.ts'
import { HOST_TENANT } from '../../../src/host/auth/host-tenant.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import type { Store } from '../../../src/storage/contract.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { builtCode } from '../../support/built-code.ts'
import { addressOf } from '../host-process.ts'
import { basic } from '../sample-host.ts'

export interface MemberProcess {
  readonly url: string
  readonly pid: number | undefined
  /** SIGKILL; resolves when it is gone */
  kill(): Promise<void>
  /** SIGSTOP */
  halt(): void
  /** SIGCONT */
  goOn(): void
  /** SIGTERM; gives the exit code */
  terminate(): Promise<number | null>
}

const SECRET = 's'

export class ClusterProcesses {
  readonly #store: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'reflexarc-cluster-'))
  readonly #running = new Map<ChildProcess, Promise<unknown>>()
  #count = 0

  constructor(store: string) {
    this.#store = store
  }

  /** Each tenant gets a key, which has its name. */
  async addKeys(tenants: readonly string[]): Promise<void> {
    const storage = await openPostgres({ url: this.#store, blobs: openMemoryBlobs() })
    try {
      const keys = new ApiKeys(storage.tenant(HOST_TENANT).collection(KEY_RECORDS), Date.now, 2)
      for (const tenant of tenants) await keys.add({ key: tenant, secret: SECRET, tenant })
    } finally {
      await storage.close()
    }
  }

  /** Resolves when so many hosts have their even shares: nothing moves any more until one comes or goes. */
  settled(count: number): Promise<void> {
    const most = Math.ceil(SLOTS / count)
    return this.#withStore(async (store) => {
      const isSettled = async (): Promise<boolean> => {
        const { hosts } = await viewCluster(store)
        const shares = hosts.flatMap(({ state, slots }) => (state === 'live' ? [slots] : []))
        return shares.length === count && Math.min(...shares) >= SLOTS - most * (count - 1)
      }
      while (!(await isSettled())) await scheduler.wait(100)
    })
  }

  /** As `reflexarc cluster drain`; resolves when the host has nothing left. */
  drain(url: string): Promise<void> {
    return this.#withStore(async (store) => {
      await orderDrain(store, url)
      const isEmpty = async (): Promise<boolean> => {
        const { hosts } = await viewCluster(store)
        return hosts.every((host) => host.url !== url || host.slots === 0)
      }
      while (!(await isEmpty())) await scheduler.wait(100)
    })
  }

  async #withStore(work: (store: Store) => Promise<void>): Promise<void> {
    const storage = await openPostgres({ url: this.#store, blobs: openMemoryBlobs() })
    try {
      await work(storage.tenant(HOST_TENANT))
    } finally {
      await storage.close()
    }
  }

  headersOf(tenant: string): { readonly authorization: string } {
    return { authorization: basic(tenant, SECRET) }
  }

  clientOf(url: string, tenant: string): Client {
    return createClient({ url, credentials: { key: tenant, secret: SECRET } })
  }

  /** Resolves when it has joined. `store`: its own way to the PostgreSQL of all. `skew`: ms by which its clock is wrong. */
  async start({ store = this.#store, skew = 0 } = {}): Promise<MemberProcess> {
    const data = join(this.#folder, `host-${(this.#count += 1)}`)
    const shared = ['--store', store, '--blobs', join(this.#folder, 'objects'), '--cluster']
    const args = [
      'serve',
      '--port',
      '0',
      '--data',
      data,
      '--key',
      'root',
      '--secret',
      SECRET,
      '--tenant',
      'root',
      ...shared,
    ]
    const child = spawn(
      process.execPath,
      // no limit of time: a host that was halted for long goes on with what it had begun
      [
        ...clockOf(skew),
        builtCode('cli.js'),
        ...args,
        '--rate-limit=0',
        '--time-limit=600000',
        '--functions=off',
        '--log-level=silent',
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const gone = once(child, 'close').then(() => this.#running.delete(child))
    this.#running.set(child, gone)
    return memberOf(await addressOf(child.stdout, gone), child, gone)
  }

  /** Kills whatever a test left. */
  async end(): Promise<void> {
    for (const child of this.#running.keys()) child.kill('SIGKILL')
    await Promise.all(this.#running.values())
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Options of node that set the clock of the process. */
function clockOf(skew: number): readonly string[] {
  const script = `const now = Date.now; Date.now = () => now() + ${skew}`
  return skew === 0 ? [] : ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}

function memberOf(url: string, child: ChildProcess, gone: Promise<unknown>): MemberProcess {
  return {
    url,
    pid: child.pid,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    halt: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    async terminate() {
      child.kill('SIGTERM')
      await gone
      return child.exitCode
    },
  }
}
