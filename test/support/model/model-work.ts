import type { PlugResult } from '../../../src/core/plug/plug.ts'
import type { ScriptMessage } from './script.ts'

/** What an input did with a node, and what it goes back to. */
export interface Touch {
  invocation: number
  /** the message that led here */
  origin: ScriptMessage | undefined
  /** the clock that led here: a sensor's, or the task's under its id */
  clock: string | undefined
}

/** One input on its way through the nodes of the rule. */
export interface Pass {
  /** root sensors that it runs */
  selected: Map<string, Touch>
  /** sensors of which something is due in it */
  due: Set<string>
  /** nodes that it has passed, in the order of the rule */
  passed: number
  /** nodes that showed a state or were decided in it */
  observed: Map<string, Touch>
  /** sensors that ran without an error in it */
  succeeded: Map<string, Touch>
}

/** One run of a node, from being queued to its end. */
export interface Execution {
  id: number
  label: string
  touch: Touch
  phase: 'queued' | 'called' | 'retrying' | 'holding' | 'paused' | 'looping'
  /** time of the input that led here */
  time: number
  /** when it wakes by itself: by the clock while its plug is at work, by the time of inputs while it only waits */
  due: number | undefined
  /** the result that is held back */
  answer: PlugResult
  failures: number
  /** how often its plug was called */
  calls: number
  /** how many nodes had run with success when its plug was called last */
  sawUpTo: number
  resumed: boolean
  /** items of its loop that are left after the one at hand; undefined: it was not called yet */
  itemsLeft: number | undefined
}

/** A result that comes later unless the node runs before. */
export interface FollowUp {
  id: number
  label: string
  touch: Touch
  due: number
  answer: PlugResult
}

/** A sensor at work lets nothing else happen to its task; one that only waits does. */
export function isAtWork({ phase }: Execution): boolean {
  return phase === 'queued' || phase === 'called' || phase === 'retrying'
}

/** Something that will happen by itself. Kinds act in this order when they are due at the same time. */
export interface ModelTimer {
  due: number
  kind: 'evict' | 'followUp' | 'wake' | 'ownTick' | 'tick'
  label: string
  /** place of the node in the rule */
  place: number
  id: number
  act: () => void
}

const KINDS: readonly ModelTimer['kind'][] = ['evict', 'followUp', 'wake', 'ownTick', 'tick']

/** The timer that acts first. */
export function firstTimer(timers: readonly ModelTimer[]): ModelTimer | undefined {
  const rank = (timer: ModelTimer): number[] => [timer.due, KINDS.indexOf(timer.kind), timer.place, timer.id]
  return timers.toSorted((a, b) => {
    const [left, right] = [rank(a), rank(b)]
    const differing = left.findIndex((value, i) => value !== right[i])
    return (left[differing] ?? 0) - (right[differing] ?? 0)
  })[0]
}
