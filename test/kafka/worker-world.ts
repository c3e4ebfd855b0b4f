/** Workers over a broker in memory, and the plain fold that their results must equal. */
import { createBuiltins } from '../../plugins/index.ts'
import type { Plug, PlugServices, Rule, TaskSettings, Template } from '../../src/core/index.ts'
import { createRegistry } from '../../src/core/index.ts'
import { Preparer } from '../../src/core/spi.ts'
import type { LogRecord, NewRecord } from '../../src/kafka/log.ts'
import { outputServices } from '../../src/kafka/output-services.ts'
import { withOutsideCalls } from '../../src/kafka/outside-calls.ts'
import { PartitionEngine } from '../../src/kafka/partition-fold.ts'
import { rulesToPublish } from '../../src/kafka/publish-rules.ts'
import { PublishedRules } from '../../src/kafka/rule-book.ts'
import { Worker } from '../../src/kafka/worker.ts'
import type { MemoryBroker, MemoryLog } from './memory-broker.ts'

/** what the rules of the plant use, since all plugs together cost more than a run */
const USED = new Set(['streamingDataSensor', 'createAlarm', 'stream', 'delaySensor', 'callURL', 'invokeCount'])

function plugsOver(services: PlugServices): readonly Plug[] {
  return createBuiltins({ services }).filter(({ name }) => USED.has(name))
}

export interface RunningWorker {
  readonly worker: Worker
  readonly log: MemoryLog
  /** the slice in progress */
  busy: Promise<unknown> | undefined
}

export function startWorker(broker: MemoryBroker, name: string, options: { checkpointRecords?: number } = {}) {
  const log = broker.join()
  const worker = new Worker({
    log,
    options: { name, checkpointRecords: 3, checkpointMs: 1_000_000, ...options },
    plugs: plugsOver,
    now: () => broker.now,
    version: '1',
  })
  const running: RunningWorker = { worker, log, busy: undefined }
  return running
}

export interface PlantTask {
  readonly id: string
  readonly rule: Rule | Template
  readonly settings?: TaskSettings
}

export async function publish(broker: MemoryBroker, tasks: readonly PlantTask[], from = 'tests'): Promise<void> {
  const { book } = plain(broker)
  await book.apply(broker.read('rules', 0, 0))
  const list = tasks.map(({ id, rule, settings = {} }) => ({ id, source: rule, settings }))
  broker.append(rulesToPublish(list, { from, now: broker.now, book }))
}

function plain(broker: MemoryBroker) {
  let current: PartitionEngine | undefined
  const services = outputServices(() => current as PartitionEngine)
  const plugs = createRegistry(withOutsideCalls(plugsOver(services), (call) => current?.called(call)))
  const preparer = new Preparer(plugs, {})
  const book = new PublishedRules({ preparer, partitionOf: (key) => broker.partitionOf(key) })
  const entered = (fold: PartitionEngine): void => void (current = fold)
  return { book, engine: { plugs, preparer }, entered }
}

export interface Folded {
  readonly outputs: readonly string[]
  readonly states: ReadonlyMap<string, string>
}

/** Applies the records of each partition in order of their offsets, without transactions, checkpoints or restarts. */
export async function plainFold(broker: MemoryBroker): Promise<Folded> {
  const { book, engine, entered } = plain(broker)
  await book.apply(broker.read('rules', 0, 0))
  const outputs: NewRecord[] = []
  const states = new Map<string, string>()
  for (let partition = 0; partition < broker.partitions; partition++) {
    const fold = PartitionEngine.open({ partition, engine, source: (hash) => book.source(hash), entered }, new Map(), {
      committed: undefined,
      fallback: 0,
    })
    for (const record of broker.read('in', partition, 0).records) await fold.apply(record)
    outputs.push(...fold.outputs)
    for (const [id, state] of fold.states()) states.set(id, state)
  }
  return { outputs: outputs.map(outputText).toSorted(), states }
}

export const OUTPUTS = ['alarms', 'messages', 'commands', 'effects', 'late', 'dead'] as const

export function outputsOf(broker: MemoryBroker): readonly string[] {
  const all = OUTPUTS.flatMap((topic) => broker.all(topic).map((record) => outputText({ ...record, topic })))
  return all.toSorted()
}

interface Output extends Pick<NewRecord, 'topic'> {
  readonly key: string | undefined
  readonly value: string | null
  readonly headers?: LogRecord['headers']
}

function outputText({ topic, key, value, headers }: Output): string {
  return JSON.stringify([topic, key, value, Object.entries(headers ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

/** Runs all workers until nothing is left to do; then lets them read what they wrote last, at the same time. */
export async function settle(broker: MemoryBroker, workers: readonly RunningWorker[]): Promise<void> {
  const once = async (): Promise<number> => {
    let applied = 0
    for (const { worker } of workers) applied += await worker.step()
    return applied
  }
  for (let quiet = 0; quiet < 3;) {
    broker.now += 1_000
    quiet = (await once()) === 0 ? quiet + 1 : 0
  }
  for (let quiet = 0; quiet < 2;) quiet = (await once()) === 0 ? quiet + 1 : 0
}

export function statesOf(workers: readonly RunningWorker[]): ReadonlyMap<string, string> {
  return new Map(
    workers.flatMap(({ worker }) => worker.tasks().map(({ id, fold }) => [id, fold.states().get(id) ?? ''])),
  )
}
