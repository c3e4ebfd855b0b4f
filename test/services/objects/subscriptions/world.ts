/**
 * Provides subscriptions over objects and a broker in memory, with webscripts that a test answers and timers that it
 * fires.
 */
import { AppError } from '../../../../src/kernel/errors.ts'
import type { JobTimers } from '../../../../src/jobs/contract.ts'
import { createBrokerService } from '../../../../src/services/broker/service.ts'
import { BlobContents } from '../../../../src/services/objects/contents/blob-contents.ts'
import type { ObjectChange, ObjectForwarding } from '../../../../src/services/objects/contract.ts'
import { exportHandler } from '../../../../src/services/objects/etl/export-jobs.ts'
import { importHandler } from '../../../../src/services/objects/etl/import-jobs.ts'
import { IMPORT_SUBSCRIPTION, Transfers } from '../../../../src/services/objects/etl/transfers.ts'
import { Objects } from '../../../../src/services/objects/service.ts'
import { SigningKeys } from '../../../../src/services/objects/signing/signing-keys.ts'
import { Seal } from '../../../../src/platform/seal.ts'
import { Subscriptions } from '../../../../src/services/objects/subscriptions/service.ts'
import type { DeployedWebscript } from '../../../../src/services/functions/contract.ts'
import { admit } from '../../../../src/services/webscripts/admission.ts'
import type { InternalWebscripts, ScriptRequest } from '../../../../src/services/webscripts/contract.ts'
import type { Storage } from '../../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'

export const TENANT = 'acme'
export const START = Date.UTC(2026, 0, 1)
export const SECRET = 'of the webscript'
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A call that a webscript received. */
export interface Told extends Pick<ScriptRequest, 'method' | 'query' | 'headers'> {
  readonly script: string
  readonly body: Record<string, unknown> | undefined
}

/** Returns the status for a call of a webscript. */
export type Answering = (told: Told) => number | Promise<number>

let ids = 0

/** State that survives a host. */
export class SubscriptionsWorld {
  now = START
  readonly told: Told[] = []
  /** Changes that reached the rules */
  readonly heard: ObjectChange[] = []
  answering: Answering = () => 200
  readonly #disk = new MemoryDisk()
  readonly #timers = new Set<{ readonly at: number; work(): void }>()

