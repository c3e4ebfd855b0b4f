/**
 * Orders the effects of tasks: services remember the last effects, so that late calls have no effect.
 *
 * EFFECT-1 an effect is rejected as `SUPERSEDED` when a later effect of its task was already applied to the same thing
 * EFFECT-2 the last effect is stored in the commit of the change: it survives a crash, and of two concurrent writers
 *   one conflicts
 */
import { createHash } from 'node:crypto'
import { AppError } from '#kernel'
import type { Collection, CollectionSpec, Store, Stored, Write } from '#storage'

export interface EffectOfTask {
  readonly task: string
  /** `task/run/input/place`, plus `#item` of a loop and `.part` of a call within a call; other texts have no order */
  readonly effect: string
  /** true when the id has no order, so the effect is neither rejected nor remembered */
  readonly unordered?: boolean
}

interface EffectRecord {
  readonly effect: string
  readonly at: number
}

/** The last effect of each task on each thing, shared by the services of a store. */
const EFFECTS: CollectionSpec<EffectRecord> = {
  name: 'task_effects',
  version: 1,
  fields: { at: { type: 'number', of: ({ at }) => at } },
}

/** ms for which effects are remembered; calls never arrive later. */
const KEPT_MS = 86_400_000
const MAX_RECORDS = 1_000_000
const SLICE = 1_000

export class EffectLedger {
  readonly #records: Collection<EffectRecord>
  readonly #most: number

  constructor(store: Store, most = MAX_RECORDS) {
    this.#records = store.collection(EFFECTS)
    this.#most = most
  }

  draft(now: number): EffectDraft {
    return new EffectDraft(this.#records, now)
  }

  async sweep(now: number): Promise<void> {
    const over = (await this.#records.count()) - this.#most
    const old = await this.#delete([{ field: 'at', op: 'lte', value: now - KEPT_MS }], Infinity)
    if (over > old) await this.#delete([], over - old)
  }

  async #delete(where: NonNullable<Parameters<Collection<EffectRecord>['count']>[0]>, most: number): Promise<number> {
    for (let gone = 0; ;) {
      const limit = Math.min(SLICE, most - gone)
      const ids = limit <= 0 ? [] : await this.#records.ids({ where, sort: [{ field: 'at' }], limit })
      if (ids.length === 0) return gone
      await Promise.all(ids.map((id) => this.#records.delete(id)))
      gone += ids.length
    }
  }
}

export interface Admitted {
  readonly isAgain: boolean
  note(): void
}

/** The effects of one commit, which succeeds only if everything read is unchanged. */
export class EffectDraft {
  readonly #records: Collection<EffectRecord>
  readonly #now: number
  readonly #stored = new Map<string, Stored<EffectRecord> | undefined>()
  readonly #noted = new Map<string, EffectRecord>()

  constructor(records: Collection<EffectRecord>, now: number) {
    this.#records = records
    this.#now = now
  }

  /** Throws `SUPERSEDED` when a later effect of the task was already applied to one of the things. */
  async admit(things: readonly string[], by: EffectOfTask | undefined): Promise<Admitted> {
    const order = by === undefined || by.unordered === true ? undefined : orderOf(by)
    if (by === undefined || order === undefined) return UNORDERED
    let isAgain = false
    const ids = things.map((thing) => recordId(by.task, thing))
    for (const [i, id] of ids.entries()) {
      const last = await this.#last(id)
      const before = last && orderOf({ ...last, task: by.task })
      if (last === undefined || before === undefined) continue
      if (isEarlier(order, before)) throw superseded(by.effect, last.effect, things[i] ?? '')
      if (last.effect === by.effect) isAgain = true
    }
    const record = { effect: by.effect, at: this.#now }
    return { isAgain, note: () => ids.forEach((id) => this.#noted.set(id, record)) }
  }

  writes(): readonly Write[] {
    return [...this.#noted].map(([id, record]) => {
      return this.#records.putting(id, record, this.#stored.get(id)?.version ?? 'absent')
    })
  }

  async #last(id: string): Promise<EffectRecord | undefined> {
    const noted = this.#noted.get(id)
    if (noted !== undefined) return noted
    if (!this.#stored.has(id)) this.#stored.set(id, await this.#records.get(id))
    return this.#stored.get(id)?.value
  }
}

const UNORDERED: Admitted = { isAgain: false, note: () => undefined }

/** The numbers of run, input, place, item and part, compared in this order. */
type Order = readonly number[]

const PLACE = /^\/(\d{1,15})\/(\d{1,15})\/(\d{1,15})(?:#(\d{1,15}))?(?:\.(\d{1,15}))?$/

/** Parses the order of an effect; undefined when its id has none. */
function orderOf({ task, effect }: EffectOfTask): Order | undefined {
  const parts = effect.startsWith(task) ? PLACE.exec(effect.slice(task.length)) : null
  return parts === null ? undefined : Array.from(parts, (part: string | undefined = '0') => Number(part)).slice(1)
}

function isEarlier(a: Order, b: Order): boolean {
  const i = a.findIndex((number, index) => number !== b[index])
  return i !== -1 && (a[i] ?? 0) < (b[i] ?? 0)
}

function recordId(task: string, thing: string): string {
  return createHash('sha256')
    .update(JSON.stringify([task, thing]))
    .digest('base64url')
}

function superseded(effect: string, last: string, thing: string): AppError {
  return new AppError(
    'SUPERSEDED',
    `the effect ${effect} arrived too late: ${last}, a later effect of its task, was already applied to ${thing}`,
  )
}
