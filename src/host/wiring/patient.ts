/** Makes plugs' calls to host services wait while the store is unavailable, since an outage is not the plug's fault. */
import { AppError, type StartTimer } from '#kernel'

/** Retry interval in ms */
const PAUSE = 250
/** Methods that return at once, without the store, and are never retried. */
const AT_ONCE = /^check/

/** The effect's id makes retries idempotent; the node's time limit bounds the wait. */
export function patient<Port extends object>(port: Port, startTimer: StartTimer): Port {
  const methods = Object.entries(port as Readonly<Record<string, Method>>).map(([name, method]) => [
    name,
    AT_ONCE.test(name) ? method : (...given: unknown[]) => again(() => method(...given), startTimer),
  ])
  return Object.fromEntries(methods) as Port
}

type Method = (...given: unknown[]) => unknown

async function again<T>(call: () => T, startTimer: StartTimer): Promise<Awaited<T>> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') throw error
      await new Promise<void>((resolve) => startTimer(PAUSE, resolve))
    }
  }
}
