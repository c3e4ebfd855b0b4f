/** Simulates clients that post several messages over one connection, and repeat those that were not acknowledged. */
import type { Packet } from 'mqtt-packet'
import { openMqtt, openSocket, publishing } from '../world/stream-clients.ts'
import type { World } from '../world/world.ts'

export const WAYS_TO_SEND = ['http', 'socket', 'mqtt 0', 'mqtt 1', 'mqtt 2'] as const

/** ms for which a client waits for acknowledgements */
const PATIENCE_MS = 30_000
/** ms after which a client without acknowledgements leaves */
const STAYS_MS = 3_000
/** maximum connections of one client, one after the other */
const CONNECTIONS = 4

export interface Sending {
  readonly tenant: string
  readonly resource: string
  readonly n: number
  readonly way: (typeof WAYS_TO_SEND)[number]
  readonly count: number
  /** number of padding characters in each message */
  readonly pad: number
}

/** A message, and what its sender knows. Times are ms since the beginning. */
export interface StreamMessage {
  readonly tenant: string
  readonly resource: string
  readonly m: number
  /** messages of one burst came over one connection, in order */
  readonly burst: number
  /** epoch ms */
  readonly timestamp: number
  bytes?: number
  sentAt?: number
  ackedAt?: number
  /** number of times that the host may have accepted it */
  attempts: number
  mayBeThere: boolean
}

export async function send(world: World, sending: Sending, messages: readonly StreamMessage[]): Promise<void> {
  const body = ({ m, timestamp }: StreamMessage): object => ({ m, timestamp, pad: 'x'.repeat(sending.pad) })
  for (const message of messages) message.bytes = sending.pad
  if (sending.way === 'http') return overHttp(world, sending, messages, body)
  if (sending.way === 'socket') return overSocket(world, sending, messages, body)
  for (let connections = 0; connections < CONNECTIONS; connections++) {
    const left = messages.filter(({ ackedAt }) => ackedAt === undefined)
    if (left.length === 0 || (connections > 0 && sending.way === 'mqtt 0')) return
    await overMqtt(world, sending, left, body)
    await world.pause(1000)
  }
}

type BodyOf = (message: StreamMessage) => object

async function overHttp(
  world: World,
  { tenant, resource }: Sending,
  messages: readonly StreamMessage[],
  bodyOf: BodyOf,
): Promise<void> {
  for (const message of messages) {
    begun(world, message)
    const url = `/resources/${resource}/events`
    const { kind } = await world.ask({ method: 'POST', url, tenant, body: bodyOf(message) })
    message.mayBeThere = kind !== 'refused'
    if (kind === 'answered') message.ackedAt = world.now
  }
}

/** The host only responds to errors, so the outcome of the others is unknown. */
async function overSocket(
  world: World,
  { tenant, resource }: Sending,
  messages: readonly StreamMessage[],
  bodyOf: BodyOf,
): Promise<void> {
  const link = world.link()
  if (link === undefined) return
  const url = `/resources/${resource}/events/publish`
  const socket = openSocket(link.life, { url, tenant }, (text) => world.tell(`${tenant} hears ${text.slice(0, 200)}`))
  world.counts.joined++
  if (!(await Promise.race([socket.opened, link.died.then(() => false)]))) return
  for (const message of messages) {
    begun(world, message)
    world.counts.sent++
    message.mayBeThere = true
    socket.send(JSON.stringify(bodyOf(message)))
  }
  await world.pause(STAYS_MS)
  socket.leave()
}

async function overMqtt(
  world: World,
  { tenant, resource, way }: Sending,
  messages: readonly StreamMessage[],
  bodyOf: BodyOf,
): Promise<void> {
  const qos = Number(way.slice(-1)) as 0 | 1 | 2
  const link = world.link()
  const byId = new Map(messages.map((message, i) => [i + 1, message]))
  let open = messages.length
  let allDone = (): void => {}
  const done = new Promise<void>((resolve) => (allDone = resolve))
  const heard = (packet: Packet): void => {
    if (packet.cmd !== 'puback' && packet.cmd !== 'pubrec') return
    const message = byId.get(packet.messageId ?? 0)
    world.tell(`${tenant} ${packet.cmd} of ${message?.m} ${packet.reasonCode ?? 0}`)
    if (message === undefined) return
    if ((packet.reasonCode ?? 0) < 0x80) message.ackedAt ??= world.now
    if (packet.cmd === 'pubrec') client?.send({ cmd: 'pubrel', messageId: packet.messageId ?? 0 })
    if (--open === 0) allDone()
  }
  const client = openMqtt(tenant, heard)
  if (client === undefined || link === undefined) return
  world.counts.joined++
  if (!(await Promise.race([client.opened, link.died.then(() => false)]))) return client.leave()
  for (const [id, message] of byId) {
    begun(world, message)
    world.counts.sent++
    message.mayBeThere = true
    client.send(publishing(`resources/${resource}/events`, bodyOf(message), qos, id))
  }
  await Promise.race([qos === 0 ? world.pause(STAYS_MS) : done, client.over, link.died, world.pause(PATIENCE_MS)])
  client.leave()
}

function begun(world: World, message: StreamMessage): void {
  message.sentAt ??= world.now
  message.attempts++
}
