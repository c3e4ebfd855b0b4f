/** Who watches single tasks: they are told of everything in a task while the others go their short way. */
import type { Observable } from 'rxjs'
import { EventStream, GuardedObservable } from './event-stream.ts'
import type { EngineEvent } from './events.ts'

export type Listener = (event: EngineEvent) => void

export class Watches {
  readonly #streams = new Map<string, EventStream<EngineEvent>>()
  readonly #report: (error: unknown) => void
  readonly #changed: (id: string, listener: Listener | null) => void

  /** `changed` is told when the first watcher of a task comes and when the last one goes. */
  constructor(report: (error: unknown) => void, changed: (id: string, listener: Listener | null) => void) {
    this.#report = report
    this.#changed = changed
  }

  /** Of the task with that id, now and whenever there is one. */
  events$(id: string): Observable<EngineEvent> {
    return new GuardedObservable(this.#report, (subscriber) => this.#stream(id).events$.subscribe(subscriber))
  }

  /** Who is to be told of a task that comes; null: nobody. */
  listener(id: string): Listener | null {
    const stream = this.#streams.get(id)
    return stream === undefined ? null : (event) => stream.emit(event)
  }

  complete(): void {
    for (const stream of this.#streams.values()) stream.complete()
  }

  #stream(id: string): EventStream<EngineEvent> {
    const known = this.#streams.get(id)
    if (known) return known
    const stream: EventStream<EngineEvent> = new EventStream<EngineEvent>(this.#report, (any) => {
      if (!any) this.#streams.delete(id)
      this.#changed(id, any ? (event) => stream.emit(event) : null)
    })
    this.#streams.set(id, stream)
    return stream
  }
}
