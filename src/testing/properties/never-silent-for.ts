/** The property that a destination fires again and again while something holds. */
import { durationMs } from '../../kernel/duration.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Moment } from '../checked-run.ts'
import { instantText, lengthText } from '../moment-text.ts'
import type { RuleProperty } from '../property.ts'

export interface SilenceOptions {
  /** when silence counts, by messages and states; it holds from one moment until the next. Default: always */
  readonly while?: (moment: Moment) => boolean
  /** default: whatever fires breaks the silence */
  readonly node?: string
}

/**
 * While the condition holds, a destination never lets more than that time pass without firing. Time counts from when
 * the condition began to hold. Throws `VALIDATION` for what is no duration.
 */
export function neverSilentFor(longest: number | string, options: SilenceOptions = {}): RuleProperty {
  const most = typeof longest === 'number' ? longest : durationMs(longest)
  if (!(most >= 0))
    throw new AppError('VALIDATION', `neverSilentFor(${String(longest)}): give a length of time such as 30m`)
  const { node, while: holds = () => true } = options
  const who = node ?? 'the rule'
  return {
    name: `${who} is never silent for longer than ${lengthText(most)}${options.while ? ' while its condition holds' : ''}`,
    check({ moments, until }) {
      let since: number | undefined
      for (const [i, moment] of moments.entries()) {
        if (!holds(moment)) {
          since = undefined
          continue
        }
        since ??= moment.time
        if (moment.fired.some((firing) => node === undefined || firing.node === node)) since = moment.time
        const end = moments[i + 1]?.time ?? until
        if (end - since <= most) continue
        return `${who} was silent from ${instantText(since)} for ${lengthText(end - since)}, longer than ${lengthText(most)}`
      }
      return undefined
    },
  }
}
