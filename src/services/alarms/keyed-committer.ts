/** Serializes work on the alarms of one key; work that waits shares a commit. */
import { type Actor, AppError } from '#kernel'
import { actingAs, currentActor, machineTimers } from '#platform'
import type { AlarmCollections } from './collections.ts'
import type { AlarmEvent } from './contract.ts'
import { KeyDraft } from './key-draft.ts'

/** Must be repeatable, and leave the draft unchanged when it throws. */
export type Work<T> = (draft: KeyDraft) => Promise<T> | T

interface Waiting {
  readonly actor: Actor | undefined
  readonly work: Work<unknown>
  resolve(answer: unknown): void
  reject(error: unknown): void
}

const MAX_AT_ONCE = 100
const MAX_TRIES = 50
const MAX_WAITING = 10_000

export class KeyedCommitter {
  readonly #now: () => number
  readonly #collections: AlarmCollections
  readonly #committed: (last: number, events: readonly AlarmEvent[]) => void
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #running = new Set<Promise<void>>()

  /** `now`: epoch ms. `committed` is called with the events of each commit and the position of the last event. */
  constructor(
    collections: AlarmCollections,
    now: () => number,
    committed: (last: number, events: readonly AlarmEvent[]) => void,
  ) {
    this.#collections = collections
    this.#now = now
    this.#committed = committed
  }

  run<T>(key: string, work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting: Waiting = { actor: currentActor(), work, resolve, reject }
      const list = this.#waiting.get(key)
      if (list === undefined) {
        this.#waiting.set(key, [waiting])
        const running = this.#drain(key).finally(() => this.#running.delete(running))
        this.#running.add(running)
      } else if (list.length < MAX_WAITING) list.push(waiting)
      else reject(new AppError('TOO_LARGE', `${MAX_WAITING} changes of this alarm are pending; send fewer at once`))
    })
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  async #drain(key: string): Promise<void> {
    const list = this.#waiting.get(key) ?? []
    while (list.length > 0) {
      const actor = list[0]?.actor
      // a commit has one actor, whose entry is in it
      const other = list.findIndex((one) => one.actor !== actor)
      const works = list.splice(0, Math.min(MAX_AT_ONCE, other < 0 ? Infinity : other))
      try {
        await actingAs(actor, () => this.#together(key, works))
      } catch (error) {
        for (const { reject } of works) reject(error)
      }
    }
    this.#waiting.delete(key)
  }

  async #together(key: string, works: readonly Waiting[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const draft = await KeyDraft.open(this.#collections, key, this.#now())
      const settled = await settle(draft, works)
      const writes = draft.writes()
      try {
        if (writes.length > 0) {
          const { results } = await this.#collections.commit(writes)
          if (draft.events.length > 0) this.#committed(results.at(-1) ?? 0, draft.events)
        }
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'CONFLICT' || tries >= MAX_TRIES) throw error
        await machineTimers.breathe()
        continue
      }
      for (const finish of settled) finish()
      return
    }
  }
}

async function settle(draft: KeyDraft, works: readonly Waiting[]): Promise<readonly (() => void)[]> {
  const settled: (() => void)[] = []
  for (const { work, resolve, reject } of works) {
    try {
      const answer = await work(draft)
      settled.push(() => resolve(answer))
    } catch (error) {
      settled.push(() => reject(error))
    }
  }
  return settled
}
