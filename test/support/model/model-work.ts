import type { PlugResult } from '../../../src/core/plug/plug.ts'
import type { ScriptMessage } from './script.ts'

/** Records which input affected a node, and where that input came from. */
export interface Touch {
  invocation: number
  /** the message that led here */
  origin: ScriptMessage | undefined
  /** the clock that led here: a sensor's, or the task's, named by the task's id */
  clock: string | undefined
}

/** The pass of one input through the nodes of the rule. */
export interface Pass {
  /** root sensors that the input runs */
  selected: Map<string, Touch>
  /** sensors for which something is due in this pass */
  due: Set<string>
  /** number of nodes passed, in rule order */
  passed: number
  /** nodes that showed a state or were evaluated in this pass */
  observed: Map<string, Touch>
  /** sensors that ran without an error in this pass */
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
  /** when the execution wakes: by the clock while its plug is at work, by the time of inputs while it only waits */
  due: number | undefined
  /** the result that is held back */
  answer: PlugResult
  failures: number
  /** how often its plug was called */
  calls: number
  /** number of node successes when its plug was last called */
  sawUpTo: number
  resumed: boolean
  /** loop items left after the current one; undefined: not called yet */
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

/** Whether a sensor is at work, so that its task waits; a task does not wait for a sensor that only waits. */
export function isAtWork({ phase }: Execution): boolean {
  return phase === 'queued' || phase === 'called' || phase === 'retrying'
}

/** A future event. At equal times, kinds act in this order. */
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

/** Returns the timer that acts first. */
export function firstTimer(timers: readonly ModelTimer[]): ModelTimer | undefined {
  const rank = (timer: ModelTimer): number[] => [timer.due, KINDS.indexOf(timer.kind), timer.place, timer.id]
  return timers.toSorted((a, b) => {
    const [left, right] = [rank(a), rank(b)]
    const differing = left.findIndex((value, i) => value !== right[i])
    return (left[differing] ?? 0) - (right[differing] ?? 0)
  })[0]
}
