/** Stores many messages of few resources as columns, for series and the log. */
import type { SampleValue } from '#storage'
import type { BrokerMessage } from '../contract.ts'

export interface Column {
  readonly resource: string
  readonly metric: string
  /** epoch ms */
  readonly times: number[]
  readonly values: SampleValue[]
}

export interface ResourceObservation {
  time: number
  readonly first: BrokerMessage
}

/** approximate characters per part as JSON, so that a part fits into a log entry even with its quotes escaped */
const MAX_CHARACTERS = 300_000
/** characters for a number with its time and separators */
const EACH = 40

export class Bulk {
  readonly parts: Column[][] = []
  readonly seen = new Map<string, ResourceObservation>()
  count = 0
  size = 0
  #part = new Map<string, Map<string, Column>>()
  #columns: Column[] = []
  #room = 0

  add(resource: string, metric: string, time: number, value: SampleValue): void {
    // a character may take six in JSON, whose backslashes are escaped again
    const size = typeof value === 'string' ? EACH + value.length * 6 : EACH
    this.size += size
    if (this.#room < size) this.#begin()
    this.#room -= size
    const column = this.#columnOf(resource, metric)
    column.times.push(time)
    column.values.push(value)
  }

  saw(resource: string, time: number, message: object): void {
    this.count++
    const sighting = this.seen.get(resource)
    if (sighting !== undefined) sighting.time = Math.max(sighting.time, time)
    else this.seen.set(resource, { time, first: { ...message, resource, timestamp: time } })
  }

  #begin(): void {
    this.#part = new Map()
    this.#columns = []
    this.parts.push(this.#columns)
    this.#room = MAX_CHARACTERS
  }

  #columnOf(resource: string, metric: string): Column {
    let metrics = this.#part.get(resource)
    if (metrics === undefined) this.#part.set(resource, (metrics = new Map<string, Column>()))
    let column = metrics.get(metric)
    if (column === undefined) {
      column = { resource, metric, times: [], values: [] }
      metrics.set(metric, column)
      this.#columns.push(column)
      this.#room -= (resource.length + metric.length) * 6
    }
    return column
  }
}
