/** Checks what must always hold for the logs of all tenants, whatever happens to the processes that write them. */
import { type Json, JsonText } from '../../../src/kernel/json.ts'
import { MARK_ID, MARKS } from '../../../src/log/log-pruner.ts'
import { isInput, isKept, LOG_NAME } from '../../../src/log/message-entry.ts'
import type { LogBody, Store, Write } from '../../../src/storage/contract.ts'

export class LogWatch {
  readonly #found: (text: string) => void
  /** `at` of the last input, by tenant */
  readonly #times = new Map<string, number>()

  constructor(found: (text: string) => void) {
    this.#found = found
  }

  /** Called when a unit of writes is durable. */
  wrote(tenant: string, writes: readonly Write[]): void {
    const appends = writes.flatMap((one) => (one.kind === 'append' ? [one] : []))
    // Holds LOG-1
    const own = appends.filter(({ log }) => log === LOG_NAME)
    if (own.length > 1) this.#found(`${tenant}: one unit appends ${own.length} times to its log`)
    for (const { log, bodies } of appends) {
      if (log !== LOG_NAME && bodies.some((body) => isKept(readBody(body)))) {
        this.#found(`${tenant}: a message of the broker is written to ${log}`)
      }
    }
    // Holds LOG-6
    for (const body of own.flatMap(({ bodies }) => bodies).map(readBody)) {
      if (!isInput(body)) continue
      const { at } = body as { readonly at: number }
      const before = this.#times.get(tenant) ?? at
      if (at < before) this.#found(`${tenant}: the time of an input is ${before - at} ms before that of the last`)
      this.#times.set(tenant, at)
    }
  }

  /** Called before entries up to `upTo` are trimmed. Holds LOG-7 */
  async trims(tenant: string, store: Store, upTo: number): Promise<void> {
    const log = store.log(LOG_NAME)
    const applied = await store.series.applied(LOG_NAME)
    if (applied < upTo) this.#found(`${tenant}: series have the log up to ${applied}, and it is let go up to ${upTo}`)
    const position = (await store.collection(MARKS).get(MARK_ID))?.value.position ?? 0
    const entries = await log.read(Math.min(position, upTo), 10_000)
    if (entries.some((entry) => entry.position <= upTo && isInput(entry.body))) {
      this.#found(`${tenant}: states reflect the log up to ${position}, and it is let go up to ${upTo}`)
    }
  }
}

export function readBody(body: LogBody): Json {
  return body instanceof JsonText ? (JSON.parse(body.text) as Json) : body
}
