/**
 * Passes the firings of tasks to one listener, while there is one. After a crash, the replay passes firings again under
 * the same effect ids, from the last checkpoint on.
 */
import type { Subscription } from 'rxjs'
import type { CoreEngine } from '#core'
import { isShadow } from './shadow-id.ts'

export interface TaskFiring {
  /** id of the task */
  readonly task: string
  /** name of the task */
  readonly name: string
  /** first resource of the task */
  readonly resource: string
  /** the destination */
  readonly node: string
  /** the sensor or gate that the trigger watches */
  readonly source: string
  readonly invocation: number
  readonly effect: string
  /** epoch ms */
  readonly time: number
}

/** Called with the firings of one input before the next input; must return at once. */
export type FiringListener = (firings: readonly TaskFiring[]) => void

export class FiringTap {
  #engines: readonly WeakRef<CoreEngine>[] = []
  #subscriptions: Subscription[] = []
  #listener: FiringListener | undefined

  attach(engine: CoreEngine): void {
    this.#engines = [...this.#engines.filter((one) => one.deref() !== undefined), new WeakRef(engine)]
    if (this.#listener !== undefined) this.#subscribe(engine, this.#listener)
  }

  /** Replaces the listener; undefined: firings cost nothing. */
  listen(listener: FiringListener | undefined): void {
    if (listener === this.#listener) return
    this.#listener = listener
    for (const one of this.#subscriptions.splice(0)) one.unsubscribe()
    if (listener === undefined) return
    for (const one of this.#engines) {
      const engine = one.deref()
      if (engine !== undefined) this.#subscribe(engine, listener)
    }
  }

  #subscribe(engine: CoreEngine, listener: FiringListener): void {
    const firings = engine.eventBatches({ types: ['fired'], why: false })
    this.#subscriptions.push(
      firings.subscribe((batch) => {
        const firings = batch.firings().filter(({ task }) => !isShadow(task))
        if (firings.length === 0) return
        listener(
          firings.map(({ task, node, source, invocation, effect, time }) => {
            const { name = '', resources = [] } = engine.tasks.get(task) ?? {}
            return { task, name, resource: resources[0] ?? task, node, source, invocation, effect, time }
          }),
        )
      }),
    )
  }
}
