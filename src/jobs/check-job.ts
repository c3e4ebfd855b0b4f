/** Checks new jobs, reporting all problems of a job tree at once, and prepares the jobs for storage. */
import { Issues, shown } from '#kernel'
import type { Job, JobHandler, NewJob } from './contract.ts'
import { readyState } from './job-change.ts'

export const MAX_IN_TREE = 1_000
const MAX_GENERATIONS = 10
const MAX_PRIORITY = 2_097_152
const MAX_DELAY_MS = 10 * 366 * 86_400_000
const MAX_LABELS = 20
const LONGEST_NAME = 200
const BATCH_SIZE = 200

export interface NewJobDependencies {
  readonly handlers: ReadonlyMap<string, JobHandler>
  readonly newId: () => string
  /** epoch ms */
  readonly now: number
  /** epoch ms by the clock of the store */
  readonly storeTime: number
  readonly nextOrder: () => number
}

export interface PlannedJob {
  readonly job: Job
  readonly batches: readonly (readonly NonNullable<NewJob['items']>[number][])[]
}

export function plannedTree(
  root: NewJob,
  ancestors: readonly string[],
  around: NewJobDependencies,
): readonly [PlannedJob, ...PlannedJob[]] {
  const issues = new Issues('JOB')
  const count = checkJob(root, '', ancestors.length + 1, around, issues)
  if (count > MAX_IN_TREE) {
    issues.wrong('/children', `a tree of ${count} jobs is too large`, `use at most ${MAX_IN_TREE}`)
  }
  issues.throwIfAny('the job')
  return planned(root, ancestors, around)
}

function planned(
  one: NewJob,
  ancestors: readonly string[],
  around: NewJobDependencies,
): readonly [PlannedJob, ...PlannedJob[]] {
  const { type, id = around.newId(), data = {}, user, labels, priority = 0, delay = 0, children = [], items } = one
  const batchSize = around.handlers.get(type)?.batchSize ?? BATCH_SIZE
  const batches = items === undefined ? [] : inBatches(items, batchSize)
  const order = around.nextOrder()
  const below = children.flatMap((child) => planned(child, [...ancestors, id], around))
  const job: Job = {
    id,
    type,
    state: children.length > 0 ? 'waiting-children' : delay > 0 ? 'delayed' : readyState({ priority }),
    data,
    ...(user !== undefined && { user }),
    ...(labels && { labels }),
    ancestors,
    childrenLeft: children.length,
    priority,
    order,
    queueTime: around.now,
    attemptsStarted: 0,
    attemptsMade: 0,
    stalls: 0,
    ...(delay > 0 && { dueTime: around.storeTime + delay }),
    ...(items && { items: { batches: batches.length, batchSize }, progress: { done: 0, total: items.length } }),
  }
  return [{ job, batches }, ...below]
}

function inBatches<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}

function checkJob(job: NewJob, path: string, generation: number, around: NewJobDependencies, issues: Issues): number {
  const wrong = (field: string, message: string, suggestion: string): void =>
    issues.wrong(`${path}/${field}`, message, suggestion)
  const { type, id, labels = [], priority = 0, delay = 0, children = [] } = job
  if (!around.handlers.has(type)) {
    wrong('type', `${shown(type)} does not have a handler`, `use one of ${[...around.handlers.keys()].join(', ')}`)
  }
  if (id !== undefined && !isName(id))
    wrong('id', `${shown(id)} is not a valid id`, `use 1 to ${LONGEST_NAME} characters`)
  if (labels.length > MAX_LABELS) wrong('labels', `${labels.length} labels are too many`, `use at most ${MAX_LABELS}`)
  labels.forEach((label, i) => {
    if (!isName(label))
      wrong(`labels/${i}`, `${shown(label)} is not a valid label`, `use 1 to ${LONGEST_NAME} characters`)
  })
  if (!isWhole(priority, MAX_PRIORITY)) {
    wrong('priority', `${shown(priority)} is not a valid priority`, `use a whole number from 0 to ${MAX_PRIORITY}`)
  }
  if (!isWhole(delay, MAX_DELAY_MS)) wrong('delay', `${shown(delay)} is not a valid delay`, 'use ms, at most ten years')
  if (delay > 0 && children.length > 0) wrong('delay', 'a job with children cannot have a delay', 'delay the children')
  if (generation > MAX_GENERATIONS) {
    wrong('', 'the job is too deep in its tree', `use at most ${MAX_GENERATIONS} generations`)
    return 1
  }
  return children.reduce(
    (sum, child, i) => sum + checkJob(child, `${path}/children/${i}`, generation + 1, around, issues),
    1,
  )
}

function isName(text: unknown): boolean {
  return typeof text === 'string' && text.length > 0 && text.length <= LONGEST_NAME
}

function isWhole(value: unknown, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most
}
