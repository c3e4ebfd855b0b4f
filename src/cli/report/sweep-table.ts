/** The table of a sweep. */
import type { Sweep } from '#core'
import { counted, grouped } from '../numbers.ts'
import type { Paint } from '../terminal.ts'
import { formatSpan } from '../time-text.ts'
import { visible } from '../visible.ts'
import { tableLines } from './table.ts'

/** A row for each run: its values, and the firings of each destination, in total and per day. */
export function sweepLines(sweep: Sweep, wall: number, paint: Paint): string[] {
  const { parameters, destinations, rows, messages, late } = sweep
  const failed = rows.some(({ errors }) => errors > 0)
  const header = [...parameters, ...destinations.flatMap((node) => [node, 'per day']), ...(failed ? ['errors'] : [])]
  const cells = rows.map(({ values, fired, perDay, errors }) => [
    ...parameters.map((path) => textOf(values[path])),
    ...destinations.flatMap((node) => [grouped(fired[node] ?? 0), rate(perDay[node] ?? null)]),
    ...(failed ? [errors === 0 ? '-' : grouped(errors)] : []),
  ])
  const [head = '', ...lines] = tableLines([header, ...cells], new Set(header.keys()))
  const work = `${counted(rows.length, 'run')} in one pass over ${counted(messages, 'message')} in ${formatSpan(wall)}`
  const told = [paint('underline', head), ...lines, '', paint('bold', work)]
  if (destinations.length === 0) told.push('no trigger leads anywhere, so nothing can fire')
  if (late > 0) told.push(`${counted(late, 'message')} had a timestamp before the time of the clock`)
  return told
}

function textOf(value: unknown): string {
  return visible(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Three significant digits. */
function rate(perDay: number | null): string {
  if (perDay === null) return '-'
  if (perDay >= 100) return grouped(Math.round(perDay))
  return perDay.toFixed(perDay >= 10 ? 1 : 2)
}
