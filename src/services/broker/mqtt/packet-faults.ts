/** Finds protocol errors that the parser of `mqtt-packet` accepts, before a packet is parsed. */
import { isUtf8 } from 'node:buffer'
import { REASONS, type Reason } from './reasons.ts'

export interface PacketFault {
  readonly reason: Reason
  readonly text: string
}

const TYPES = {
  connect: 1,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  unsubscribe: 10,
  pingreq: 12,
  disconnect: 14,
  auth: 15,
} as const

const HOLDERS = [
  'connect',
  'will',
  'publish',
  'acknowledgement',
  'subscribe',
  'unsubscribe',
  'disconnect',
  'auth',
] as const
type Holder = (typeof HOLDERS)[number]
type Kind = 'flag' | 'two' | 'twoNot0' | 'four' | 'fourNot0' | 'numberNot0' | 'text' | 'topic' | 'bytes' | 'pair'

const USER_PROPERTY = 38
const TOPIC_ALIAS = 35

const PROPERTIES: ReadonlyMap<number, readonly [kind: Kind, ...of: readonly Holder[]]> = new Map([
  [1, ['flag', 'publish', 'will']],
  [2, ['four', 'publish', 'will']],
  [3, ['text', 'publish', 'will']],
  [8, ['topic', 'publish', 'will']],
  [9, ['bytes', 'publish', 'will']],
  [11, ['numberNot0', 'subscribe']],
  [17, ['four', 'connect', 'disconnect']],
  [21, ['text', 'connect', 'auth']],
  [22, ['bytes', 'connect', 'auth']],
  [23, ['flag', 'connect']],
  [24, ['four', 'will']],
  [25, ['flag', 'connect']],
  [31, ['text', 'acknowledgement', 'disconnect', 'auth']],
  [33, ['twoNot0', 'connect']],
  [34, ['two', 'connect']],
  [TOPIC_ALIAS, ['two', 'publish']],
  [USER_PROPERTY, ['pair', ...HOLDERS]],
  [39, ['fourNot0', 'connect']],
])

/** Returns why this packet must close the connection; undefined if no fault was found here. */
export function packetFault(packet: Buffer, version: number): PacketFault | undefined {
  try {
    checkPacket(new PacketWalk(packet), version)
    return undefined
  } catch (error) {
    if (error instanceof Fault) return { reason: error.reason, text: error.message }
    throw error
  }
}

/** Thrown only while a packet is being walked. */
class Fault extends Error {
  readonly reason: Reason

  constructor(text: string, reason: Reason = REASONS.malformed) {
    super(text)
    this.reason = reason
  }
}

function checkPacket(walk: PacketWalk, version: number): void {
  switch (walk.type) {
    case TYPES.connect:
      return checkConnect(walk)
    case TYPES.publish:
      return checkPublish(walk, version)
    case TYPES.puback:
    case TYPES.pubrec:
    case TYPES.pubrel:
    case TYPES.pubcomp:
      walk.packetId()
      return checkReason(walk, version, 'acknowledgement')
    case TYPES.subscribe:
    case TYPES.unsubscribe:
      return checkFilters(walk, version)
    case TYPES.disconnect:
      return checkReason(walk, version, 'disconnect')
    case TYPES.auth:
      return checkReason(walk, version, 'auth')
    case TYPES.pingreq:
      return walk.end()
    default:
      throw new Fault('a packet that only servers send, or none at all', REASONS.protocol)
  }
}

function checkConnect(walk: PacketWalk): void {
  const name = walk.text('protocol name')
  const version = walk.byte() & 0x7f
  if (!['MQTT', 'MQIsdp'].includes(name)) throw new Fault('another protocol than MQTT', REASONS.unsupportedVersion)
  if (![3, 4, 5].includes(version)) throw new Fault(`version ${version} of MQTT`, REASONS.unsupportedVersion)
  const flags = walk.byte()
  const [hasName, hasPassword, hasWill] = [(flags & 0x80) !== 0, (flags & 0x40) !== 0, (flags & 0x04) !== 0]
  if (version < 5 && hasPassword && !hasName) throw new Fault('a password without a user name', REASONS.protocol)
  if ((flags & 0x18) === 0x18) throw new Fault('a will of QoS 3')
  walk.two()
  if (version === 5) walk.properties('connect')
  walk.text('client id')
  if (hasWill) {
    if (version === 5) walk.properties('will')
    walk.topic('topic of the will')
    walk.bytes()
  }
  if (hasName) walk.text('user name')
  if (hasPassword) walk.bytes()
  walk.end()
}

