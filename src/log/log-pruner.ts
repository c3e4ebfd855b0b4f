/** Trims log entries that states of tasks, kept inputs, series and readers no longer need (LOG-7). */
import type { Json } from '#kernel'
import type { CollectionSpec, Log, Store } from '#storage'
import { isInput, isKept } from './message-entry.ts'

/** The checkpoint at which a restart of tasks begins to read. */
export interface Mark {
  /** the states of all tasks include the log up to this position, and possibly later entries */
  readonly position: number
  /** epoch ms of the runner's last known activity */
  readonly time: number
  /** asynchronous plugs, as `kind:name:version` */
  readonly later: readonly string[]
}

export const MARKS: CollectionSpec<Mark> = { name: 'rule_marks', version: 1, fields: {} }
export const MARK_ID = 'inputs'
/** id of the mark for kept inputs; absent when no inputs are kept */
export const KEPT_MARK_ID = 'kept'

/** Returns the last position that is no longer needed. `atRest`: lagging followers may be brought up to date first. */
export type Floor = (atRest: boolean) => number | Promise<number>

const PAGE = 1_000

export class LogPruner {
  /** floor of the states of tasks; undefined when this process does not run rules */
  tasks: Floor | undefined
  /** floor of series and readers; undefined when this process does not run the broker */
  followers: Floor | undefined
  /** floor of kept inputs; undefined when none are kept */
  inputs: Floor | undefined
  /** floor of sinks; undefined when this process runs none */
  sinks: Floor | undefined
  readonly #store: Store
  readonly #log: Log
  #pruned = 0
  #withoutInputs = 0

  constructor(store: Store, log: Log) {
    this.#store = store
    this.#log = log
  }

  async prune(atRest: boolean): Promise<void> {
    const followed = await this.followers?.(atRest)
    if (followed !== undefined && followed <= this.#pruned) return
    const upTo = this.tasks === undefined ? await this.#forAbsentTasks(followed) : await this.tasks(atRest)
    const inputs = (await this.inputs?.(atRest)) ?? (await this.#forAbsentInputs(upTo))
    const wanted = Math.min(upTo, inputs, (await this.sinks?.(atRest)) ?? Infinity)
    const kept = followed === undefined ? await this.#forAbsentSeries(wanted) : Math.min(wanted, followed)
    if (kept <= this.#pruned) return
    await this.#log.trim(kept)
    this.#pruned = kept
  }

  async #forAbsentTasks(wanted = 0): Promise<number> {
    const mark = await this.#store.collection(MARKS).get(MARK_ID)
    const from = Math.max(mark?.value.position ?? 0, this.#withoutInputs)
    if (from >= wanted) return wanted
    if (await this.#has(isInput, from, wanted)) return from
    this.#withoutInputs = wanted
    return wanted
  }

  async #forAbsentInputs(wanted: number): Promise<number> {
    const mark = await this.#store.collection(MARKS).get(KEPT_MARK_ID)
    const from = mark?.value.position ?? wanted
    return from < wanted && (await this.#has(isInput, from, wanted)) ? from : wanted
  }

  /** Advances the stored position of series too, so that a process that serves series later finds no gap. */
  async #forAbsentSeries(wanted: number): Promise<number> {
    const { series } = this.#store
    const from = await series.applied(this.#log.name)
    if (from >= wanted || (await this.#has(isKept, from, wanted))) return Math.min(from, wanted)
    await series.append({ applies: { log: this.#log.name, position: wanted } })
    return wanted
  }

  async #has(isNeeded: (body: Json) => boolean, from: number, upTo: number): Promise<boolean> {
    for (let after = from; after < upTo;) {
      const entries = await this.#log.read(after, Math.min(PAGE, upTo - after))
      if (entries.some(({ body }) => isNeeded(body))) return true
      after = entries.at(-1)?.position ?? upTo
    }
    return false
  }
}
