/** What a worker answers over HTTP: its health, its tasks, explanations, and figures; other owners answer for theirs. */
import { createServer, type Server } from 'node:http'
import { AppError, messageOf } from '#kernel'
import type { WorkerView } from './worker.ts'

export interface PagesOptions {
  /** the worker of the current connection; undefined: not connected */
  readonly worker: () => WorkerView | undefined
  /** why the worker is not connected; undefined: it is */
  readonly trouble: () => string | undefined
  readonly fetch: typeof fetch
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly type: string
}

/** Marks a request that another worker passed on, which is not passed on again. */
const PASSED = 'rx-passed'
/** How long the owner of a task may take to answer, in ms. */
const OWNER_MS = 5_000

export function workerPages(parts: PagesOptions): Server {
  return createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://worker')
    const isPassed = request.headers[PASSED] !== undefined
    const answered = request.method === 'GET' ? answer(parts, url, isPassed) : Promise.reject(methodError())
    void answered.catch(errorAnswer).then(({ status, body, type }) => {
      const retry = status === 503 && { 'retry-after': '1' }
      response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff', ...retry }).end(body)
    })
  })
}

async function answer(parts: PagesOptions, url: URL, isPassed: boolean): Promise<Answer> {
  const worker = parts.worker()
  if (url.pathname === '/health') return health(parts)
  if (worker === undefined) throw new AppError('UNAVAILABLE', parts.trouble() ?? 'the worker is not connected yet')
  if (url.pathname === '/metrics') return metrics(worker)
  if (url.pathname === '/tasks') return json(200, tasks(worker))
  if (url.pathname === '/explain') return explain(parts, worker, url, isPassed)
  throw new AppError('NOT_FOUND', 'unknown path; use /health, /tasks, /explain?task=..&node=.. or /metrics')
}

function health({ worker, trouble }: PagesOptions): Answer {
  const partitions = worker()?.partitions() ?? []
  const problem = trouble() ?? partitions.find(({ blocked }) => blocked !== undefined)?.blocked
  const status = problem === undefined ? 'ok' : 'failing'
  return json(problem === undefined ? 200 : 503, { status, ...(problem !== undefined && { problem }), partitions })
}

function tasks(worker: WorkerView) {
  const owners = [...worker.owners()].map(([partition, owner]) => ({ partition, ...owner }))
  return { tasks: worker.tasks(), invalid: worker.invalid(), owners }
}

async function explain(parts: PagesOptions, worker: WorkerView, url: URL, isPassed: boolean): Promise<Answer> {
  const [task, node] = [url.searchParams.get('task'), url.searchParams.get('node')]
  if (task === null || node === null)
    throw new AppError('VALIDATION', '`task` and `node` are required; use a form such as /explain?task=hot&node=alarm')
  if (worker.runs(task)) return json(200, worker.explain(task, node))
  const partition = worker.partitionOf(task)
  const owner = partition === undefined ? undefined : worker.owners().get(partition)
  if (partition === undefined) throw new AppError('NOT_FOUND', `task ${task} is not published`)
  const isMoving = `partition ${partition} of task ${task} moves to another worker; ask again in a second`
  if (owner?.url === undefined || isPassed) throw new AppError('UNAVAILABLE', isMoving)
  const headers = { [PASSED]: '1' }
  const signal = AbortSignal.timeout(OWNER_MS)
  try {
    const response = await parts.fetch(`${owner.url}${url.pathname}${url.search}`, { headers, signal })
    return { status: response.status, body: await response.text(), type: 'application/json' }
  } catch (thrown) {
    throw new AppError('UNAVAILABLE', `${isMoving}: its owner did not answer (${messageOf(thrown)})`)
  }
}

function metrics(worker: WorkerView): Answer {
  const lines: string[] = []
  const gauge = (name: string, help: string, rows: readonly (readonly [labels: string, value: number])[]): void => {
    const type = name.endsWith('_total') ? 'counter' : 'gauge'
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    for (const [labels, value] of rows) lines.push(`${name}${labels} ${value}`)
  }
  const partitions = worker.partitions()
  const of = (value: (one: (typeof partitions)[number]) => number) =>
    partitions.map((one) => [`{partition="${one.partition}"}`, value(one)] as const)
  gauge(
    'rx_worker_lag_records',
    'records that wait, by owned partition',
    of(({ lag }) => lag),
  )
  gauge(
    'rx_worker_tasks',
    'running tasks, by owned partition',
    of(({ tasks: count }) => count),
  )
  gauge(
    'rx_worker_blocked',
    '1 if the partition stands still',
    of(({ blocked }) => (blocked === undefined ? 0 : 1)),
  )
  for (const [name, value] of Object.entries(worker.counts))
    gauge(`rx_worker_${name}_total`, `${name} of this worker`, [['', value]])
  return { status: 200, body: `${lines.join('\n')}\n`, type: 'text/plain; version=0.0.4' }
}

function json(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body), type: 'application/json' }
}

function methodError(): AppError {
  return new AppError('METHOD', 'only GET is allowed here')
}

function errorAnswer(error: unknown): Answer {
  const { code, status } = error instanceof AppError ? error : { code: 'UNAVAILABLE', status: 503 }
  return json(status, { code, message: messageOf(error) })
}
