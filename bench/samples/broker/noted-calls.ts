/** When each numbered message was sent, arrived at the host and reached an actuator; all in ms of the machine's clock. */
import type { IncomingMessage } from 'node:http'
import { definePlug, type Plug } from '../../../src/plug.ts'
import { machineMs } from './machine-clock.ts'
import { headerOf, numberOf } from './numbered-message.ts'

export class NotedCalls {
  /** the actuator that notes when it is called */
  readonly plug: Plug
  #sent = new Float64Array()
  #arrived = new Float64Array()
  #called = new Float64Array()
  #calls = 0

  constructor() {
    this.plug = definePlug({
      name: 'note',
      version: '1.0.0',
      kind: 'actuator',
      execute: (context) => this.#call(context.streamValue('temperature')),
    })
  }

  /** Numbers are below `count`. */
  expect(count: number): void {
    this.#sent = new Float64Array(count)
    this.#arrived = new Float64Array(count)
    this.#called = new Float64Array(count)
  }

  /** calls so far: one for each message, else it throws */
  get calls(): number {
    return this.#calls
  }

  /** For a listener of the server that comes before all others: the head of a request is here. */
  readonly arrive = ({ headers }: IncomingMessage): void => {
    const header = headerOf(headers)
    if (header === undefined) return
    this.#arrived[header.n] = machineMs()
    this.#sent[header.n] = header.sent
  }

  /** ms until the call, of each message from `from` on */
  waits(since: 'arrived' | 'sent', from: number): readonly number[] {
    const begun = since === 'arrived' ? this.#arrived : this.#sent
    return Array.from(this.#called.subarray(from), (called, i) => called - (begun[from + i] ?? Number.NaN))
  }

  /** messages per second that were sent from `from` on */
  sentPerSecond(from: number): number {
    const sent = this.#sent.subarray(from)
    return ((sent.length - 1) * 1_000) / ((sent.at(-1) ?? Number.NaN) - (sent[0] ?? Number.NaN))
  }

  #call(temperature: unknown): void {
    const n = numberOf(temperature)
    if (n === undefined || this.#called[n] !== 0) throw new Error(`a call that nobody expects: ${String(temperature)}`)
    this.#called[n] = machineMs()
    this.#calls++
  }
}
