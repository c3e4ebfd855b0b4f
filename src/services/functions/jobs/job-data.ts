/** What a job of a function is given, and what its type is called. */
import type { Job } from '#jobs'
import type { FunctionOfJob } from '../contract.ts'
import type { FunctionUpdate } from '../function-record.ts'
import { JOB_TYPES, type JobType } from '../function-schema.ts'

export interface LifecycleData {
  readonly function: FunctionOfJob
  readonly operation: FunctionUpdate['operation']
  readonly revision: string
  /** of `undeploy`: what becomes of the record */
  readonly then?: 'remove' | 'reset' | 'keep'
  /** of `deploy`: nothing asks it afterwards whether it is well */
  readonly skipsVerify?: boolean
}

const PREFIX = 'functions.'
/** Batch operations of other services, which stand beside those of the registry. */
const OTHER_BATCHES: readonly string[] = ['rules.batch', 'alarms.batch']

/** The type of a job as the runner knows it. */
export function storedType(type: JobType): string {
  return `${PREFIX}${type}`
}

/** The types of jobs that are shown as this one. */
export function storedTypes(type: JobType): readonly string[] {
  return type === 'batch' ? [storedType(type), ...OTHER_BATCHES] : [storedType(type)]
}

/** And as it is shown; undefined: it is not of the registry. */
export function shownType(type: string): JobType | undefined {
  if (OTHER_BATCHES.includes(type)) return 'batch'
  return type.startsWith(PREFIX) ? JOB_TYPES.find((one) => storedType(one) === type) : undefined
}

export function dataOf({ data }: Pick<Job, 'data'>): LifecycleData {
  return data as LifecycleData
}
