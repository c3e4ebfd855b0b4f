/**
 * What services remember of the effects of tasks, so that a call that lands late does nothing any more.
 *
 * EFFECT-1 an effect is refused when a later one of its task was applied to the same thing before: `SUPERSEDED`
 * EFFECT-2 what was last stands in the commit of the change: it holds through a crash, and of two writers one sees the
 *   other
 *
 * Not in here: what a thing is, and what is answered to an effect that comes again.
 */
import { createHash } from 'node:crypto'
import { AppError } from '#kernel'
import type { Collection, CollectionSpec, Store, Stored, Write } from '#storage'

/** Of what causes a change: which effect of which task it is. */
export interface EffectOfTask {
  readonly task: string
  /** `task/run/input/place`, of a loop's item with `#item` behind it, of a call within a call with `.part`. Any other text has no order */
  readonly effect: string
  /** the id does not say what it comes after: it is neither refused nor remembered */
  readonly unordered?: boolean
}

interface EffectRecord {
  readonly effect: string
  /** epoch ms */
  readonly at: number
}

/** The last effect of a task on a thing. Services of one store share it. */
const EFFECTS: CollectionSpec<EffectRecord> = {
  name: 'task_effects',
  version: 1,
  fields: { at: { type: 'number', of: ({ at }) => at } },
}

/** No call is later than that. */
const KEPT_MS = 86_400_000
/** records of one tenant; the oldest go first when there are more */
const MAX_RECORDS = 1_000_000
const SLICE = 1_000

export class EffectLedger {
  readonly #records: Collection<EffectRecord>
  readonly #most: number

  constructor(store: Store, most = MAX_RECORDS) {
    this.#records = store.collection(EFFECTS)
    this.#most = most
  }

  /** For one commit. `now`: epoch ms */
  draft(now: number): EffectDraft {
    return new EffectDraft(this.#records, now)
  }

  /** Lets go of what is a day old, and of the oldest when there is too much. */
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

/** An effect whose turn it may be. */
export interface Admitted {
  /** it was the last one already */
  readonly isAgain: boolean
  /** It is applied with the commit. */
  note(): void
}

/** The effects of one commit. Everything that was read is expected to be still so when it is written. */
export class EffectDraft {
  readonly #records: Collection<EffectRecord>
  readonly #now: number
  readonly #stored = new Map<string, Stored<EffectRecord> | undefined>()
  readonly #noted = new Map<string, EffectRecord>()

  constructor(records: Collection<EffectRecord>, now: number) {
    this.#records = records
    this.#now = now
  }

  /** `SUPERSEDED` when a later effect of the task was applied to one of the things. */
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

/** run, input, place, item and part: in this order they decide. */
type Order = readonly number[]

const PLACE = /^\/(\d{1,15})\/(\d{1,15})\/(\d{1,15})(?:#(\d{1,15}))?(?:\.(\d{1,15}))?$/

/** Undefined for an id that has no order. */
function orderOf({ task, effect }: EffectOfTask): Order | undefined {
  const parts = effect.startsWith(task) ? PLACE.exec(effect.slice(task.length)) : null
  return parts === null ? undefined : Array.from(parts, (part: string | undefined = '0') => Number(part)).slice(1)
}

function isEarlier(a: Order, b: Order): boolean {
  const i = a.findIndex((number, place) => number !== b[place])
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
    `the effect ${effect} came too late: the later ${last} of its task was applied to ${thing} before; nothing was changed`,
  )
}
