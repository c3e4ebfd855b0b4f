/** Exports the engine on Kafka: a worker for one's own process, and the records of its topics. */
export {
  type AlarmRecord,
  type CommandRecord,
  type ControlInput,
  DEFAULT_PREFIX,
  type EffectRecord,
  HEADERS,
  type InputKind,
  type Mark,
  type MessageRecord,
  type Owner,
  type RulesValues,
  type StateValue,
  type TaskVersion,
  type Topology,
  type TopicRole,
  TOPICS,
  type WorkerOptions,
} from './contract.ts'
export type { PublishedTask } from './publish-rules.ts'
export { RunningWorker, type RunWorkerOptions } from './run-worker.ts'
export { type PagesOptions, workerPages } from './worker-pages.ts'
export type { PartitionStatus, TaskStatus, WorkerView } from './worker.ts'
