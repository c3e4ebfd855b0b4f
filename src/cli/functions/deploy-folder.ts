/** Uploads a folder's files to a host as a version, and follows its jobs until they end. */
import type { Client } from '#client'
import { AppError, isPlainObject, type Json } from '#kernel'
import type { Change, FunctionJobEvent, FunctionVersion } from '#services/functions/contract'
import type { FunctionType } from '#services/functions'
import type { Terminal } from '../terminal.ts'
import type { FunctionFolder } from './read-folder.ts'

export interface DeployOptions {
  readonly draft: boolean
  readonly comment?: string | undefined
}

export interface Deployed {
  readonly version: FunctionVersion
  readonly buildLog: readonly string[]
  /** Why the version does not run; undefined: it runs */
  readonly problem?: { readonly reason: string; readonly log: readonly string[] }
}

type Functions = Client['functions'][FunctionType]

type JobChange = Exclude<FunctionJobEvent, { readonly text: string }>

const MAX_JOBS = 20

/** Deploys a folder and shows each job as it begins and ends. Rejects when the host rejects the upload. */
export async function deployFolder(
  { functions: all }: Client,
  { files, type, manifest }: FunctionFolder,
  { draft, comment }: DeployOptions,
  terminal: Terminal,
): Promise<Deployed> {
  const functions = all[type]
  const { name, version } = manifest
  const options = comment === undefined ? {} : { comment }
  const change = (await isDraftThere(functions, name, version))
    ? await functions.putAssets(name, version ?? '', files, options)
    : await functions.create(files, { ...options, draft })
  return followChange(functions, change, terminal)
}

export async function followChange(
  functions: Functions,
  { entity, job }: Change,
  terminal: Terminal,
): Promise<Deployed> {
  const buildLog: string[] = []
  if (job !== undefined) {
    const shown = new JobLines(terminal)
    for await (const change of jobChanges(functions, entity, job)) {
      shown.show(change)
      if (change.type === 'build') buildLog.push(...logOf(change.result))
    }
  }
  const version = await functions.get(entity.name, entity.version)
  const isRunning = version.status === 'running'
  return { version, buildLog, ...(!isRunning && { problem: problemOf(version) }) }
}

async function* jobChanges(
  functions: Functions,
  entity: FunctionVersion,
  job: NonNullable<Change['job']>,
): AsyncGenerator<JobChange> {
  let wasOver = true
  for await (const event of functions.jobs.events({ ...job, children: true, signal: new AbortController().signal })) {
    if ('text' in event) continue
    wasOver = false
    yield event
  }
  if (wasOver) yield* await changesOfTree(functions, entity, job)
}

/** Returns the changes of finished jobs, ordered by the jobs' end. */
async function changesOfTree(
  functions: Functions,
  { name, version }: FunctionVersion,
  { type, id }: NonNullable<Change['job']>,
): Promise<readonly JobChange[]> {
  const root = await functions.jobs.get(type, id)
  const listed = await functions.jobs.list({ name, version, limit: MAX_JOBS })
  const ofTree = listed.filter(({ job }) => job.queueTime >= root.job.queueTime && job.finishedTime !== undefined)
  const jobs = await Promise.all(ofTree.map((one) => functions.jobs.get(one.type, one.job.id)))
  const byEnd = jobs.toSorted((a, b) => (a.job.finishedTime ?? 0) - (b.job.finishedTime ?? 0))
  return byEnd.flatMap(({ type: jobType, job }) => {
    const head = { type: jobType, id: job.id }
    const { result, failedReason, processedTime = 0, finishedTime = 0 } = job
    const outcome = { ...(result !== undefined && { result }), ...(failedReason !== undefined && { failedReason }) }
    return [
      { ...head, event: 'active' as const, time: processedTime },
      { ...head, event: job.state, time: finishedTime, ...outcome },
    ]
  })
}

async function isDraftThere(functions: Functions, name: string, version: string | undefined): Promise<boolean> {
  if (version === undefined) return false
  try {
    return (await functions.get(name, version)).draft
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

class JobLines {
  readonly #terminal: Terminal
  readonly #began = new Map<string, number>()

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  show(event: JobChange): void {
    const { err, paint, errIsTerminal } = this.#terminal
    const { event: state, type, time, failedReason, result } = event
    const erase = errIsTerminal ? '\r\u001b[2K' : ''
    if (state === 'active') {
      this.#began.set(type, time)
      if (errIsTerminal) err(`${erase}${type} ...`)
    } else if (state === 'completed') {
      const seconds = ((time - (this.#began.get(type) ?? time)) / 1_000).toFixed(1)
      err(`${erase}${type.padEnd(6)} ${paint('green', 'done')} in ${seconds} s\n`)
      for (const line of logOf(result)) err(`       ${line}\n`)
    } else if (state === 'failed' || state === 'delayed') {
      const what = state === 'failed' ? 'failed' : 'will be retried'
      err(`${erase}${type.padEnd(6)} ${paint('red', what)}${failedReason === undefined ? '' : `: ${failedReason}`}\n`)
    }
  }
}

function logOf(result: Json | undefined): readonly string[] {
  const log = isPlainObject(result) ? result['log'] : undefined
  return Array.isArray(log) ? log.map(String) : []
}

function problemOf({ status, record }: FunctionVersion): NonNullable<Deployed['problem']> {
  const { cause, log } = (isPlainObject(record['failureReason']) ? record['failureReason'] : {}) as {
    readonly cause?: string
    readonly log?: readonly string[]
  }
  return { reason: cause ?? `its status is ${status}`, log: log ?? [] }
}

export function reportDeployed({ version, buildLog, problem }: Deployed, json: boolean, terminal: Terminal): 0 | 1 {
  const { name, status, draft, record } = version
  const label = `${name}@${version.version}`
  if (json) {
    const failureReason = record['failureReason']
    const lines = {
      name,
      version: version.version,
      status,
      draft,
      buildLog,
      ...(failureReason !== undefined && { failureReason }),
    }
    terminal.out(`${JSON.stringify(lines)}\n`)
  } else if (problem === undefined) terminal.out(`${label} is ${status}${draft ? ', as a draft' : ''}\n`)
  if (problem === undefined) return 0
  terminal.err(
    `${[`${label} is ${status}: ${problem.reason}`, ...problem.log.map((line) => `  ${line}`)].join('\n')}\n`,
  )
  return 1
}
