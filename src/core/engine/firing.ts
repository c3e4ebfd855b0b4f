/** What fired, with parts that are made when somebody reads them: for who reads a little of much. */
import type { EngineEvent, FiredEvent, InputSummary, Why, WhyGate, WhySensor, WhyStep, WhyTrigger } from './events.ts'

/** What a sensor behind a firing saw; the why of the event says since when, and by which input. */
export type SensorState = Pick<WhySensor, 'node' | 'state'>

/**
 * Why something fired. Parts that say the same of other firings are the same objects: do not change them. As JSON it is
 * the whole `why` of the event.
 */
export interface FiringWhy extends Readonly<Omit<Why, 'also' | 'sensors' | 'via'>> {
  /** the other triggers that held in the same input, as declared */
  readonly also: readonly WhyTrigger[] | undefined
  /** the sensors behind the source, with the state of each */
  readonly sensors: readonly SensorState[]
  /** when the source itself ran because of a trigger: the triggers that led there, first one first */
  readonly via: readonly WhyStep[] | undefined
  toJSON(): Why
}

/** A firing of a batch of events. As JSON it is its event. */
export interface Firing extends Readonly<Omit<FiredEvent, 'type' | 'at' | 'why'>> {
  /** epoch ms of the engine's clock, when that was ahead of `time` */
  readonly at: number | undefined
  /** undefined: whoever is told wants none, or the engine was made with `why: false` */
  readonly why: FiringWhy | undefined
  /** All of it, made anew. */
  toJSON(): FiredEvent
}

/** Of an event that is there. */
export class EventFiring implements Firing {
  readonly #event: FiredEvent

  constructor(event: FiredEvent) {
    this.#event = event
  }

  get time(): number {
    return this.#event.time
  }

  get at(): number | undefined {
    return this.#event.at
  }

  get task(): string {
    return this.#event.task
  }

  get invocation(): number {
    return this.#event.invocation
  }

  get node(): string {
    return this.#event.node
  }

  get source(): string {
    return this.#event.source
  }

  get effect(): string {
    return this.#event.effect
  }

  get why(): FiringWhy | undefined {
    const { why } = this.#event
    return why && new EventWhy(why)
  }

  toJSON(): FiredEvent {
    return this.#event
  }
}

class EventWhy implements FiringWhy {
  readonly #why: Why

  constructor(why: Why) {
    this.#why = why
  }

  get input(): InputSummary {
    return this.#why.input
  }

  get trigger(): WhyTrigger {
    return this.#why.trigger
  }

  get also(): readonly WhyTrigger[] | undefined {
    return this.#why.also
  }

  get sensors(): readonly SensorState[] {
    return this.#why.sensors.map(({ node, state }) => ({ node, state }))
  }

  get gates(): readonly WhyGate[] {
    return this.#why.gates
  }

  get via(): readonly WhyStep[] | undefined {
    return this.#why.via
  }

  toJSON(): Why {
    return this.#why
  }
}

/** What an event says that fired; nothing when it says something else. */
export function firingsOf(event: EngineEvent, why: boolean): readonly Firing[] {
  return event.type === 'fired' ? [new EventFiring(why ? event : withoutWhy(event))] : []
}

export function withoutWhy(event: FiredEvent): FiredEvent {
  if (event.why === undefined) return event
  const { why: _, ...rest } = event
  return rest
}
