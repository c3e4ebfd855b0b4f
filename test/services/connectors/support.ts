/** Connectors of one tenant over a store in memory, with a real broker service and timers that run at once. */
import { TenantLog } from '../../../src/log/tenant-log.ts'
import { createBrokerService } from '../../../src/services/broker/service.ts'
import type { Forwarding, InternalBroker } from '../../../src/services/broker/contract.ts'
import { TenantConnectors } from '../../../src/services/connectors/service.ts'
import type { ConnectorsDependencies } from '../../../src/services/connectors/service.ts'
import type { ConnectorsApi, InternalConnectors } from '../../../src/services/connectors/contract.ts'
import type { Store } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { MemoryBroker } from './memory-broker.ts'

export const NOON = 1_700_000_000_000
export const CALLER = { tenant: 'acme', user: 'tester' }

export interface ConnectorBench {
  readonly outside: MemoryBroker
  readonly broker: InternalBroker
  readonly service: InternalConnectors
  readonly api: ConnectorsApi
  readonly store: Store
  /** waits of the connection loops, in ms */
  readonly waits: number[]
  readonly warned: string[]
  stop(): Promise<void>
}

export interface BenchOptions extends Partial<ConnectorsDependencies> {
  readonly outside?: MemoryBroker
  readonly engine?: Forwarding
}

export async function connectorBench({
  outside = new MemoryBroker(),
  store = openMemory().tenant('acme'),
  engine,
  ...more
}: BenchOptions = {}): Promise<ConnectorBench> {
  const log = new TenantLog(store)
  const broker = createBrokerService({ tenant: 'acme', store, log, now: () => NOON, engine: () => engine })
  await broker.start()
  const waits: number[] = []
  const warned: string[] = []
  const later = (ms: number, work: () => void): (() => void) => {
    if (ms !== 50 && ms < 30_000) waits.push(ms)
    const turn = setImmediate(work)
    return () => clearImmediate(turn)
  }
  const service = new TenantConnectors({
    tenant: 'acme',
    deployment: 'test',
    store,
    log,
    connectors: {
      kafka: async () => outside.connector,
      mqtt: async () => outside.connector,
      sparkplug: async () => outside.connector,
    },
    broker: () => broker,
    converter: () => undefined,
    resources: () => undefined,
    vault: () => undefined,
    alarms: () => undefined,
    firings: () => undefined,
    checkAddress: async () => undefined,
    now: () => NOON,
    later,
    logger: { warn: (what) => warned.push(what), error: (what) => warned.push(what) },
    ...more,
  })
  await service.start()
  return {
    outside,
    broker,
    service,
    api: service.as(CALLER),
    store,
    waits,
    warned,
    stop: async () => {
      await service.stop()
      await broker.stop()
    },
  }
}

export const SOURCE = { type: 'kafka', connection: { brokers: ['127.0.0.1:9092'] }, topics: ['in'], start: 'earliest' }
export const SINK = {
  type: 'kafka',
  connection: { brokers: ['127.0.0.1:9092'] },
  topic: 'out',
  select: { items: 'messages' },
}

/** Returns the values of metric `n`, in the order of the log. */
export async function logged(store: Store): Promise<readonly unknown[]> {
  const entries = await store.log('log').read(0, 10_000)
  return entries.map(({ body }) => (body as { m: { n: unknown } }).m.n)
}
