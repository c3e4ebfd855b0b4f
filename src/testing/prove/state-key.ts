/**
 * The key of a saved task for everything that can follow: text without counters and explanations, and with ages in
 * place of times. Memories of plugs and monitors are kept whole.
 */
import type { SavedState } from '#core/spi'
import { isPlainObject } from '#kernel'

/** Of a task: counters, times of its own, and the lists that explanations point into. */
const OF_TASK: ReadonlySet<string> = new Set([
  'run',
  'inputs',
  'effects',
  'invocations',
  'executions',
  'startTime',
  'lastExecutionTime',
  'finishedTime',
  'skippedTicks',
  'failures',
  'origins',
  'links',
  'arrived',
  'current',
] satisfies (keyof SavedState)[])
/** Of a node, and of what follows from its last answer: its origin. */
const OF_NODE: ReadonlySet<string> = new Set(['since', 'origin', 'via', 'firing', 'held', 'error'])
const OF_FOLLOWING: ReadonlySet<string> = new Set(['invocation', 'origin', 'via'])
/** Numbers from here on are epoch ms. */
const FIRST_TIME = 1e11

/**
 * The key of a state at `now`. Ages above `horizon`, ms, are equal: nothing waits for longer.
 * `memories`: of monitors.
 */
export function stateKey(saved: Partial<SavedState>, memories: unknown, now: number, horizon: number): string {
  const { sensors, gates, actuators, ...others } = saved
  const nodes = [sensors, gates, actuators].map((of) =>
    Object.entries(of ?? {}).map(([label, node]: [string, object]) => {
      const { follow, ...rest } = node as { follow?: object }
      return [label, without(rest, OF_NODE), follow && without(follow, OF_FOLLOWING)]
    }),
  )
  return JSON.stringify(relative([without(others, OF_TASK), nodes, memories], now, horizon))
}

function without(value: object, keys: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)))
}

function relative(value: unknown, now: number, horizon: number): unknown {
  if (typeof value === 'number' && Math.abs(value) >= FIRST_TIME) {
    const ago = now - value
    return ago > horizon ? 'long ago' : `${ago} ago`
  }
  if (Array.isArray(value)) return value.map((item) => relative(item, now, horizon))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, relative(inner, now, horizon)]))
}
