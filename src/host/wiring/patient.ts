/** The host's own services as plugs ask them: while the store is away a call waits, since no plug is to blame for that. */
import { AppError, type StartTimer } from '#kernel'

/** ms until a call is made again */
const PAUSE = 250
/** Methods that ask nothing stored, and answer at once. */
const AT_ONCE = /^check/

/**
 * The same port, whose calls are made again while they are refused with `UNAVAILABLE`. What a call does, it does once:
 * services know an effect that comes again by its id. How long a node waits in all is its time limit's matter.
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
