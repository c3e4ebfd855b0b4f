/**
 * The connector to edge nodes of Sparkplug B. The source is a host application: it announces on its STATE topic whether
 * it is online, and requests births. The sink sends commands to nodes (NCMD) and devices (DCMD).
 */
import { AppError, type JsonObject, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import { publishingSink } from '../mqtt/mqtt-client.ts'
import { testConnection } from '../mqtt/mqtt-connector.ts'
import { reading, type Reading } from '../mqtt/mqtt-source.ts'
import type { Connector, Opening, SinkRecord, SourceConnection, SourceOpening } from '../port.ts'
import { EdgeNodes, sparkplugTopic } from './edge-nodes.ts'
import { DATA_TYPES, type DataType, type NewMetric, writePayload } from './payload.ts'

const NAMESPACE = 'spBv1.0'
const AT_MOST_ONCE = { qos: 0, retain: false } as const
const STATE = { qos: 1, retain: true } as const

export const sparkplugConnector: Connector = {
  openSource,
  openSink: (opening) => publishingSink(opening, (record) => commandOf(record, opening.report)),
  test: testConnection,
}

async function openSource(opening: SourceOpening): Promise<SourceConnection> {
  const { connection, clientId, document, report } = opening
  const stateTopic = `${NAMESPACE}/STATE/${connection.clientId ?? clientId}`
  const timestamp = Date.now()
  // birth and will have the time of the connection; a death that is sent has its own
  const state = (online: boolean, at = timestamp): string => JSON.stringify({ online, timestamp: at })
  let send = (_topic: string, _payload: string | Uint8Array, _options: typeof STATE | typeof AT_MOST_ONCE): void =>
    undefined
  const nodes = new EdgeNodes({
    elapsed: machineTimers.elapsed,
    later: machineTimers.later,
    requestRebirth: (group, node) => {
      const rebirth: NewMetric = { name: 'Node Control/Rebirth', type: 'Boolean', value: true }
      send(`${NAMESPACE}/${group}/NCMD/${node}`, writePayload(Date.now(), [rebirth]), AT_MOST_ONCE)
    },
  })
  const decode = (topic: string, payload: Buffer): Reading | undefined => {
    // the will of an earlier connection of this host came late
    if (topic === stateTopic && payload.toString().includes('"online":false')) send(stateTopic, state(true), STATE)
    const place = sparkplugTopic(topic)
    if (place === undefined) return undefined
    try {
      return { payload, decoded: nodes.take(place, payload) }
    } catch (error) {
      if (error instanceof AppError) return { payload, failure: error }
      throw error
    }
  }
  const will = { topic: stateTopic, payload: Buffer.from(state(false)), ...STATE }
  const filters = [stateTopic, ...document.topics]
  const { source, connected } = await reading(opening, { isClean: true, filters, will, decode })
  send = (topic, payload, options) => {
    connected.client.publish(topic, typeof payload === 'string' ? payload : Buffer.from(payload), options, (error) => {
      if (error) report(`a message to ${topic} was not sent: ${error.message}`)
    })
  }
  send(stateTopic, state(true), STATE)
  return {
    next: () => source.next(),
    acknowledge: (records) => source.acknowledge(records),
    lag: () => source.lag(),
    close: async () => {
      // the broker drops the will of a client that disconnects
      if (connected.client.connected) send(stateTopic, state(false, Date.now()), STATE)
      nodes.close()
      await source.close()
    },
  }
}

/** Returns the command of a record; none for a record that no node can receive, which is reported. */
function commandOf({ resource, time, value }: SinkRecord, report: Opening<unknown>['report']) {
  const refused = (why: string): readonly [] => {
    report(`a command of ${resource} was not sent: ${why}`)
    return []
  }
  const [group = '', node = '', device, ...rest] = resource.split('/')
  if (group === '' || node === '' || device === '' || rest.length > 0) {
    return refused('its id is not group/node or group/node/device')
  }
  const kind = device === undefined ? 'NCMD' : 'DCMD'
  const topic = [NAMESPACE, group, kind, node, ...(device === undefined ? [] : [device])].join('/')
  try {
    return [{ topic, payload: Buffer.from(writePayload(time, [metricOf(value)])), options: AT_MOST_ONCE }]
  } catch (error) {
    return refused(messageOf(error))
  }
}

/** `{ name, value, type }`: the metric to write; by default true, and the type of the value. */
function metricOf({ name, value = true, type }: JsonObject): NewMetric {
  if (typeof name !== 'string') throw new TypeError('it has no name')
  if (typeof value === 'object') throw new TypeError('its value is not a number, text or boolean')
  const known = typeof type === 'string' && Object.hasOwn(DATA_TYPES, type) ? (type as DataType) : typeOf(value)
  return { name, value, type: known }
}

function typeOf(value: unknown): DataType {
  if (typeof value === 'boolean') return 'Boolean'
  return typeof value === 'string' ? 'String' : 'Double'
}
