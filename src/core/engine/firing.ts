/** Represents firings whose parts are created when read. */
import type { EngineEvent, FiredEvent, Why, WhySensor, WhyStep, WhyTrigger } from './events.ts'

export type SensorState = Pick<WhySensor, 'node' | 'state'>

/** Why a destination fired. Firings share equal parts: do not change them. As JSON it is the `why` of the event. */
export interface FiringWhy extends Readonly<Omit<Why, 'also' | 'sensors' | 'via'>> {
  readonly also: readonly WhyTrigger[] | undefined
  readonly sensors: readonly SensorState[]
  readonly via: readonly WhyStep[] | undefined
  toJSON(): Why
}

export interface Firing extends Readonly<Omit<FiredEvent, 'type' | 'at' | 'why'>> {
  readonly at: number | undefined
  /** undefined: the subscriber does not want it, or the engine has `why: false` */
  readonly why: FiringWhy | undefined
  toJSON(): FiredEvent
}

export function firingsOf(event: EngineEvent, why: boolean): readonly Firing[] {
  return event.type === 'fired' ? [firingOf(why ? event : withoutWhy(event))] : []
}

export function withoutWhy(event: FiredEvent): FiredEvent {
  if (event.why === undefined) return event
  const { why: _, ...rest } = event
  return rest
}

function firingOf(event: FiredEvent): Firing {
  const { time, at, task, invocation, node, source, effect, why } = event
  return { time, at, task, invocation, node, source, effect, why: why && whyOf(why), toJSON: () => event }
}

function whyOf(why: Why): FiringWhy {
  const { input, trigger, also, gates } = why
  return {
    input,
    trigger,
    also,
    sensors: why.sensors.map(({ node, state }) => ({ node, state })),
    gates,
    // Created when read, since its length is that of the chain of triggers.
    get via() {
      return why.via
    },
    toJSON: () => why,
  }
}