function checkPublish(walk: PacketWalk, version: number): void {
  const qos = (walk.flags >> 1) & 0x03
  if (qos === 3) throw new Fault('QoS 3')
  if (qos === 0 && (walk.flags & 0x08) !== 0) throw new Fault('a repeated message of QoS 0')
  const topic = walk.topic('topic')
  if (qos > 0) walk.packetId()
  if (version === 5 && walk.properties('publish').has(TOPIC_ALIAS)) {
    throw new Fault('a topic alias, where none was offered', REASONS.badAlias)
  }
  if (topic === '') throw new Fault('an empty topic', REASONS.protocol)
}

function checkFilters(walk: PacketWalk, version: number): void {
  const isSubscribe = walk.type === TYPES.subscribe
  walk.packetId()
  if (version === 5) walk.properties(isSubscribe ? 'subscribe' : 'unsubscribe')
  if (walk.left === 0) throw new Fault('a topic filter is missing', REASONS.protocol)
  while (walk.left > 0) {
    if (walk.text('topic filter') === '') throw new Fault('an empty topic filter')
    if (isSubscribe) walk.byte()
  }
}

function checkReason(walk: PacketWalk, version: number, holder: Holder): void {
  if (version === 5 && walk.left > 0) {
    walk.byte()
    if (walk.left > 0) walk.properties(holder)
  }
  walk.end()
}

class PacketWalk {
  readonly type: number
  readonly flags: number
  readonly #packet: Buffer
  #at = 1

  constructor(packet: Buffer) {
    this.#packet = packet
    this.type = packet.readUInt8(0) >> 4
    this.flags = packet.readUInt8(0) & 0x0f
    this.#number()
  }

  get left(): number {
    return this.#packet.length - this.#at
  }

  byte(): number {
    return this.#packet.readUInt8(this.#take(1))
  }

  two(): number {
    return this.#packet.readUInt16BE(this.#take(2))
  }

  bytes(): Buffer {
    const length = this.two()
    const start = this.#take(length)
    return this.#packet.subarray(start, start + length)
  }

  text(what: string): string {
    const bytes = this.bytes()
    if (!isUtf8(bytes)) throw new Fault(`the ${what} is not UTF-8`)
    if (bytes.includes(0)) throw new Fault(`the ${what} has a NUL`)
    return bytes.toString()
  }

  topic(what: string): string {
    const text = this.text(what)
    if (/[+#]/.test(text)) throw new Fault(`the ${what} has a wildcard`)
    return text
  }

  packetId(): void {
    if (this.two() === 0) throw new Fault('packet id 0', REASONS.protocol)
  }

  properties(holder: Holder): ReadonlySet<number> {
    const length = this.#number()
    const end = this.#at + length
    if (end > this.#packet.length) throw new Fault('properties that are longer than their packet')
    const seen = new Set<number>()
    while (this.#at < end) {
      const id = this.#number()
      const property = PROPERTIES.get(id)
      if (property === undefined) throw new Fault(`property ${id}, which clients do not send`)
      const [kind, ...of] = property
      if (!of.includes(holder)) throw new Fault(`property ${id} in a packet without it`, REASONS.protocol)
      if (seen.has(id) && id !== USER_PROPERTY) throw new Fault(`property ${id} twice`, REASONS.protocol)
      seen.add(id)
      this.#value(kind, id)
    }
    if (this.#at > end) throw new Fault('properties that are longer than they say')
    return seen
  }

  end(): void {
    if (this.left > 0) throw new Fault('bytes after the end')
  }

  #value(kind: Kind, id: number): void {
    const named = `value of property ${id}`
    if (kind === 'flag' && this.byte() > 1) throw new Fault(`the ${named} is neither 0 nor 1`, REASONS.protocol)
    if (kind === 'two') this.two()
    if (kind === 'twoNot0' && this.two() === 0) throw new Fault(`the ${named} is 0`, REASONS.protocol)
    if (kind === 'four') this.#take(4)
    if (kind === 'fourNot0' && this.#packet.readUInt32BE(this.#take(4)) === 0) {
      throw new Fault(`the ${named} is 0`, REASONS.protocol)
    }
    if (kind === 'numberNot0' && this.#number() === 0) throw new Fault(`the ${named} is 0`, REASONS.protocol)
    if (kind === 'text' || kind === 'pair') this.text(named)
    if (kind === 'pair') this.text(named)
    if (kind === 'topic') this.topic(named)
    if (kind === 'bytes') this.bytes()
  }

  #number(): number {
    let value = 0
    for (let i = 0; i < 4; i++) {
      const byte = this.byte()
      value += (byte & 0x7f) * 0x80 ** i
      if (byte < 0x80) return value
    }
    throw new Fault('a number of more than four bytes')
  }

  #take(count: number): number {
    if (count > this.left) throw new Fault('a packet that ends too early')
    const start = this.#at
    this.#at += count
    return start
  }
}
