/** Times of each numbered message: sent, arrived at the host, and called the actuator; ms of the machine's clock. */
import type { IncomingMessage } from 'node:http'
import { definePlug, type Plug } from '../../../src/plug.ts'
import { machineMs } from './machine-clock.ts'
import { headerOf, numberOf } from './numbered-message.ts'

export class NotedCalls {
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

  expect(count: number): void {
    this.#sent = new Float64Array(count)
    this.#arrived = new Float64Array(count)
    this.#called = new Float64Array(count)
  }

  get calls(): number {
    return this.#calls
  }

  readonly arrive = ({ headers }: IncomingMessage): void => {
    const header = headerOf(headers)
    if (header === undefined) return
    this.#arrived[header.n] = machineMs()
    this.#sent[header.n] = header.sent
  }

  /** ms until the call, per message from `from` on */
  waits(since: 'arrived' | 'sent', from: number): readonly number[] {
    const begun = since === 'arrived' ? this.#arrived : this.#sent
    return Array.from(this.#called.subarray(from), (called, i) => called - (begun[from + i] ?? Number.NaN))
  }

  /** sent messages per second from `from` on */
  sentPerSecond(from: number): number {
    const sent = this.#sent.subarray(from)
    return ((sent.length - 1) * 1_000) / ((sent.at(-1) ?? Number.NaN) - (sent[0] ?? Number.NaN))
  }

  #call(temperature: unknown): void {
    const n = numberOf(temperature)
    if (n === undefined || this.#called[n] !== 0) throw new Error(`an unexpected call: ${String(temperature)}`)
    this.#called[n] = machineMs()
    this.#calls++
  }
}
