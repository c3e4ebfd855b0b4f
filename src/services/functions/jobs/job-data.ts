/** Defines the data and types of function jobs. */
import type { Job } from '#jobs'
import type { FunctionOfJob } from '../contract.ts'
import type { FunctionUpdate } from '../function-record.ts'
import { JOB_TYPES, type JobType } from '../function-schema.ts'

export interface LifecycleData {
  readonly function: FunctionOfJob
  readonly operation: FunctionUpdate['operation']
  readonly revision: string
  /** of an `undeploy` job: what happens to the version afterwards */
  readonly then?: 'remove' | 'reset' | 'keep'
  /** of a `deploy` job: no verification follows */
  readonly skipsVerify?: boolean
}

const PREFIX = 'functions.'
/** Batch jobs of other services that the registry also lists. */
const OTHER_BATCHES: readonly string[] = ['rules.batch', 'alarms.batch', 'resources.operation']

export function storedType(type: JobType): string {
  return `${PREFIX}${type}`
}

export function storedTypes(type: JobType): readonly string[] {
  return type === 'batch' ? [storedType(type), ...OTHER_BATCHES] : [storedType(type)]
}

/** Undefined for types that the registry does not list. */
export function shownType(type: string): JobType | undefined {
  if (OTHER_BATCHES.includes(type)) return 'batch'
  return type.startsWith(PREFIX) ? JOB_TYPES.find((one) => storedType(one) === type) : undefined
}

export function dataOf({ data }: Pick<Job, 'data'>): LifecycleData {
  return data as LifecycleData
}
