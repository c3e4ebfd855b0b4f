/**
 * Follows the edge nodes and devices of Sparkplug B as a host application: births, data, deaths, aliases and sequence
 * numbers.
 *
 * SPARKPLUG-1 after data of a node or device without a birth, an unknown alias, or a gap in the sequence of a node that
 *   late messages do not fill within the reorder timeout, the birth is requested again, once until it comes or a while
 *   has passed
 * SPARKPLUG-2 a birth is online, a death is offline; a node takes its devices along; a death of an earlier connection
 *   of the node has no effect
 */
import { AppError, FORBIDDEN_KEYS, type Json, messageOf, type StartTimer } from '#kernel'
import type { DecodedRecord, ResourceObject } from '../port.ts'
import { type DataType, type Metric, readPayload, type SparkplugPayload } from './payload.ts'

export interface EdgeNodesOptions {
  /** Requests the births of a node and its devices. */
  readonly requestRebirth: (group: string, node: string) => void
  /** monotonic ms */
  readonly elapsed: () => number
  readonly later: StartTimer
}

interface Known {
  readonly name: string
  readonly type: DataType | undefined
}

/** Metrics of a birth, by alias and by name. */
class BirthMetrics {
  readonly #byAlias = new Map<string, Known>()
  readonly #byName = new Map<string, Known>()

  constructor({ metrics }: SparkplugPayload) {
    for (const { name, alias, type } of metrics) {
      if (name === undefined) continue
      this.#byName.set(name, { name, type })
      if (alias !== undefined) this.#byAlias.set(alias, { name, type })
    }
  }

  find({ name, alias, type }: Metric): Known | undefined {
    const known = name === undefined ? this.#byAlias.get(alias ?? '') : this.#byName.get(name)
    return known && { ...known, type: type ?? known.type }
  }
}

interface EdgeNode {
  birth: BirthMetrics | undefined
  readonly devices: Map<string, BirthMetrics>
  bdSeq: Json | undefined
  /** the highest in the order of the node */
  seq: number
  /** numbers that a gap left out; a late message fills them */
  readonly missing: Set<number>
  cancelReorder: (() => void) | undefined
  /** monotonic ms */
  requested: number
}

export interface SparkplugTopic {
  readonly group: string
  readonly type: string
  readonly node: string
  readonly device: string | undefined
}

const TYPES = new Set(['NBIRTH', 'NDATA', 'NDEATH', 'DBIRTH', 'DDATA', 'DDEATH'])
/** ms within which late messages may fill a gap */
const REORDER_MS = 2_000
/** size of a gap that late messages may fill; the rest of the numbers count as earlier */
const MAX_GAP = 128
const SEQUENCE = 256
/** ms after which a birth that did not come is requested again */
const REQUEST_MS = 10_000
const MAX_NODES = 100_000
const NO_RECORD: DecodedRecord = { messages: [] }

/** Returns undefined for a topic that is not one of nodes and devices. */
export function sparkplugTopic(topic: string): SparkplugTopic | undefined {
  const [, group = '', type = '', node = '', device, ...rest] = topic.split('/')
  const isOfDevice = type.startsWith('D')
  if (!TYPES.has(type) || group === '' || node === '' || rest.length > 0 || isOfDevice !== (device !== undefined)) {
    return undefined
  }
  return { group, type, node, device }
}

export class EdgeNodes {
  readonly #options: EdgeNodesOptions
  readonly #nodes = new Map<string, EdgeNode>()

  constructor(options: EdgeNodesOptions) {
    this.#options = options
  }

