/** A message of a row, as far as its events need it: one object that is filled anew for each. */
import type { Message } from '../task/origin.ts'
import type { RowStore } from './row-store.ts'

const NO_MESSAGE: Message = { resource: '' }

export class RowMessage {
  row = 0
  /** its number among those of the row */
  number = 0
  /** epoch ms */
  time = 0.5
  message: Message = NO_MESSAGE
  /** state bits before it, and after it as far as they are known */
  before = 0
  after = 0
  /** since when each node had its state before the message, from a place on */
  since: Float64Array
  sinceAt = 0

  constructor(since: Float64Array) {
    this.since = since
  }

  /** The last message of a row, which its own numbers tell of. */
  ofRow(rows: RowStore, row: number, after: number, message: Message): this {
    const { layout } = rows
    this.row = row
    this.number = rows.count(row)
    this.time = rows.time(row)
    this.message = message
    this.before = rows.before(row)
    this.after = after
    this.since = rows.nums
    this.sinceAt = rows.at(row) + layout.since
    return this
  }
}
