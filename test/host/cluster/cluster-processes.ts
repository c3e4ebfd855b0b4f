/**
 * Runs the hosts of one cluster over PostgreSQL, each as a separate process that can be killed, suspended and stopped.
 */
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
  /** Sends SIGKILL; resolves when the process has ended */
  kill(): Promise<void>
  /** Sends SIGSTOP */
  halt(): void
  /** Sends SIGCONT */
  goOn(): void
  /** Sends SIGTERM; resolves to the exit code */
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

  /** Creates a key for each tenant, equal to the tenant's name. */
  async addKeys(tenants: readonly string[]): Promise<void> {
    const storage = await openPostgres({ url: this.#store, blobs: openMemoryBlobs() })
    try {
      const keys = new ApiKeys(storage.tenant(HOST_TENANT).collection(KEY_RECORDS), Date.now, 2)
      for (const tenant of tenants) await keys.add({ key: tenant, secret: SECRET, tenant })
    } finally {
      await storage.close()
    }
  }

  /** Resolves when `count` hosts have their even shares, so that no slot moves until a host joins or leaves. */
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

  /** Drains a host like `reflexarc cluster drain`; resolves when the host has no slots left. */
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

  /**
   * Starts a host; resolves when it has joined. `store`: this host's own address for the shared PostgreSQL. `skew`:
   * error of its clock in ms.
   */
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
      // with a long time limit, since a host suspended for long continues its pending requests
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

  /** Kills all hosts that a test left running. */
  async end(): Promise<void> {
    for (const child of this.#running.keys()) child.kill('SIGKILL')
    await Promise.all(this.#running.values())
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Returns Node options that shift the process's clock. */
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
