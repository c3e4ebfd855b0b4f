/** The property that a run goes on after a restart as if there had been none. */
import { spanOf } from '../length-of.ts'
import { downSpans } from '../checked-run.ts'
import { firstDifference } from '../event-difference.ts'
import type { RuleProperty } from '../property.ts'

export interface RestartChoice {
  /**
   * how long the process may be dead, as `0..3h`: streams get silences of up to that length, in which it dies. Timers
   * that were due then act late, so that when an event was told is not compared. Default: no time passes
   */
  readonly down?: string
  /** the process may also die while plugs are at work on a message; default true */
  readonly inFlight?: boolean
}

/**
 * A process that dies after any messages, and goes on from what it saved, gives the same events, to the byte. When time
 * passes while it is dead, what was due then happens later, but happens; what follows from the time at which it did is
 * not compared any more. A clock that skips missed ticks makes a difference then, and is right to.
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

/** `0..3h`, or `3h` for short. */
function longestOf(down: string): number {
  return spanOf(down.replace(/^\s*0\s*\.\.\s*/, ''), 'restartChangesNothing: down')
}

/** `after message 3, 7 (plugs at work)`. */
export function crashesText(crashes: readonly { after: number; inFlight: boolean }[], silent = false): string {
  const points = crashes.map(({ after, inFlight }) => `${after}${inFlight ? ' (plugs at work)' : ''}`)
  return `after message ${points.join(', ')}${silent ? ', for some of the silence that follows,' : ''}`
}
