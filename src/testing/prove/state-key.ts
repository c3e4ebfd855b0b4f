/**
 * When two saved tasks are the same for all that can follow: as text, without what only counts or explains, and with
 * times as how long ago they are.
 */
import { isPlainObject } from '../../kernel/json.ts'

/** Counters, and where things came from: told in events and explanations, and without effect on what happens. */
const EXPLAINS: ReadonlySet<string> = new Set([
  'run',
  'inputs',
  'effects',
  'invocations',
  'invocation',
  'executions',
  'startTime',
  'lastExecutionTime',
  'finishedTime',
  'createTime',
  'skippedTicks',
  'failures',
  'origins',
  'links',
  'origin',
  'via',
  'since',
  'firing',
  'held',
  'error',
  'arrived',
  'current',
  'timestamp',
  'how',
])
/** Numbers from here on are epoch ms. */
const FIRST_TIME = 1e11

/**
 * The key of a state at `now`. What is longer ago than `horizon`, ms, is equally long ago: nothing waits for longer.
 * `memories`: what monitors remember.
 */
export function stateKey(saved: unknown, memories: unknown, now: number, horizon: number): string {
  return JSON.stringify([relative(saved, now, horizon), relative(memories, now, horizon)])
}

function relative(value: unknown, now: number, horizon: number): unknown {
  if (typeof value === 'number' && Math.abs(value) >= FIRST_TIME) {
    const ago = now - value
    return ago > horizon ? 'long ago' : `${ago} ago`
  }
  if (Array.isArray(value)) return value.map((item) => relative(item, now, horizon))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (EXPLAINS.has(key) ? [] : [[key, relative(inner, now, horizon)]])),
  )
}
