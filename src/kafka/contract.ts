/**
 * Defines the topics of an engine on Kafka, the shapes of their records, and the options of a worker.
 *
 * All input of a partition passes through one topic, so that the order of its offsets is the order of its inputs. A
 * record without the header `rx-kind` is a message of a device: key = resource, value = a JSON object or an array of
 * objects, as any producer with the default partitioner of Kafka writes it.
 */
import type { Cause, PlainObject } from '#core/spi'
import type { TaskSettings } from '#core'

/** A topic by its role; its name is the prefix and the suffix in `TOPICS`. */
export type TopicRole = keyof typeof TOPICS

export const TOPICS = {
  /** messages, relayed messages, ticks, answers, changes of tasks; key = resource */
  in: 'in',
  /** one partition, compacted: `RulesValue` by `RulesKey` */
  rules: 'rules',
  /** compacted, partitioned as `in`: `StateValue` by task, and the `Mark` of the partition */
  state: 'state',
  /** `AlarmRecord`; key = source of the alarm */
  alarms: 'out.alarms',
  /** `CommandRecord`; key = resource */
  commands: 'out.commands',
  /** `MessageRecord`; key = resource */
  messages: 'out.messages',
  /** `EffectRecord`; key = id of the effect */
  effects: 'effects',
  /** readings that arrived after a newer one; key and value as in `in` */
  late: 'late',
  /** records of `in` that cannot be decoded, with the reason in the header `rx-reason` */
  dead: 'dead',
} as const

/** Partitioned by another key than the input, or compacted; the other topics have as many partitions as `in`. */
export const SINGLE: ReadonlySet<TopicRole> = new Set(['rules'])
export const COMPACTED_TOPICS: ReadonlySet<TopicRole> = new Set(['rules', 'state'])

export const DEFAULT_PREFIX = 'rx.'

export const HEADERS = {
  /** `InputKind`; absent: a message of a device */
  kind: 'rx-kind',
  /** `partition/offset` of the input that led to the record */
  from: 'rx-from',
  /** number of rules in a row that led to a message, and the id of what began the chain */
  hops: 'rx-hops',
  root: 'rx-root',
  /** why a record is in the dead-letter topic */
  reason: 'rx-reason',
} as const

/**
 * `relay`: a message of another partition, which tasks of this one observe. `tick`: timers that are due act. `input`:
 * a `ControlInput`. `partial`: reserved for partial results of rules over groups.
 */
export type InputKind = 'relay' | 'tick' | 'input' | 'partial'

/** The rule of a task, complete but for its source, which is found by its hash. */
export interface TaskVersion {
  /** number of the run; another number starts the task again, without its state */
  readonly epoch: number
  /** hash of source and settings */
  readonly version: string
  /** hash of the rule or template, the key of its record in `rules` */
  readonly source: string
  readonly settings: TaskSettings
  /** epoch ms */
  readonly createTime: number
}

/** Inputs of a partition besides messages. They are self-contained, so a replay does not depend on `rules`. */
export type ControlInput =
  | { readonly k: 'begin' | 'change'; readonly t: string; readonly r: readonly string[]; readonly task: TaskVersion }
  | { readonly k: 'forget'; readonly t: string }
  /** result of an outside call: epoch, execution, call number, outcome */
  | {
      readonly k: 'answer'
      readonly t: string
      readonly e: number
      readonly x: number
      readonly c: number
      readonly o: unknown
    }
  | {
      readonly k: 'push'
      readonly t: string
      readonly n: string
      readonly v: { readonly state?: string; readonly rawData?: Record<string, unknown> }
    }
  | { readonly k: 'command'; readonly t: string; readonly n: string; readonly o: 'start' | 'resume' }
  | { readonly k: 'resync'; readonly t: string }

/** Keys of `rules`: `task/<id>`, `source/<hash>`, `topology`, `owner/<partition>`. */
export interface RulesValues {
  readonly task: TaskVersion & { readonly from: string }
  readonly source: PlainObject
  readonly topology: Topology
  readonly owner: Owner
}

/** The layout that the states assume. */
export interface Topology {
  readonly format: number
  readonly partitions: number
  /** id of the topic `in`, which changes when it is created again; absent: unknown */
  readonly topicId?: string
}

export interface Owner {
  readonly name: string
  /** base of the HTTP interface; absent: the worker has none */
  readonly url?: string
  readonly version: string
}

export const STATE_FORMAT = 1
export const MARK_KEY = '#mark'

/** State of a task after all records of its partition before `offset`. */
export interface StateValue {
  readonly format: number
  readonly offset: number
  /** epoch ms of the clock of the partition */
  readonly time: number
  readonly task: TaskVersion
  /** `TaskStateRecord` of the rules service */
  readonly record: unknown
}

/** Every state in the partition reflects at least the records of its task before `offset`. */
export interface Mark {
  readonly format: number
  readonly offset: number
  readonly time: number
  /** highest timestamp of a message so far, epoch ms; absent: none */
  readonly newest?: number
}

interface OfRule {
  readonly cause: Cause
  /** epoch ms of the input that led to the record */
  readonly time: number
}

/** `effect` of the cause identifies the record: consumers that project records use it as key. */
export type AlarmRecord = OfRule &
  (
    | {
        readonly op: 'raise'
        readonly source: string
        readonly type: string
        readonly text: string
        readonly severity: string
        readonly properties?: PlainObject
      }
    | { readonly op: 'clear'; readonly source: string; readonly type: string }
    | { readonly op: 'update'; readonly id: string; readonly change: PlainObject }
  )

export type CommandRecord = OfRule & { readonly resource: string; readonly command: PlainObject }
export type MessageRecord = OfRule & { readonly resource: string; readonly message: PlainObject }

/** An outside call, made at least once with `effect` as idempotency key; its result is an `answer` in `in`. */
export interface EffectRecord {
  readonly effect: string
  readonly partition: number
  readonly t: string
  readonly e: number
  readonly x: number
  readonly c: number
  readonly kind: 'sensor' | 'actuator'
  readonly plug: string
  readonly node: string
  readonly nodeResource?: string
  readonly resource?: string
  readonly time: number
  readonly hops: number
  readonly root?: string
  readonly properties: PlainObject
  readonly streamData: PlainObject
}

export interface WorkerOptions {
  /** name of this worker, unique in the group; shown as the owner of its partitions */
  readonly name: string
  readonly url?: string | undefined
  /** ms between two slices, 10 to 100; each slice is one transaction. Default 50 */
  readonly sliceMs?: number
  /** maximum number of records in a slice; default 5,000 */
  readonly sliceRecords?: number
  /** states are stored after so many records of a partition, default 50,000, or so many ms, default 30,000 */
  readonly checkpointRecords?: number
  readonly checkpointMs?: number
}
