/** Ends open streams and connections when their credentials are revoked or expire. */
import type { Caller } from '#kernel'
import type { Timers } from '../timers.ts'
import type { CheckedCaller } from './caller.ts'
import type { KeyChanges } from './key-changes.ts'

const LOOK_MS = 500

/** A caller of a listener, which may have been checked by other means. */
export type StreamCaller = Caller & Partial<Pick<CheckedCaller, 'again' | 'ends'>>

export interface OpenStreamsOptions {
  readonly changes: KeyChanges
  readonly timers: Pick<Timers, 'every'>
  /** Returns epoch ms */
  readonly now: () => number
}

export class OpenStreams {
  readonly #open = new Map<StreamCaller, { ends: number; readonly streams: Set<() => void> }>()
  /** Callers that could not be checked after a change */
  readonly #unchecked = new Set<StreamCaller>()
  readonly #stopLooking: () => void

  constructor({ changes, timers, now }: OpenStreamsOptions) {
    changes.onChange(() => void this.#recheck(this.#open.keys()))
    this.#stopLooking = timers.every(LOOK_MS, () => {
      const time = now()
      for (const [caller, { ends }] of this.#open) if (ends <= time) this.#end(caller)
      if (this.#unchecked.size > 0) void this.#recheck(this.#unchecked)
    })
  }

  /** Calls `end` when the credentials end. Returns a function that forgets the stream. */
  add(caller: StreamCaller, end: () => void): () => void {
    if (caller.again === undefined && caller.ends === undefined) return () => undefined
    const own = this.#open.get(caller) ?? { ends: caller.ends ?? Infinity, streams: new Set() }
    this.#open.set(caller, own)
    own.streams.add(end)
    return () => {
      own.streams.delete(end)
      if (own.streams.size === 0 && this.#open.get(caller) === own) this.#open.delete(caller)
    }
  }

  stop(): void {
    this.#stopLooking()
  }

  async #recheck(callers: Iterable<StreamCaller>): Promise<void> {
    for (const caller of Array.from(callers)) {
      if (caller.again === undefined) continue
      try {
        this.#unchecked.delete(caller)
        const again = await caller.again()
        const own = this.#open.get(caller)
        if (again === undefined) this.#end(caller)
        else if (own !== undefined) own.ends = again.ends ?? Infinity
      } catch {
        // the store cannot be read at the moment
        this.#unchecked.add(caller)
      }
    }
  }

  #end(caller: StreamCaller): void {
    const own = this.#open.get(caller)
    this.#open.delete(caller)
    for (const end of own?.streams ?? []) end()
  }
}
