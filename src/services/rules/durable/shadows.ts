/**
 * Watches pairs of a live task and its shadow, which runs another version on the same inputs without effects.
 *
 * SHADOW-1 a shadow is a task of the same engine: it receives its inputs from the log, and a restart continues it
 * SHADOW-2 a shadow changes nothing outside: its effects are answered `simulated`
 */
import type { Subscription } from 'rxjs'
import type { CoreEngine, Firing, RareEvent, TriggerExplanation } from '#core'
import type { Side } from '#core/spi'
import { AppError } from '#kernel'
import type { Store, Write } from '#storage'
import { type DayCount, type Divergence, DIVERGENCES } from './divergence.ts'
import { isShadow } from './shadow-id.ts'

export interface ShadowPair {
  readonly live: string
  readonly shadow: string
  /** the live task already runs the new version, and the shadow the former one */
  readonly isLiveNew: boolean
  readonly divergence: Divergence
}

/** Follows one engine. */
export interface EngineWatch {
  /** called after each input, and after timers acted before an input */
  settled(now: number): void
}

interface ShadowListener {
  /** called when counts of a pair may have reached a limit; must return at once */
  changed(pair: ShadowPair): void
  /** called when the run of a shadow ended by itself */
  ended(shadow: string, reason: string): void
}

const ALARM = 'createAlarm'

export class Shadows {
  readonly #pairs = new Map<string, ShadowPair>()
  #watches: readonly WeakRef<Watch>[] = []
  listener: ShadowListener | undefined

  get size(): number {
    return this.#pairs.size / 2
  }

  of(task: string): ShadowPair | undefined {
    return this.#pairs.get(task)
  }

  /** Replaces a former pair of the same task. */
  add(pair: ShadowPair): void {
    this.remove(pair.live)
    this.#pairs.set(pair.live, pair)
    this.#pairs.set(pair.shadow, pair)
    if (this.size === 1) for (const one of this.#watches) one.deref()?.begin()
  }

  remove(task: string): ShadowPair | undefined {
    const pair = this.#pairs.get(task)
    if (pair === undefined) return undefined
    this.#pairs.delete(pair.live)
    this.#pairs.delete(pair.shadow)
    if (this.size === 0) for (const one of this.#watches) one.deref()?.end()
    return pair
  }

  attach(engine: CoreEngine): EngineWatch {
    const watch = new Watch(engine, this)
    this.#watches = [...this.#watches.filter((one) => one.deref() !== undefined), new WeakRef(watch)]
    if (this.size > 0) watch.begin()
    return watch
  }

  /** Returns false for events of shadows, which concern nothing outside. */
  noteRare(event: RareEvent): boolean {
    const { task, time } = event
    const pair = this.#pairs.get(task)
    if (pair !== undefined && event.type === 'result' && task === newOf(pair)) this.count(pair, time, 'errors')
    return !isShadow(task)
  }

  count(pair: ShadowPair, time: number, what: DayCount, count?: number): void {
    pair.divergence.count(time, what, count)
    this.listener?.changed(pair)
  }

  /** Returns what must be stored with the state of a task, so that no firing is counted twice or never. */
  writesWith(store: Store, task: string): StoredWith | undefined {
    const { shadow, divergence } = this.#pairs.get(task) ?? {}
    if (shadow === undefined || divergence === undefined || divergence.isStored) return undefined
    const { revision } = divergence
    const saved = divergence.save()
    return {
      writes: [store.collection(DIVERGENCES).putting(shadow, saved)],
      stored: () => divergence.stored(revision),
    }
  }

  get pairs(): Iterable<ShadowPair> {
    return new Set(this.#pairs.values())
  }
}

export interface StoredWith {
  readonly writes: readonly Write[]
  stored(): void
}

function newOf({ isLiveNew, live, shadow }: ShadowPair): string {
  return isLiveNew ? live : shadow
}

class Watch implements EngineWatch {
  readonly #engine: CoreEngine
  readonly #shadows: Shadows
  #subscription: Subscription | undefined
  #fired: Firing[] = []
  #dueAt = Number.POSITIVE_INFINITY

  constructor(engine: CoreEngine, shadows: Shadows) {
    this.#engine = engine
    this.#shadows = shadows
  }

  begin(): void {
    this.#subscription ??= this.#engine.eventBatches({ types: ['fired'] }).subscribe((batch) => {
      for (const firing of batch.firings()) if (this.#shadows.of(firing.task) !== undefined) this.#fired.push(firing)
    })
    this.#dueAt = Number.NEGATIVE_INFINITY
  }

  end(): void {
    this.#subscription?.unsubscribe()
    this.#subscription = undefined
    this.#fired = []
  }

  settled(now: number): void {
    if (this.#fired.length > 0) this.#flush()
    if (now > this.#dueAt) this.#settle(now)
  }

  #flush(): void {
    const fired = this.#fired
    this.#fired = []
    const instants = new Map<number, Map<ShadowPair, { old: Firing[]; new: Firing[] }>>()
    for (const firing of fired) {
      const pair = this.#shadows.of(firing.task)
      if (pair === undefined) continue
      const byPair = instants.get(firing.time) ?? new Map<ShadowPair, { old: Firing[]; new: Firing[] }>()
      const sides = byPair.get(pair) ?? { old: [], new: [] }
      sides[firing.task === newOf(pair) ? 'new' : 'old'].push(firing)
      instants.set(firing.time, byPair.set(pair, sides))
    }
    for (const [time, byPair] of [...instants].sort(([a], [b]) => a - b)) {
      for (const [pair, sides] of byPair) this.#compare(pair, time, sides)
    }
  }

  #compare(pair: ShadowPair, time: number, sides: Readonly<Record<Side, readonly Firing[]>>): void {
    const { divergence } = pair
    divergence.instant(time, sides, (side, node) => this.#blocked(pair, side, node))
    this.#dueAt = Math.min(this.#dueAt, divergence.dueAt)
    const alarms = sides.new.filter(({ node }) => this.#raises(newOf(pair), node)).length
    if (alarms > 0) divergence.count(time, 'alarms', alarms)
    this.#shadows.listener?.changed(pair)
  }

  #settle(now: number): void {
    this.#dueAt = Number.POSITIVE_INFINITY
    for (const pair of this.#shadows.pairs) {
      const { divergence } = pair
      if (now > divergence.dueAt) {
        divergence.settle(now)
        this.#shadows.listener?.changed(pair)
      }
      this.#dueAt = Math.min(this.#dueAt, divergence.dueAt)
    }
  }

  #blocked(pair: ShadowPair, side: Side, node: string): readonly TriggerExplanation[] | undefined {
    const isNew = side === 'new'
    const task = isNew === pair.isLiveNew ? pair.live : pair.shadow
    try {
      return this.#engine.explain(task, node).triggers
    } catch (error) {
      // the other version lacks the node
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  #raises(task: string, node: string): boolean {
    const { actuators = [] } = this.#engine.tasks.get(task)?.prepared.rule ?? {}
    return actuators.some(({ label, name }) => label === node && name === ALARM)
  }
}
