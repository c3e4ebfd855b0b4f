/** Exports the engine on Kafka: a worker for one's own process, and the records of its topics. */
export { createTopics, type NewTopics } from './client/create-topics.ts'
export { KafkaLog, type KafkaLogOptions } from './client/kafka-log.ts'
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
export type { Assignment, Batch, LogRecord, NewRecord, Slice, TransactionalLog } from './log.ts'
export { type PublishedTask, rulesToPublish } from './publish-rules.ts'
export { RuleBook } from './rule-book.ts'
export { RunningWorker, type RunWorkerOptions } from './run-worker.ts'
export { type PagesParts, workerPages } from './worker-pages.ts'
export { type PartitionStatus, Worker, WORKER_DEFAULTS, type WorkerParts } from './worker.ts'
