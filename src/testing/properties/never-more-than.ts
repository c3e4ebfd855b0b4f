/** The property that a destination fires only so often in any window. */
import { durationMs } from '../../kernel/duration.ts'
import { AppError } from '../../kernel/errors.ts'
import { instantText, lengthText } from '../moment-text.ts'
import type { RuleProperty } from '../property.ts'

export interface WindowOptions {
  /** ms, ISO 8601, or short as in `1h` */
  readonly within: number | string
  /** default: each destination for itself */
  readonly node?: string
}

/**
 * A destination fires at most `most` times in any window of that length; a firing at the very end of a window is
 * outside. Throws `VALIDATION` for what cannot be a count or a duration.
 */
export function neverMoreThan(most: number, { within, node }: WindowOptions): RuleProperty {
  const window = typeof within === 'number' ? within : durationMs(within)
  if (!Number.isInteger(most) || most < 0)
    throw new AppError('VALIDATION', `neverMoreThan(${most}): give a whole number of firings from 0`)
  if (!(window > 0))
    throw new AppError('VALIDATION', `neverMoreThan: within is ${String(within)}; give a length of time such as 1h`)
  return {
    name: `${node ?? 'every destination'} fires at most ${most === 1 ? 'once' : `${most} times`} within ${lengthText(window)}`,
    check(run) {
      const times = new Map<string, number[]>()
      for (const { node: fired, time } of run.firings(node)) {
        const earlier = times.get(fired) ?? []
        times.set(fired, earlier)
        earlier.push(time)
        const first = earlier.at(-1 - most)
        if (earlier.length <= most || first === undefined || time - first >= window) continue
        return `${fired} fired ${most + 1} times from ${instantText(first)} to ${instantText(time)}, within ${lengthText(time - first)}`
      }
      return undefined
    },
  }
}
