/** Implements the plain executor, which passes each message to each of its tasks. */
import type { Message } from '../task/origin.ts'
import type { Counts } from './counts.ts'
import { type Executor, type MessageListener, type MessageSource, type TaskExecutor } from './executor.ts'
import { Listeners, receiveAll } from './listeners.ts'
import { noPlainCounts, statsOf, type EngineStats } from './stats.ts'

export class PlainExecutor implements Executor {
  readonly #plain = noPlainCounts()
  readonly #executor: TaskExecutor = {
    synchronize: () => undefined,
    detach: () => undefined,
    handOver: () => undefined,
    tookPlain: (messages) => void (this.#plain.asked += messages.length),
    drop: () => undefined,
    modelChanged: () => undefined,
    serve: () => undefined,
    ahead: 0,
    deadline: undefined,
  }

  accept(): boolean {
    return false
  }

  source<L extends MessageListener>(): MessageSource<L> {
    return new PlainSource<L>()
  }

  forTask(): TaskExecutor {
    return this.#executor
  }

  canTell(): boolean {
    return true
  }

  listenersChanged(): void {
    // nothing to do: each step reads the current subscribers
  }

  counted(counts: Counts): Counts {
    return counts
  }

  stats(): EngineStats {
    return statsOf(this.#plain)
  }
}

class PlainSource<L extends MessageListener> implements MessageSource<L> {
  readonly listeners = new Listeners<L>()

  changed(): void {
    // nothing to do: each message reads the current listeners
  }

  take(message: Message, now: number): void {
    this.takeFully(message, now)
  }

  takeFully(message: Message, now: number): void {
    receiveAll(this.listeners, message, now)
  }
}
