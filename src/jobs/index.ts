/** Durable jobs, which are stored first and then executed by the host that takes them. */
export {
  type ItemOutcome,
  type Job,
  JOB_STATES,
  type JobContext,
  type JobEvent,
  type JobHandler,
  type JobOutcome,
  type JobState,
  type JobTimers,
  type NewJob,
  type Progress,
} from './contract.ts'
export { itemHandler } from './item-handler.ts'
export type { AddedJobs, JobQueue } from './job-queue.ts'
export { JobRunner } from './job-runner.ts'
export { JobSlots } from './type-runner.ts'
