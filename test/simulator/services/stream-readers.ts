/** Readers of messages as they come, over everything that a host tells messages on. */
import { openMqtt, openSocket } from '../world/stream-clients.ts'
import type { World } from '../world/world.ts'

export const WAYS_TO_READ = ['events', 'lines', 'socket', 'mqtt 0', 'mqtt 1'] as const

export interface Reading {
  readonly tenant: string
  /** `*`: of all */
  readonly resource: string
  readonly way: (typeof WAYS_TO_READ)[number]
  /** false: what comes is not taken from its connection */
  readonly reads: boolean
  /** goes once after so many ms, and comes back; null: it stays */
  readonly staysMs: number | null
}

/** Between two holes of which the reader knows. */
export interface Stretch {
  /** ms since the beginning, at which it was certainly listening, and until which */
  readonly from: number
  until?: number
  readonly heard: number[]
  /** messages that were said to be lost */
  dropped: number
}

export class StreamReader {
  readonly tenant: string
  readonly resource: string
  readonly way: Reading['way']
  readonly reads: boolean
  readonly name: string
  readonly stretches: Stretch[] = []
  isOver = false
  readonly #world: World
  readonly #staysMs: number | null
  #cut = (): void => {}
  #lastId: string | undefined
  /** of the stretch that goes on: when its last connection was over */
  #wasUntil: number | undefined

  constructor(world: World, { tenant, resource, way, reads, staysMs }: Reading) {
    this.#world = world
    this.tenant = tenant
    this.resource = resource
    this.way = way
    // what an answer over HTTP has to say waits in the client of the tests
    this.reads = reads || way === 'events' || way === 'lines'
    this.#staysMs = staysMs
    this.name = `a reader by ${way} of ${resource} of ${tenant}`
  }

  get heard(): readonly { readonly m: number }[] {
    return this.stretches.flatMap(({ heard }) => heard.map((m) => ({ m })))
  }

  leave(): void {
    this.isOver = true
    this.#cut()
  }

  /** Comes back whenever it was let go. */
  async follow(): Promise<void> {
    if (this.#staysMs !== null) void this.#world.pause(this.#staysMs).then(() => this.#cut())
    while (!this.isOver) {
      const lives = this.#world.life
      await this.#connect()
      const last = this.stretches.at(-1)
      if (last !== undefined) last.until ??= this.#world.now
      this.#world.tell(`${this.name} is off${lives === this.#world.life ? '' : ', its host is gone'}`)
      await this.#world.pause(500)
    }
  }

  async #connect(): Promise<void> {
    const link = this.#world.link()
    if (link === undefined) return
    const left = new Promise<void>((resolve) => (this.#cut = resolve))
    const off = Promise.race([link.died, left])
    if (this.way === 'events' || this.way === 'lines') return this.#overHttp(left)
    const client = this.way === 'socket' ? this.#socket(link.life) : this.#mqtt()
    if (client === undefined) return
    this.#world.counts.joined++
    const isOpen = await Promise.race([client.opened, off.then(() => false)])
    if (isOpen && this.way === 'socket') this.#begin()
    if (isOpen) await Promise.race([client.over, off])
    // what died says nothing any more
    if (link.life === this.#world.link()?.life) client.leave()
  }

  #begin(): void {
    this.stretches.push({ from: this.#world.now, heard: [], dropped: 0 })
    this.#world.tell(`${this.name} listens`)
  }

  #hear(text: string): void {
    const { m, dropped } = JSON.parse(text) as { m?: number; dropped?: number }
    const stretch = this.stretches.at(-1)
    if (stretch === undefined || stretch.until !== undefined) return
    if (dropped !== undefined) stretch.dropped += dropped
    if (m === undefined) return
    stretch.heard.push(m)
    this.#world.counts.read++
    this.#world.tell(`${this.name} reads ${m}`)
  }

  #socket(life: Parameters<typeof openSocket>[0]): ReturnType<typeof openSocket> | undefined {
    if (this.resource === '*') return undefined
    const url = `/resources/${this.resource}/events/subscribe`
    return openSocket(life, { url, tenant: this.tenant }, this.reads ? (text) => this.#hear(text) : undefined)
  }

  #mqtt(): ReturnType<typeof openMqtt> {
    const qos = this.way === 'mqtt 1' ? 1 : 0
    const client = openMqtt(this.tenant, (packet) => {
      if (packet.cmd === 'suback') this.#begin()
      if (packet.cmd !== 'publish') return
      this.#hear(packet.payload.toString())
      // who does not acknowledge gets no more than so many
      if (qos === 1 && this.reads) client?.send({ cmd: 'puback', messageId: packet.messageId ?? 0 })
    })
    const topic = `resources/${this.resource === '*' ? '+' : this.resource}/events`
    void client?.opened.then((isOpen) => {
      if (isOpen) client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos }] })
    })
    return client
  }

  async #overHttp(left: Promise<void>): Promise<void> {
    const accept = this.way === 'events' ? 'text/event-stream' : 'application/x-ndjson'
    const url = this.resource === '*' ? '/messages' : `/resources/${this.resource}/events`
    const headers = { accept, ...(this.#lastId !== undefined && { 'last-event-id': this.#lastId }) }
    let rest = ''
    const heard = (text: string): void => {
      const blocks = (rest + text).split(this.way === 'events' ? '\n\n' : '\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) this.#block(block)
    }
    const question = { method: 'GET', url, tenant: this.tenant, headers } as const
    await this.#world.follow(question, heard, { left, opened: () => this.#comeBack() })
  }

  /** Who reads on after the last one has no hole in between, as far as it is not told of one. */
  #comeBack(): void {
    const last = this.stretches.at(-1)
    if (this.#lastId === undefined || last === undefined) return this.#begin()
    this.#wasUntil = last.until
    delete last.until
    this.#world.tell(`${this.name} goes on after ${this.#lastId}`)
  }

  /** There may be a hole: what came before it was over when the connection was. */
  #gap(): void {
    const last = this.stretches.at(-1)
    if (last !== undefined && this.#wasUntil !== undefined) last.until = this.#wasUntil
    this.#begin()
  }

  #block(block: string): void {
    if (block.startsWith(': here') || block === '{}') return
    if (this.way === 'lines') return this.#hear(block)
    if (block.includes('event: gap')) return this.#gap()
    const dropped = /event: dropped\ndata: (\d+)/.exec(block)?.[1]
    if (dropped !== undefined) return this.#hear(JSON.stringify({ dropped: Number(dropped) }))
    this.#lastId = /^id: (.*)$/m.exec(block)?.[1] ?? this.#lastId
    const data = /^data: (.*)$/m.exec(block)?.[1]
    if (data !== undefined) this.#hear(data)
  }
}
