/**
 * What fired in rows, for who reads it part by part: a firing is one small object, what its why says of states alone is
 * shared by all that say the same, and the rest is found when it is asked for.
 */
import type { FiredEvent, InputSummary, Why, WhyGate, WhyStep, WhyTrigger } from '../engine/events.ts'
import type { Firing, FiringWhy, SensorState } from '../engine/firing.ts'
import { effectOf, firedEvent, whyOf, type FiringMessage, type FiringTask } from './firing-events.ts'
import type { Fires } from './row-store.ts'
import type { StateWhy, TriggerText } from './row-texts.ts'

/** What firings of one message share. `i`: what a firing calls its row. */
export interface FiredTogether {
  /** epoch ms */
  readonly time: number
  /** the engine's clock */
  readonly at: number
  /** what their whys say of what began them; undefined: nobody wants whys */
  readonly input: InputSummary | undefined
  taskOf(i: number): FiringTask
  /** Number of the message among those of the row. */
  numberOf(i: number): number
  /** The message as the whole why of a row needs it. */
  toldOf(i: number): FiringMessage
}

export class RowFiring implements Firing {
  readonly #from: FiredTogether
  readonly #fires: Fires
  readonly #i: number
  readonly #place: number
  readonly #said: StateWhy | undefined

  /** Of its why, which is another object: nobody else sees them. */
  static inputOf(firing: RowFiring): InputSummary {
    return firing.#from.input as InputSummary // there is one where there is a why
  }

  static viaOf(firing: RowFiring): readonly WhyStep[] | undefined {
    const from = firing.#from
    return from.taskOf(firing.#i).texts.via(firing.#fires.position, from.time)
  }

  static whyOf(firing: RowFiring): Why {
    const from = firing.#from
    return whyOf(from.taskOf(firing.#i).texts, from.toldOf(firing.#i), firing.#fires, RowFiring.inputOf(firing))
  }

  /** `place`: among those that the same answer fires. `said`: undefined when nobody wants whys. */
  constructor(from: FiredTogether, fires: Fires, i: number, place: number, said: StateWhy | undefined) {
    this.#from = from
    this.#fires = fires
    this.#i = i
    this.#place = place
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
    const of = this.#from.taskOf(this.#i)
    return effectOf(of, this.#from.numberOf(this.#i), this.#fires, this.#place)
  }

  get why(): FiringWhy | undefined {
    const said = this.#said
    return said && new RowWhy(this, said)
  }

  toJSON(): FiredEvent {
    const from = this.#from
    const { time, at } = from
    const of = from.taskOf(this.#i)
    const numbered = { number: from.numberOf(this.#i), time }
    return firedEvent(of, numbered, this.#fires, at, this.#place, this.why?.toJSON())
  }

  get #text(): TriggerText {
    return this.#from.taskOf(this.#i).texts.triggers[this.#fires.trigger] as TriggerText
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
