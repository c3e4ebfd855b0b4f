/** Simulates readers of messages on every kind of connection that a host offers. */
import { openMqtt, openSocket } from '../world/stream-clients.ts'
import type { World } from '../world/world.ts'

export const WAYS_TO_READ = ['events', 'lines', 'socket', 'mqtt 0', 'mqtt 1'] as const

export interface Reading {
  readonly tenant: string
  /** `*`: all resources */
  readonly resource: string
  readonly way: (typeof WAYS_TO_READ)[number]
  /** false: the reader never reads from its connection */
  readonly reads: boolean
  /** leaves once after this many ms, and comes back; null: stays */
  readonly staysMs: number | null
}

/** A period between two gaps that the reader knows of. */
export interface Stretch {
  /** ms since the beginning: when the reader was certainly listening, and until when */
  readonly from: number
  until?: number
  readonly heard: number[]
  /** number of messages reported as lost */
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
  /** when the last connection of the current period ended */
  #wasUntil: number | undefined

  constructor(world: World, { tenant, resource, way, reads, staysMs }: Reading) {
    this.#world = world
    this.tenant = tenant
    this.resource = resource
    this.way = way
    // the tests' HTTP client buffers whatever a response sends
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

  /** Reconnects each time the connection ends. */
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
    // a host that died closes no connection
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
      // without acknowledgements, only a limited number of messages arrives
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

  /** Continues after the last message read, so the period has no gap unless one is reported. */
  #comeBack(): void {
    const last = this.stretches.at(-1)
    if (this.#lastId === undefined || last === undefined) return this.#begin()
    this.#wasUntil = last.until
    delete last.until
    this.#world.tell(`${this.name} goes on after ${this.#lastId}`)
  }

  /** Ends the period with the connection, because a gap may follow. */
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
