/** The firings of an earlier run, as printed by `simulate --json`. */
import type { FiredEvent } from '#core'
import { AppError, isPlainObject } from '#kernel'
import { openSource, textOf } from './source.ts'

/** In the order of their times; other events are ignored. Throws `NOT_FOUND`, and `BAD_RECORDING` with the line. */
export async function readFirings(path: string): Promise<readonly FiredEvent[]> {
  const source = await openSource(path)
  const firings: FiredEvent[] = []
  for (const [i, line] of (await textOf(source)).split('\n').entries()) {
    const event = line.trim() === '' ? undefined : eventOf(line, `${source.name}:${i + 1}`)
    if (event !== undefined) firings.push(event)
  }
  return firings.sort((a, b) => a.time - b.time)
}

function eventOf(line: string, place: string): FiredEvent | undefined {
  const event = parsed(line)
  if (!isPlainObject(event) || typeof event['type'] !== 'string') {
    throw wrong(place, 'is not an event', 'write what simulate --json printed, one event a line')
  }
  if (event['type'] !== 'fired') return undefined
  if (isFired(event)) return event
  throw wrong(
    place,
    'is a firing without a time, a node or a source',
    'write the whole line that simulate --json printed',
  )
}

function isFired(event: object): event is FiredEvent {
  const { time, node, source } = event as Partial<Record<keyof FiredEvent, unknown>>
  return Number.isFinite(time) && typeof node === 'string' && typeof source === 'string'
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function wrong(place: string, what: string, right: string): AppError {
  return new AppError('BAD_RECORDING', `${place}: the line ${what}; ${right}`)
}
