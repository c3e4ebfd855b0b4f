/** The property that a destination has a limit of firings in any window. */
import { AppError } from '#kernel'
import { spanOf } from '../length-of.ts'
import { instantText, lengthText } from '../moment-text.ts'
import { monitored, type RuleProperty } from '../property.ts'
import { needsFiring } from './needs-firing.ts'

export interface WindowOptions {
  /** ms, ISO 8601, or short as in `1h` */
  readonly within: number | string
  /** default: each destination for itself */
  readonly node?: string
}

/**
 * A destination fires at most `most` times in any window of that length; a firing at the very end of a window is
 * outside. Throws `VALIDATION` for an invalid count or duration.
 */
export function neverMoreThan(most: number, { within, node }: WindowOptions): RuleProperty {
  if (!Number.isInteger(most) || most < 0)
    throw new AppError('VALIDATION', `neverMoreThan(${most}): give a whole number of firings from 0`)
  const window = spanOf(within, 'neverMoreThan: within')
  return monitored<Readonly<Record<string, readonly number[]>>>(
    {
      start: {},
      next(memory, { fired }) {
        const times: Record<string, readonly number[]> = { ...memory }
        for (const { node: destination, time } of fired) {
          if (node !== undefined && destination !== node) continue
          const recent = [...(times[destination] ?? []).filter((earlier) => time - earlier < window), time]
          times[destination] = recent
          const [first] = recent
          if (recent.length <= most || first === undefined) continue
          const how = `${destination} fired ${recent.length} times from ${instantText(first)} to ${instantText(time)}`
          return { memory, wrong: `${how}, within ${lengthText(time - first)}` }
        }
        return { memory: times }
      },
    },
    {
      name: `${node ?? 'every destination'} fires at most ${most === 1 ? 'once' : `${most} times`} within ${lengthText(window)}`,
      durations: [window],
      ...(most > 0 && needsFiring(node)),
    },
  )
}
