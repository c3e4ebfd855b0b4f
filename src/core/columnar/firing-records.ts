/** Records firings and holds of rows; their events are created only when a subscriber reads them. */
import type { EventRecord } from '../engine/event-batch.ts'
import { FIRED, HELD } from '../engine/event-filter.ts'
import type { EngineEvent, InputSummary } from '../engine/events.ts'
import type { Firing } from '../engine/firing.ts'
import { firedEvent, heldEvent, inputOf, whyOf, type FiringMessage, type FiringTask } from './firing-events.ts'
import { RowFiring, type FiredTogether } from './row-firings.ts'
import type { Fires } from './followings.ts'
import type { StateWhy } from './row-texts.ts'

/**
 * Describes a record that differs from the usual: fired after its message, not first after its sensor, or held back.
 */
export interface FiringPart {
  /** the engine's clock, epoch ms */
  readonly at: number
  /** index of the first firing among the firings after the same sensor */
  readonly place: number
  /** epoch ms until which the only firing is held back; undefined: all fire */
  readonly until: number | undefined
}

/** Records a list of firings of one row's message. */
export class FiringRecord implements EventRecord {
  readonly of: FiringTask
  readonly number: number
  readonly time: number
  readonly list: readonly Fires[]
  readonly part: FiringPart | undefined
  /** undefined when whys are not recorded */
  readonly explained: FiringMessage | undefined

  /** `number`, `time`: of the message. `part`: undefined when the whole list fires at the message's time. */
  constructor(
    of: FiringTask,
    number: number,
    time: number,
    list: readonly Fires[],
    part: FiringPart | undefined,
    explained: FiringMessage | undefined,
  ) {
    this.of = of
    this.number = number
    this.time = time
    this.list = list
    this.part = part
    this.explained = explained
  }

  get type(): 'record' {
    return 'record'
  }

  count(types: number): number {
    return (types & (this.part?.until === undefined ? FIRED : HELD)) === 0 ? 0 : this.list.length
  }

  firings(why: boolean): readonly Firing[] {
    if (this.part?.until !== undefined) return []
    const { length } = this.list
    const together = new FiredByRow(this, why)
    // oxlint-disable-next-line unicorn/no-new-array -- sized once: a growing list is copied several times
    const all = new Array<Firing>(length)
    for (let i = 0; i < length; i++) all[i] = new RowFiring(together, i, together.saidOf(i))
    return all
  }

  events(): readonly EngineEvent[] {
    const { of, list, time, part, explained } = this
    const { at = time, until } = part ?? {}
    if (until !== undefined) return list.map(({ trigger }) => heldEvent(of, this, trigger, at, until))
    const input = explained && inputOf(explained.message, time)
    return list.map((fires, i) => {
      const why = explained && input && whyOf(of.texts, explained, fires, input)
      return firedEvent(of, this, fires, at, placeIn(list, i, part?.place), why)
    })
  }
}

/** Returns the index of a firing among the firings after the same sensor. `first`: index of the list's first one. */
function placeIn(list: readonly Fires[], i: number, first = 0): number {
  const position = list[i]?.position
  let place = 0
  while (place < i && list[i - place - 1]?.position === position) place++
  return place === i ? first + place : place
}

/** Data shared by the firings of a record; each method takes a firing's index in the list. */
class FiredByRow implements FiredTogether {
  readonly input: InputSummary | undefined
  readonly #record: FiringRecord
  readonly #explained: FiringMessage | undefined

  constructor(record: FiringRecord, why: boolean) {
    const explained = why ? record.explained : undefined
    this.#record = record
    this.#explained = explained
    this.input = explained && inputOf(explained.message, record.time)
  }

  get time(): number {
    return this.#record.time
  }

  get at(): number {
    const { time, part } = this.#record
    return part === undefined ? time : part.at
  }

  taskOf(): FiringTask {
    return this.#record.of
  }

  numberOf(): number {
    return this.#record.number
  }

  messageOf(): FiringMessage {
    return this.#explained as FiringMessage // records with an input have a message
  }

  firesOf(i: number): Fires {
    return this.#record.list[i] as Fires
  }

  placeOf(i: number): number {
    const { list, part } = this.#record
    return placeIn(list, i, part?.place)
  }

  /** Returns the part of a firing's why that depends only on states; undefined without whys. */
  saidOf(i: number): StateWhy | undefined {
    const explained = this.#explained
    return explained && this.#record.of.texts.said(this.firesOf(i), explained.before, explained.after)
  }
}
