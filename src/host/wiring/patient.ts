/** Waits for the store in calls of plugs to the host's services, since plugs are not to blame for an outage. */
import { AppError, type StartTimer } from '#kernel'

/** Retry interval in ms */
const PAUSE = 250
/** Methods that answer at once, without the store. */
const AT_ONCE = /^check/

/**
 * Wraps a port so that calls rejected with `UNAVAILABLE` are retried. Retries are idempotent by the effect's id; the
 * node's time limit bounds the wait.
 */
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
