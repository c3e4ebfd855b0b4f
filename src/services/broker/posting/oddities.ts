/** Gathers what of a post is not taken as it came. */
import type { Oddities } from './arrival.ts'

/** that are named of one post */
const MAX_NAMED = 20
const MAX_SHOWN = 60

export class OddityCount {
  #unreadable = 0
  readonly #unread = new Map<string, Oddities['unread'][number]>()
  #badTime = 0
  readonly #badTimes = new Map<string, Oddities['badTimes'][number]>()

  unreadable(resource: string, metric: string, value: unknown): void {
    this.#unreadable += 1
    const key = `${metric}\n${resource}`
    if (this.#unread.size >= MAX_NAMED || this.#unread.has(key)) return
    this.#unread.set(key, { resource, metric, digits: shown(value) })
  }

  badTime(resource: string, claim: unknown): void {
    this.#badTime += 1
    if (this.#badTimes.size >= MAX_NAMED || this.#badTimes.has(resource)) return
    this.#badTimes.set(resource, { resource, claim: shown(claim) })
  }

  /** Undefined when all was taken as it came. */
  get found(): Oddities | undefined {
    if (this.#unreadable === 0 && this.#badTime === 0) return undefined
    return {
      unreadable: this.#unreadable,
      unread: [...this.#unread.values()],
      badTime: this.#badTime,
      badTimes: [...this.#badTimes.values()],
    }
  }
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, MAX_SHOWN)
}
