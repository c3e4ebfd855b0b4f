/**
 * Represents the firings of rows. Each is a small object with an index into its message's firings; other data is looked
 * up when read. The parts of whys that depend only on states are shared between equal ones.
 */
import type { FiredEvent, InputSummary, Why, WhyGate, WhyStep, WhyTrigger } from '../engine/events.ts'
import type { Firing, FiringWhy, SensorState } from '../engine/firing.ts'
import { effectOf, firedEvent, whyOf, type FiringMessage, type FiringTask } from './firing-events.ts'
import type { Fires } from './followings.ts'
import type { StateWhy, TriggerText } from './row-texts.ts'

/** Data shared by the firings of one message. `i` identifies the firing. */
export interface FiredTogether {
  /** epoch ms */
  readonly time: number
  /** the engine's clock */
  readonly at: number
  /** the input that caused the firings; undefined: without whys */
  readonly input: InputSummary | undefined
  taskOf(i: number): FiringTask
  /** Returns the number of the message within the row. */
  numberOf(i: number): number
  /** Returns the message with the data for a full why. */
  messageOf(i: number): FiringMessage
  firesOf(i: number): Fires
  /** Returns its index among the firings after the same sensor. */
  placeOf(i: number): number
}

export class RowFiring implements Firing {
  readonly #from: FiredTogether
  readonly #i: number
  readonly #said: StateWhy | undefined

  static inputOf(firing: RowFiring): InputSummary {
    return firing.#from.input as InputSummary // whys require an input
  }

  static viaOf(firing: RowFiring): readonly WhyStep[] | undefined {
    const from = firing.#from
    return from.taskOf(firing.#i).texts.via(from.firesOf(firing.#i).trigger, from.time)
  }

  static whyOf(firing: RowFiring): Why {
    const from = firing.#from
    const i = firing.#i
    return whyOf(from.taskOf(i).texts, from.messageOf(i), from.firesOf(i), RowFiring.inputOf(firing))
  }

  /** `said`: the part of the why that depends on states; undefined: without whys. */
  constructor(from: FiredTogether, i: number, said: StateWhy | undefined) {
    this.#from = from
    this.#i = i
    this.#said = said
  }

  get time(): number {
    return this.#from.time
  }

  get at(): number | undefined {
    const { at, time } = this.#from
    return at === time ? undefined : at
  }

  get task(): string {
    return this.#from.taskOf(this.#i).task
  }

  get invocation(): number {
    return this.#from.taskOf(this.#i).invocations + this.#from.numberOf(this.#i)
  }

  get node(): string {
    return this.#text.node
  }

  get source(): string {
    return this.#text.source
  }

  get effect(): string {
    const from = this.#from
    const i = this.#i
    return effectOf(from.taskOf(i), from.numberOf(i), from.firesOf(i), from.placeOf(i))
  }

  get why(): FiringWhy | undefined {
    const said = this.#said
    return said && new RowWhy(this, said)
  }

  toJSON(): FiredEvent {
    const from = this.#from
    const i = this.#i
    const { time, at, input } = from
    const numbered = { number: from.numberOf(i), time }
    const why = input && RowFiring.whyOf(this)
    return firedEvent(from.taskOf(i), numbered, from.firesOf(i), at, from.placeOf(i), why)
  }

  get #text(): TriggerText {
    const from = this.#from
    return from.taskOf(this.#i).texts.triggers[from.firesOf(this.#i).trigger] as TriggerText
  }
}

class RowWhy implements FiringWhy {
  readonly #firing: RowFiring
  readonly #said: StateWhy

  constructor(firing: RowFiring, said: StateWhy) {
    this.#firing = firing
    this.#said = said
  }

  get input(): InputSummary {
    return RowFiring.inputOf(this.#firing)
  }

  get trigger(): WhyTrigger {
    return this.#said.trigger
  }

  get also(): readonly WhyTrigger[] | undefined {
    return this.#said.also
  }

  get sensors(): readonly SensorState[] {
    return this.#said.sensors
  }

  get gates(): readonly WhyGate[] {
    return this.#said.gates
  }

  get via(): readonly WhyStep[] | undefined {
    return RowFiring.viaOf(this.#firing)
  }

  toJSON(): Why {
    return RowFiring.whyOf(this.#firing)
  }
}
