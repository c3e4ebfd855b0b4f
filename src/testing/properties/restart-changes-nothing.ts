/** The property that a restart changes nothing. */
import { spanOf } from '../length-of.ts'
import { downSpans } from '../checked-run.ts'
import { firstDifference } from '../event-difference.ts'
import type { RuleProperty } from '../property.ts'

export interface RestartChoice {
  /**
   * range of downtimes, as `0..3h`: streams have silences of up to that length, in which the process crashes. Timers
   * that were due then act late, so that times of events are not compared. Default: no time passes
   */
  readonly down?: string
  /** the process may also crash while plugs are at work on a message; default true */
  readonly inFlight?: boolean
}

/**
 * A process that crashes after any messages, and continues from its saved state, has the same events, to the byte. With
 * downtime, what was due then happens later, but happens; its consequences in time are not compared. A clock that skips
 * missed ticks then differs rightly.
 */
export function restartChangesNothing({ down, inFlight = true }: RestartChoice = {}): RuleProperty {
  const longest = down === undefined ? 0 : longestOf(down)
  return {
    name: 'a restart changes nothing',
    ...(longest > 0 && { durations: [Math.round(longest / 3), longest] }),
    async check(run) {
      const restarted = await run.restarted({ down: longest, inFlight })
      const spans = downSpans(run, longest)
      const difference = firstDifference(run.events, restarted.events, { spans })
      if (difference === undefined) return undefined
      return `dying ${crashesText(run.crashes, longest > 0)} it differs ${difference}`
    },
  }
}

function longestOf(down: string): number {
  return spanOf(down.replace(/^\s*0\s*\.\.\s*/, ''), 'restartChangesNothing: down')
}

export function crashesText(crashes: readonly { after: number; inFlight: boolean }[], silent = false): string {
  const points = crashes.map(({ after, inFlight }) => `${after}${inFlight ? ' (plugs at work)' : ''}`)
  return `after message ${points.join(', ')}${silent ? ', for some of the silence that follows,' : ''}`
}
