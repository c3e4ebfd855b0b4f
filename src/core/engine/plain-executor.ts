/** The plain executor: each message goes to each task that hears it, whose full state is always up to date. */
import type { Message } from '../task/origin.ts'
import type { Counts } from './counts.ts'
import {
  NOT_ACCEPTED,
  type Accepted,
  type Executor,
  type MessageListener,
  type MessageSource,
  type TaskExecutor,
} from './executor.ts'
import { Listeners, receiveAll } from './listeners.ts'

const ALWAYS_UP_TO_DATE: TaskExecutor = {
  synchronize: () => undefined,
  detach: () => undefined,
  drop: () => undefined,
  modelChanged: () => undefined,
  limitOf: () => undefined,
  hasOpenCall: false,
}

export class PlainExecutor implements Executor {
  accept(): Accepted {
    return NOT_ACCEPTED
  }

  source<L extends MessageListener>(): MessageSource<L> {
    return new PlainSource<L>()
  }

  forTask(): TaskExecutor {
    return ALWAYS_UP_TO_DATE
  }

  canTell(): boolean {
    return true
  }

  listenersChanged(): void {
    // each step asks who listens
  }

  mayHaveTimers(): boolean {
    return false
  }

  counted(own: Counts): Counts {
    return own
  }
}

class PlainSource<L extends MessageListener> implements MessageSource<L> {
  readonly listeners = new Listeners<L>()

  changed(): void {
    // who listens is asked with each message
  }

  take(message: Message, now: number): void {
    this.takeFully(message, now)
  }

  takeFully(message: Message, now: number): void {
    receiveAll(this.listeners, message, now)
  }
}