  /** Returns what a message means. Throws `VALIDATION` for a payload that is not Sparkplug's. */
  take(topic: SparkplugTopic, bytes: Uint8Array): DecodedRecord {
    const payload = payloadOf(topic, bytes)
    const node = this.#nodeOf(topic)
    const { type, device = '' } = topic
    if (type === 'NDEATH') return this.#death(topic, node, payload)
    if (type === 'NBIRTH') {
      node.birth = new BirthMetrics(payload)
      node.devices.clear()
      node.bdSeq = bdSeqOf(payload)
      node.requested = Number.NEGATIVE_INFINITY
      node.seq = payload.seq ?? 0
      complete(node)
      return this.#born(resourceOf(topic), node.birth, topic, payload)
    }
    if (node.birth === undefined) return this.#missing(topic, node)
    this.#follow(topic, node, payload)
    if (type === 'NDATA') return { messages: this.#messages(resourceOf(topic), node.birth, topic, payload) }
    if (type === 'DBIRTH') {
      const birth = new BirthMetrics(payload)
      node.devices.set(device, birth)
      return this.#born(resourceOf(topic), birth, topic, payload)
    }
    if (type === 'DDEATH') {
      node.devices.delete(device)
      return { messages: [], attributes: [presence(resourceOf(topic), 'offline')] }
    }
    const birth = node.devices.get(device)
    if (birth === undefined) return this.#missing(topic, node)
    return { messages: this.#messages(resourceOf(topic), birth, topic, payload) }
  }

  #nodeOf({ group, node }: SparkplugTopic): EdgeNode {
    const name = `${group}/${node}`
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    if (this.#nodes.size >= MAX_NODES) throw new AppError('TOO_LARGE', `more than ${MAX_NODES} edge nodes`)
    const made: EdgeNode = {
      birth: undefined,
      devices: new Map<string, BirthMetrics>(),
      bdSeq: undefined,
      seq: 0,
      missing: new Set<number>(),
      cancelReorder: undefined,
      requested: Number.NEGATIVE_INFINITY,
    }
    this.#nodes.set(name, made)
    return made
  }

  #death({ group, node: name }: SparkplugTopic, node: EdgeNode, payload: SparkplugPayload): DecodedRecord {
    const isOfEarlier = node.birth !== undefined && bdSeqOf(payload) !== node.bdSeq
    if (isOfEarlier) return NO_RECORD
    const resource = `${group}/${name}`
    const all = [resource, ...[...node.devices.keys()].map((device) => `${resource}/${device}`)]
    node.birth = undefined
    node.devices.clear()
    complete(node)
    return { messages: [], attributes: all.map((one) => presence(one, 'offline')) }
  }

  #follow(topic: SparkplugTopic, node: EdgeNode, { seq }: SparkplugPayload): void {
    const expected = (node.seq + 1) % SEQUENCE
    if (seq === undefined) {
      node.seq = expected
      this.#request(topic, node)
      return
    }
    if (node.missing.delete(seq)) {
      if (node.missing.size === 0) complete(node)
      return
    }
    const gap = (seq - expected + SEQUENCE) % SEQUENCE
    if (gap === 0) {
      node.seq = seq
      return
    }
    if (gap <= MAX_GAP) {
      for (let skipped = 0; skipped < gap; skipped++) node.missing.add((expected + skipped) % SEQUENCE)
      node.seq = seq
    }
    // a repetition counts as a gap that nothing fills
    node.cancelReorder ??= this.#options.later(REORDER_MS, () => {
      complete(node)
      this.#request(topic, node)
    })
  }

  /** Ends what waits for late messages. */
  close(): void {
    for (const node of this.#nodes.values()) complete(node)
  }

  #missing(topic: SparkplugTopic, node: EdgeNode): DecodedRecord {
    this.#request(topic, node)
    return NO_RECORD
  }

  #request({ group, node: name }: SparkplugTopic, node: EdgeNode): void {
    const time = this.#options.elapsed()
    if (time - node.requested < REQUEST_MS) return
    node.requested = time
    this.#options.requestRebirth(group, name)
  }

  #born(resource: string, birth: BirthMetrics, topic: SparkplugTopic, payload: SparkplugPayload): DecodedRecord {
    return {
      messages: this.#messages(resource, birth, topic, payload),
      attributes: [presence(resource, 'online')],
    }
  }

  /** One message per time, in the order of their first metric. */
  #messages(
    resource: string,
    birth: BirthMetrics,
    topic: SparkplugTopic,
    { metrics, timestamp }: SparkplugPayload,
  ): readonly ResourceObject[] {
    const byTime = new Map<number | undefined, Record<string, Json>>()
    for (const metric of metrics) {
      const known = birth.find(metric)
      if (known === undefined) {
        this.#request(topic, this.#nodeOf(topic))
        continue
      }
      const value = metric.valueAs(known.type)
      if (value === undefined || isControl(known.name)) continue
      const time = metric.timestamp ?? timestamp
      const message = byTime.get(time) ?? {}
      message[known.name] = value
      byTime.set(time, message)
    }
    return [...byTime].map(([time, values]) => ({
      ...values,
      resource,
      ...(time !== undefined && { timestamp: time }),
    }))
  }
}

/** Ends the wait for late messages. */
function complete(node: EdgeNode): void {
  node.cancelReorder?.()
  node.cancelReorder = undefined
  node.missing.clear()
}

function payloadOf({ type }: SparkplugTopic, bytes: Uint8Array): SparkplugPayload {
  try {
    return readPayload(bytes)
  } catch (error) {
    throw new AppError('VALIDATION', `the payload of the ${type} is not one of Sparkplug B: ${messageOf(error)}`)
  }
}

function bdSeqOf({ metrics }: SparkplugPayload): Json | undefined {
  const found = metrics.find(({ name }) => name === 'bdSeq')
  return found?.valueAs(found.type ?? 'UInt64')
}

/** Metrics about the connection, and commands that a node offers. */
function isControl(name: string): boolean {
  return name === 'bdSeq' || /^(?:Node|Device) Control\//.test(name) || FORBIDDEN_KEYS.has(name)
}

function resourceOf({ group, node, device }: SparkplugTopic): string {
  return device === undefined ? `${group}/${node}` : `${group}/${node}/${device}`
}

function presence(resource: string, is: 'online' | 'offline'): ResourceObject {
  return { resource, presence: is }
}
