/** Loads what a screen shows, and keeps it up to date. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from './words/errors.ts'
import { planAttempt, restored } from './connection.ts'

export interface Loaded<T> {
  /** undefined until the first answer */
  readonly data: T | undefined
  /** of the last attempt, in words */
  readonly error: string | undefined
  reload(): void
}

/**
 * Loads at first, whenever a dependency changes, after the connection was lost, and every `every` ms while the page is
 * visible. What was loaded before stays until the next answer, unless a dependency changed.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
  every?: number,
): Loaded<T> {
  const data = useSignal<T | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const round = useSignal(0)
  useEffect(() => {
    data.value = undefined
    error.value = undefined
  }, dependencies)
  useEffect(() => {
    const ending = new AbortController()
    const once = async (): Promise<void> => {
      try {
        const loaded = await load(ending.signal)
        if (ending.signal.aborted) return
        data.value = loaded
        error.value = undefined
      } catch (thrown) {
        if (!ending.signal.aborted) error.value = messageOf(thrown)
      }
    }
    void once()
    const timer = every === undefined ? undefined : setInterval(() => !document.hidden && void once(), every)
    return () => {
      ending.abort()
      clearInterval(timer)
    }
  }, [...dependencies, round.value, restored.value])
  return { data: data.value, error: error.value, reload: () => round.value++ }
}

/**
 * Reads a stream until the signal aborts, and reconnects when it ends. `open` starts where the last stream ended; its
 * failures are tried again.
 */
export async function follow(open: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const begun = Date.now()
    try {
      await open(signal)
    } catch {
      // the state of the connection shows it; the next attempt follows
    }
    if (Date.now() - begun > 5_000) attempt = 0
    if (!signal.aborted) await pause(planAttempt(attempt), signal)
  }
}

/** Ends early when the network returns. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
    signal.addEventListener('abort', done, { once: true })
  })
}
