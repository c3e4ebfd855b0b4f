/** Models the partitions of one tenant over one store; each may end at any commit, hang, or move. */
import type { Message } from '../../../../src/core/task/origin.ts'
import type { Rule } from '../../../../src/index.ts'
import { AppError } from '../../../../src/kernel/errors.ts'
import { partitionStore } from '../../../../src/cluster/partitions/partition-store.ts'
import { LOG_NAME } from '../../../../src/log/message-entry.ts'
import { inputOf, messagesOf, type Input } from '../../../../src/services/rules/durable/input.ts'
import { Relay } from '../../../../src/services/rules/relay/relay.ts'
import type { Log, Storage, Store } from '../../../../src/storage/contract.ts'
import { fenceStore, takeFence } from '../../../../src/storage/fence-store.ts'
import { Life, Outside, runnableOf, TENANT } from '../durable/support/lives.ts'

/** A host that owns a partition. */
interface Holder {
  readonly life: Life
  readonly relay: Relay
  isDead: boolean
}

export class ModelTenant {
  readonly count: number
  readonly rules: Readonly<Record<string, { readonly rule: Rule; readonly partition: number }>>
  readonly #storage: Storage
  readonly #holders = new Map<number, Holder>()
  readonly #zombies: Holder[] = []
  readonly #running = new Set<string>()
  #terms = 0
  now = 0

  constructor(storage: Storage, count: number, rules: ModelTenant['rules']) {
    this.#storage = storage
    this.count = count
    this.rules = rules
  }

  get #base(): Store {
    return this.#storage.tenant(TENANT)
  }

  /** Opens a partition. `commits`: the host dies after this many, and the next one is never acknowledged. */
  async open(partition: number, commits = Number.POSITIVE_INFINITY): Promise<void> {
    this.#terms += 1
    const holder = String(this.#terms)
    const fence = await takeFence(this.#base, `tenant/${partition}`, { holder, term: this.#terms })
    let left = commits
    const mortal = (store: Store): Store =>
      new Proxy(store, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name)
          if (typeof member !== 'function') return member
          if (name === 'log') return (log: string) => whole(target.log(log))
          if (name !== 'commit') return member.bind(target) as unknown
          return async (...given: Parameters<Store['commit']>) => {
            left -= 1
            if (left < 0) made.isDead = true
            if (made.isDead) throw new AppError('CLOSED', 'the host is gone')
            return target.commit(...given)
          }
        },
      })
    const store = fenceStore(mortal(partitionStore(this.#base, partition)), fence)
    const storage: Storage = { ...this.#storage, tenant: () => store, close: async () => undefined }
    const life: Life = new Life(storage, new Outside(), {
      at: this.now,
      bind: (resources) => relay.bind(resources),
    })
    const relay: Relay = new Relay({
      tenant: TENANT,
      store,
      partition: { number: partition, count: this.count },
      intake: life.runner.intake,
      handed: (to) => this.#holders.get(to)?.relay.wake(),
      every: () => () => undefined,
    })
    const made: Holder = { life, relay, isDead: false }
    this.#holders.set(partition, made)
    const own = [...this.#running].filter((id) => this.rules[id]?.partition === partition)
    try {
      await life.runner.resume(own.map((id) => this.#runnable(id)))
      await relay.start()
    } catch {
      made.isDead = true
    }
  }

  /** Replaces all hosts that have died. */
  async reopen(): Promise<void> {
    for (let partition = 0; partition < this.count; partition += 1) {
      if (this.#holders.get(partition)?.isDead !== false) await this.open(partition)
    }
  }

  /** Lets another host take over; the previous one continues as long as the store permits. */
  async overtake(partition: number, commits?: number): Promise<void> {
    const before = this.#holders.get(partition)
    if (before !== undefined) this.#zombies.push(before)
    await this.open(partition, commits)
  }

  /** Ends in order, and continues on another host. */
  async move(partition: number): Promise<void> {
    const before = this.#holders.get(partition)
    await before?.relay.stop()
    await before?.life.runner.close().catch(() => undefined)
    await this.open(partition)
  }

  /** Sends a message; returns whether it was acknowledged. */
  async send(partition: number, message: Message, channel?: string, isLate = false): Promise<boolean> {
    const holder = isLate ? this.#zombies.at(-1) : this.#holders.get(partition)
    try {
      await holder?.relay.intake.receive([{ messages: message, ...(channel !== undefined && { channel }) }])
      return holder !== undefined
    } catch {
      return false
    }
  }

  /** Begins a task; returns whether it runs. */
  async begin(id: string): Promise<boolean> {
    const holder = this.#holders.get(this.rules[id]?.partition ?? 0)
    if (holder === undefined || this.#running.has(id)) return this.#running.has(id)
    // the document is stored from now on: the partition's next owner begins tasks that were not begun
    this.#running.add(id)
    await holder.life.begin(this.#runnable(id)).catch(() => undefined)
    return true
  }

  async pass(ms: number): Promise<void> {
    this.now += ms
    for (const { life, isDead } of this.#holders.values()) if (!isDead) await life.to(this.now)
  }

  /** Waits until nothing changes and nothing is left to hand over. */
  async settle(): Promise<void> {
    for (let round = 0; round <= this.count; round += 1) {
      await this.reopen()
      for (const { relay, life } of this.#holders.values()) {
        relay.wake()
        await relay.idle()
        await life.rest()
      }
    }
  }

  /** Returns the inputs of a partition's tasks, from its log. */
  async inputs(partition: number): Promise<readonly Input[]> {
    const entries = await this.#base.log(LOG_NAME).read(partition, 0, 10_000)
    return entries.flatMap(({ body }) => inputOf(body) ?? [])
  }

  async messages(partition: number): Promise<readonly { readonly channel: string; readonly message: Message }[]> {
    const inputs = await this.inputs(partition)
    return inputs.flatMap((input) =>
      input.k === 'data' ? messagesOf(input.m).map((message) => ({ channel: input.c ?? '', message })) : [],
    )
  }

  look(id: string): unknown {
    return this.#holders.get(this.rules[id]?.partition ?? 0)?.life.look(id)
  }

  async close(): Promise<void> {
    for (const { relay, life } of this.#holders.values()) {
      await relay.stop()
      await life.runner.close().catch(() => undefined)
    }
  }

  #runnable(id: string) {
    return runnableOf(id, this.rules[id]?.rule ?? {})
  }
}

/** Disables trimming, since a test reads the whole log. */
function whole(log: Log): Log {
  return new Proxy(log, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (name === 'trim') return () => Promise.resolve()
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
