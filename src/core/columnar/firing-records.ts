/**
 * Records of what fired in a row, or was held back, for those who are told when the input is done: events are made when
 * somebody reads them.
 */
import type { EventRecord } from '../engine/event-batch.ts'
import { FIRED, HELD } from '../engine/event-filter.ts'
import type { EngineEvent } from '../engine/events.ts'
import type { Message } from '../task/origin.ts'
import { firedEvent, heldEvent, inputOf, type FiringMessage, type FiringTask } from './firing-events.ts'
import type { Fires } from './row-store.ts'

/** Of an event without its why, which needs none. */
export const NO_TIMES: readonly number[] = []

/** What follows from a sensor's answer in a message of a row: what a list says, from a place to another. */
export class FiringRecord implements EventRecord, FiringMessage {
  readonly of: FiringTask
  readonly number: number
  readonly time: number
  readonly message: Message
  readonly before: number
  readonly after: number
  readonly since: readonly number[]
  readonly at: number
  readonly hasWhy: boolean
  readonly list: readonly Fires[]
  readonly from: number
  readonly to: number
  readonly fired: number
  readonly untils: readonly number[] | undefined

  /**
   * `at`: the engine's clock. `since`: since when each node had its state before, undefined: nobody wants whys. `fired`: how
   * many of the list fire; `untils`: by place from `from` on, epoch ms until which the others are held back.
   */
  constructor(
    of: FiringTask,
    { number, time, message, before, after }: FiringMessage,
    at: number,
    since: readonly number[] | undefined,
    list: readonly Fires[],
    from: number,
    to: number,
    fired: number,
    untils: readonly number[] | undefined,
  ) {
    this.of = of
    this.number = number
    this.time = time
    this.message = message
    this.before = before
    this.after = after
    this.since = since ?? NO_TIMES
    this.at = at
    this.hasWhy = since !== undefined
    this.list = list
    this.from = from
    this.to = to
    this.fired = fired
    this.untils = untils
  }

  get type(): 'record' {
    return 'record'
  }

  get sinceAt(): number {
    return 0
  }

  count(types: number): number {
    const held = (types & HELD) === 0 ? 0 : this.to - this.from - this.fired
    return (types & FIRED) === 0 ? held : held + this.fired
  }

  events(): readonly EngineEvent[] {
    const { of, list, from, to, untils, at, message, time } = this
    const input = this.hasWhy ? inputOf(message, time) : undefined
    const events: EngineEvent[] = []
    let place = 0
    for (let i = from; i < to; i++) {
      const fires = list[i] as Fires
      if (list[i - 1]?.position !== fires.position) place = 0
      const until = untils?.[i - from]
      if (until === undefined) events.push(firedEvent(of, this, fires, at, place++, input))
      else events.push(heldEvent(of, this, fires.trigger, at, until))
    }
    return events
  }
}
