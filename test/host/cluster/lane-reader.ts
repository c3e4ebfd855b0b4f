/** Reads what is posted to a resource. Whenever a stream ends, it continues at another host from the last id. */
import { scheduler } from 'node:timers/promises'
import type { ClusterProcesses, MemberProcess } from './cluster-processes.ts'
import type { Lane } from './lanes.ts'

/** Time to wait for the last messages, in ms */
const PATIENCE = 30_000
/** Silence in ms after which the reader changes to another host, since the current one may be suspended */
const SILENCE = 5_000

export class LaneReader {
  readonly #lane: Lane
  readonly #hosts: ClusterProcesses
  readonly #asked: ReadonlySet<MemberProcess>
  readonly #over = new AbortController()
  readonly #reading: Promise<void>
  #wrong: string[] = []
  #streams = 0
  #lastId: string | undefined
  /** Number of the next expected message */
  #next = 0
  #hasBegun = false

  /** `ended`: aborts when nothing more is posted. */
  constructor(hosts: ClusterProcesses, asked: ReadonlySet<MemberProcess>, lane: Lane, ended: AbortSignal) {
    this.#lane = lane
    this.#hosts = hosts
    this.#asked = asked
    this.#reading = this.#read(ended)
  }

  /** Waits for the remaining messages and returns the problems found. */
  async problems(): Promise<readonly string[]> {
    const until = Date.now() + PATIENCE
    while (this.#next < this.#lane.sent && this.#wrong.length === 0 && Date.now() < until) await scheduler.wait(50)
    this.#over.abort()
    await this.#reading
    const { resource, sent } = this.#lane
    if (this.#wrong.length === 0 && this.#next !== sent) this.#wrong.push(`its stream has ${this.#next} of ${sent}`)
    return this.#wrong.slice(0, 5).map((one) => `${resource}: ${one} (stream ${this.#streams})`)
  }

  async #read(ended: AbortSignal): Promise<void> {
    while (!this.#over.signal.aborted) {
      const host = [...this.#asked][this.#streams % Math.max(1, this.#asked.size)]
      this.#streams += 1
      await this.#follow(host?.url ?? '').catch(() => undefined)
      if (!ended.aborted) await scheduler.wait(50)
    }
  }

  async #follow(url: string): Promise<void> {
    const silent = new AbortController()
    let timer = setTimeout(() => silent.abort(), SILENCE)
    try {
      const id = this.#lastId
      const stream = await fetch(`${url}/resources/${this.#lane.resource}/events`, {
        headers: {
          ...this.#hosts.headersOf(this.#lane.tenant),
          accept: 'text/event-stream',
          // without an id, read from the beginning
          ...(id !== undefined && { 'last-event-id': id }),
        },
        signal: AbortSignal.any([silent.signal, this.#over.signal]),
      })
      let text = ''
      for await (const part of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        clearTimeout(timer)
        timer = setTimeout(() => silent.abort(), SILENCE)
        const events = (text + part).split('\n\n')
        text = events.pop() ?? ''
        for (const event of events) this.#take(event)
      }
    } finally {
      clearTimeout(timer)
    }
  }

  #take(event: string): void {
    if (event.startsWith('event: gap')) this.#wrong.push(`a gap after ${this.#next} (${this.#lastId ?? 'no id'})`)
    const [, id] = /^id: (.*)$/m.exec(event) ?? []
    const [, number] = /"n":(\d+)/.exec(event) ?? []
    if (id !== undefined) this.#lastId = id
    if (number === undefined) return
    // the first messages may have been posted before this stream opened
    if (!this.#hasBegun) this.#next = Number(number)
    this.#hasBegun = true
    if (Number(number) !== this.#next) this.#wrong.push(`${number} came, and not ${this.#next}`)
    this.#next = Number(number) + 1
  }
}