  /** Opens the store as a starting host does; `kill` abandons it as in a crash. */
  async host(): Promise<SubscriptionsHost> {
    const storage = openMemory({ disk: this.#disk, clock: () => this.now })
    const host = new SubscriptionsHost(this, storage)
    await host.start()
    return host
  }

  readonly later = (ms: number, work: () => void): (() => void) => {
    const timer = { at: this.now + ms, work }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Advances the clock, and runs due work in order. */
  async advance(ms: number, host: SubscriptionsHost): Promise<void> {
    const end = this.now + ms
    for (;;) {
      await host.settled()
      const [due] = [...this.#timers].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)
      if (due === undefined) break
      this.#timers.delete(due)
      this.now = Math.max(this.now, due.at)
      due.work()
    }
    this.now = end
  }

  /** Drops the timers of a host that has ended. */
  forgetTimers(): void {
    this.#timers.clear()
  }
}

export class SubscriptionsHost {
  readonly service: Subscriptions
  readonly objects: Objects
  readonly transfers: Transfers
  readonly storage: Storage
  readonly #world: SubscriptionsWorld
  #left = Number.POSITIVE_INFINITY

  constructor(world: SubscriptionsWorld, opened: Storage) {
    this.#world = world
    const storage = mortal(opened, () => this.#left-- > 0)
    this.storage = storage
    const now = (): number => world.now
    const logger = { warn: () => undefined, error: () => undefined }
    const newId = (): string => `id-${(ids += 1)}`
    const store = storage.tenant(TENANT)
    this.objects = new Objects({
      tenant: TENANT,
      store,
      contents: new BlobContents(store.blobs),
      keys: new SigningKeys(new Uint8Array(32)),
      now,
      newId,
      later: () => () => undefined,
      logger,
      origin: () => 'http://host.test',
    })
    const broker = createBrokerService({
      tenant: TENANT,
      store: storage.tenant(TENANT),
      now,
      every: () => () => undefined,
    })
    const timers: JobTimers = {
      later: world.later,
      breathe: () => new Promise((resolve) => setImmediate(resolve)),
      random: () => 1,
    }
    const objects = (): Objects => this.objects
    const queries = () => undefined
    this.transfers = new Transfers({
      store,
      queue: () => this.service.queue,
      queries,
      now,
      newId,
    })
    this.service = new Subscriptions({
      tenant: TENANT,
      store,
      objects,
      webscripts: () => this.#webscripts(),
      seal: new Seal(new Uint8Array(32).fill(1)),
      checkPair: async (key, secret) => (secret === 'right' ? { tenant: key } : undefined),
      engine: () => this.#engine(),
      system: [{ record: IMPORT_SUBSCRIPTION, take: (change) => this.transfers.take(change) }],
      handlers: [
        importHandler({ objects, broker: () => broker, now }),
        exportHandler({ objects, queries, broker: () => broker, now }),
      ],
      now,
      newId,
      timers,
      logger,
    })
  }

  get api() {
    return this.service.as({ tenant: TENANT, user: 'users/1' })
  }

  async start(): Promise<void> {
    await this.objects.start()
    await this.service.start()
  }

  async put(path: string, content: string | Uint8Array = path, bucket = 'assets'): Promise<void> {
    await this.objects
      .as({ tenant: TENANT, user: 'users/1' })
      .put(bucket, path, typeof content === 'string' ? bytes(content) : content)
  }

  async textOf(bucket: string, path: string): Promise<string> {
    const api = this.objects.inside
    const entry = await api.stat(bucket, path)
    if ('isFolder' in entry) throw new Error(`${path} is a folder`)
    const pieces: Uint8Array[] = []
    for await (const piece of await api.read(entry)) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  }

  /** Waits until everything possible at this time is done. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) {
      await this.service.idle()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async stop(): Promise<void> {
    await this.service.stop()
    await this.objects.stop()
    await this.storage.close()
    this.#world.forgetTimers()
  }

  /** Makes the store fail for this host after `commits` more commits. */
  dieAfter(commits: number): void {
    this.#left = commits
  }

  /** Closes the store under a running host: nothing that the host still does counts. */
  async kill(): Promise<void> {
    await this.storage.close()
    this.#world.forgetTimers()
  }

  #engine(): ObjectForwarding {
    return {
      receive: async (change, writes) => {
        await this.storage.tenant(TENANT).commit(writes)
        this.#world.heard.push(change)
      },
    }
  }

  #webscripts(): InternalWebscripts {
    const part: Pick<InternalWebscripts, 'choose' | 'authenticate' | 'admit' | 'call'> = {
      admit: () => undefined,
      choose: (name) => {
        if (name === 'none') return undefined
        return {
          tenant: TENANT,
          name,
          isPrivate: name === 'private',
          isRunning: true,
          version: '1.0.0',
        } as DeployedWebscript
      },
      authenticate: (script, shown) =>
        admit(script, [SECRET], shown, {
          checkPair: async (key, secret) => (secret === 'right' ? { tenant: key } : undefined),
          isToken: async (token) => token === 'of-the-host',
        }),
      call: async (script, { method, query, headers, body }) => {
        const text = new TextDecoder().decode(body)
        const told = { script: script.name, method, query, headers, body: text === '' ? undefined : bodyOf(text) }
        this.#world.told.push(told)
        return { status: await this.#world.answering(told), headers: [], body: 'what it said' }
      },
    }
    return part as InternalWebscripts
  }
}

/** Wraps a storage so that commits fail once not allowed, as if the process were killed between two commits. */
function mortal(storage: Storage, mayCommit: () => boolean): Storage {
  return {
    ...storage,
    tenant: (id) => {
      const store = storage.tenant(id)
      const commit: typeof store.commit = async (writes) => {
        if (!mayCommit()) throw new AppError('CLOSED', 'the host is dead')
        return store.commit(writes)
      }
      return new Proxy(store, {
        get: (target, key) => {
          if (key === 'commit') return commit
          const value: unknown = Reflect.get(target, key)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      })
    },
  }
}

function bodyOf(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>
}

/** Builds a subscription to all uploads. */
export function subscriptionOf(more: object = {}, channel: object = {}) {
  return {
    channel: {
      type: 'webscript',
      name: 'public',
      method: 'POST',
      payload: { signed_links: [] },
      authentication: { method: 'NONE' },
      ...channel,
    },
    filters: [{}],
    ...more,
  }
}
